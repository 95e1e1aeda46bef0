/* SPDX-License-Identifier: Apache-2.0 */
#include "proclock.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t locks[KVS_LOCK_COUNT] = {[0 ... KVS_LOCK_COUNT - 1] = PTHREAD_MUTEX_INITIALIZER};
/* Which of them this thread holds: a fork from inside a log function or a plugin's load must not wait for
 * itself. */
static _Thread_local bool held[KVS_LOCK_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    for (int i = 0; i < KVS_LOCK_COUNT; i++)
        if (!held[i])
            pthread_mutex_lock(&locks[i]);
}

static void after_fork(void)
{
    for (int i = KVS_LOCK_COUNT - 1; i >= 0; i--)
        if (!held[i])
            pthread_mutex_unlock(&locks[i]);
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
