/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: never more inside than allowed, nobody inside while it is closed, and everybody gets in. */
#include "../gate.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define THREADS 6
#define ROUNDS  3000

static struct gate gate;
static atomic_int inside, most_seen, wrong, entered;
static int alone; /* guarded by the closed gate: ThreadSanitizer sees to it */

static void *enter(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        gate_enter(&gate);
        int now = atomic_fetch_add(&inside, 1) + 1;
        int most = atomic_load(&most_seen);
        while (most < now && !atomic_compare_exchange_weak(&most_seen, &most, now))
            ;
        int before = alone;
        sched_yield();
        if (alone != before)
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_sub(&inside, 1);
        gate_leave(&gate);
        atomic_fetch_add(&entered, 1);
    }
    return NULL;
}

static void *close_it(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS / 10; i++) {
        gate_close(&gate);
        if (atomic_load(&inside) != 0)
            atomic_fetch_add(&wrong, 1);
        alone++;
        sched_yield();
        if (atomic_load(&inside) != 0)
            atomic_fetch_add(&wrong, 1);
        gate_open(&gate);
    }
    return NULL;
}

static void run(unsigned allowed, int closers)
{
    pthread_t threads[THREADS + 2];
    atomic_store(&most_seen, 0);
    atomic_store(&entered, 0);
    gate_init(&gate, allowed);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, enter, NULL);
    for (int i = 0; i < closers; i++)
        pthread_create(&threads[THREADS + i], NULL, close_it, NULL);
    for (int i = 0; i < THREADS + closers; i++)
        pthread_join(threads[i], NULL);
    gate_destroy(&gate);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(atomic_load(&entered), THREADS * ROUNDS);
    assert_true(atomic_load(&most_seen) <= (int)allowed);
}

static void test_limit(void **state)
{
    (void)state;
    run(2, 0);
    assert_int_equal(atomic_load(&most_seen), 2);
}

static void test_closed(void **state)
{
    (void)state;
    run(THREADS, 2);
    run(1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limit), cmocka_unit_test(test_closed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
