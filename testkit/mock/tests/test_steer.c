/* SPDX-License-Identifier: Apache-2.0 */
/* How tests steer the mock: ios that are held, cancelled, slow, faulty, or completed again. */
#include "mock_test.h"

#include <poll.h>

/* KVS-REQ-109: submit does not wait. Held ios stay open and touch nothing, and go in the order in which they
 * came. */
static void test_hold(void **state)
{
    (void)state;
    for (size_t m = 1; m < sizeof(models) / sizeof(models[0]); m++) {
        struct fh_engine engine;
        char a[] = "aaaa", b[] = "bbbb", back[5] = "";
        kvs_mock_reset("hold");
        open_mock(&engine, "hold", models[m], "hold", "yes");
        struct fh_batch *first = fh_batch_new(&engine, KVS_WRITE, 2),
                        *second = fh_batch_new(&engine, KVS_READ, 1);
        fh_io_set(first, 0, "k", a, 4);
        fh_io_set(first, 1, "k", b, 4);
        fh_io_set(second, 0, "k", back, 4);
        assert_int_equal(fh_submit(first), KVS_OK);
        assert_int_equal(fh_submit(second), KVS_OK);
        assert_int_equal(kvs_mock_wait_held("hold", 3, KVS_SEC(30)), KVS_OK);
        assert_int_equal(kvs_mock_wait_held("hold", 4, 1), KVS_TIMEOUT);
        assert_int_equal(counts_of("hold").ios, 3);
        assert_int_equal(counts_of("hold").puts, 0);
        assert_int_equal(kvs_mock_let_go("hold", 2), 2);
        fh_wait(first);
        assert_int_equal(fh_status(second, 0), FH_OPEN);
        memcpy(a, "AAAA", 4); /* too late to matter */
        assert_int_equal(kvs_mock_let_go("hold", SIZE_MAX), 1);
        fh_wait(second);
        assert_int_equal(fh_status(second, 0), KVS_OK);
        assert_string_equal(back, "bbbb");
        assert_int_equal(kvs_mock_let_go("hold", SIZE_MAX), 0);
        fh_batch_free(first);
        fh_batch_free(second);
        fh_close(&engine);
    }
}

static void *put_one(void *arg)
{
    char value[] = "v";
    int status = fh_one(arg, KVS_WRITE, "k", value, 1, NULL);
    return status == KVS_OK ? arg : NULL;
}

static void test_hold_blocking(void **state)
{
    (void)state;
    struct fh_engine engine;
    pthread_t thread;
    void *answer;
    open_mock(&engine, "hold-blocking", "blocking", "hold", "yes");
    assert_true(engine.limits.flags & KVS_F_USE_BLOCKING);
    assert_true(engine.limits.caps_none & KVS_CAP_CANCEL);
    pthread_create(&thread, NULL, put_one, &engine);
    assert_int_equal(kvs_mock_wait_held("hold-blocking", 1, KVS_SEC(30)), KVS_OK);
    assert_int_equal(counts_of("hold-blocking").puts, 0);
    assert_int_equal(kvs_mock_let_go("hold-blocking", 1), 1);
    pthread_join(thread, &answer);
    assert_ptr_equal(answer, &engine);
    fh_close(&engine);
}

/* KVS-REQ-257: with cancel each io still ends once, and the store has not seen it; without, nothing happens
 */
static void test_cancel(void **state)
{
    (void)state;
    static const char *const waits[][2] = {{"hold", "yes"}, {"latency", "3600000000000"}};
    for (size_t m = 1; m < sizeof(models) / sizeof(models[0]); m++) {
        for (size_t w = 0; w < 2; w++) {
            struct fh_engine engine;
            char value[] = "v";
            kvs_mock_reset("cancel");
            open_mock(&engine, "cancel", models[m], waits[w][0], waits[w][1]);
            assert_true(engine.limits.caps_native & KVS_CAP_CANCEL);
            struct fh_batch *batch = fh_batch_new(&engine, KVS_WRITE, 9),
                            *other = fh_batch_new(&engine, KVS_WRITE, 1);
            for (uint32_t i = 0; i < 9; i++)
                fh_io_set(batch, i, "k", value, 1);
            fh_io_set(other, 0, "k", value, 1);
            assert_int_equal(fh_submit(batch), KVS_OK);
            assert_int_equal(fh_submit(other), KVS_OK);
            kvs_mock_backend.cancel(engine.priv, &batch->batch);
            kvs_mock_backend.cancel(engine.priv, &batch->batch);
            fh_wait(batch);
            for (uint32_t i = 0; i < 9; i++) {
                assert_int_equal(fh_status(batch, i), KVS_CANCELED);
                assert_int_equal(fh_times(batch, i), 1);
            }
            assert_int_equal(fh_status(other, 0), FH_OPEN);
            assert_int_equal(counts_of("cancel").puts, 0);
            assert_int_equal(counts_of("cancel").cancels, 2);
            kvs_mock_backend.cancel(engine.priv, &other->batch);
            fh_wait(other);
            assert_int_equal(counts_of("cancel").held, 0);
            fh_batch_free(batch);
            fh_batch_free(other);
            fh_close(&engine);
        }
    }
}

