/* SPDX-License-Identifier: Apache-2.0 */
/* progress=thread: the service thread alone polls. */
#include "engine_test.h"
#include "hand.h"
#include "owner.h"

#include <semaphore.h>

static unsigned char memory[8 * 16];

static int end_all(void)
{
    uint32_t n = hand_taken();
    for (uint32_t i = 0; i < n; i++)
        hand_end(hand_batch(i), 0, KVS_OK);
    pthread_mutex_lock(&hand.lock);
    hand.taken = 0;
    pthread_mutex_unlock(&hand.lock);
    return (int)n;
}

struct waiter {
    pthread_t thread;
    kvs_xfer *x;
    int rc;
};

static void *wait_main(void *arg)
{
    struct waiter *w = arg;
    hand_is_test = true;
    w->rc = kvs_xfer_wait(w->x, LONG);
    return NULL;
}

/* However much callers check, wait and make progress: none of them polls. KVS-REQ-311 */
static void test_callers_never_poll(void **state)
{
    (void)state;
    hand_reset();
    hand.on_poll = end_all;
    kvs_engine *e = open_engine("hand-serial:?progress=thread");
    enum { W = 3 };
    struct waiter w[W];
    hand_is_test = true;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < W; i++) {
            w[i].x = prep(e, KVS_WRITE, 1, memory, 16);
            expect_rc(kvs_xfer_post(w[i].x), KVS_IN_PROG);
            assert_int_equal(pthread_create(&w[i].thread, NULL, wait_main, &w[i]), 0);
        }
        kvs_xfer *mine = prep(e, KVS_WRITE, 1, memory, 16);
        expect_rc(kvs_xfer_post(mine), KVS_IN_PROG);
        for (int i = 0; i < 20; i++) {
            expect_rc(kvs_xfer_check(mine), KVS_IN_PROG);
            expect_rc(kvs_engine_progress(e), KVS_OK);
        }
        expect_rc(kvs_xfer_wait(mine, KVS_MS(2)), KVS_IN_PROG);
        expect_rc(kvs_xfer_wait_any(&mine, 1, KVS_MS(2), NULL), KVS_IN_PROG);
        hand_await(W + 1);
        hand_ring();
        if (round % 2)
            expect_rc(wait_end(mine), KVS_OK);
        else
            expect_rc(kvs_xfer_wait_any(&mine, 1, LONG, NULL), KVS_OK);
        release(mine);
        for (int i = 0; i < W; i++) {
            assert_int_equal(pthread_join(w[i].thread, NULL), 0);
            expect_rc(w[i].rc, KVS_OK);
            release(w[i].x);
        }
    }
    assert_true(atomic_load(&hand.polls) > 0);
    assert_int_equal(atomic_load(&hand.polls_by_tests), 0);
    assert_int_equal(atomic_load(&hand.together), 1);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    assert_int_equal(atomic_load(&hand.polls_by_tests), 0);
}

