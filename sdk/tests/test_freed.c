/* SPDX-License-Identifier: Apache-2.0 */
/* Handles that were given back, and addresses that never were one: found out where the SDK is built without
 * NDEBUG. */
#include "engine_test.h"
#include "hand.h"
#include "handles.h"

static unsigned char memory[8 * 16];

#ifdef KVS_HANDLES_CHECKED

static unsigned lines;
static char line[256];

static void keep_line(void *arg, int level, const char *text)
{
    (void)arg;
    if (level != KVS_LOG_ERROR)
        return;
    lines++;
    snprintf(line, sizeof line, "%s", text);
}

static int setup(void **state)
{
    (void)state;
    hand_reset();
    lines = 0;
    kvs_set_log(keep_line, NULL, -1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kvs_set_log(NULL, NULL, -1);
    return 0;
}

static void expect_line(const char *kind)
{
    assert_int_equal(lines, 1);
    expect_text(line, kind);
    lines = 0;
}

#define expect_none_of(kind, call)                                                                           \
    do {                                                                                                     \
        expect_rc((call), KVS_INVALID_PARAM);                                                                \
        expect_line(kind);                                                                                   \
    } while (0)

/* No call takes it for a transfer. */
static void expect_no_xfer(kvs_xfer *x)
{
    expect_none_of("transfer", kvs_xfer_post(x));
    expect_none_of("transfer", kvs_xfer_check(x));
    expect_none_of("transfer", kvs_xfer_wait(x, 0));
    expect_none_of("transfer", kvs_xfer_cancel(x));
    expect_none_of("transfer", kvs_xfer_result(x, 0, NULL, NULL, NULL));
    expect_none_of("transfer", kvs_xfer_release(x, 0));
    assert_string_equal(kvs_xfer_error(x), "");
    expect_line("transfer");
    assert_int_equal(kvs_xfer_count(x), 0);
    expect_line("transfer");
    kvs_xfer_abandon(x);
    expect_line("transfer");
}

static void expect_no_engine(kvs_engine *e)
{
    struct kvs_limits l = {.size = sizeof l};
    struct kvs_stats s = {.size = sizeof s};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16};
    kvs_xfer *x;
    kvs_mem *mem;
    expect_none_of("engine", kvs_engine_limits(e, &l));
    expect_none_of("engine", kvs_engine_stats(e, &s));
    expect_none_of("engine", kvs_engine_progress(e));
    expect_none_of("engine", prep_rc(e, KVS_READ, 1, memory, 16, NULL, NULL, &x, NULL));
    expect_none_of("engine", kvs_mem_register(e, KVS_MEM_DRAM, &d, &mem, NULL));
    assert_null(kvs_engine_backend(e));
    expect_line("engine");
    assert_int_equal(kvs_engine_violations(e), 0);
    expect_line("engine");
    assert_int_equal(kvs_put(e, "k", 1, "v", 1, NULL), KVS_INVALID_PARAM);
    assert_true(lines > 0);
    assert_int_equal(kvs_engine_close(e, 0, NULL), KVS_INVALID_PARAM);
    kvs_engine_abandon(e);
    assert_true(lines > 2);
    lines = 0;
}

static void release_it(kvs_xfer *x, int status, void *arg)
{
    (void)status;
    *(int *)arg = kvs_xfer_release(x, 0);
}

/* However it was given back. KVS-REQ-136 */
static void test_transfers(void **state)
{
    (void)state;
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 2, memory, 16);
    release(x);
    expect_no_xfer(x);
    x = prep(e, KVS_READ, 2, memory, 16);
    post(x);
    kvs_xfer_abandon(x);
    hand.host->complete_rest(hand_batch(0), KVS_CANCELED);
    expect_no_xfer(x);
    int rc = 99;
    x = prep_done(e, KVS_READ, 2, memory, 16, release_it, &rc);
    post(x);
    hand.host->complete_rest(hand_batch(1), KVS_OK);
    assert_int_equal(rc, KVS_OK);
    expect_no_xfer(x);
#ifndef SANITIZED /* which decides by itself how soon an address is used again */
    kvs_xfer *next = prep(e, KVS_READ, 2, memory, 16);
    assert_ptr_not_equal(next, x);
    expect_no_xfer(x);
    release(next);
#endif
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Also while transfers keep its memory. KVS-REQ-136 */
static void test_engines(void **state)
{
    (void)state;
    for (int left = 0; left < 2; left++) {
        kvs_engine *e = open_engine("hand");
        kvs_xfer *x = left ? prep(e, KVS_READ, 2, memory, 16) : NULL;
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
        expect_no_engine(e);
        if (x) {
            expect_rc(kvs_xfer_check(x), KVS_NOT_POSTED);
            release(x);
            expect_no_engine(e);
        }
    }
}

/* KVS-REQ-107 KVS-REQ-136 */
static void test_never_handles(void **state)
{
    (void)state;
    kvs_engine *e = open_engine("hand");
    expect_no_xfer((kvs_xfer *)(void *)memory);
    expect_no_xfer((kvs_xfer *)(uintptr_t)64); /* nothing is mapped there */
    expect_no_engine((kvs_engine *)(uintptr_t)64);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* More handles than the table has room for: then none is taken for a wrong one, until there are fewer. */
static void test_many(void **state)
{
    static char addresses[16 * 40000];
    enum { many = 40000 };
    (void)state;
    for (int i = 0; i < many; i++)
        kvs_handle_add(addresses + 16 * i);
    for (int i = 0; i < many; i++)
        assert_true(kvs_handle_live(addresses + 16 * i, "a test"));
    for (int i = 0; i < many; i++)
        kvs_handle_remove(addresses + 16 * i);
    lines = 0;
    assert_false(kvs_handle_live(addresses, "a test"));
    expect_line("a test");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_transfers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_engines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_never_handles, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* What was given back is not looked for here; what works goes on as it does. */
static void test_nothing_is_checked(void **state)
{
    (void)state;
    hand_reset();
    assert_true(kvs_handle_live(memory, "a test"));
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 2, memory, 16);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
