/* SPDX-License-Identifier: Apache-2.0 */
#include "fakehost.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Global, as completions arrive with nothing but an io or a token. One lock guards all of it and every
 * outcome. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(, fh_batch) batches = LIST_HEAD_INITIALIZER(batches);
static uint64_t last_token;

/* An io as this host has it: 16 bytes longer than the backend knows, as those of a later host may be. */
struct host_io {
    struct kvs_io io;
    struct fh_io *outcome;
    uint64_t unused;
};

static void settle(struct fh_io *outcome, int status)
{
    if (outcome->times++ == 0)
        outcome->status = status;
    pthread_cond_broadcast(&changed);
}

static void fh_complete(struct kvs_io *io, int status)
{
    pthread_mutex_lock(&lock);
    settle(((struct host_io *)(void *)io)->outcome, status);
    pthread_mutex_unlock(&lock);
}

static void fh_complete_cb(int rc, void *token)
{
    uint64_t number = (uint64_t)(uintptr_t)token;
    pthread_mutex_lock(&lock);
    struct fh_batch *batch;
    LIST_FOREACH(batch, &batches, link)
    {
        for (uint32_t i = 0; i < batch->batch.count; i++) {
            if (batch->outcomes[i].token == number)
                settle(&batch->outcomes[i], rc);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void fh_complete_rest(struct kvs_batch *batch, int status)
{
    for (uint32_t i = 0; i < batch->count; i++)
        fh_complete(kvs_batch_io(batch, i), status);
}

static void fh_io_error(struct kvs_io *io, const char *fmt, ...)
{
    (void)io;
    (void)fmt;
}

static int fh_fail(void *ctx, int status, const char *fmt, ...)
{
    struct fh_engine *engine = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(engine->text, sizeof(engine->text), fmt, args);
    va_end(args);
    return status;
}

static void fh_log(void *ctx, int level, const char *fmt, ...)
{
    (void)ctx;
    (void)level;
    (void)fmt;
}

static const struct kvs_param *declared(const struct fh_engine *engine, const char *name)
{
    for (uint32_t i = 0; i < engine->backend->nparams; i++) {
        if (strcmp(engine->backend->params[i].name, name) == 0)
            return &engine->backend->params[i];
    }
    return NULL;
}

static int fh_param_str(void *ctx, const char *name, const char **out, size_t *len)
{
    struct fh_engine *engine = ctx;
    const struct kvs_param *param = declared(engine, name);
    *out = param != NULL ? param->def : NULL;
    for (int i = 0; i < FH_PARAMS && engine->params[i].name != NULL; i++) {
        if (strcmp(engine->params[i].name, name) == 0)
            *out = engine->params[i].value;
    }
    if (len != NULL)
        *len = *out != NULL ? strlen(*out) : 0;
    return param != NULL ? KVS_OK : KVS_NOT_FOUND;
}

static int place_of(const char *choices, const char *word)
{
    size_t len = strlen(word);
    int place = 0;
    for (const char *at = choices; at != NULL; place++) {
        if (strncmp(at, word, len) == 0 && (at[len] == '|' || at[len] == '\0'))
            return place;
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    abort();
}

static int fh_param_i64(void *ctx, const char *name, int64_t *out)
{
    const char *text;
    const struct kvs_param *param = declared(ctx, name);
    if (fh_param_str(ctx, name, &text, NULL) != KVS_OK || text == NULL || param->type == KVS_PARAM_STRING)
        return KVS_NOT_FOUND;
    if (param->type == KVS_PARAM_ENUM)
        *out = place_of(param->choices, text);
    else if (param->type == KVS_PARAM_BOOL)
        *out = strcmp(text, "yes") == 0;
    else
        *out = strtoll(text, NULL, 10);
    return KVS_OK;
}

static uint64_t fh_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void fh_wake(void *ctx)
{
    ((struct fh_engine *)ctx)->wakes++;
}

const struct kvs_host fh_host = {
    .size = sizeof(struct kvs_host),
    .api = KVS_API,
    .complete = fh_complete,
    .complete_cb = fh_complete_cb,
    .complete_rest = fh_complete_rest,
    .io_error = fh_io_error,
    .fail = fh_fail,
    .log = fh_log,
    .param_str = fh_param_str,
    .param_i64 = fh_param_i64,
    .now_ns = fh_now_ns,
    .wake = fh_wake,
};

/* What the objects of a backend may want of the SDK; none of the tests that use this host does. */
int kvs_backend_register(const struct kvs_backend *backend, struct kvs_error *err)
{
    (void)backend;
    (void)err;
    return KVS_NOT_SUPPORTED;
}

int fh_open(struct fh_engine *engine, const struct kvs_backend *backend, const struct kvs_param_value *params)
{
    *engine = (struct fh_engine){.backend = backend};
    for (int i = 0; params != NULL && params[i].name != NULL; i++)
        engine->params[i] = params[i];
    engine->priv = calloc(1, backend->engine_priv);
    engine->limits = (struct kvs_limits){.size = sizeof(struct kvs_limits),
                                         .thread_model = backend->thread_model,
                                         .max_key = backend->max_key,
                                         .caps_native = backend->caps_native,
                                         .caps_none = backend->caps_none,
                                         .flags = backend->flags};
    int status = backend->open(engine->priv, engine, &engine->limits);
    if (status != KVS_OK) {
        free(engine->priv);
        engine->priv = NULL;
    }
    return status;
}

void fh_close(struct fh_engine *engine)
{
    engine->backend->close(engine->priv);
    free(engine->priv);
    engine->priv = NULL;
}

struct fh_batch *fh_batch_new(struct fh_engine *engine, uint32_t op, uint32_t count)
{
    struct fh_batch *batch = calloc(1, sizeof(*batch));
    size_t priv = (engine->backend->io_priv + 15) / 16 * 16;
    size_t stride = sizeof(struct host_io);
    batch->engine = engine;
    batch->space = calloc(count, stride + priv);
    batch->outcomes = calloc(count, sizeof(struct fh_io));
    batch->batch = (struct kvs_batch){.size = sizeof(struct kvs_batch),
                                      .op = op,
                                      .count = count,
                                      .io_stride = (uint32_t)stride,
                                      .ios = (struct kvs_io *)(void *)(batch->space + count * priv)};
    for (uint32_t i = 0; i < count; i++) {
        struct kvs_io *io = kvs_batch_io(&batch->batch, i);
        io->index = i;
        io->priv = priv != 0 ? batch->space + i * priv : NULL;
        batch->outcomes[i].io = io;
        ((struct host_io *)(void *)io)->outcome = &batch->outcomes[i];
    }
    pthread_mutex_lock(&lock);
    LIST_INSERT_HEAD(&batches, batch, link);
    pthread_mutex_unlock(&lock);
    return batch;
}

void fh_batch_free(struct fh_batch *batch)
{
    pthread_mutex_lock(&lock);
    LIST_REMOVE(batch, link);
    pthread_mutex_unlock(&lock);
    free(batch->outcomes);
    free(batch->space);
    free(batch);
}

void fh_io_set(struct fh_batch *batch, uint32_t i, const char *key, void *data, size_t len)
{
    struct kvs_io *io = kvs_batch_io(&batch->batch, i);
    struct iovec *iov = &batch->outcomes[i].iov;
    *iov = (struct iovec){data, len};
    io->key = key;
    io->key_len = (uint32_t)strlen(key);
    io->iov = len != 0 ? iov : NULL;
    io->iovcnt = len != 0;
    io->len = len;
}

static void renew(struct fh_batch *batch)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < batch->batch.count; i++) {
        struct fh_io *outcome = &batch->outcomes[i];
        outcome->token = outcome->io->token = ++last_token;
        outcome->status = FH_OPEN;
        outcome->times = 0;
        outcome->io->actual = KVS_ACTUAL_UNSET;
    }
    pthread_mutex_unlock(&lock);
}

int fh_submit(struct fh_batch *batch)
{
    renew(batch);
    return batch->engine->backend->submit(batch->engine->priv, &batch->batch);
}

int fh_status(struct fh_batch *batch, uint32_t i)
{
    pthread_mutex_lock(&lock);
    int status = batch->outcomes[i].status;
    pthread_mutex_unlock(&lock);
    return status;
}

int fh_times(struct fh_batch *batch, uint32_t i)
{
    pthread_mutex_lock(&lock);
    int times = batch->outcomes[i].times;
    pthread_mutex_unlock(&lock);
    return times;
}

void fh_wait(struct fh_batch *batch)
{
    const struct fh_engine *engine = batch->engine;
    for (uint32_t i = 0; i < batch->batch.count; i++) {
        while (!(engine->limits.flags & KVS_F_NO_POLL) && fh_status(batch, i) == FH_OPEN) {
            struct pollfd fd = {.fd = engine->backend->poll_fd(engine->priv), .events = POLLIN};
            if (poll(&fd, 1, 30000) != 1)
                abort();
            engine->backend->poll(engine->priv, 7);
        }
        pthread_mutex_lock(&lock);
        while (batch->outcomes[i].times == 0)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
}

static int blocking_one(struct fh_engine *engine, struct fh_batch *batch)
{
    const struct kvs_backend *backend = engine->backend;
    int (*const functions[])(void *, void *, const struct kvs_batch *, struct kvs_io *) = {
        [KVS_READ] = backend->get,
        [KVS_WRITE] = backend->put,
        [KVS_QUERY] = backend->query,
        [KVS_REMOVE] = backend->remove,
    };
    renew(batch);
    return functions[batch->batch.op](engine->priv, NULL, &batch->batch, batch->batch.ios);
}

int fh_one(struct fh_engine *engine, uint32_t op, const char *key, void *data, size_t len, uint64_t *actual)
{
    struct fh_batch *batch = fh_batch_new(engine, op, 1);
    fh_io_set(batch, 0, key, data, len);
    int status;
    if (engine->backend->submit == NULL || (engine->limits.flags & KVS_F_USE_BLOCKING)) {
        status = blocking_one(engine, batch);
    } else {
        status = fh_submit(batch);
        if (status == KVS_OK) {
            fh_wait(batch);
            status = fh_status(batch, 0);
        }
    }
    if (actual != NULL)
        *actual = batch->batch.ios->actual;
    fh_batch_free(batch);
    return status;
}