/* As is seen above only because this is not so: a caller polls. KVS-REQ-305 */
static void test_callers_poll(void **state)
{
    (void)state;
    hand_reset();
    hand.on_poll = end_all;
    kvs_engine *e = open_engine("hand-serial:?progress=caller");
    hand_is_test = true;
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    eventually(kvs_xfer_check(x) == KVS_IN_PROG && atomic_load(&hand.polls_by_tests) > 0);
    hand_await(1);
    hand_ring();
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

struct owner {
    pthread_t thread;
    kvs_xfer *x;
    uint64_t time;
    atomic_bool left;
};

static void *wait_a_while(void *arg)
{
    struct owner *o = arg;
    (void)kvs_xfer_wait(o->x, o->time);
    atomic_store(&o->left, true);
    return NULL;
}

/* False where the owner's time was over before the other waited behind it. */
static bool handed_on(kvs_engine *e, kvs_xfer *x, struct waiter *behind, uint64_t time)
{
    struct owner owner = {.x = x, .time = time};
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_rc(kvs_xfer_post(behind->x), KVS_IN_PROG);
    hand_await(2);
    assert_int_equal(pthread_create(&owner.thread, NULL, wait_a_while, &owner), 0);
    eventually(owned_by(e, owner.thread) || atomic_load(&owner.left));
    assert_int_equal(pthread_create(&behind->thread, NULL, wait_main, behind), 0);
    bool waits = false;
    eventually((waits = behind_owner(e) == 1 && owned_by(e, owner.thread)) || atomic_load(&owner.left));
    assert_int_equal(pthread_join(owner.thread, NULL), 0);
    hand_ring();
    assert_int_equal(pthread_join(behind->thread, NULL), 0);
    expect_rc(behind->rc, KVS_OK);
    expect_rc(wait_end(x), KVS_OK);
    return waits;
}

/* Whose time is over leaves the ownership to who waits behind, and nobody else polls meanwhile. KVS-REQ-308
 */
static void test_handed_on(void **state)
{
    (void)state;
    hand_reset();
    hand.on_poll = end_all;
    kvs_engine *e = open_engine("hand-serial:?timeout=0");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    struct waiter behind = {.x = prep(e, KVS_WRITE, 1, memory, 16)};
    for (uint64_t time = KVS_MS(100); !handed_on(e, x, &behind, time); time *= 2)
        assert_true(time < LONG);
    release(x);
    release(behind.x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static sem_t in_poll, let_poll;

static int stay_inside(void)
{
    sem_post(&in_poll);
    while (sem_wait(&let_poll) != 0)
        ;
    return end_all();
}

static void end_canceled(struct kvs_batch *batch)
{
    hand_end(batch, 0, KVS_CANCELED);
}

/* While one thread is inside poll, for however long, nobody else goes in, whatever is called; nor does a
 * serial engine's submit or cancel. KVS-REQ-302 KVS-REQ-303 KVS-REQ-304 KVS-REQ-305 */
static void test_alone_in_poll(void **state)
{
    static const char *const targets[] = {"hand-polls:?timeout=0", "hand-serial:?timeout=0"};
    (void)state;
    sem_init(&in_poll, 0, 0);
    sem_init(&let_poll, 0, 0);
    for (int serial = 0; serial < 2; serial++) {
        hand_reset();
        hand.on_poll = stay_inside;
        hand.on_cancel = serial ? end_canceled : NULL;
        kvs_engine *e = open_engine(targets[serial]);
        struct waiter w = {.x = prep(e, KVS_WRITE, 1, memory, 16)};
        kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
        expect_rc(kvs_xfer_post(w.x), KVS_IN_PROG);
        hand_await(1);
        assert_int_equal(pthread_create(&w.thread, NULL, wait_main, &w), 0);
        hand_ring();
        while (sem_wait(&in_poll) != 0)
            ;
        unsigned polls = atomic_load(&hand.polls);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        for (int i = 0; i < 5; i++) {
            expect_rc(kvs_engine_progress(e), KVS_OK);
            expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
            expect_rc(kvs_xfer_wait(x, KVS_MS(1)), KVS_IN_PROG);
        }
        assert_int_equal(atomic_load(&hand.submits), serial ? 1 : 2);
        expect_rc(kvs_xfer_cancel(x), KVS_OK);
        assert_int_equal(atomic_load(&hand.cancels), serial ? 0 : 1);
        assert_int_equal(atomic_load(&hand.polls), polls);
        sem_post(&let_poll);
        assert_int_equal(pthread_join(w.thread, NULL), 0);
        expect_rc(w.rc, KVS_OK);
        release(w.x);
        expect_rc(kvs_xfer_release(x, LONG), KVS_OK);
        assert_true(!serial || atomic_load(&hand.together) == 1);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
    sem_destroy(&in_poll);
    sem_destroy(&let_poll);
}

/* The rest is as ever, whatever the backend's shape. KVS-REQ-311 KVS-REQ-500 */
static void test_all_shapes(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "progress=thread&latency=200us");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 4, memory, 16);
    for (int i = 0; i < 20; i++)
        expect_rc(run_it(x), KVS_OK);
    assert_int_equal(kvs_put(f.e, "k", 1, memory, 16, NULL), KVS_OK);
    assert_int_equal(kvs_get(f.e, "k", 1, memory, 16, NULL), KVS_OK);
    post(x);
    eventually(kvs_xfer_check(x) == KVS_OK);
    release(x);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callers_never_poll),
        cmocka_unit_test(test_callers_poll),
        cmocka_unit_test(test_handed_on),
        cmocka_unit_test(test_alone_in_poll),
        EACH_MODEL(test_all_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
