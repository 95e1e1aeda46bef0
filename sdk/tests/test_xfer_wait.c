/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting and making progress. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[8 * 16];

/* A wait whose time ends says so and changes nothing. KVS-REQ-300 */
static void test_short(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_wait(x, 0), KVS_NOT_POSTED);
    expect_rc(kvs_xfer_wait(x, LONG), KVS_NOT_POSTED);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 2);
    for (int i = 0; i < 10; i++) {
        expect_rc(kvs_xfer_wait(x, 0), KVS_IN_PROG);
        expect_rc(kvs_xfer_wait(x, 1), KVS_IN_PROG);
        expect_rc(kvs_xfer_wait(x, KVS_MS(1)), KVS_IN_PROG);
    }
    assert_int_equal(open_ios(x), 2);
    assert_int_equal(counts_of(&f).held, 2);
    assert_int_equal(counts_of(&f).cancels, 0);
    let_go(&f, 2);
    expect_rc(kvs_xfer_wait(x, KVS_FOREVER), KVS_OK);
    expect_rc(kvs_xfer_wait(x, 0), KVS_OK);
    release(x);
    close_mock(&f);
}

/* Who has waited once does not cost every later completion a signal. KVS-REQ-176 */
static void test_nobody_waits(void **state)
{
    struct fixture f;
    (void)state;
    open_mock(&f, "thread", "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_rc(kvs_xfer_wait(x, KVS_MS(1)), KVS_IN_PROG);
    assert_true(kvs_a64_load(&x->word) & KVS_W_WAITER);
    wait_held(&f, 1);
    let_go(&f, 1);
    expect_rc(wait_end(x), KVS_OK);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    assert_false(kvs_a64_load(&x->word) & KVS_W_WAITER);
    wait_held(&f, 1);
    let_go(&f, 1);
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    close_mock(&f);
}

struct waiter {
    kvs_xfer *x;
    pthread_t thread;
    int rc;
};

static void *wait_main(void *arg)
{
    struct waiter *w = arg;
    w->rc = kvs_xfer_wait(w->x, LONG);
    return NULL;
}

/* Several threads wait, each for its own; whoever polls does it for all, and hands it on when it leaves.
 * KVS-REQ-306 KVS-REQ-307 KVS-REQ-308 KVS-REQ-302 KVS-REQ-301 */
static void test_many_waiters(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&threads=8");
    enum { N = 5 };
    struct waiter w[N];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) {
            w[i].x = prep(f.e, KVS_WRITE, 1, memory, 16);
            expect_rc(kvs_xfer_post(w[i].x), KVS_IN_PROG);
        }
        wait_held(&f, N);
        for (int i = 0; i < N; i++)
            assert_int_equal(pthread_create(&w[i].thread, NULL, wait_main, &w[i]), 0);
        for (int i = 0; i < N; i++) {
            let_go(&f, 1);
            if (round % 2)
                pause_briefly();
        }
        for (int i = 0; i < N; i++) {
            assert_int_equal(pthread_join(w[i].thread, NULL), 0);
            expect_rc(w[i].rc, KVS_OK);
            release(w[i].x);
        }
    }
    close_mock(&f);
}

/* A completion on another thread ends a wait that sleeps. KVS-REQ-301 */
static void test_woken(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "latency=3ms");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    for (int i = 0; i < 20; i++)
        expect_rc(run_it(x), KVS_OK);
    release(x);
    close_mock(&f);
}

/* Nobody calls: the service thread polls. KVS-REQ-309 */
static void test_service_polls(void **state)
{
    struct fixture f;
    (void)state;
    open_mock(&f, "poll", "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    for (unsigned i = 1; i <= 10; i++) {
        post(x);
        eventually(counts_of(&f).puts == 3 * i);
        expect_rc(wait_end(x), KVS_OK);
    }
    release(x);
    close_mock(&f);
}

/* check and progress poll once each. KVS-REQ-305 */
static void test_check_polls(void **state)
{
    struct fixture f;
    (void)state;
    open_mock(&f, "poll", "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    post(x);
    eventually(kvs_xfer_check(x) == KVS_OK);
    post(x);
    eventually(kvs_engine_progress(f.e) == KVS_OK && counts_of(&f).puts == 6);
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    close_mock(&f);
}

static atomic_uint polled;

static int end_one(void)
{
    /* One io of the oldest batch that is open. */
    static uint32_t next; /* of 2; only one thread polls at a time */
    unsigned n = atomic_fetch_add(&polled, 1);
    hand_end(hand_batch(n / 2), next, KVS_OK);
    next = 1 - next;
    return 1;
}

static void *check_main(void *arg)
{
    kvs_xfer *x = arg;
    while (kvs_xfer_check(x) == KVS_IN_PROG)
        pause_briefly();
    return NULL;
}

/* poll is never entered twice, nor beside submit, with as many callers as there are. KVS-REQ-303 KVS-REQ-304
 * KVS-REQ-433 */
static void test_one_in_poll(void **state)
{
    (void)state;
    hand_reset();
    atomic_store(&polled, 0);
    hand.on_poll = end_one;
    kvs_engine *e = open_engine("hand-serial");
    enum { N = 4 };
    kvs_xfer *x[N];
    pthread_t t[N], w;
    for (int i = 0; i < N; i++) {
        x[i] = prep(e, KVS_WRITE, 2, memory, 16);
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
        assert_int_equal(pthread_create(&t[i], NULL, check_main, x[i]), 0);
    }
    kvs_xfer *last = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(last), KVS_IN_PROG);
    struct waiter waiter = {.x = last};
    assert_int_equal(pthread_create(&w, NULL, wait_main, &waiter), 0);
    hand_await(N + 1);
    for (int i = 0; i < 2 * (N + 1); i++) {
        hand_ring();
        eventually(atomic_load(&polled) > (unsigned)i);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_join(t[i], NULL), 0);
        release(x[i]);
    }
    assert_int_equal(pthread_join(w, NULL), 0);
    expect_rc(waiter.rc, KVS_OK);
    release(last);
    assert_int_equal(atomic_load(&hand.together), 1);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_short),
        cmocka_unit_test(test_nobody_waits),
        EACH_MODEL(test_many_waiters),
        EACH_MODEL(test_woken),
        cmocka_unit_test(test_service_polls),
        cmocka_unit_test(test_check_polls),
        cmocka_unit_test(test_one_in_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
