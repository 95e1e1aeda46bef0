/* SPDX-License-Identifier: Apache-2.0 */
/* A host just big enough to call one backend's functions: for unit tests of a backend apart from the SDK. */
#ifndef KVS_FAKEHOST_H
#define KVS_FAKEHOST_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <sys/queue.h>

#define FH_PARAMS 8
#define FH_OPEN   (-1000) /* an io that has not completed */

extern const struct kvs_host fh_host;

struct fh_engine {
    const struct kvs_backend *backend;
    /* Ends with a name NULL; numbers are plain, enums and bools are words. */
    struct kvs_param_value params[FH_PARAMS];
    void *priv;
    struct kvs_limits limits;
    char text[256]; /* of fail() */
    int wakes;
};

/* Opens an engine; params end with a name NULL. The answer is open's. */
int fh_open(struct fh_engine *engine, const struct kvs_backend *backend,
            const struct kvs_param_value *params);
void fh_close(struct fh_engine *engine);

/* A batch, its ios and what became of them. */
struct fh_batch {
    LIST_ENTRY(fh_batch) link;
    struct kvs_batch batch;
    struct fh_engine *engine;
    struct fh_io *outcomes;
    char *space;
};
struct fh_io {
    struct kvs_io *io;
    uint64_t token;
    int status, times; /* how it completed, and how often */
    struct iovec iov;
};

struct fh_batch *fh_batch_new(struct fh_engine *engine, uint32_t op, uint32_t count);
void fh_batch_free(struct fh_batch *batch);
/* Gives an io its key and memory. */
void fh_io_set(struct fh_batch *batch, uint32_t i, const char *key, void *data, size_t len);
/* New tokens, nothing completed; then submit, and its answer. */
int fh_submit(struct fh_batch *batch);
/* Waits until all ios have completed; polls meanwhile where the engine has a descriptor. */
void fh_wait(struct fh_batch *batch);
/* The status of io i, FH_OPEN while there is none; how often it completed. */
int fh_status(struct fh_batch *batch, uint32_t i);
int fh_times(struct fh_batch *batch, uint32_t i);

/* One key through a whole batch: submit and wait, or put, get, query, remove where the engine is blocking.
 * *actual may be NULL. The io's status. */
int fh_one(struct fh_engine *engine, uint32_t op, const char *key, void *data, size_t len, uint64_t *actual);

#endif
