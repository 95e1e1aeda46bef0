/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for any of many transfers. */
#include "engine_test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { N = 4 };

static unsigned char memory[16][16];

static void prep_all(kvs_engine *e, kvs_xfer **x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = prep(e, KVS_WRITE, 1, memory[i], 16);
}

static void release_all(kvs_xfer **x, int n)
{
    for (int i = 0; i < n; i++)
        release(x[i]);
}

/* What cannot be waited for is refused, and leaves the index alone. KVS-REQ-107 KVS-REQ-135 */
static void test_refused(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_engine *other = open_same(&f, *state, "");
    kvs_xfer *x[3] = {prep(f.e, KVS_WRITE, 1, memory, 16), NULL, prep(other, KVS_WRITE, 1, memory, 16)};
    size_t index = 7;
    expect_rc(kvs_xfer_wait_any(NULL, 2, 0, &index), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_wait_any(x, 0, 0, &index), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_wait_any(&x[1], 1, LONG, &index), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_wait_any(x, 3, LONG, &index), KVS_INVALID_PARAM);
    kvs_xfer *wrong[2] = {x[0], (kvs_xfer *)(void *)f.e};
    expect_rc(kvs_xfer_wait_any(wrong, 2, LONG, &index), KVS_INVALID_PARAM);
    assert_int_equal(index, 7);
    release(x[0]);
    release(x[2]);
    assert_int_equal(kvs_engine_close(other, LONG, NULL), KVS_OK);
    close_mock(&f);
}

/* The first that has ended is named; those that run are left as they are. KVS-REQ-325 KVS-REQ-300 */
static void test_which(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&threads=8");
    kvs_xfer *x[N];
    size_t index = 7;
    prep_all(f.e, x, N);
    expect_rc(kvs_xfer_wait_any(x, N, LONG, &index), KVS_OK); /* never posted: it does not run */
    assert_int_equal(index, 0);
    for (int i = 0; i < N; i++) {
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
        wait_held(&f, (size_t)i + 1);
    }
    index = 7;
    expect_rc(kvs_xfer_wait_any(x, N, 0, &index), KVS_IN_PROG);
    expect_rc(kvs_xfer_wait_any(x, N, KVS_MS(1), &index), KVS_IN_PROG);
    assert_int_equal(index, 7);
    assert_int_equal(counts_of(&f).cancels, 0);
    assert_int_equal(counts_of(&f).held, N);
    for (int i = 0; i < N; i++) {
        let_go(&f, 1); /* the oldest */
        expect_rc(kvs_xfer_wait_any(x, N, LONG, &index), KVS_OK);
        expect_rc(kvs_xfer_check(x[index]), KVS_OK);
        release(x[index]);
        x[index] = NULL; /* left out from now on */
    }
    expect_rc(kvs_xfer_wait_any(x, N, LONG, NULL), KVS_INVALID_PARAM);
    close_mock(&f);
}

static void wait_inside(kvs_xfer *x, int status, void *arg)
{
    size_t index;
    (void)status;
    atomic_store((atomic_int *)arg, kvs_xfer_wait_any(&x, 1, LONG, &index));
}

/* One with a done function has ended when that has returned; inside it nothing waits. KVS-REQ-215 KVS-REQ-214
 */
static void test_done(void **state)
{
    struct fixture f;
    atomic_int inside;
    atomic_init(&inside, 77);
    open_mock(&f, *state, "latency=1ms");
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 1, memory, 16, wait_inside, &inside);
    for (int i = 0; i < 20; i++) {
        atomic_store(&inside, 77);
        post(x);
        expect_rc(kvs_xfer_wait_any(&x, 1, LONG, NULL), KVS_OK);
        expect_rc(atomic_load(&inside), KVS_NOT_ALLOWED);
    }
    release(x);
    close_mock(&f);
}

/* One that is held has ended. KVS-REQ-325 KVS-REQ-269 */
static void test_held(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=8&timeout=20ms&cancel_grace=20ms");
    kvs_xfer *x[2];
    size_t index = 7;
    kvs_set_log(no_log, NULL, -1);
    prep_all(f.e, x, 2);
    post_held(&f, x[1], 1);
    kvs_xfer *these[2] = {NULL, x[1]};
    expect_rc(kvs_xfer_wait_any(these, 2, LONG, &index), KVS_OK);
    assert_int_equal(index, 1);
    expect_rc(kvs_xfer_check(x[1]), KVS_TIMEOUT);
    let_go(&f, 1);
    eventually(kvs_xfer_release(x[1], 0) == KVS_OK);
    release(x[0]);
    close_mock(&f);
    kvs_set_log(NULL, NULL, -1);
}

