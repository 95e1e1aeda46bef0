/* SPDX-License-Identifier: Apache-2.0 */
/* Every call into a backend: one at a time where it is serial, shown where it is traced, and as part of a
 * turn. */
#include "engine.h"
#include "log.h"

#include <stdio.h>

#define BUSY_TICK KVS_MS(1) /* for so long a caller who may not wait waits for it all the same */
#define BUSY_NAP  50000u    /* ns between its looks */

static const char *const op_names[] = {"READ", "WRITE", "QUERY", "REMOVE"};

static uint64_t enter(kvs_engine *e)
{
    kvs_turn_begin();
    if (e->serial)
        kvs_mutex_lock(&e->serial_lock);
    return e->trace ? kvs_now_ns() : 0;
}

/* The backend's lock, unless others have it for long. */
static bool lock_soon(kvs_engine *e)
{
    for (int i = 0; i < KVS_SPINS; i++) {
        if (kvs_mutex_trylock(&e->serial_lock))
            return true;
        kvs_cpu_relax();
    }
    for (uint64_t end = kvs_after(kvs_now_ns(), BUSY_TICK); kvs_now_ns() < end; kvs_nap(BUSY_NAP))
        if (kvs_mutex_trylock(&e->serial_lock))
            return true;
    return false;
}

/* The same for callers who have a time limit of their own to keep: a serial backend may be busy for long,
 * with a list, or a submit that may block. False: the call is to be made later. */
static bool enter_soon(kvs_engine *e, uint64_t *start)
{
    kvs_turn_begin();
    if (e->serial && !lock_soon(e)) {
        kvs_turn_end();
        return false;
    }
    *start = e->trace ? kvs_now_ns() : 0;
    return true;
}

static uint64_t leave(kvs_engine *e, uint64_t start)
{
    uint64_t took = e->trace ? kvs_now_ns() - start : 0;
    if (e->serial)
        kvs_mutex_unlock(&e->serial_lock);
    return took;
}

