/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine's own threads, for all that would make submit wait: reads of more than inline_bytes, which
 * several of them share, and the first use of an environment that open has left closed (connect=lazy).
 */
#ifndef KVS_LMDB_READER_H
#define KVS_LMDB_READER_H

#include "job.h"

struct engine;
struct env;

/* Takes a batch. KVS_NO_MEMORY: there is no thread to be had, and nothing was taken. */
int reader_take(struct engine *engine, struct job *job);
/* Reads a batch of up to `bytes` at once, if that can be had without waiting; nothing was done otherwise. */
bool read_at_once(struct env *env, struct job *job, uint64_t bytes);

#endif
