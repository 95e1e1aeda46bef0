/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group commit: one thread for each environment writes what all its engines post. It takes all that has come
 * while it was busy into one transaction, up to a size; it never waits for more to come.
 */
#ifndef KVS_LMDB_WRITER_H
#define KVS_LMDB_WRITER_H

#include "job.h"

struct env;

/* Takes a WRITE or REMOVE batch. KVS_NO_MEMORY: there is no thread to be had, and nothing was taken. */
int writer_take(struct env *env, struct job *job);
/* Writes a batch of up to `bytes` at once, if that can be had without waiting for a disk or anybody else;
 * nothing was done otherwise. */
bool write_at_once(struct env *env, struct job *job, uint64_t bytes);

#endif
