/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <string.h>

#define INLINE_IOS 1024u /* of a batch that is done inside submit */

void job_push(struct job_list *list, struct job *job)
{
    job->next = NULL;
    if (list->tail != NULL)
        list->tail->next = job;
    else
        list->head = job;
    list->tail = job;
}

void job_pop(struct job_list *list)
{
    list->head = list->head->next;
    if (list->head == NULL)
        list->tail = NULL;
}

bool job_small(const struct job *job, uint64_t bytes)
{
    const struct kvs_batch *batch = job->batch;
    uint64_t sum = 0;
    if (batch->count > INLINE_IOS)
        return false;
    for (uint32_t i = 0; i < batch->count && sum <= bytes; i++)
        sum += kvs_batch_io(batch, i)->len;
    return sum <= bytes;
}

uint64_t job_slice(struct job_list *list, uint64_t bytes, uint32_t most, struct slice *out)
{
    struct job *job = list->head;
    const struct kvs_batch *batch = job->batch;
    uint32_t to = job->at;
    uint64_t sum = 0;
    do {
        sum += kvs_batch_io(batch, to)->len;
        to++;
    } while (to < batch->count && to - job->at < most && sum + kvs_batch_io(batch, to)->len <= bytes);
    *out = (struct slice){.batch = job->batch, .db = job->db, .from = job->at, .to = to};
    job->at = to;
    if (to == batch->count)
        job_pop(list);
    return sum;
}

/* Is it a whole batch, and all of it OK? */
static bool all_well(const struct slice *slice)
{
    if (slice->from != 0 || slice->to != slice->batch->count)
        return false;
    for (uint32_t i = 0; i < slice->to; i++) {
        if (*(const int *)kvs_batch_io(slice->batch, i)->priv != KVS_OK)
            return false;
    }
    return true;
}

void slice_end(const struct slice *slice, int status, const char *text)
{
    struct kvs_batch *batch = slice->batch;
    uint32_t to = slice->to; /* the batch may be gone with the completion of its last io */
    if (status == KVS_OK && all_well(slice)) {
        lmdb_host->complete_rest(batch, KVS_OK); /* cheaper than one by one */
        return;
    }
    for (uint32_t i = slice->from; i < to; i++) {
        struct kvs_io *io = kvs_batch_io(batch, i);
        if (status != KVS_OK && text != NULL)
            lmdb_host->io_error(io, "%s", text);
        lmdb_host->complete(io, status != KVS_OK ? status : *(const int *)io->priv);
    }
}

bool slice_late(const struct slice *slice)
{
    uint64_t deadline = slice->batch->deadline_ns;
    return deadline != 0 && lmdb_host->now_ns() >= deadline;
}

/* The key as LMDB takes it: it only reads through the pointer, which is not const in its own types. */
static MDB_val key_of(const struct kvs_io *io)
{
    union {
        const void *in;
        void *out;
    } key = {.in = io->key};
    return (MDB_val){.mv_size = io->key_len, .mv_data = key.out};
}

/* Copies from where LMDB will write it, instead of into memory that it copies from. */
static int put(MDB_txn *txn, MDB_dbi dbi, const struct kvs_io *io)
{
    MDB_val key = key_of(io), value = {.mv_size = io->len};
    int rc = mdb_put(txn, dbi, &key, &value, MDB_RESERVE);
    char *at = value.mv_data;
    for (uint32_t i = 0; rc == 0 && i < io->iovcnt; i++) {
        if (io->iov[i].iov_len != 0)
            memcpy(at, io->iov[i].iov_base, io->iov[i].iov_len);
        at += io->iov[i].iov_len;
    }
    return rc;
}

int io_write(MDB_txn *txn, MDB_dbi dbi, const struct kvs_batch *batch, struct kvs_io *io)
{
    int *status = io->priv;
    *status = KVS_OK;
    if (batch->op == KVS_WRITE)
        return put(txn, dbi, io);
    MDB_val key = key_of(io);
    int rc = mdb_del(txn, dbi, &key, NULL);
    if (rc != MDB_NOTFOUND)
        return rc;
    *status = KVS_NOT_FOUND;
    return 0;
}

static void copy_out(const struct kvs_io *io, const char *bytes)
{
    for (uint32_t i = 0; i < io->iovcnt; i++) {
        if (io->iov[i].iov_len != 0)
            memcpy(io->iov[i].iov_base, bytes, io->iov[i].iov_len);
        bytes += io->iov[i].iov_len;
    }
}

/* The value is LMDB's own memory, good until the transaction ends. */
int io_read(MDB_txn *txn, MDB_dbi dbi, const struct kvs_batch *batch, struct kvs_io *io)
{
    MDB_val key = key_of(io), value;
    int rc = mdb_get(txn, dbi, &key, &value);
    if (rc != 0)
        return rc;
    uint64_t offset = 0;
    io->actual = value.mv_size;
    if (io->flags & KVS_IO_RANGED) {
        offset = io->offset < value.mv_size ? io->offset : value.mv_size;
        uint64_t left = value.mv_size - offset;
        io->actual = left < io->len ? left : io->len;
    }
    if (batch->op == KVS_READ &&
        io->actual == io->len) /* else it is a mismatch, and the buffer stays as it was */
        copy_out(io, (const char *)value.mv_data + offset);
    return 0;
}
