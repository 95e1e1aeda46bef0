/* SPDX-License-Identifier: Apache-2.0 */
/* A done function that stays inside until the test lets it go. */
#ifndef KVS_TESTS_BLOCKED_H
#define KVS_TESTS_BLOCKED_H

#include "engine_test.h"

#include <semaphore.h>
#include <stdatomic.h>

struct blocked {
    sem_t entered, go;
    atomic_uint times;
};

static inline void block(kvs_xfer *x, int status, void *arg)
{
    struct blocked *b = arg;
    (void)x;
    (void)status;
    sem_post(&b->entered);
    while (sem_wait(&b->go) != 0)
        ;
    atomic_fetch_add(&b->times, 1);
}

static inline void blocked_init(struct blocked *b)
{
    sem_init(&b->entered, 0, 0);
    sem_init(&b->go, 0, 0);
    atomic_store(&b->times, 0);
}

static inline void sem_take(sem_t *sem)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 40;
    assert_int_equal(sem_timedwait(sem, &until), 0);
}

#endif
