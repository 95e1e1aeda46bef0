/* SPDX-License-Identifier: Apache-2.0 */
/* Completions on another thread while the caller looks: the error counts before the end, and the end is the
 * last touch. */
#include "engine_test.h"
#include "hand.h"

#include <sched.h>

/* Each is a chance for the race: all of them also where a sanitizer slows things down, or fewer. */
#if defined(KVS_TESTS_WRAPPED)
#define ALL_RACES 2000
#else
#define ALL_RACES 100000
#endif
#define RACES ROUNDS(100000)

/* Posted before the other thread is let loose on them: so it need not be waited for each time. */
#define GROUP 50

static unsigned char memory[2 * 16];

/* A vendor's thread that ends each group's ios, one transfer after the other, as soon as it may. */
struct vendor {
    atomic_uint group; /* groups that the caller has posted; UINT32_MAX: no more */
    atomic_uint ended; /* groups whose last completion call has come back */
};

static void *vendor_main(void *arg)
{
    struct vendor *v = arg;
    for (unsigned done = 0;;) {
        unsigned group = atomic_load(&v->group);
        if (group == UINT32_MAX)
            return NULL;
        if (group == done) {
            sched_yield();
            continue;
        }
        for (uint32_t i = 0; i < GROUP; i++) {
            struct kvs_batch *batch = hand_batch(i);
            uint32_t bad = i % 2;       /* which of its ios fails */
            uint32_t first = i / 2 % 2; /* which of them comes first */
            hand_end(batch, first, first == bad ? KVS_IO : KVS_OK);
            hand_end(batch, 1 - first, first == bad ? KVS_OK : KVS_IO);
        }
        done = group;
        atomic_store(&v->ended, group);
    }
}

static void end_of(kvs_xfer *x, bool wait)
{
    int rc = KVS_IN_PROG;
    while (!wait && rc == KVS_IN_PROG)
        rc = kvs_xfer_check(x);
    if (wait)
        rc = kvs_xfer_wait(x, LONG);
    if (rc != KVS_IO)
        expect_rc(rc, KVS_IO);
}

static void run_races(unsigned races, bool release_each, bool wait)
{
    hand_reset();
    kvs_engine *e = open_engine("hand");
    struct vendor v = {0};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, vendor_main, &v), 0);
    kvs_xfer *x[GROUP] = {NULL};
    for (unsigned group = 1; group <= races / GROUP; group++) {
        hand.taken = 0; /* the vendor looks only when it is told to */
        for (int i = 0; i < GROUP; i++) {
            if (!x[i])
                x[i] = prep(e, KVS_WRITE, 2, memory, 16);
            if (kvs_xfer_post(x[i]) != KVS_IN_PROG)
                fail();
        }
        atomic_store(&v.group, group);
        for (int i = 0; i < GROUP; i++) {
            end_of(x[i], wait);
            if (release_each) { /* while the completion call may not have come back */
                release(x[i]);
                x[i] = NULL;
            }
        }
        while (atomic_load(&v.ended) != group)
            sched_yield();
    }
    atomic_store(&v.group, UINT32_MAX);
    assert_int_equal(pthread_join(t, NULL), 0);
    for (int i = 0; i < GROUP; i++)
        if (x[i])
            release(x[i]);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* KVS-REQ-004 */
static void test_error_before_end(void **state)
{
    (void)state;
    run_races(ALL_RACES, false, false);
}

/* The last decrement is the last touch: a sanitizer sees any other. KVS-REQ-174 */
static void test_freed_at_once(void **state)
{
    (void)state;
    run_races(RACES, true, false);
}

/* A waiter is woken by the last completion, and may free at once too. KVS-REQ-174 KVS-REQ-176 KVS-REQ-301 */
static void test_waiter_woken(void **state)
{
    (void)state;
    run_races(RACES, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_before_end),
        cmocka_unit_test(test_freed_at_once),
        cmocka_unit_test(test_waiter_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