static void trace(kvs_engine *e, uint64_t took, const char *fmt, ...) KVS_PRINTF(3, 4);
static void trace(kvs_engine *e, uint64_t took, const char *fmt, ...)
{
    char what[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    kvs_log(KVS_LOG_ASKED, e->be->name, "%s, %llu.%03llu us", what, (unsigned long long)(took / 1000),
            (unsigned long long)(took % 1000));
}

#define TRACE(...)                                                                                           \
    do {                                                                                                     \
        if (e->trace)                                                                                        \
            trace(e, took, __VA_ARGS__);                                                                     \
    } while (0)

int kvs_call_open(kvs_engine *e, struct kvs_limits *limits)
{
    uint64_t start = enter(e);
    int rc = e->be->open(e->priv, e, limits);
    uint64_t took = leave(e, start);
    TRACE("open() = %s", kvs_status_name(rc));
    kvs_turn_end();
    return rc;
}

void kvs_call_close(kvs_engine *e)
{
    if (!e->be->close)
        return;
    uint64_t start = enter(e);
    e->be->close(e->priv);
    uint64_t took = leave(e, start);
    TRACE("close()");
    kvs_turn_end();
}

int kvs_call_submit(kvs_engine *e, struct kvs_xfer *x, bool may_wait)
{
    uint64_t start;
    if (may_wait)
        start = enter(e);
    else if (!enter_soon(e, &start))
        return KVS_AGAIN;
    struct kvs_submits outer = kvs_turn_submit_begin(x);
    int rc = e->be->submit(e->priv, &x->batch);
    uint32_t ended = kvs_turn_submit_end(outer);
    uint64_t took = leave(e, start);
    if (ended > 0) /* never the last: the caller has the batch in hand */
        kvs_xfer_drop(x, ended);
    TRACE("submit(%s, %u ios) = %s", op_names[x->batch.op], x->count, kvs_status_name(rc));
    kvs_turn_end();
    return rc;
}

bool kvs_call_cancel(kvs_engine *e, struct kvs_xfer *x)
{
    uint64_t start;
    if (!e->be->cancel || !(e->limits.caps_native & KVS_CAP_CANCEL))
        return true;
    if (!enter_soon(e, &start))
        return false;
    e->be->cancel(e->priv, &x->batch);
    uint64_t took = leave(e, start);
    TRACE("cancel(%s, %u ios)", op_names[x->batch.op], x->count);
    kvs_turn_end();
    return true;
}

int kvs_call_poll(kvs_engine *e, int max)
{
    uint64_t start;
    if (!enter_soon(e, &start))
        return KVS_CALL_BUSY;
    int rc = e->be->poll(e->priv, max);
    if (rc == KVS_CALL_BUSY) /* of all errors that it may answer */
        rc = KVS_BACKEND;
    uint64_t took = leave(e, start);
    if (rc != 0) /* idle polls would hide all else */
        TRACE("poll(%d) = %d", max, rc);
    kvs_turn_end();
    return rc;
}

/* Not traced: it would stand between all that is. */
int kvs_call_poll_fd(kvs_engine *e)
{
    kvs_turn_begin();
    int fd = e->be->poll_fd(e->priv); /* beside all else, in a serial engine too */
    kvs_turn_end();
    return fd;
}

/* An emulated QUERY: the value's size is what a READ of no bytes finds. */
static int query_by_get(kvs_engine *e, void *worker, struct kvs_xfer *x, struct kvs_io *io)
{
    struct kvs_batch batch = x->batch;
    batch.op = KVS_READ;
    int rc = e->be->get(e->priv, worker, &batch, io);
    if (io->actual == KVS_ACTUAL_UNSET)
        io->actual = rc == KVS_OK ? 0 : KVS_SIZE_UNKNOWN;
    return rc == KVS_MISMATCH ? KVS_OK : rc;
}

static int call_op(kvs_engine *e, void *worker, struct kvs_xfer *x, struct kvs_io *io)
{
    const struct kvs_backend *be = e->be;
    switch (x->batch.op) {
    case KVS_READ:
        return be->get(e->priv, worker, &x->batch, io);
    case KVS_WRITE:
        return be->put(e->priv, worker, &x->batch, io);
    case KVS_QUERY:
        return be->query ? be->query(e->priv, worker, &x->batch, io) : query_by_get(e, worker, x, io);
    default:
        return be->remove(e->priv, worker, &x->batch, io);
    }
}

int kvs_call_io(kvs_engine *e, void *worker, struct kvs_xfer *x, struct kvs_io *io)
{
    char key[80] = "";
    const char *op = op_names[x->batch.op];
    uint64_t len = io->len;
    if (e->trace)
        kvs_show_bytes(key, sizeof key, io->key, io->key_len);
    uint64_t start = enter(e);
    int rc = call_op(e, worker, x, io);
    uint64_t took = leave(e, start); /* a function that completed its io by itself has lost it by now */
    TRACE("%s(\"%s\", %llu bytes) = %s", op, key, (unsigned long long)len, kvs_status_name(rc));
    kvs_turn_end();
    return rc;
}

int kvs_call_worker_open(kvs_engine *e, void *worker)
{
    uint64_t start = enter(e);
    int rc = e->be->worker_open(e->priv, worker);
    uint64_t took = leave(e, start);
    TRACE("worker_open() = %s", kvs_status_name(rc));
    kvs_turn_end();
    return rc;
}

void kvs_call_worker_close(kvs_engine *e, void *worker)
{
    uint64_t start = enter(e);
    e->be->worker_close(e->priv, worker);
    uint64_t took = leave(e, start);
    TRACE("worker_close()");
    kvs_turn_end();
}

int kvs_call_prep(kvs_engine *e, struct kvs_xfer *x)
{
    uint64_t start = enter(e);
    int rc = e->be->prep(e->priv, &x->batch);
    uint64_t took = leave(e, start);
    TRACE("prep(%s, %u ios) = %s", op_names[x->batch.op], x->count, kvs_status_name(rc));
    kvs_turn_end();
    return rc;
}

bool kvs_call_unprep(kvs_engine *e, struct kvs_xfer *x, bool may_wait)
{
    uint64_t start;
    if (!e->be->unprep)
        return true;
    if (may_wait)
        start = enter(e);
    else if (!enter_soon(e, &start))
        return false;
    e->be->unprep(e->priv, &x->batch);
    uint64_t took = leave(e, start);
    TRACE("unprep(%s, %u ios)", op_names[x->batch.op], x->count);
    kvs_turn_end();
    return true;
}

int kvs_call_register(kvs_engine *e, struct kvs_mem *m, const struct kvs_desc *desc)
{
    if (!e->be->on_register)
        return KVS_OK;
    uint64_t start = enter(e);
    int rc = e->be->on_register(e->priv, m->priv, m->type, desc);
    uint64_t took = leave(e, start);
    TRACE("on_register(dev_id %llu, %llu bytes) = %s", (unsigned long long)m->dev_id,
          (unsigned long long)m->len, kvs_status_name(rc));
    kvs_turn_end();
    return rc;
}

int kvs_call_deregister(kvs_engine *e, struct kvs_mem *m, bool may_wait)
{
    uint64_t start;
    if (!e->be->on_deregister)
        return KVS_OK;
    if (may_wait)
        start = enter(e);
    else if (!enter_soon(e, &start))
        return KVS_CALL_BUSY;
    int rc = e->be->on_deregister(e->priv, m->priv);
    if (rc == KVS_CALL_BUSY) /* of all numbers that are no status */
        rc = KVS_BACKEND;
    uint64_t took = leave(e, start);
    TRACE("on_deregister(dev_id %llu) = %s", (unsigned long long)m->dev_id, kvs_status_name(rc));
    kvs_turn_end();
    return rc;
}

int kvs_call_list(kvs_engine *e, const void *prefix, size_t len,
                  int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                  uint64_t deadline)
{
    uint64_t start = enter(e);
    int rc = e->be->list(e->priv, prefix, len, each, arg, deadline);
    uint64_t took = leave(e, start);
    TRACE("list(%zu bytes of prefix) = %d", len, rc);
    kvs_turn_end();
    return rc;
}
