/* SPDX-License-Identifier: Apache-2.0 */
/* What open leaves of limits and capabilities, and an open that fails. */
#include "engine.h"
#include "engines.h"
#include "toy.h"

static struct kvs_backend wide, serial, mute;
static char buf[64];

static int setup(void **state)
{
    (void)state;
    toy_reset();
    return 0;
}

static struct kvs_limits limits_of(const kvs_engine *e)
{
    struct kvs_limits l = {.size = sizeof l};
    assert_int_equal(kvs_engine_limits(e, &l), KVS_OK);
    assert_int_equal(l.size, sizeof l);
    return l;
}

static void tighten(struct kvs_limits *l)
{
    assert_int_equal(l->size, sizeof *l);
    assert_int_equal(l->max_key, 100); /* they come as declared */
    assert_int_equal(l->max_batch, 10);
    l->min_key = 2;
    l->max_key = 4;
    l->max_value = 16;
    l->max_batch = 2;
    l->max_iov = 1;
    l->thread_model = KVS_THREADS_SERIAL;
    l->caps_native &= ~(uint64_t)(KVS_CAP_RANGE | KVS_CAP_LIST);
    l->caps_none |= KVS_CAP_REMOVE;
    l->flags |= KVS_F_EMULATED;
}

static int no_each(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)arg;
    (void)key;
    (void)len;
    (void)size;
    return 0;
}

/* KVS-REQ-431 KVS-REQ-430 */
static void narrowed(void **state)
{
    (void)state;
    toy.narrow = tighten;
    kvs_engine *e = toy_open(&wide, NULL);
    struct kvs_limits l = limits_of(e);
    assert_int_equal(kvs_engine_violations(e), 0);
    assert_int_equal(l.min_key, 2);
    assert_int_equal(l.max_key, 4);
    assert_int_equal(l.max_value, 16);
    assert_int_equal(l.max_batch, 2);
    assert_int_equal(l.max_iov, 1);
    assert_int_equal(l.thread_model, KVS_THREADS_SERIAL);
    assert_true(l.flags & KVS_F_EMULATED);
    assert_int_equal(l.caps_native & (KVS_CAP_RANGE | KVS_CAP_LIST | KVS_CAP_REMOVE), 0);
    assert_int_equal(l.caps_none & (KVS_CAP_RANGE | KVS_CAP_LIST | KVS_CAP_REMOVE),
                     KVS_CAP_RANGE | KVS_CAP_LIST | KVS_CAP_REMOVE);
    struct kvs_error err = {0};
    expect_status(kvs_put(e, "12345", 5, buf, 1, &err), KVS_TOO_LARGE, &err);
    expect_status(kvs_put(e, "1", 1, buf, 1, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_put(e, "12", 2, buf, 17, &err), KVS_TOO_LARGE, &err);
    expect_status(kvs_remove(e, "12", 2, &err), KVS_NOT_SUPPORTED, &err);
    expect_status(kvs_list(e, NULL, 0, no_each, NULL, &err), KVS_NOT_SUPPORTED, &err);
    struct ask a;
    ask_for(&a, KVS_WRITE, 3, buf, 1);
    unprepared(e, &a, KVS_TOO_LARGE, "takes at most 2");
    ask_for(&a, KVS_READ, 1, buf, 1);
    a.req.offsets = (const uint64_t[]){0};
    unprepared(e, &a, KVS_NOT_SUPPORTED, "part of a value");
    assert_int_equal(atomic_load(&toy.calls), 0);
    expect_status(kvs_put(e, "1234", 4, buf, 16, &err), KVS_OK, &err);
    close_engine(e);
}

static void widen(struct kvs_limits *l)
{
    l->size = 4096;
    l->min_key = 0;
    l->max_key = 0;
    l->max_value = UINT64_MAX;
    l->max_batch = 1u << 30;
    l->max_iov = 1024;
    l->thread_model = KVS_THREADS_PARALLEL;
    l->caps_native = UINT64_MAX;
    l->caps_none = 0;
    l->flags = KVS_F_SUBMIT_BLOCKS | KVS_F_COMPLETE_DEFERRED | KVS_F_ONCE_PER_PROCESS;
}

/* KVS-REQ-432 */
static void not_widened(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&serial, NULL);
    struct kvs_limits declared = limits_of(e);
    close_engine(e);
    toy.narrow = widen;
    e = toy_open(&serial, NULL);
    struct kvs_limits l = limits_of(e);
    assert_memory_equal(&l, &declared, sizeof l);
    assert_true(kvs_engine_violations(e) > 0);
    assert_int_equal(l.thread_model, KVS_THREADS_SERIAL);
    assert_int_equal(l.max_key, 100);
    assert_int_equal(l.flags, KVS_F_NEEDS_REGISTRATION);
    assert_int_equal(l.caps_native & KVS_CAP_TTL, 0);
    assert_true(l.caps_none & KVS_CAP_TTL);
    close_engine(e);
}

static void lose_size_check(struct kvs_limits *l)
{
    l->caps_native &= ~(uint64_t)KVS_CAP_SIZE_CHECK;
}

