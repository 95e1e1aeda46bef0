/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"
#include "engine.h"

bool request_make(struct kvs_io *io)
{
    struct request *r = io->priv;
    return wqskv_shim_make(r->space, io->key, io->key_len, io->iovcnt);
}

void request_unmake(struct kvs_io *io)
{
    struct request *r = io->priv;
    wqskv_shim_unmake(r->space);
}

/* From any thread of the library's, maybe a second time, maybe long after. */
static void write_ended(int rc, void *token)
{
    pending_end((uint64_t)(uintptr_t)token, rc == 0);
    wqskv_host->complete_cb(rc, token);
}

/* By token, not by io: a library that refuses and calls back all the same must not end it twice. */
static void refused(struct kvs_io *io, uint64_t token, const char *call, int rc)
{
    if (rc == WQSKV_SHIM_THREW)
        wqskv_host->io_error(io, "%s threw an exception", call);
    else
        wqskv_host->io_error(io, "%s refused the request with %d", call, rc);
    wqskv_host->complete_cb(rc, (void *)(uintptr_t)token);
}

void request_write(struct written *written, struct kvs_io *io)
{
    struct request *r = io->priv;
    uint64_t token = io->token;
    r->pending = (struct pending){NULL, token, written, io->key, io->key_len, io->len};
    pending_add(&r->pending);
    int rc = wqskv_shim_put(r->space, io->iov, io->iovcnt, write_ended, (void *)(uintptr_t)token);
    if (rc != 0) {
        pending_end(token, false);
        refused(io, token, "wds_kvcache_put", rc);
    }
}

void request_read(struct kvs_io *io)
{
    struct request *r = io->priv;
    uint64_t token = io->token;
    int rc = wqskv_shim_get(r->space, io->iov, io->iovcnt, io->len, wqskv_host->complete_cb,
                            (void *)(uintptr_t)token);
    if (rc != 0)
        refused(io, token, "wds_kvcache_get_vec", rc);
}
