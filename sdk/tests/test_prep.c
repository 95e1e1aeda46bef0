/* SPDX-License-Identifier: Apache-2.0 */
/* What prep says of a request as a whole: op, lists, counts. KVS-REQ-100 */
#include "engines.h"
#include "toy.h"

#include <kvslot/mock.h>

static struct kvs_backend full, poor, small;
static char buf[256];
static kvs_engine *e;

static int setup(void **state)
{
    (void)state;
    toy_reset();
    e = toy_open(&full, NULL);
    toy.log[0] = '\0';
    return 0;
}

/* Whatever was refused, the backend has heard nothing of it. */
static int teardown(void **state)
{
    (void)state;
    close_engine(e);
    return 0;
}

static void nothing_was_sent(void)
{
    assert_string_equal(toy.log, "");
    assert_int_equal(atomic_load(&toy.calls), 0);
}

static void requests(void **state)
{
    (void)state;
    struct ask a;
    struct kvs_error err = {0};
    kvs_xfer *x = (kvs_xfer *)(uintptr_t)0xdead;
    ask_for(&a, KVS_WRITE, 1, buf, 8);
    expect_status(kvs_xfer_prep(e, &a.req, NULL, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_xfer_prep(e, NULL, &x, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "request is NULL");
    assert_null(x);
    unprepared(NULL, &a, KVS_INVALID_PARAM, "engine");
    a.req.size = sizeof a.req - 1;
    unprepared(e, &a, KVS_INVALID_PARAM, "it has to be sizeof(struct kvs_xfer_req)");
    a.req.size = 0;
    unprepared(e, &a, KVS_INVALID_PARAM, "size of the request is 0;");
    ask_for(&a, KVS_WRITE, 1, buf, 8);
    a.req.flags = 0x40000000;
    unprepared(e, &a, KVS_INVALID_PARAM, "flags is 0x40000000");
    a.req.flags = 0;
    a.req.op = 4;
    unprepared(e, &a, KVS_INVALID_PARAM, "op is 4");
    a.req.op = UINT32_MAX;
    unprepared(e, &a, KVS_INVALID_PARAM, "op is 4294967295");
    nothing_was_sent();
    /* KVS-REQ-107: an error structure is not needed, neither for an error nor else */
    assert_int_equal(kvs_xfer_prep(e, &a.req, &x, NULL), KVS_INVALID_PARAM);
    a.req.op = KVS_WRITE;
    assert_int_equal(kvs_xfer_prep(e, &a.req, &x, NULL), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

/* KVS-REQ-424 KVS-REQ-426 */
static void what_the_backend_cannot(void **state)
{
    (void)state;
    kvs_engine *p = toy_open(&poor, NULL);
    struct ask a;
    ask_for(&a, KVS_QUERY, 1, NULL, 0);
    unprepared(p, &a, KVS_NOT_SUPPORTED, "backend 'poor' does not support QUERY");
    ask_for(&a, KVS_REMOVE, 1, NULL, 0);
    unprepared(p, &a, KVS_NOT_SUPPORTED, "backend 'poor' does not support REMOVE");
    struct kvs_error err = {0};
    expect_status(kvs_query(p, "k", 1, NULL, &err), KVS_NOT_SUPPORTED, &err);
    expect_status(kvs_remove(p, "k", 1, &err), KVS_NOT_SUPPORTED, &err);
    expect_status(kvs_list(p, NULL, 0, NULL, NULL, &err), KVS_INVALID_PARAM, &err);
    assert_int_equal(atomic_load(&toy.calls), 0);
    close_engine(p);
}

/* KVS-REQ-368: QUERY and REMOVE are of the remote side alone */
static void queries_have_no_local_list(void **state)
{
    (void)state;
    for (uint32_t op = KVS_QUERY; op <= KVS_REMOVE; op++) {
        struct ask a;
        ask_for(&a, op, 2, buf, 0);
        a.req.local = &a.local;
        unprepared(e, &a, KVS_INVALID_PARAM, "no local list");
        ask_lists(&a, op, 2, buf, 0);
        a.req.local = &a.local;
        unprepared(e, &a, KVS_INVALID_PARAM, "no local list");
        a.req.local = NULL;
        a.req.remote = NULL;
        unprepared(e, &a, KVS_INVALID_PARAM, "remote list is NULL");
    }
    nothing_was_sent();
    struct ask a; /* KVS-REQ-392: offsets are ignored, with keys and without */
    kvs_mem *m = registered(e, KVS_MEM_DRAM, 1, "k", 0, 8);
    ask_lists(&a, KVS_QUERY, 1, NULL, 0);
    a.r[0].mem = m;
    a.req.offsets = (const uint64_t[]){UINT64_MAX};
    assert_int_equal(run_ask(e, &a), KVS_OK);
    ask_for(&a, KVS_REMOVE, 1, NULL, 0);
    a.req.offsets = (const uint64_t[]){UINT64_MAX};
    assert_int_equal(run_ask(e, &a), KVS_OK);
    deregistered(e, m);
}

static void a_bad_list(struct kvs_dlist *list, struct ask *a, const char *side)
{
    char text[64];
    const struct kvs_dlist good = *list;
    list->descs = NULL;
    snprintf(text, sizeof text, "%s list has 2 descriptors at NULL", side);
    unprepared(e, a, KVS_INVALID_PARAM, text);
    *list = good;
    list->stride = sizeof(struct kvs_desc) - 8;
    snprintf(text, sizeof text, "%s list has a stride of %zu", side, list->stride);
    unprepared(e, a, KVS_INVALID_PARAM, text);
    *list = good;
    static const uint32_t types[] = {KVS_MEM_FILE, KVS_MEM_BLOCK, 31, 32, UINT32_MAX};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        list->type = types[i];
        snprintf(text, sizeof text, "no memory type %u on the %s side; its types are", types[i], side);
        unprepared(e, a, KVS_NOT_SUPPORTED, text);
    }
    *list = good;
}

static void lists(void **state)
{
    (void)state;
    struct ask a;
    ask_lists(&a, KVS_WRITE, 2, buf, 8);
    a_bad_list(&a.local, &a, "local");
    a_bad_list(&a.remote, &a, "remote");
    /* A type that only the other side has. */
    a.local.type = KVS_MEM_OBJECT;
    unprepared(e, &a, KVS_NOT_SUPPORTED, "no memory type 3 on the local side");
    a.local.type = KVS_MEM_DRAM;
    a.remote.type = KVS_MEM_VRAM;
    unprepared(e, &a, KVS_NOT_SUPPORTED, "no memory type 1 on the remote side");
    ask_lists(&a, KVS_WRITE, 2, buf, 8);
    a.req.local = NULL;
    unprepared(e, &a, KVS_INVALID_PARAM, "local list is NULL");
    ask_lists(&a, KVS_WRITE, 2, buf, 8);
    a.req.remote = NULL;
    unprepared(e, &a, KVS_INVALID_PARAM, "remote list is NULL");
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.req.custom = "k0\nk1";
    a.req.custom_len = 5;
    unprepared(e, &a, KVS_INVALID_PARAM, "both");
    ask_lists(&a, KVS_WRITE, 2, buf, 8);
    a.req.nkeys = 2;
    unprepared(e, &a, KVS_INVALID_PARAM, "2 keys at NULL");
    ask_lists(&a, KVS_WRITE, 2, buf, 8);
    a.req.custom_len = 5;
    unprepared(e, &a, KVS_INVALID_PARAM, "5 bytes at NULL");
    ask_lists(&a, KVS_READ, 2, buf, 8);
    a.req.offsets = (const uint64_t[]){0, 0};
    unprepared(e, &a, KVS_INVALID_PARAM, "offsets are given without keys");
    nothing_was_sent();
}

/* KVS-REQ-102 KVS-REQ-076: an empty transfer is refused, in all forms, and so are counts that differ */
static void counts(void **state)
{
    (void)state;
    static const struct {
        size_t local, remote;
        const char *text;
    } rows[] = {{0, 0, "0 descriptors"},
                {1, 2, "1 local descriptors, but 2"},
                {2, 1, "2 local descriptors, but 1"},
                {0, 1, "0 local descriptors, but 1"},
                {1, 0, "1 local descriptors, but 0"},
                {SIZE_MAX, 1, "local descriptors, but 1"},
                {1, SIZE_MAX, "1 local descriptors, but"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ask a;
        ask_lists(&a, KVS_WRITE, 2, buf, 8);
        a.local.count = rows[i].local;
        a.remote.count = rows[i].remote;
        unprepared(e, &a, KVS_INVALID_PARAM, rows[i].text);
        ask_for(&a, KVS_READ, 2, buf, 8);
        a.local.count = rows[i].local;
        a.req.nkeys = rows[i].remote;
        unprepared(e, &a, KVS_INVALID_PARAM, rows[i].text);
    }
    struct ask a;
    ask_for(&a, KVS_QUERY, 0, NULL, 0);
    unprepared(e, &a, KVS_INVALID_PARAM, "0 descriptors");
    a.req.nkeys = SIZE_MAX;
    unprepared(e, &a, KVS_TOO_LARGE, "at most 65536");
    ask_lists(&a, KVS_QUERY, 0, NULL, 0);
    a.remote.descs = NULL;
    unprepared(e, &a, KVS_INVALID_PARAM, "0 descriptors");
    nothing_was_sent();
}

/* KVS-REQ-103 KVS-REQ-105 KVS-REQ-104: 65,536 go in one submit, one more does not go */
static void the_largest_batch(void **state)
{
    (void)state;
    enum { MOST = 65536 };
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    kvs_engine *m = open_with("mock:batch", NULL);
    struct kvs_desc *d = calloc(MOST + 1, sizeof *d);
    struct kvs_key *keys = calloc(MOST + 1, sizeof *keys);
    uint32_t *values = calloc(MOST + 1, sizeof *values);
    assert_true(d && keys && values);
    for (uint32_t i = 0; i <= MOST; i++) {
        values[i] = i;
        keys[i] = (struct kvs_key){&values[i], sizeof values[i]};
        d[i] = (struct kvs_desc){.addr = (uint64_t)(uintptr_t)&values[i], .len = sizeof values[i]};
    }
    struct ask a;
    ask_for(&a, KVS_WRITE, 0, NULL, 0);
    a.local = (struct kvs_dlist){d, MOST + 1, 0, KVS_MEM_DRAM};
    a.req.keys = keys;
    a.req.nkeys = MOST + 1;
    unprepared(m, &a, KVS_TOO_LARGE, "65537 descriptors; backend 'mock' takes at most 65536");
    a.local.count = a.req.nkeys = MOST;
    assert_int_equal(run_ask(m, &a), KVS_OK);
    struct kvs_mock_counts c = {.size = sizeof c};
    kvs_mock_get_counts("batch", &c);
    assert_int_equal(c.submits, 1);
    assert_int_equal(c.puts, MOST);
    assert_int_equal(c.preps, 1);
    assert_int_equal(c.unpreps, 1);
    free(d);
    free(keys);
    free(values);
    close_engine(m);
}

/* KVS-REQ-106: one that is bad, at whichever place; the good ones of its list are not submitted either */
static void one_bad_one(void **state)
{
    (void)state;
    for (uint32_t bad = 0; bad < 8; bad++) {
        struct ask a;
        ask_for(&a, KVS_WRITE, 8, buf, 8);
        a.keys[bad].len = 0;
        unprepared(e, &a, KVS_INVALID_PARAM, "the key is empty");
        ask_for(&a, KVS_READ, 8, buf, 8);
        a.l[bad].addr = 0;
        unprepared(e, &a, KVS_INVALID_PARAM, "local address is NULL");
        ask_for(&a, KVS_WRITE, 8, buf, 8);
        a.l[bad].addr = UINT64_MAX - 3;
        unprepared(e, &a, KVS_INVALID_PARAM, "beyond the end of memory");
    }
    nothing_was_sent();
    assert_int_equal(toy_count(), 0);
}

/* KVS-REQ-430: the engine's own limit, at its edge; and of a value */
static void small_limits(void **state)
{
    (void)state;
    kvs_engine *s = toy_open(&small, NULL);
    struct ask a;
    ask_for(&a, KVS_WRITE, 3, buf, 8);
    assert_int_equal(run_ask(s, &a), KVS_OK);
    ask_for(&a, KVS_WRITE, 4, buf, 8);
    unprepared(s, &a, KVS_TOO_LARGE, "4 descriptors; backend 'small' takes at most 3");
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.l[1].len = 9;
    for (uint32_t op = KVS_READ; op <= KVS_WRITE; op++) {
        a.req.op = op;
        unprepared(s, &a, KVS_TOO_LARGE,
                   "descriptor 1: the value has 9 bytes; backend 'small' takes at most 8");
    }
    struct kvs_error err = {0};
    expect_status(kvs_put(s, "key", 3, buf, 9, &err), KVS_TOO_LARGE, &err);
    close_engine(s);
}

/* KVS-REQ-285: no new transfer of an engine that is being closed; those there are can be given back */
static void a_closing_engine(void **state)
{
    (void)state;
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    kvs_engine *m = open_with("mock:closing?hold=yes&cancel=none", NULL);
    struct ask a;
    ask_for(&a, KVS_WRITE, 1, buf, 8);
    kvs_xfer *x = prepared(m, &a);
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    struct kvs_error err = {0};
    expect_status(kvs_engine_close(m, 0, &err), KVS_BUSY, &err);
    unprepared(m, &a, KVS_NOT_ALLOWED, "is closing");
    expect_status(kvs_put(m, "k", 1, buf, 1, &err), KVS_NOT_ALLOWED, &err);
    assert_int_equal(kvs_mock_let_go("closing", 1), 1);
    assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), KVS_OK);
    close_engine(m);
    assert_int_equal(kvs_xfer_post(x), KVS_NOT_ALLOWED);
    assert_int_equal(kvs_xfer_check(x), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

int main(void)
{
    full = toy_table("full");
    poor = toy_table("poor");
    poor.query = poor.remove = NULL;
    poor.caps_native = KVS_CAP_OVERWRITE;
    small = toy_table("small");
    small.max_batch = 3;
    small.max_value = 8;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_backend_cannot, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_have_no_local_list, setup, teardown),
        cmocka_unit_test_setup_teardown(lists, setup, teardown),
        cmocka_unit_test_setup_teardown(counts, setup, teardown),
        cmocka_unit_test_setup_teardown(the_largest_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(one_bad_one, setup, teardown),
        cmocka_unit_test_setup_teardown(small_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(a_closing_engine, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
