/* SPDX-License-Identifier: Apache-2.0 */
#include "proclock.h"

#include <pthread.h>

static pthread_mutex_t locks[KVS_LOCK_COUNT] = {[0 ... KVS_LOCK_COUNT - 1] = PTHREAD_MUTEX_INITIALIZER};
/* Which of them this thread holds: a fork from inside a log function or a plugin's load must not wait for
 * itself. */
static _Thread_local bool held[KVS_LOCK_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The first lock that this thread may still take: one before those it holds could be held by a thread that
 * waits for them. A child made from inside a log function may then find such a lock taken for ever, and
 * should do no more than exec. */
static int first_free(void)
{
    int i = KVS_LOCK_COUNT;
    while (i > 0 && !held[i - 1])
        i--;
    return i;
}

static void before_fork(void)
{
    for (int i = first_free(); i < KVS_LOCK_COUNT; i++)
        pthread_mutex_lock(&locks[i]);
}

static void after_fork(void)
{
    for (int i = KVS_LOCK_COUNT, first = first_free(); i > first; i--)
        pthread_mutex_unlock(&locks[i - 1]);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

void kvs_proclock_take(enum kvs_proclock which)
{
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&locks[which]);
    held[which] = true;
}

void kvs_proclock_drop(enum kvs_proclock which)
{
    held[which] = false;
    pthread_mutex_unlock(&locks[which]);
}

bool kvs_proclock_has(enum kvs_proclock which)
{
    return held[which];
}
