/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker pool of a blocking backend. Its queue holds transfers, so that it is never full and a transfer
 * of many ios does not keep the others waiting: a worker takes one io and puts the transfer at the end.
 */
#include "backends.h"
#include "engine.h"

#include <stdlib.h>
#include <string.h>

int kvs_pool_init(kvs_engine *e, uint32_t threads)
{
    struct kvs_pool *p = &e->pool;
    p->max = threads;
    p->thread = calloc(threads, sizeof *p->thread);
    if (!p->thread)
        return KVS_NO_MEMORY;
    kvs_mutex_init(&p->lock);
    kvs_cond_init(&p->work);
    return KVS_OK;
}

struct worker {
    kvs_engine *e;
    void *priv;
    bool open;
};

/* Private space and connection of this worker; tried again at its next io where it fails. */
static int worker_ready(struct worker *w, struct kvs_io *io)
{
    const struct kvs_backend *be = w->e->be;
    if (w->open)
        return KVS_OK;
    size_t align = be->priv_align, room = (be->worker_priv + align - 1) & ~(align - 1);
    if (room && !w->priv && (w->priv = aligned_alloc(align, room)) == NULL)
        return KVS_NO_MEMORY;
    if (room) /* also after a try that failed */
        memset(w->priv, 0, room);
    struct kvs_error err = {KVS_OK, ""};
    struct kvs_error *outer = kvs_host_text_begin(&err);
    int status = be->worker_open ? kvs_call_worker_open(w->e, w->priv) : KVS_OK;
    kvs_host_text_end(outer);
    w->open = status == KVS_OK;
    if (status != KVS_OK && err.text[0])
        kvs_host_table.io_error(io, "%s", err.text);
    return status;
}

/* One io of a blocking backend. */
static void run_io(struct worker *w, struct kvs_xfer *x, uint32_t index)
{
    struct kvs_io *io = &kvs_rec_at(x, index)->io;
    struct kvs_slot *slot = kvs_slot_at(x, index);
    uint64_t token = io->token;
    int status = worker_ready(w, io);
    if (status == KVS_OK)
        status = kvs_call_io(w->e, w->priv, x, io);
    if (kvs_slot_disarm(slot, token)) {
        kvs_settle_won(x, io, status);
        kvs_xfer_drop(x, 1);
    } else /* the transfer may be gone */
        kvs_slab_violation(w->e->slab,
                           "a blocking function completed its io by itself; it may only answer a status");
}

/* A whole batch, of a backend whose submit may wait. Nobody ends its ios before this call: see kvs_xfer_stop.
 */
static void run_submit(struct kvs_xfer *x)
{
    if (!kvs_xfer_hold(x))
        return;
    kvs_submit_late(x, false);
    kvs_xfer_drop(x, 1);
}

static void work(struct worker *w)
{
    kvs_engine *e = w->e;
    struct kvs_pool *p = &e->pool;
    kvs_mutex_lock(&p->lock);
    for (;;) {
        while (!p->list.head && !p->offer && !p->stop) {
            p->idle++;
            kvs_cond_wait(&p->work, &p->lock, KVS_NEVER);
            p->idle--;
        }
        if (p->offer) {
            p->offer = false;
            kvs_mutex_unlock(&p->lock);
            kvs_again_offer_here(e);
            kvs_mutex_lock(&p->lock);
            continue;
        }
        if (!p->list.head)
            break;
        struct kvs_xfer *x = p->list.head;
        kvs_list_take(&p->list, KVS_IN_POOL, x);
        uint32_t index = x->pool_index;
        p->queued--;
        x->pool_index = e->blocking ? index + 1 : x->count;
        if (x->pool_index < x->count)
            kvs_list_add(&p->list, KVS_IN_POOL, x, false);
        kvs_mutex_unlock(&p->lock);
        if (e->blocking)
            run_io(w, x, index);
        else
            run_submit(x);
        kvs_mutex_lock(&p->lock);
    }
    kvs_mutex_unlock(&p->lock);
}

static void *worker_main(void *arg)
{
    struct worker w = {arg, NULL, false};
    kvs_turn_theirs(true);
    work(&w);
    if (w.open && w.e->be->worker_close)
        kvs_call_worker_close(w.e, w.priv);
    free(w.priv);
    return NULL;
}

/* As many workers as there is work for them, up to `threads`; with the pool's lock held. */
static void start_workers(kvs_engine *e)
{
    struct kvs_pool *p = &e->pool;
    for (uint64_t ready = p->idle; ready < p->queued && p->threads < p->max; ready++) {
        if (kvs_thread_start(&p->thread[p->threads], worker_main, e, "kvs-worker") != 0)
            return;
        p->threads++;
    }
}

int kvs_pool_add(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    struct kvs_pool *p = &e->pool;
    uint32_t wanted = e->blocking ? x->count : 1;
    kvs_mutex_lock(&p->lock);
    p->queued += wanted;
    start_workers(e);
    if (p->threads == 0) {
        p->queued -= wanted;
        kvs_mutex_unlock(&p->lock);
        return KVS_NO_MEMORY;
    }
    x->pool_index = 0;
    kvs_list_add(&p->list, KVS_IN_POOL, x, false);
    uint32_t wake = wanted < p->idle ? wanted : p->idle;
    if (wake > 1)
        kvs_cond_broadcast(&p->work);
    else if (wake == 1)
        kvs_cond_signal(&p->work);
    kvs_mutex_unlock(&p->lock);
    return KVS_OK;
}

void kvs_pool_offer(kvs_engine *e)
{
    struct kvs_pool *p = &e->pool;
    kvs_mutex_lock(&p->lock);
    p->offer = true; /* a batch that waits has been at a worker: there is one */
    kvs_cond_signal(&p->work);
    kvs_mutex_unlock(&p->lock);
}

void kvs_pool_take(struct kvs_xfer *x, uint32_t *from)
{
    struct kvs_pool *p = &x->engine->pool;
    *from = x->count;
    kvs_mutex_lock(&p->lock);
    if (kvs_list_take(&p->list, KVS_IN_POOL, x)) {
        *from = x->pool_index;
        p->queued -= x->engine->blocking ? x->count - x->pool_index : 1;
        x->pool_index = x->count;
    }
    kvs_mutex_unlock(&p->lock);
}

void kvs_pool_stop(kvs_engine *e)
{
    struct kvs_pool *p = &e->pool;
    kvs_mutex_lock(&p->lock);
    p->stop = true;
    kvs_cond_broadcast(&p->work);
    uint32_t n = p->threads;
    kvs_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < n; i++)
        kvs_thread_join(p->thread[i]);
}

void kvs_pool_destroy(kvs_engine *e)
{
    struct kvs_pool *p = &e->pool;
    if (!p->thread)
        return;
    kvs_cond_destroy(&p->work);
    kvs_mutex_destroy(&p->lock);
    free(p->thread);
}
