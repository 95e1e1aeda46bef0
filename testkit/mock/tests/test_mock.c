/* SPDX-License-Identifier: Apache-2.0 */
/* The mock as a store: its functions, called as the host calls them. */
#include "mock_test.h"

#include <sys/wait.h>
#include <unistd.h>

/* KVS-REQ-351 KVS-REQ-352 KVS-REQ-353 KVS-REQ-359 KVS-REQ-361 KVS-REQ-370 KVS-REQ-371 KVS-REQ-374 KVS-REQ-375
 */
static void test_operations(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
        struct fh_engine engine;
        char four[] = "abcd", back[8] = "-------";
        uint64_t actual;
        open_mock(&engine, "operations", models[m], NULL, NULL);
        assert_true(engine.limits.flags & KVS_F_EMULATED);
        /* KVS-REQ-363: there is no second copy to which it could fail over */
        assert_true(kvs_mock_backend.caps_native & KVS_CAP_CONSISTENCY);
        assert_int_equal(fh_one(&engine, KVS_READ, "k", back, 4, NULL), KVS_NOT_FOUND);
        assert_int_equal(fh_one(&engine, KVS_QUERY, "k", NULL, 0, NULL), KVS_NOT_FOUND);
        assert_int_equal(fh_one(&engine, KVS_REMOVE, "k", NULL, 0, NULL), KVS_NOT_FOUND);
        assert_int_equal(fh_one(&engine, KVS_WRITE, "k", four, 4, NULL), KVS_OK);
        assert_int_equal(fh_one(&engine, KVS_READ, "k", back, 5, &actual), KVS_OK);
        assert_int_equal(actual, 4);
        assert_string_equal(back, "-------");
        assert_int_equal(fh_one(&engine, KVS_READ, "k", back, 4, &actual), KVS_OK);
        assert_int_equal(actual, 4);
        assert_string_equal(back, "abcd---");
        assert_int_equal(fh_one(&engine, KVS_WRITE, "k", NULL, 0, NULL), KVS_OK);
        assert_int_equal(fh_one(&engine, KVS_QUERY, "k", NULL, 0, &actual), KVS_OK);
        assert_int_equal(actual, 0);
        assert_int_equal(fh_one(&engine, KVS_REMOVE, "k", NULL, 0, NULL), KVS_OK);
        assert_int_equal(fh_one(&engine, KVS_QUERY, "k", NULL, 0, NULL), KVS_NOT_FOUND);
        fh_close(&engine);
    }
}

/* KVS-REQ-356: a part of a value, and what is left of it past its end */
static void test_ranged(void **state)
{
    (void)state;
    struct fh_engine engine;
    char value[] = "0123456789", back[8] = "-------";
    open_mock(&engine, "ranged", "inline", NULL, NULL);
    assert_int_equal(fh_one(&engine, KVS_WRITE, "k", value, 10, NULL), KVS_OK);
    static const struct {
        uint64_t offset, len, actual;
        const char *back;
    } rows[] = {{3, 4, 4, "3456---"},         {0, 2, 2, "01-----"},  {6, 4, 4, "6789---"},
                {7, 4, 3, "-------"},         {10, 1, 0, "-------"}, {11, 1, 0, "-------"},
                {UINT64_MAX, 1, 0, "-------"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fh_batch *batch = fh_batch_new(&engine, KVS_READ, 1);
        fh_io_set(batch, 0, "k", back, rows[i].len);
        batch->batch.ios->flags = KVS_IO_RANGED;
        batch->batch.ios->offset = rows[i].offset;
        memcpy(back, "-------", sizeof(back));
        assert_int_equal(fh_submit(batch), KVS_OK);
        assert_int_equal(fh_status(batch, 0), KVS_OK);
        assert_int_equal(batch->batch.ios->actual, rows[i].actual);
        assert_string_equal(back, rows[i].back);
        fh_batch_free(batch);
    }
    fh_close(&engine);
}

/* KVS-REQ-410 KVS-REQ-150: many keys in ios of a longer stride; the table grows */
static void test_many_keys(void **state)
{
    (void)state;
    enum { N = 3000 };
    for (size_t m = 1; m < sizeof(models) / sizeof(models[0]); m++) {
        struct fh_engine engine;
        static char keys[N][8];
        static uint32_t values[N], back[N];
        open_mock(&engine, "many", models[m], NULL, NULL);
        struct fh_batch *puts = fh_batch_new(&engine, KVS_WRITE, N),
                        *gets = fh_batch_new(&engine, KVS_READ, N);
        for (uint32_t i = 0; i < N; i++) {
            snprintf(keys[i], sizeof(keys[i]), "%u", i);
            values[i] = i * 7 + (uint32_t)m;
            fh_io_set(puts, i, keys[i], &values[i], 4);
            fh_io_set(gets, i, keys[i], &back[i], 4);
        }
        assert_int_equal(fh_submit(puts), KVS_OK);
        fh_wait(puts);
        assert_int_equal(fh_submit(gets), KVS_OK);
        fh_wait(gets);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(fh_status(gets, i), KVS_OK);
            assert_int_equal(fh_times(gets, i), 1);
            assert_int_equal(fh_times(puts, i), 1);
        }
        assert_memory_equal(values, back, sizeof(values));
        fh_batch_free(puts);
        fh_batch_free(gets);
        fh_close(&engine);
    }
}

struct seen {
    int n, stop_after;
    uint64_t bytes;
};

static int see(void *arg, const void *key, size_t len, uint64_t size)
{
    struct seen *seen = arg;
    assert_true(len >= 2 && memcmp(key, "a/", 2) == 0);
    seen->bytes += size;
    return ++seen->n == seen->stop_after ? 42 : 0;
}