static void test_cancel_none(void **state)
{
    (void)state;
    struct fh_engine engine;
    const struct kvs_param_value params[] = {
        {"name", "none"}, {"model", "thread"}, {"hold", "yes"}, {"cancel", "none"}, {NULL, NULL}};
    char value[] = "v";
    assert_int_equal(fh_open(&engine, &kvs_mock_backend, params), KVS_OK);
    assert_true(engine.limits.caps_none & KVS_CAP_CANCEL);
    assert_false(engine.limits.caps_native & KVS_CAP_CANCEL);
    struct fh_batch *batch = fh_batch_new(&engine, KVS_WRITE, 1);
    fh_io_set(batch, 0, "k", value, 1);
    assert_int_equal(fh_submit(batch), KVS_OK);
    kvs_mock_backend.cancel(engine.priv, &batch->batch);
    assert_int_equal(counts_of("none").held, 1);
    kvs_mock_let_go("none", 1);
    fh_wait(batch);
    assert_int_equal(fh_status(batch, 0), KVS_OK);
    fh_batch_free(batch);
    fh_close(&engine);
}

/* Latency: the io ends, not before its time, on each model's way. */
static void test_latency(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
        struct fh_engine engine;
        char value[] = "v";
        open_mock(&engine, "latency", models[m], "latency", "3000000");
        uint64_t start = fh_host.now_ns();
        assert_int_equal(fh_one(&engine, KVS_WRITE, "k", value, 1, NULL), KVS_OK);
        assert_true(fh_host.now_ns() - start >= 3000000);
        fh_close(&engine);
    }
}

/* With nothing to do poll comes back at once; with something to do its descriptor is readable, or wake was
 * called. KVS-REQ-312 KVS-REQ-313 */
static void test_poll(void **state)
{
    (void)state;
    struct fh_engine engine;
    char value[] = "v";
    open_mock(&engine, "poll", "poll", "hold", "yes");
    struct pollfd fd = {.fd = kvs_mock_backend.poll_fd(engine.priv), .events = POLLIN};
    assert_true(fd.fd >= 0);
    struct fh_batch *batch = fh_batch_new(&engine, KVS_WRITE, 2);
    for (int round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 2; i++)
            fh_io_set(batch, i, "k", value, 1);
        assert_int_equal(kvs_mock_backend.poll(engine.priv, 16), 0);
        assert_int_equal(fh_submit(batch), KVS_OK);
        assert_int_equal(kvs_mock_wait_held("poll", 2, KVS_SEC(30)), KVS_OK);
        for (uint32_t i = 0; i < 2; i++) {
            int wakes = engine.wakes;
            assert_int_equal(kvs_mock_backend.poll(engine.priv, 16), 0);
            assert_int_equal(kvs_mock_let_go("poll", 1), 1);
            if (engine.wakes == wakes)
                assert_int_equal(poll(&fd, 1, 30000), 1);
            assert_int_equal(kvs_mock_backend.poll(engine.priv, 16), 1);
            assert_int_equal(fh_times(batch, i), 1);
        }
    }
    fh_batch_free(batch);
    fh_close(&engine);
}

