/* SPDX-License-Identifier: Apache-2.0 */
/* A posted batch on its way to the thread that does it. It is the batch's private space: posting allocates
 * nothing. */
#ifndef KVS_LMDB_JOB_H
#define KVS_LMDB_JOB_H

#include <kvslot/backend.h>
#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>

/* The host's services, from load() on. Global: what is not given an engine has no other way to them. */
extern const struct kvs_host *lmdb_host;

struct env_db;

struct job {
    struct job *next;        /* guarded by the lock of the queue that it is in, with at */
    uint32_t at;             /* the first io that no thread has taken */
    struct kvs_batch *batch; /* set by submit, with db */
    const struct env_db *db; /* NULL: the engine's environment is not open yet */
};

/* First in, first out; guarded by its owner's lock. */
struct job_list {
    struct job *head, *tail;
};
void job_push(struct job_list *list, struct job *job);
/* Takes the first one out. */
void job_pop(struct job_list *list);

/* Whether the thread that posts it may do it: its values have up to `bytes`, and it has few ios. */
bool job_small(const struct job *job, uint64_t bytes);

/* Some ios of a batch, one after the other, that one thread does in one transaction. */
struct slice {
    struct kvs_batch *batch;
    const struct env_db *db;
    uint32_t from, to;
};
/* Takes the next ios of the first job, until they have `bytes` or there are `most`, but at least one; a job
 * of which nothing is left leaves the list. The answer is their bytes. */
uint64_t job_slice(struct job_list *list, uint64_t bytes, uint32_t most, struct slice *out);

/* Ends the ios of a slice: with the status that each has of its own, or, if `status` is an error, all with it
 * and `text`. After the last slice of a batch nothing of it may be touched. */
void slice_end(const struct slice *slice, int status, const char *text);
/* Whether the batch has no time left. */
bool slice_late(const struct slice *slice);

/* ---- What LMDB does for one io. The answers are LMDB's. ---- */

/* Puts, or removes: MDB_NOTFOUND becomes the io's own status. */
int io_write(MDB_txn *txn, MDB_dbi dbi, const struct kvs_batch *batch, struct kvs_io *io);
/* READ and QUERY; MDB_NOTFOUND where it is not there. */
int io_read(MDB_txn *txn, MDB_dbi dbi, const struct kvs_batch *batch, struct kvs_io *io);

#endif
