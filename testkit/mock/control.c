/* SPDX-License-Identifier: Apache-2.0 */
/* <kvslot/mock.h>: how tests steer the mock. Not part of the plugin. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const struct kvs_backend kvs_mock_backend;

int kvs_mock_register(struct kvs_error *err)
{
    return kvs_backend_register(&kvs_mock_backend, err);
}

size_t kvs_mock_let_go(const char *name, size_t n)
{
    struct mock_store *store = mock_store_get(name);
    return store != NULL ? mock_let_go(store, n) : 0;
}

/* The clock's time in timeout_ns from now; of a sum that is out of range, the last. */
static struct timespec time_in(uint64_t timeout_ns)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    uint64_t now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    uint64_t then = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
    return (struct timespec){.tv_sec = (time_t)(then / 1000000000u), .tv_nsec = (long)(then % 1000000000u)};
}

int kvs_mock_wait_held(const char *name, size_t n, uint64_t timeout_ns)
{
    struct mock_store *store = mock_store_get(name);
    if (store == NULL)
        return KVS_NO_MEMORY;
    struct timespec until = time_in(timeout_ns);
    int rc = 0;
    pthread_mutex_lock(&store->lock);
    while (store->counts.held < n && rc == 0)
        rc = pthread_cond_timedwait(&store->changed, &store->lock, &until);
    int status = store->counts.held < n ? KVS_TIMEOUT : KVS_OK;
    pthread_mutex_unlock(&store->lock);
    return status;
}

int kvs_mock_get_counts(const char *name, struct kvs_mock_counts *out)
{
    if (out == NULL || out->size == 0)
        return KVS_INVALID_PARAM;
    struct mock_store *store = mock_store_get(name);
    if (store == NULL)
        return KVS_NO_MEMORY;
    size_t size = out->size;
    pthread_mutex_lock(&store->lock);
    memcpy(out, &store->counts, size < sizeof(*out) ? size : sizeof(*out));
    pthread_mutex_unlock(&store->lock);
    out->size = size;
    return KVS_OK;
}

int kvs_mock_set_fault(const char *name, enum kvs_mock_point point, uint64_t after, uint64_t count,
                       int status)
{
    if ((unsigned)point >= KVS_MOCK_POINTS)
        return KVS_INVALID_PARAM;
    struct mock_store *store = mock_store_get(name);
    if (store == NULL)
        return KVS_NO_MEMORY;
    pthread_mutex_lock(&store->lock);
    store->faults[point] = (struct mock_fault){.after = after, .count = count, .status = status};
    pthread_mutex_unlock(&store->lock);
    return KVS_OK;
}

int kvs_mock_complete_again(const char *name, enum kvs_mock_again how, int status)
{
    struct mock_store *store = mock_store_get(name);
    if (store == NULL)
        return KVS_NO_MEMORY;
    pthread_mutex_lock(&store->lock);
    struct kvs_io *io = store->last_io;
    uint64_t token = store->last_token;
    pthread_mutex_unlock(&store->lock);
    if (io == NULL)
        return KVS_NOT_FOUND;
    if (how == KVS_MOCK_BY_IO)
        mock_host->complete(io, status);
    else
        mock_host->complete_cb(status, (void *)(uintptr_t)token);
    return KVS_OK;
}

void kvs_mock_wake(const char *name)
{
    struct mock_store *store = mock_store_get(name);
    if (store == NULL)
        return;
    /* wake is not called with the lock held: the host may offer a batch on the way. */
    pthread_mutex_lock(&store->lock);
    size_t n = 0, room = store->counts.engines;
    void **ctxs = calloc(room + 1, sizeof(void *));
    struct mock_engine *engine = LIST_FIRST(&store->engines);
    for (; engine != NULL && ctxs != NULL && n < room; engine = LIST_NEXT(engine, link))
        ctxs[n++] = engine->ctx;
    pthread_mutex_unlock(&store->lock);
    for (size_t i = 0; i < n; i++)
        mock_host->wake(ctxs[i]);
    free(ctxs);
}

void kvs_mock_reset(const char *name)
{
    struct mock_store *store = mock_store_get(name);
    if (store == NULL)
        return;
    mock_store_clear(store);
    pthread_mutex_lock(&store->lock);
    struct kvs_mock_counts now = {.engines = store->counts.engines, .held = store->counts.held};
    store->counts = now;
    memset(store->faults, 0, sizeof(store->faults));
    store->last_io = NULL;
    pthread_mutex_unlock(&store->lock);
}
