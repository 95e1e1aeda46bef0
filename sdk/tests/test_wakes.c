/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a completion wakes. The linker puts the counting functions below in front of all that wakes a thread,
 * for the objects of the SDK among others.
 */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

void __real_kvs_park_wake(struct kvs_park *p);
void __wrap_kvs_park_wake(struct kvs_park *p);
void __real_kvs_event_set(int fd);
void __wrap_kvs_event_set(int fd);
int __real_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __real_pthread_cond_broadcast(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);

void __real_kvs_park_wait(struct kvs_park *p, uint32_t ticket, uint64_t until);
void __wrap_kvs_park_wait(struct kvs_park *p, uint32_t ticket, uint64_t until);

static _Thread_local unsigned wakes; /* by this thread */
static atomic_uint blocked;          /* waits that have come to sleep, by all */

void __wrap_kvs_park_wait(struct kvs_park *p, uint32_t ticket, uint64_t until)
{
    atomic_fetch_add(&blocked, 1);
    __real_kvs_park_wait(p, ticket, until);
}

void __wrap_kvs_park_wake(struct kvs_park *p)
{
    wakes++;
    __real_kvs_park_wake(p);
}

void __wrap_kvs_event_set(int fd)
{
    wakes++;
    __real_kvs_event_set(fd);
}

int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    wakes++;
    return __real_pthread_cond_signal(c);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
    wakes++;
    return __real_pthread_cond_broadcast(c);
}

static unsigned char memory[MAX_BATCH * 16];

static void *wait_main(void *arg)
{
    return (void *)(intptr_t)kvs_xfer_wait(arg, LONG);
}

/* Seven of eight wake nobody, though somebody waits, and sleeps; the eighth does. KVS-REQ-175 KVS-REQ-176
 * KVS-REQ-301 */
static void test_only_the_last(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 8, memory, 16);
    for (int round = 0; round < 5; round++) {
        pthread_t thread;
        void *rc;
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        unsigned slept = atomic_load(&blocked);
        assert_int_equal(pthread_create(&thread, NULL, wait_main, x), 0);
        eventually(kvs_a64_load(&x->word) & KVS_W_WAITER);
        eventually(atomic_load(&blocked) > slept);
        unsigned before = wakes;
        for (uint32_t i = 0; i < 7; i++)
            hand_end(hand_batch(0), i, KVS_OK);
        assert_int_equal(wakes, before);
        hand_end(hand_batch(0), 7, KVS_OK);
        assert_true(wakes > before);
        assert_int_equal(pthread_join(thread, &rc), 0);
        assert_int_equal((intptr_t)rc, KVS_OK);
        hand.taken = 0;
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Nor is anybody woken where nobody waits. KVS-REQ-176 */
static void test_nobody_waits(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 8, memory, 16);
    for (int round = 0; round < 5; round++) {
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        unsigned before = wakes;
        for (uint32_t i = 0; i < 8; i++)
            hand_end(hand_batch(0), i, KVS_OK);
        assert_int_equal(wakes, before);
        expect_rc(kvs_xfer_check(x), KVS_OK);
        hand.taken = 0;
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_last),
        cmocka_unit_test(test_nobody_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