/* KVS-REQ-088 KVS-REQ-447 */
static void test_list(void **state)
{
    (void)state;
    struct fh_engine engine;
    char value[] = "xyz";
    open_mock(&engine, "list", "inline", NULL, NULL);
    static const char *const keys[] = {"a/1", "a/2", "a", "b/1", "a/"};
    for (size_t i = 0; i < 5; i++)
        fh_one(&engine, KVS_WRITE, keys[i], value, i % 4, NULL);
    struct seen seen = {0};
    assert_int_equal(kvs_mock_backend.list(engine.priv, "a/", 2, see, &seen, 0), KVS_OK);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.bytes, 0 + 1 + 0);
    seen = (struct seen){.stop_after = 2};
    assert_int_equal(kvs_mock_backend.list(engine.priv, "a/", 2, see, &seen, 0), 42);
    assert_int_equal(seen.n, 2);
    seen = (struct seen){0};
    assert_int_equal(kvs_mock_backend.list(engine.priv, "a/", 2, see, &seen, 1), KVS_TIMEOUT);
    assert_int_equal(seen.n, 0);
    fh_close(&engine);
}

/* KVS-REQ-387: engines of one name share the store, those of another do not; it outlives them */
static void test_sharing(void **state)
{
    (void)state;
    struct fh_engine one, two, other;
    char value[] = "v", back[2] = "";
    open_mock(&one, "sharing", "inline", NULL, NULL);
    open_mock(&two, "sharing", "poll", NULL, NULL);
    open_mock(&other, "other", "inline", NULL, NULL);
    assert_int_equal(counts_of("sharing").engines, 2);
    assert_int_equal(fh_one(&one, KVS_WRITE, "k", value, 1, NULL), KVS_OK);
    assert_int_equal(fh_one(&two, KVS_READ, "k", back, 1, NULL), KVS_OK);
    assert_int_equal(fh_one(&other, KVS_QUERY, "k", NULL, 0, NULL), KVS_NOT_FOUND);
    fh_close(&one);
    fh_close(&two);
    fh_close(&other);
    open_mock(&one, "sharing", "inline", NULL, NULL);
    assert_int_equal(fh_one(&one, KVS_READ, "k", back, 1, NULL), KVS_OK);
    kvs_mock_reset("sharing");
    assert_int_equal(fh_one(&one, KVS_READ, "k", back, 1, NULL), KVS_NOT_FOUND);
    assert_int_equal(counts_of("sharing").engines, 1);
    assert_int_equal(counts_of("sharing").gets, 1);
    fh_close(&one);
}

/* One writes AAAA or BBBB over and over; stops when told. */
struct hammer {
    struct fh_engine *engine;
    _Atomic int stop;
};

static void *write_on(void *arg)
{
    struct hammer *hammer = arg;
    static char a[4096], b[4096];
    memset(a, 'A', sizeof(a));
    memset(b, 'B', sizeof(b));
    for (int i = 0; !hammer->stop; i++)
        fh_one(hammer->engine, KVS_WRITE, "k", i % 2 ? a : b, sizeof(a), NULL);
    return NULL;
}

/* KVS-REQ-366 KVS-REQ-434 */
static void test_whole_values(void **state)
{
    (void)state;
    struct fh_engine engine;
    struct hammer hammer = {.engine = &engine};
    pthread_t thread;
    char back[4096];
    open_mock(&engine, "whole", "inline", NULL, NULL);
    memset(back, 'A', sizeof(back));
    assert_int_equal(fh_one(&engine, KVS_WRITE, "k", back, sizeof(back), NULL), KVS_OK);
    pthread_create(&thread, NULL, write_on, &hammer);
    int seen[2] = {0, 0};
    for (int i = 0; i < 2000 || !seen[0] || !seen[1]; i++) {
        assert_int_equal(fh_one(&engine, KVS_READ, "k", back, sizeof(back), NULL), KVS_OK);
        for (size_t at = 1; at < sizeof(back); at++)
            assert_int_equal(back[at], back[0]);
        seen[back[0] == 'B'] = 1;
    }
    hammer.stop = 1;
    pthread_join(thread, NULL);
    fh_close(&engine);
}

/* KVS-REQ-460: a child has no stores of its parent */
static void test_fork(void **state)
{
    (void)state;
    struct fh_engine engine;
    char value[] = "v";
    open_mock(&engine, "fork", "inline", NULL, NULL);
    assert_int_equal(fh_one(&engine, KVS_WRITE, "k", value, 1, NULL), KVS_OK);
    pid_t child = fork();
    if (child == 0) {
        struct fh_engine mine;
        const struct kvs_param_value params[] = {{"name", "fork"}, {"model", "thread"}, {NULL, NULL}};
        int ok = fh_open(&mine, &kvs_mock_backend, params) == KVS_OK &&
                 fh_one(&mine, KVS_QUERY, "k", NULL, 0, NULL) == KVS_NOT_FOUND &&
                 fh_one(&mine, KVS_WRITE, "k", value, 1, NULL) == KVS_OK;
        _exit(ok ? 0 : 1);
    }
    int wstatus;
    assert_int_equal(waitpid(child, &wstatus, 0), child);
    assert_true(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0);
    assert_int_equal(fh_one(&engine, KVS_QUERY, "k", NULL, 0, NULL), KVS_OK);
    fh_close(&engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_ranged),
        cmocka_unit_test(test_many_keys),  cmocka_unit_test(test_list),
        cmocka_unit_test(test_sharing),    cmocka_unit_test(test_whole_values),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
