/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"
#include "first.h"
#include "request.h"

#include <stdlib.h>

static void warn(void *ctx, const char *text)
{
    wqskv_host->log(ctx, KVS_LOG_WARN, "%s", text);
}

static int64_t number(void *ctx, const char *name)
{
    int64_t value = 0;
    wqskv_host->param_i64(ctx, name, &value);
    return value;
}

/* The parameter falls back on the variable by itself where it is not given; here also where it is given
 * empty. */
static int start(void *ctx, struct first_text *text)
{
    const char *path = NULL;
    wqskv_host->param_str(ctx, "config_path", &path, NULL);
    if (path == NULL || *path == '\0')
        path = secure_getenv(WQSKV_CONFIG_ENV);
    if (path == NULL || *path == '\0')
        return wqskv_host->fail(
            ctx, KVS_INVALID_PARAM,
            "neither parameter 'config_path' nor the environment variable " WQSKV_CONFIG_ENV
            " names the library's configuration, a JSON file");
    int status = first_read(path, text, warn, ctx);
    if (status == KVS_OK && number(ctx, "connect") == 0) { /* eager */
        status = first_start();
        if (status != KVS_OK)
            return wqskv_host->fail(ctx, status, "no thread could be started for wds_kvcache_init");
        status = first_wait((uint64_t)number(ctx, "timeout"), text);
    }
    return status == KVS_OK ? status : wqskv_host->fail(ctx, status, "%s", text->text);
}

int wqskv_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    struct engine *engine = eng;
    struct first_text text;
    bool shared;
    engine->ctx = ctx;
    if (!written_init(&engine->written, (size_t)number(ctx, "query_keys")))
        return wqskv_host->fail(ctx, KVS_NO_MEMORY, "out of memory while the engine was opened");
    int status = start(ctx, &text);
    if (status != KVS_OK) {
        written_end(&engine->written);
        return status;
    }
    if (wqskv_shim_emulated(&shared)) {
        limits->flags |= KVS_F_EMULATED;
        if (!shared)
            limits->caps_none |= KVS_CAP_SHARED | KVS_CAP_DURABLE;
        limits->caps_native &= ~limits->caps_none;
    }
    return KVS_OK;
}

void wqskv_close(void *eng)
{
    struct engine *engine = eng;
    written_end(&engine->written);
}

/* What only the library needs: a query is answered here. */
static bool needs_requests(const struct kvs_batch *batch)
{
    return batch->op == KVS_READ || batch->op == KVS_WRITE;
}

int wqskv_prep(void *eng, struct kvs_batch *batch)
{
    struct engine *engine = eng;
    for (uint32_t i = 0; needs_requests(batch) && i < batch->count; i++) {
        if (request_make(kvs_batch_io(batch, i)))
            continue;
        while (i-- > 0)
            request_unmake(kvs_batch_io(batch, i));
        return wqskv_host->fail(engine->ctx, KVS_NO_MEMORY, "out of memory for %u requests", batch->count);
    }
    return KVS_OK;
}

void wqskv_unprep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    for (uint32_t i = 0; needs_requests(batch) && i < batch->count; i++)
        request_unmake(kvs_batch_io(batch, i));
}

static void query(struct engine *engine, struct kvs_io *io)
{
    uint64_t size;
    if (written_find(&engine->written, io->key, io->key_len, &size)) {
        io->actual = size;
        wqskv_host->complete(io, KVS_OK);
    } else {
        wqskv_host->io_error(io, "this engine has not written the key, and the library has no query");
        wqskv_host->complete(io, KVS_UNKNOWN);
    }
}

/* With connect=lazy: has init called. KVS_OK: go on; KVS_AGAIN: it has not answered; else it has failed. */
static int connect_lazily(struct engine *engine, struct first_text *text)
{
    int status = KVS_OK;
    if (atomic_load_explicit(&engine->ready, memory_order_acquire))
        return KVS_OK;
    if (first_look(&status, text) != FIRST_DONE) {
        status = first_start();
        return status == KVS_OK ? KVS_AGAIN : status;
    }
    if (status == KVS_OK)
        atomic_store_explicit(&engine->ready, true, memory_order_release);
    return status;
}

static int fail_all(struct kvs_batch *batch, int status, const struct first_text *text)
{
    for (uint32_t i = 0; i < batch->count; i++)
        wqskv_host->io_error(kvs_batch_io(batch, i), "%s", text->text);
    wqskv_host->complete_rest(batch, status);
    return KVS_OK;
}

int wqskv_submit(void *eng, struct kvs_batch *batch)
{
    struct engine *engine = eng;
    struct first_text text = {"no thread could be started for wds_kvcache_init"};
    uint32_t op = batch->op, count = batch->count;
    if (op != KVS_QUERY) {
        int status = connect_lazily(engine, &text);
        if (status == KVS_AGAIN)
            return status;
        if (status != KVS_OK)
            return fail_all(batch, status, &text);
    }
    for (uint32_t i = 0; i < count; i++) { /* the batch is there until this returns */
        struct kvs_io *io = kvs_batch_io(batch, i);
        if (op == KVS_WRITE)
            request_write(&engine->written, io);
        else if (op == KVS_READ)
            request_read(io);
        else
            query(engine, io);
    }
    return KVS_OK;
}
