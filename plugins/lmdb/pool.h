/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with a queue of jobs: an engine's readers, and the one that writes to an environment. They are
 * started when there is something to do. */
#ifndef KVS_LMDB_POOL_H
#define KVS_LMDB_POOL_H

#include "job.h"

#include <pthread.h>
#include <stdbool.h>

struct pool {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t more;  /* there is a job to be had, or stop */
    struct job_list queue;
    unsigned count, idle, most; /* threads: started, waiting, allowed */
    pthread_t *threads;
    bool held; /* by one that is no thread of the pool: meanwhile no job leaves the queue */
    bool stop;
};

/* KVS_OK or KVS_NO_MEMORY. */
int pool_init(struct pool *pool, unsigned most);
/* Ends the threads; the queue is empty. */
void pool_stop(struct pool *pool);
/* Takes a job, for one of its threads, all of which run main(arg). KVS_NO_MEMORY: there is no thread to be
 * had, and nothing was taken. */
int pool_take(struct pool *pool, struct job *job, void *(*main)(void *), void *arg);

/* ---- For main, with the lock held but while it works ---- */

/* Waits for a job; it stays in the queue. NULL: the thread has to end. */
struct job *pool_wait(struct pool *pool);
/* Whether there is one now that may be taken, or the thread has to end. */
bool pool_is_due(const struct pool *pool);
/* Sleeps until it is woken, perhaps for nothing, or until then (0: for ever). False: the time is over. */
bool pool_sleep(struct pool *pool, uint64_t until);
/* Gives up the lock, and wakes another one for what is left in the queue. */
void pool_unlock(struct pool *pool);

/* ---- For one that does a job itself ---- */

/* Keeps the threads from work until it is set free, if none has any; never waits for that. */
bool pool_try_hold(struct pool *pool);
/* Sees to it that there is a thread; with the lock held. */
bool pool_start(struct pool *pool, void *(*main)(void *), void *arg);

#endif
