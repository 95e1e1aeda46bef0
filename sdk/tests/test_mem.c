/* SPDX-License-Identifier: Apache-2.0 */
/* Registering and deregistering, with hooks that take part or refuse. */
#include "engine.h"
#include "engines.h"
#include "log.h"
#include "toy.h"

#include <kvslot/mock.h>

static struct kvs_backend hooks;    /* registers with the backend's hooks */
static struct kvs_backend hookless; /* has none of them */
static kvs_engine *e;

static int setup(void **state)
{
    (void)state;
    toy_reset();
    e = toy_open(&hooks, NULL);
    toy.log[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    toy.deregister_rc = TOY_USUAL;
    close_engine(e);
    return 0;
}

static bool has_key(const kvs_mem *m, const char *key)
{
    return m->key_len == strlen(key) && memcmp(kvs_mem_key(m), key, m->key_len) == 0;
}

/* KVS-REQ-051 KVS-REQ-054 KVS-REQ-058 KVS-REQ-059: meta_info, else dev_id in decimal; also of dev_id 0 */
static void keys_of_registrations(void **state)
{
    (void)state;
    static const struct {
        uint64_t dev_id;
        const char *meta, *key;
    } rows[] = {
        {7, NULL, "7"}, {7, "", "7"}, {7, "seven", "seven"}, {9, "7", "7"},
        {0, NULL, "0"}, {0, "", "0"}, {10, "\n", "\n"},      {UINT64_MAX, NULL, "18446744073709551615"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kvs_mem *m = registered(e, KVS_MEM_DRAM, rows[i].dev_id, rows[i].meta, 0, 0);
        assert_true(has_key(m, rows[i].key));
        deregistered(e, m);
    }
    /* meta_info is bytes: with its length, not as a string. */
    struct kvs_desc d = {.meta_info = "a\0b", .meta_len = 3};
    struct kvs_error err = {0};
    kvs_mem *m;
    expect_status(kvs_mem_register(e, KVS_MEM_OBJECT, &d, &m, &err), KVS_OK, &err);
    assert_int_equal(atomic_load(&toy.type), KVS_MEM_OBJECT); /* which the hook is told */
    assert_int_equal(m->key_len, 3);
    assert_memory_equal(kvs_mem_key(m), "a\0b", 3);
    deregistered(e, m);
}

/* The caller's name is copied: its memory may go at once. */
static void the_key_is_a_copy(void **state)
{
    (void)state;
    char name[] = "first";
    kvs_mem *m = registered(e, KVS_MEM_DRAM, 1, name, 0, 0);
    memset(name, 'x', sizeof name);
    assert_true(has_key(m, "first"));
    deregistered(e, m);
}

/* KVS-REQ-053 KVS-REQ-055: the out pointer is null after every refusal */
static void what_is_refused(void **state)
{
    (void)state;
    char long_name[65];
    memset(long_name, 'n', sizeof long_name);
    struct kvs_desc good = {.dev_id = 1}, end = {.addr = UINT64_MAX - 7, .len = 9},
                    no_meta = {.meta_info = NULL, .meta_len = 4},
                    too_long = {.meta_info = long_name, .meta_len = sizeof long_name},
                    huge = {.meta_info = long_name, .meta_len = UINT64_MAX};
    const struct {
        kvs_engine *engine;
        uint32_t type;
        const struct kvs_desc *desc;
        int status;
        const char *text;
    } rows[] = {{NULL, KVS_MEM_DRAM, &good, KVS_INVALID_PARAM, "engine"},
                {e, KVS_MEM_DRAM, NULL, KVS_INVALID_PARAM, "descriptor is NULL"},
                {e, KVS_MEM_FILE, &good, KVS_NOT_SUPPORTED, "no memory type 4"},
                {e, 32, &good, KVS_NOT_SUPPORTED, "no memory type 32"},
                {e, UINT32_MAX, &good, KVS_NOT_SUPPORTED, "no memory type 4294967295"},
                {e, KVS_MEM_DRAM, &end, KVS_INVALID_PARAM, "beyond the end of memory"},
                {e, KVS_MEM_DRAM, &no_meta, KVS_INVALID_PARAM, "meta_len is 4"},
                {e, KVS_MEM_DRAM, &too_long, KVS_TOO_LARGE, "65 bytes"},
                {e, KVS_MEM_DRAM, &huge, KVS_TOO_LARGE, "at most 64"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kvs_mem *m = (kvs_mem *)(uintptr_t)0xdead;
        struct kvs_error err = {0};
        expect_status(kvs_mem_register(rows[i].engine, rows[i].type, rows[i].desc, &m, &err), rows[i].status,
                      &err);
        expect_text(err.text, rows[i].text);
        assert_null(m);
    }
    struct kvs_error err = {0};
    expect_status(kvs_mem_register(e, KVS_MEM_DRAM, &good, NULL, &err), KVS_INVALID_PARAM, &err);
    assert_int_equal(kvs_mem_register(e, KVS_MEM_FILE, &good, &(kvs_mem *){NULL}, NULL), KVS_NOT_SUPPORTED);
    assert_string_equal(toy.log, ""); /* no hook was called */
    /* At the very end of memory, and of the limit. */
    deregistered(e, registered(e, KVS_MEM_DRAM, 1, NULL, UINT64_MAX - 7, 7));
    too_long.meta_len = 64;
    kvs_mem *m;
    expect_status(kvs_mem_register(e, KVS_MEM_DRAM, &too_long, &m, &err), KVS_OK, &err);
    deregistered(e, m);
}

/* KVS-REQ-055: a memory type without hooks sets the pointer too; deregistering NULL is fine */
static void no_hooks_no_garbage(void **state)
{
    (void)state;
    kvs_engine *plain = toy_open(&hookless, NULL);
    kvs_mem *m = registered(plain, KVS_MEM_OBJECT, 4, NULL, 0, 0);
    assert_null(m->priv);
    deregistered(plain, m);
    deregistered(plain, NULL);
    struct kvs_error err = {0};
    kvs_mem *none[2] = {NULL, NULL};
    expect_status(kvs_mem_deregister_list(plain, none, 2, &err), KVS_OK, &err);
    expect_status(kvs_mem_deregister_list(plain, NULL, 0, &err), KVS_OK, &err);
    expect_status(kvs_mem_deregister_list(plain, NULL, 1, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_mem_deregister(NULL, NULL, &err), KVS_INVALID_PARAM, &err);
    close_engine(plain);
}

static const struct kvs_desc three[] = {{.dev_id = 1}, {.dev_id = 2}, {.dev_id = 3}};
static const struct kvs_dlist three_list = {three, 3, 0, KVS_MEM_DRAM};

/* KVS-REQ-556: all or none, taken back in reverse; and the same list can be registered afterwards */
static void a_list_is_all_or_none(void **state)
{
    (void)state;
    kvs_mem *mems[3];
    struct kvs_error err = {0};
    for (uint64_t at = 1; at <= 3; at++) {
        static const char *const calls[] = {"+1 ", "+1 +2 -1 ", "+1 +2 +3 -2 -1 "};
        toy.log[0] = '\0';
        toy.register_rc = KVS_FULL;
        toy.refuse_dev = at;
        memset(mems, 0xaa, sizeof mems);
        expect_status(kvs_mem_register_list(e, &three_list, mems, &err), KVS_FULL, &err);
        char which[32];
        snprintf(which, sizeof which, "descriptor %u: ", (unsigned)at - 1);
        expect_text(err.text, which);
        expect_text(err.text, "the toy takes no more");
        assert_string_equal(toy.log, calls[at - 1]);
        for (size_t i = 0; i < 3; i++)
            assert_null(mems[i]);
        assert_int_equal(e->mems.count, 0);
    }
    toy.register_rc = TOY_USUAL;
    expect_status(kvs_mem_register_list(e, &three_list, mems, &err), KVS_OK, &err);
    assert_int_equal(e->mems.count, 3);
    expect_status(kvs_mem_deregister_list(e, mems, 3, &err), KVS_OK, &err);
    assert_int_equal(e->mems.count, 0);
}

/* KVS-REQ-052: one that the SDK itself refuses ends the list in the same way */
static void a_bad_member_ends_the_list(void **state)
{
    (void)state;
    struct {
        struct kvs_desc d;
        uint64_t more[3];
    } wide[2] = {{.d = {.dev_id = 5}}, {.d = {.addr = UINT64_MAX, .len = 2}}};
    struct kvs_dlist list = {&wide[0].d, 2, sizeof wide[0], KVS_MEM_DRAM};
    kvs_mem *mems[2];
    struct kvs_error err = {0};
    memset(mems, 0xaa, sizeof mems);
    expect_status(kvs_mem_register_list(e, &list, mems, &err), KVS_INVALID_PARAM, &err);
    assert_string_equal(toy.log, "+5 -5 ");
    assert_null(mems[0]);
    assert_null(mems[1]);
    wide[1].d = (struct kvs_desc){.dev_id = 6};
    expect_status(kvs_mem_register_list(e, &list, mems, &err), KVS_OK, &err);
    assert_true(has_key(mems[1], "6"));
    expect_status(kvs_mem_deregister_list(e, mems, 2, &err), KVS_OK, &err);

    list.stride = sizeof(struct kvs_desc) - 1;
    expect_status(kvs_mem_register_list(e, &list, mems, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "stride");
    list = (struct kvs_dlist){NULL, 2, 0, KVS_MEM_DRAM};
    expect_status(kvs_mem_register_list(e, &list, mems, &err), KVS_INVALID_PARAM, &err);
    list = (struct kvs_dlist){&wide[0].d, 0, 0, KVS_MEM_DRAM};
    expect_status(kvs_mem_register_list(e, &list, mems, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_mem_register_list(e, NULL, mems, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_mem_register_list(e, &three_list, NULL, &err), KVS_INVALID_PARAM, &err);
}

/* KVS-REQ-555: an unknown, gone or doubly named member is found before any goes */
static void sets_are_checked_first(void **state)
{
    (void)state;
    kvs_mem *a = registered(e, KVS_MEM_DRAM, 1, "a", 0, 64), *b = registered(e, KVS_MEM_DRAM, 1, "a", 0, 64);
    assert_ptr_not_equal(a, b);
    struct kvs_error err = {0};
    toy.log[0] = '\0';
    expect_status(kvs_mem_deregister_list(e, (kvs_mem *[]){a, a}, 2, &err), KVS_NOT_FOUND, &err);
    expect_text(err.text, "registration 1 stands twice");
    kvs_engine *other = toy_open(&hooks, NULL);
    kvs_mem *foreign = registered(other, KVS_MEM_DRAM, 1, "a", 0, 64);
    toy.log[0] = '\0';
    expect_status(kvs_mem_deregister_list(e, (kvs_mem *[]){a, b, foreign}, 3, &err), KVS_NOT_FOUND, &err);
    expect_text(err.text, "registration 2 is none of this engine");
    expect_status(kvs_mem_deregister(e, foreign, &err), KVS_NOT_FOUND, &err);
    expect_status(kvs_mem_deregister(e, (kvs_mem *)(uintptr_t)1, &err), KVS_NOT_FOUND, &err);
    assert_string_equal(toy.log, "");
    assert_int_equal(e->mems.count, 2);
    expect_status(kvs_mem_deregister_list(e, (kvs_mem *[]){NULL, b, NULL, a}, 4, &err), KVS_OK, &err);
    assert_string_equal(toy.log, "-1 -1 ");
    expect_status(kvs_mem_deregister(e, a, &err), KVS_NOT_FOUND, &err);
    expect_status(kvs_mem_deregister_list(e, (kvs_mem *[]){a, b}, 2, &err), KVS_NOT_FOUND, &err);
    deregistered(other, foreign);
    close_engine(other);
}

/* KVS-REQ-553 KVS-REQ-554 KVS-REQ-552: counted once by each transfer, and only as local memory */
static void counted_ones_are_busy(void **state)
{
    (void)state;
    char buf[32];
    kvs_mem *here = registered(e, KVS_MEM_DRAM, 1, NULL, (uint64_t)(uintptr_t)buf, sizeof buf);
    kvs_mem *there = registered(e, KVS_MEM_OBJECT, 2, "k", 0, 0);
    kvs_mem *other = registered(e, KVS_MEM_DRAM, 3, NULL, 0, 0);
    struct ask a;
    ask_lists(&a, KVS_WRITE, 4, buf, 8);
    a.remote.type = KVS_MEM_OBJECT;
    for (size_t i = 0; i < 4; i++) {
        a.l[i].mem = here;
        a.r[i].mem = there;
    }
    kvs_xfer *x[3];
    for (size_t i = 0; i < 3; i++)
        x[i] = prepared(e, &a);
    deregistered(e, there);
    struct kvs_error err = {0};
    expect_status(kvs_mem_deregister_list(e, (kvs_mem *[]){other, here}, 2, &err), KVS_BUSY, &err);
    expect_text(err.text, "registration 1 (dev_id 1) is local memory of 3 prepared transfers");
    assert_true(kvs_memtab_has(&e->mems, other));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(run_xfer(x[i]), KVS_OK);
        expect_status(kvs_mem_deregister(e, here, &err), KVS_BUSY, &err);
        assert_int_equal(kvs_xfer_release(x[i], 0), KVS_OK);
        char number[16];
        snprintf(number, sizeof number, "of %zu prepared", 2 - i);
        if (i < 2) {
            expect_status(kvs_mem_deregister(e, here, &err), KVS_BUSY, &err);
            expect_text(err.text, number);
        }
    }
    deregistered(e, here);
    deregistered(e, other);
}

/* A prep that is refused counts nothing, however late the refusal comes. */
static void a_refused_prep_counts_nothing(void **state)
{
    (void)state;
    char buf[16];
    kvs_mem *here = registered(e, KVS_MEM_DRAM, 1, NULL, (uint64_t)(uintptr_t)buf, sizeof buf);
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.l[0].mem = a.l[1].mem = here;
    a.keys[1].len = 0;
    unprepared(e, &a, KVS_INVALID_PARAM, "descriptor 1");
    a.keys[1].len = 2;
    toy.prep_rc = KVS_FULL;
    unprepared(e, &a, KVS_FULL, "refused to prepare");
    toy.prep_rc = TOY_USUAL;
    assert_int_equal(here->uses, 0);
    deregistered(e, here);
}

static char logged[2048];

static void keep_log(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%s\n", text);
}

/* KVS-REQ-557 KVS-REQ-558 KVS-REQ-559: the second of three fails */
static void failing_hooks_do_not_keep_it(void **state)
{
    (void)state;
    kvs_mem *mems[3];
    struct kvs_error err = {0};
    expect_status(kvs_mem_register_list(e, &three_list, mems, &err), KVS_OK, &err);
    uint64_t before = kvs_engine_violations(e);
    toy.log[0] = logged[0] = '\0';
    toy.deregister_rc = KVS_IO;
    toy.refuse_dev = 2;
    kvs_set_log(keep_log, NULL, -1);
    expect_status(kvs_mem_deregister_list(e, mems, 3, &err), KVS_OK, &err);
    kvs_set_log(NULL, NULL, -1);
    assert_string_equal(toy.log, "-1 -2 -3 ");
    assert_int_equal(e->mems.count, 0);
    assert_int_equal(kvs_engine_violations(e), before + 1);
    expect_text(logged, "hooks: on_deregister of dev_id 2 failed");
    expect_text(logged, "input/output error");
    expect_status(kvs_mem_deregister_list(e, mems, 3, &err), KVS_NOT_FOUND, &err);
    assert_string_equal(toy.log, "-1 -2 -3 ");
}

/* What is left at the close goes with the engine, its hooks called. */
static void close_takes_the_rest(void **state)
{
    (void)state;
    kvs_engine *other = toy_open(&hooks, NULL);
    toy.log[0] = '\0';
    for (uint64_t i = 0; i < 3; i++)
        registered(other, KVS_MEM_DRAM, 8, NULL, 0, 0);
    close_engine(other);
    assert_string_equal(toy.log, "+8 +8 +8 -8 -8 -8 close ");
}

/* The mock's hooks are called as often; each engine has its own table. */
static void through_the_mock(void **state)
{
    (void)state;
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    kvs_engine *m = open_with("mock:mem", NULL);
    struct kvs_error err = {0};
    kvs_mem *mems[3];
    kvs_mock_set_fault("mem", KVS_MOCK_REGISTER, 2, 1, KVS_NO_MEMORY);
    expect_status(kvs_mem_register_list(m, &three_list, mems, &err), KVS_NO_MEMORY, &err);
    struct kvs_mock_counts counts = {.size = sizeof counts};
    kvs_mock_get_counts("mem", &counts);
    assert_int_equal(counts.registers, 3);
    assert_int_equal(counts.deregisters, 2);
    expect_status(kvs_mem_register_list(m, &three_list, mems, &err), KVS_OK, &err);
    expect_status(kvs_mem_deregister_list(e, mems, 3, &err), KVS_NOT_FOUND, &err);
    expect_status(kvs_mem_deregister_list(m, mems, 3, &err), KVS_OK, &err);
    kvs_mock_get_counts("mem", &counts);
    assert_int_equal(counts.deregisters, 5);
    close_engine(m);
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    hooks = toy_table("hooks");
    hooks.max_key = 64;
    hookless = toy_table("hookless");
    hookless.on_register = NULL;
    hookless.on_deregister = NULL;
    hookless.mem_priv = 0;
    const struct CMUnitTest tests[] = {
        WITH_ENGINE(keys_of_registrations),
        WITH_ENGINE(the_key_is_a_copy),
        WITH_ENGINE(what_is_refused),
        WITH_ENGINE(no_hooks_no_garbage),
        WITH_ENGINE(a_list_is_all_or_none),
        WITH_ENGINE(a_bad_member_ends_the_list),
        WITH_ENGINE(sets_are_checked_first),
        WITH_ENGINE(counted_ones_are_busy),
        WITH_ENGINE(a_refused_prep_counts_nothing),
        WITH_ENGINE(failing_hooks_do_not_keep_it),
        WITH_ENGINE(close_takes_the_rest),
        WITH_ENGINE(through_the_mock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
