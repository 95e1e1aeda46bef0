/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine's own threads, for all that would make submit wait: reads of more than inline_bytes, which
 * several of them share, and the first use of an environment that open has left closed (connect=lazy).
 */
#ifndef KVS_LMDB_READER_H
#define KVS_LMDB_READER_H

#include "job.h"

#include <pthread.h>

struct engine;

struct readers {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t more;  /* queue is no longer empty, or stop */
    struct job_list queue;
    unsigned count, idle, most; /* threads: started, waiting, allowed */
    pthread_t *threads;
    bool stop;
};

/* KVS_OK or KVS_NO_MEMORY. */
int readers_init(struct readers *readers, unsigned most);
/* Ends the threads; the queue is empty. */
void readers_stop(struct readers *readers);
/* Takes a batch. KVS_NO_MEMORY: there is no thread to be had, and nothing was taken. */
int readers_take(struct engine *engine, struct job *job);

/* Reads at once, if that can be had without waiting; nothing was done otherwise. */
bool read_at_once(struct engine *engine, struct job *job);

#endif
