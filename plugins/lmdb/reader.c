/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"
#include "engine.h"
#include "writer.h"

/* What one thread takes of a batch at a time: enough that waking it does not count, and little enough that
 * others help. */
#define CHUNK_BYTES (UINT64_C(1) << 20)
#define CHUNK_IOS   1024u

/* One io's status for an answer of LMDB's, with a text where it is worth one. */
static int answer(struct kvs_io *io, const struct env *env, int rc)
{
    if (rc == 0)
        return KVS_OK;
    if (rc != MDB_NOTFOUND)
        lmdb_host->io_error(io, "cannot read in '%s': %s", env->path, env_reason(rc));
    return env_status(rc);
}

/* Reads all of a slice in the transaction, and ends the transaction before the ios: it does not outlive its
 * batch. */
static void read_slice(struct env *env, MDB_txn *txn, const struct slice *slice)
{
    for (uint32_t i = slice->from; i < slice->to; i++) {
        struct kvs_io *io = kvs_batch_io(slice->batch, i);
        *(int *)io->priv = answer(io, env, io_read(txn, slice->db->dbi, slice->batch, io));
    }
    txn_end_read(env, txn);
    slice_end(slice, KVS_OK, NULL);
}

bool read_at_once(struct env *env, struct job *job, uint64_t bytes)
{
    MDB_txn *txn = job_small(job, bytes) ? txn_try_read(env) : NULL;
    if (txn == NULL)
        return false;
    read_slice(env, txn, &(struct slice){job->batch, job->db, 0, job->batch->count});
    return true;
}

static void read_chunk(struct engine *engine, const struct slice *slice)
{
    struct env *env = engine_env_now(engine);
    struct env_text text;
    MDB_txn *txn;
    if (slice_late(slice)) {
        slice_end(slice, KVS_TIMEOUT, "the time was over before it could be read");
        return;
    }
    int rc = txn_begin_read(env, &txn);
    if (rc == 0) {
        read_slice(env, txn, slice);
    } else {
        env_say(&text, "cannot read in '%s': %s", env->path, env_reason(rc));
        slice_end(slice, env_status(rc), text.text);
    }
}

/* The batch of an engine whose environment is not open: opens it, and sends the batch on. */
static void send_on(struct engine *engine, struct job *job)
{
    struct kvs_batch *batch = job->batch;
    struct slice all = {.batch = batch, .from = 0, .to = batch->count};
    struct env_text text;
    struct env *env;
    int status = engine_env(engine, &env, &text);
    if (status == KVS_OK) {
        job->db = engine->db;
        env_say(&text, "out of memory");
        bool writes = batch->op == KVS_WRITE || batch->op == KVS_REMOVE;
        status = writes ? writer_take(env, job) : reader_take(engine, job);
    }
    if (status != KVS_OK)
        slice_end(&all, status, text.text);
}

static void *reader_main(void *arg)
{
    struct engine *engine = arg;
    struct pool *readers = &engine->readers;
    struct job *job;
    pthread_mutex_lock(&readers->lock);
    while ((job = pool_wait(readers)) != NULL) {
        struct slice slice = {.db = job->db};
        if (job->db != NULL)
            job_slice(&readers->queue, CHUNK_BYTES, CHUNK_IOS, &slice);
        else
            job_pop(&readers->queue);
        pool_unlock(readers);
        if (slice.db != NULL)
            read_chunk(engine, &slice);
        else
            send_on(engine, job);
        pthread_mutex_lock(&readers->lock);
    }
    pthread_mutex_unlock(&readers->lock);
    return NULL;
}

int reader_take(struct engine *engine, struct job *job)
{
    return pool_take(&engine->readers, job, reader_main, engine);
}