/* KVS-REQ-118 KVS-REQ-119: a refused batch is not taken. Faults come in the order in which ios came. */
static void test_faults(void **state)
{
    (void)state;
    struct fh_engine engine;
    char value[] = "v";
    open_mock(&engine, "faults", "inline", "fail_at", "2");
    assert_int_equal(fh_one(&engine, KVS_WRITE, "k", value, 1, NULL), KVS_OK);
    assert_int_equal(fh_one(&engine, KVS_WRITE, "k2", value, 1, NULL), KVS_BACKEND);
    assert_int_equal(fh_one(&engine, KVS_QUERY, "k2", NULL, 0, NULL), KVS_NOT_FOUND);
    kvs_mock_set_fault("faults", KVS_MOCK_IO, 1, 2, 77);
    static const int expected[] = {KVS_OK, 77, 77, KVS_OK};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(fh_one(&engine, KVS_READ, "k", value, 1, NULL), expected[i]);
    uint64_t ios = counts_of("faults").ios;
    kvs_mock_set_fault("faults", KVS_MOCK_SUBMIT, 0, 1, KVS_AGAIN);
    assert_int_equal(fh_one(&engine, KVS_READ, "k", value, 1, NULL), KVS_AGAIN);
    assert_int_equal(counts_of("faults").ios, ios);
    struct fh_batch *refused = fh_batch_new(&engine, KVS_WRITE, 2);
    fh_io_set(refused, 0, "r", value, 1);
    fh_io_set(refused, 1, "r", value, 1);
    kvs_mock_set_fault("faults", KVS_MOCK_SUBMIT, 0, 1, KVS_DISCONNECTED);
    assert_int_equal(fh_submit(refused), KVS_DISCONNECTED);
    assert_int_equal(fh_times(refused, 0) + fh_times(refused, 1), 0);
    assert_int_equal(counts_of("faults").ios, ios);
    fh_batch_free(refused);
    assert_int_equal(fh_one(&engine, KVS_QUERY, "r", NULL, 0, NULL), KVS_NOT_FOUND);
    assert_int_equal(fh_one(&engine, KVS_READ, "k", value, 1, NULL), KVS_OK);
    kvs_mock_set_fault("faults", KVS_MOCK_REGISTER, 0, UINT64_MAX, KVS_ACCESS);
    assert_int_equal(kvs_mock_backend.on_register(engine.priv, NULL, KVS_MEM_DRAM, NULL), KVS_ACCESS);
    assert_int_equal(kvs_mock_backend.on_deregister(engine.priv, NULL), KVS_OK);
    assert_int_equal(counts_of("faults").registers, 1);
    assert_int_equal(kvs_mock_set_fault("faults", KVS_MOCK_POINTS, 0, 1, 0), KVS_INVALID_PARAM);
    fh_close(&engine);
    kvs_mock_reset("faults");
    const struct kvs_param_value params[] = {
        {"name", "faults"}, {"fail_at", "1"}, {"fail_with", "FULL"}, {NULL, NULL}};
    assert_int_equal(fh_open(&engine, &kvs_mock_backend, params), KVS_OK);
    assert_int_equal(fh_one(&engine, KVS_WRITE, "k", value, 1, NULL), KVS_FULL);
    fh_close(&engine);
}

static void test_complete_again(void **state)
{
    (void)state;
    struct fh_engine engine;
    char value[] = "v";
    open_mock(&engine, "again", "inline", NULL, NULL);
    assert_int_equal(kvs_mock_complete_again("again", KVS_MOCK_BY_IO, KVS_OK), KVS_NOT_FOUND);
    struct fh_batch *batch = fh_batch_new(&engine, KVS_WRITE, 1);
    fh_io_set(batch, 0, "k", value, 1);
    assert_int_equal(fh_submit(batch), KVS_OK);
    assert_int_equal(kvs_mock_complete_again("again", KVS_MOCK_BY_IO, KVS_BACKEND), KVS_OK);
    assert_int_equal(kvs_mock_complete_again("again", KVS_MOCK_BY_TOKEN, KVS_BACKEND), KVS_OK);
    assert_int_equal(fh_times(batch, 0), 3);
    assert_int_equal(fh_status(batch, 0), KVS_OK);
    kvs_mock_wake("again");
    assert_int_equal(engine.wakes, 1);
    fh_batch_free(batch);
    fh_close(&engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hold),           cmocka_unit_test(test_hold_blocking),
        cmocka_unit_test(test_cancel),         cmocka_unit_test(test_cancel_none),
        cmocka_unit_test(test_latency),        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_complete_again), cmocka_unit_test(test_poll),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