/* ---- Several threads ---- */

struct waiter {
    pthread_t thread;
    kvs_xfer *const *x;
    size_t n;
    int rc;
    size_t index;
};

static void *any_main(void *arg)
{
    struct waiter *w = arg;
    w->rc = kvs_xfer_wait_any(w->x, w->n, LONG, &w->index);
    return NULL;
}

static void *one_main(void *arg)
{
    struct waiter *w = arg;
    w->rc = kvs_xfer_wait(w->x[0], LONG);
    return NULL;
}

/* Many wait for the same, in both ways; one end wakes them all. KVS-REQ-326 KVS-REQ-325 */
static void test_same(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&threads=8");
    kvs_xfer *x[N];
    prep_all(f.e, x, N);
    for (int round = 0; round < ROUNDS(500); round++) {
        struct waiter w[6];
        for (int i = 0; i < N; i++) {
            expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
            wait_held(&f, (size_t)i + 1);
        }
        for (int i = 0; i < 6; i++) {
            w[i] = (struct waiter){.x = x, .n = N};
            assert_int_equal(pthread_create(&w[i].thread, NULL, i % 3 ? any_main : one_main, &w[i]), 0);
        }
        if (round % 2)
            pause_briefly();
        let_go(&f, 1); /* the first, which all of them wait for */
        for (int i = 0; i < 6; i++) {
            assert_int_equal(pthread_join(w[i].thread, NULL), 0);
            expect_rc(w[i].rc, KVS_OK);
            assert_int_equal(w[i].index, 0);
        }
        let_go(&f, N - 1);
        for (int i = 1; i < N; i++)
            expect_rc(wait_end(x[i]), KVS_OK);
    }
    release_all(x, N);
    close_mock(&f);
}

struct runner {
    pthread_t thread;
    kvs_engine *e;
    int number, rounds;
    const char *failed;
};

/* Keeps its transfers running, and posts again each that it is told of. */
static void *run_main(void *arg)
{
    struct runner *r = arg;
    kvs_xfer *x[N];
    int left = r->rounds, running = N;
    prep_all(r->e, x, N);
    for (int i = 0; i < N; i++)
        (void)kvs_xfer_post(x[i]);
    while (running > 0) {
        size_t index = 77;
        if (kvs_xfer_wait_any(x, N, LONG, &index) != KVS_OK || index >= N || !x[index]) {
            r->failed = "an end was not told, or a wrong one was";
            return NULL;
        }
        if (kvs_xfer_check(x[index]) != KVS_OK)
            r->failed = "one that was named has not ended well";
        if (left-- > 0) {
            (void)kvs_xfer_post(x[index]);
            continue;
        }
        (void)kvs_xfer_release(x[index], LONG);
        x[index] = NULL;
        running--;
    }
    return NULL;
}

/* Threads with transfers of their own, one of which waits for one at a time: no end is lost. KVS-REQ-326
 * KVS-REQ-308 */
static void hammer(const char *model, const char *more)
{
    struct fixture f;
    enum { T = 3 };
    struct runner r[T];
    open_mock(&f, model, more);
    for (int i = 0; i < T; i++) {
        r[i] = (struct runner){.e = f.e, .number = i, .rounds = ROUNDS(10000)};
        assert_int_equal(pthread_create(&r[i].thread, NULL, run_main, &r[i]), 0);
    }
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    for (int i = 0; i < ROUNDS(5000); i++)
        expect_rc(run_it(x), KVS_OK);
    for (int i = 0; i < T; i++) {
        assert_int_equal(pthread_join(r[i].thread, NULL), 0);
        if (r[i].failed)
            fail_msg("%s", r[i].failed);
    }
    release(x);
    close_mock(&f);
}

static void test_hammer(void **state)
{
    hammer(*state, "");
    hammer(*state, "progress=thread");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_refused), EACH_MODEL(test_which), EACH_MODEL(test_done),
        EACH_MODEL(test_held),    EACH_MODEL(test_same),  EACH_MODEL(test_hammer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
