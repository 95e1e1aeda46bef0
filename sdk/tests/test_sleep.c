/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sleeps as the poll owner and what ends that sleep. The linker puts the function below in front of
 * sleeping on descriptors: here that has no time limit, so that only what has to end it does.
 */
#include "engine_test.h"
#include "hand.h"

#include <poll.h>

int __real_kvs_fds_wait(struct pollfd *fds, uint32_t n, uint64_t ns);
int __wrap_kvs_fds_wait(struct pollfd *fds, uint32_t n, uint64_t ns);

static atomic_uint sleepers, sleeping_tests; /* all, and those of a test's threads */

int __wrap_kvs_fds_wait(struct pollfd *fds, uint32_t n, uint64_t ns)
{
    (void)ns;
    atomic_fetch_add(&sleepers, 1);
    atomic_fetch_add(&sleeping_tests, hand_is_test);
    int rc = __real_kvs_fds_wait(fds, n, LONG * 10);
    atomic_fetch_sub(&sleeping_tests, hand_is_test);
    atomic_fetch_sub(&sleepers, 1);
    return rc;
}

static unsigned char memory[16];

static void *wait_main(void *arg)
{
    hand_is_test = true;
    return (void *)(intptr_t)kvs_xfer_wait(arg, LONG);
}

static kvs_xfer *posted(kvs_engine *e)
{
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    hand_await(1);
    return x;
}

static int end_first(void)
{
    hand_end(hand_batch(0), 0, KVS_OK);
    return 1;
}

static void finish(kvs_engine *e, kvs_xfer *x, pthread_t waiter)
{
    void *rc = NULL;
    hand_ring();
    assert_int_equal(pthread_join(waiter, &rc), 0);
    assert_int_equal((intptr_t)rc, KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* While nobody calls, the service thread is the owner, and sleeps. A caller that waits ends that, and from
 * then on it alone polls, and sleeps until the backend's descriptor or a wake ends that. KVS-REQ-306
 * KVS-REQ-309 KVS-REQ-310 */
static void test_service_makes_way(void **state)
{
    pthread_t waiter;
    (void)state;
    hand_reset();
    hand.on_poll = end_first;
    kvs_engine *e = open_engine("hand-serial:?timeout=0");
    kvs_xfer *x = posted(e);
    eventually(atomic_load(&sleepers) == 1);
    assert_int_equal(atomic_load(&hand.polls_by_tests), 0);
    assert_int_equal(pthread_create(&waiter, NULL, wait_main, x), 0);
    eventually(atomic_load(&sleeping_tests) == 1);
    for (int i = 0; i < 20; i++) { /* the owner it stays, whatever wakes it */
        unsigned all = atomic_load(&hand.polls), own = atomic_load(&hand.polls_by_tests);
        hand.host->wake(hand.ctx);
        eventually(atomic_load(&hand.polls_by_tests) > own && atomic_load(&sleeping_tests) == 1);
        assert_int_equal(atomic_load(&hand.polls) - all, atomic_load(&hand.polls_by_tests) - own);
    }
    finish(e, x, waiter);
}

static void *wake_main(void *arg)
{
    hand.host->wake(arg);
    return NULL;
}

/* From a thread that the SDK has never seen, while a caller is the owner and while the service thread is: a
 * call of poll follows. KVS-REQ-123 KVS-REQ-314 */
static void test_wake(void **state)
{
    pthread_t waiter, thread;
    (void)state;
    hand_reset();
    hand.on_poll = end_first;
    kvs_engine *e = open_engine("hand-serial:?timeout=0");
    kvs_xfer *x = posted(e);
    for (int i = 0; i < 40; i++) {
        if (i == 20)
            assert_int_equal(pthread_create(&waiter, NULL, wait_main, x), 0);
        eventually(i < 20 ? atomic_load(&sleepers) == 1 : atomic_load(&sleeping_tests) == 1);
        unsigned before = atomic_load(&hand.polls);
        assert_int_equal(pthread_create(&thread, NULL, wake_main, hand.ctx), 0);
        eventually(atomic_load(&hand.polls) > before);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    eventually(atomic_load(&sleeping_tests) == 1);
    finish(e, x, waiter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_service_makes_way),
        cmocka_unit_test(test_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