/* KVS-REQ-425 KVS-REQ-426: a QUERY that the SDK emulates goes with what it was made of */
static void emulation_needs_what_it_needs(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&mute, NULL);
    struct kvs_error err = {0};
    uint64_t size;
    toy_set("k", 'v', 5);
    expect_status(kvs_query(e, "k", 1, &size, &err), KVS_OK, &err);
    assert_int_equal(size, 5);
    close_engine(e);
    toy.narrow = lose_size_check;
    e = toy_open(&mute, NULL);
    assert_true(limits_of(e).caps_none & KVS_CAP_QUERY);
    assert_true(limits_of(e).caps_none & KVS_CAP_QUERY_SIZE);
    expect_status(kvs_query(e, "k", 1, &size, &err), KVS_NOT_SUPPORTED, &err);
    void *data;
    expect_status(kvs_get_alloc(e, "k", 1, 9, &data, &size, &err), KVS_NOT_SUPPORTED, &err);
    close_engine(e);
}

/* Callers that were built with fewer members, or more, get what both have. */
static void sizes_of_the_structure(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&wide, NULL);
    struct {
        struct kvs_limits l;
        char more[16];
    } big;
    memset(&big, 0x5a, sizeof big);
    big.l.size = sizeof big;
    assert_int_equal(kvs_engine_limits(e, &big.l), KVS_OK);
    assert_int_equal(big.l.size, sizeof big.l);
    assert_int_equal(big.more[0], 0x5a);
    memset(&big, 0x5a, sizeof big);
    big.l.size = offsetof(struct kvs_limits, max_value);
    assert_int_equal(kvs_engine_limits(e, &big.l), KVS_OK);
    assert_int_equal(big.l.size, offsetof(struct kvs_limits, max_value));
    assert_int_equal(big.l.max_key, 100);
    assert_true(big.l.max_value == UINT64_C(0x5a5a5a5a5a5a5a5a));
    big.l.size = 0;
    assert_int_equal(kvs_engine_limits(e, &big.l), KVS_INVALID_PARAM);
    assert_int_equal(kvs_engine_limits(e, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_engine_limits(NULL, &big.l), KVS_INVALID_PARAM);
    assert_string_equal(kvs_engine_backend(e)->name, "wide");
    assert_null(kvs_engine_backend(NULL));
    assert_int_equal(kvs_engine_violations(NULL), 0);
    assert_int_equal(kvs_engine_progress(NULL), KVS_INVALID_PARAM);
    close_engine(e);
}

/* KVS-REQ-443: the text is that of fail(). An open that fails has made nothing: no handle, no close; and the
 * next one works. */
static void failed_open(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&wide, NULL);
    close_engine(e);
    static const int rows[][2] = {{KVS_DISCONNECTED, KVS_DISCONNECTED},
                                  {KVS_ACCESS, KVS_ACCESS},
                                  {7, KVS_BACKEND},
                                  {-9999, KVS_BACKEND},
                                  {KVS_IN_PROG, KVS_BACKEND},
                                  {KVS_AGAIN, KVS_BACKEND},
                                  {KVS_NOT_POSTED, KVS_BACKEND}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kvs_error err = {0};
        toy.log[0] = '\0';
        toy.open_rc = rows[i][0];
        e = (kvs_engine *)(uintptr_t)0xdead;
        expect_status(kvs_engine_open("wide", NULL, 0, &e, &err), rows[i][1], &err);
        expect_text(err.text, "backend 'wide': the toy does not open");
        assert_null(e);
        assert_string_equal(toy.log, "open ");
        assert_int_equal(kvs_engine_open("wide", NULL, 0, &e, NULL), rows[i][1]);
    }
    toy.open_rc = TOY_USUAL;
    toy.log[0] = '\0';
    e = toy_open(&wide, NULL);
    close_engine(e);
    assert_string_equal(toy.log, "open close ");
    struct kvs_error err = {0};
    expect_status(kvs_engine_open("wide", NULL, 0, NULL, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_engine_open("wide", NULL, 2, &e, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "2 parameters at NULL");
    expect_status(kvs_engine_open(NULL, NULL, 0, &e, &err), KVS_INVALID_PARAM, &err);
}

int main(void)
{
    wide = toy_table("wide");
    wide.max_key = 100;
    wide.max_batch = 10;
    wide.max_iov = 4;
    serial = toy_table("serial");
    serial.thread_model = KVS_THREADS_SERIAL;
    serial.max_key = 100;
    serial.min_key = 2;
    serial.max_value = 1000;
    serial.max_batch = 10;
    serial.flags = KVS_F_NEEDS_REGISTRATION;
    mute = toy_table("mute");
    mute.query = NULL;
    mute.caps_native &= ~(uint64_t)KVS_CAP_QUERY_SIZE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(narrowed, setup),
        cmocka_unit_test_setup(not_widened, setup),
        cmocka_unit_test_setup(emulation_needs_what_it_needs, setup),
        cmocka_unit_test_setup(sizes_of_the_structure, setup),
        cmocka_unit_test_setup(failed_open, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
