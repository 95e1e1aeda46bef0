/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"
#include "thread.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

int pool_init(struct pool *pool, unsigned most)
{
    *pool = (struct pool){.most = most, .threads = calloc(most, sizeof(pthread_t))};
    if (pool->threads == NULL)
        return KVS_NO_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->more, &attr);
    pthread_condattr_destroy(&attr);
    return KVS_OK;
}

void pool_stop(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->more);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
}

static bool start_one(struct pool *pool, void *(*main)(void *), void *arg)
{
    if (pool->count == pool->most || thread_start(&pool->threads[pool->count], main, arg) != 0)
        return false;
    pool->count++;
    return true;
}

bool pool_start(struct pool *pool, void *(*main)(void *), void *arg)
{
    return pool->count > 0 || start_one(pool, main, arg);
}

int pool_take(struct pool *pool, struct job *job, void *(*main)(void *), void *arg)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->idle == 0 || pool->queue.head != NULL)
        start_one(pool, main, arg);
    bool taken = pool->count > 0;
    if (taken)
        job_push(&pool->queue, job);
    pool_unlock(pool);
    return taken ? KVS_OK : KVS_NO_MEMORY;
}

static bool has_work(const struct pool *pool)
{
    return pool->queue.head != NULL && !pool->held;
}

bool pool_is_due(const struct pool *pool)
{
    return has_work(pool) || pool->stop;
}

bool pool_sleep(struct pool *pool, uint64_t until)
{
    const struct timespec at = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    pool->idle++;
    int rc = until != 0 ? pthread_cond_timedwait(&pool->more, &pool->lock, &at)
                        : pthread_cond_wait(&pool->more, &pool->lock);
    pool->idle--;
    return rc != ETIMEDOUT;
}

struct job *pool_wait(struct pool *pool)
{
    while (!pool_is_due(pool))
        pool_sleep(pool, 0);
    return pool->queue.head;
}

void pool_unlock(struct pool *pool)
{
    bool wakes = has_work(pool) && pool->idle > 0;
    pthread_mutex_unlock(&pool->lock);
    if (wakes) /* with the lock it would wake only to wait for it */
        pthread_cond_signal(&pool->more);
}

bool pool_try_hold(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool had = pool->queue.head == NULL && pool->idle == pool->count && !pool->held;
    pool->held = pool->held || had;
    pthread_mutex_unlock(&pool->lock);
    return had;
}
