/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group commit: one thread for each environment writes what all its engines post. It takes all that has come
 * while it was busy into one transaction, up to a size; it never waits for more to come.
 */
#ifndef KVS_LMDB_WRITER_H
#define KVS_LMDB_WRITER_H

#include "job.h"

#include <pthread.h>
#include <stdbool.h>

struct env;

struct writer {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t more;  /* queue is no longer empty, or stop */
    struct job_list queue;
    bool started, idle, stop;
    pthread_t thread; /* set where started */
};

void writer_init(struct writer *writer);
/* Ends the thread; the queue is empty. */
void writer_stop(struct writer *writer);
/* Takes a WRITE or REMOVE batch. KVS_NO_MEMORY: there is no thread to be had, and nothing was taken. */
int writer_take(struct env *env, struct job *job);

#endif
