/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing a transfer: one allocation for all it will ever need. */
#include "prep.h"
#include "quarantine.h"

#include <stdlib.h>
#include <string.h>

/* Where the parts of the allocation are, in bytes from its start. */
struct layout {
    size_t align, slots, mems, user, batch_priv, io_priv, io_step, keys, bounce, total;
};

/* Adds n things of `size` to the end, aligned; false where that overflows. */
static bool part(size_t *end, size_t align, size_t n, size_t size, size_t *at)
{
    if (__builtin_add_overflow(*end, align - 1, end))
        return false;
    *end &= ~(align - 1);
    *at = *end;
    size_t bytes;
    return !__builtin_mul_overflow(n, size, &bytes) && !__builtin_add_overflow(*end, bytes, end);
}

static bool lay_out(const struct kvs_prep *p, struct layout *l)
{
    const struct kvs_backend *be = p->e->be;
    size_t priv_align = be->priv_align, end = KVS_XFER_HEAD, recs;
    l->align = priv_align > 64 ? priv_align : 64;
    l->io_step = (be->io_priv + priv_align - 1) & ~(priv_align - 1);
    return part(&end, 64, p->count, sizeof(struct kvs_rec), &recs) &&
           part(&end, sizeof(void *), kvs_slots_for(p->count), sizeof(void *), &l->slots) &&
           part(&end, sizeof(void *), p->nmems, sizeof(void *), &l->mems) &&
           part(&end, sizeof(uint64_t), kvs_prep_bounces(p) ? p->count : 0, sizeof(uint64_t), &l->user) &&
           part(&end, priv_align, 1, be->batch_priv, &l->batch_priv) &&
           part(&end, priv_align, p->count, l->io_step, &l->io_priv) &&
           part(&end, 1, p->key_bytes, 1, &l->keys) &&
           part(&end, KVS_BOUNCE_ALIGN, p->bounce_bytes, 1, &l->bounce) &&
           part(&end, 1, l->align - 1, 1, &l->total) && (l->total = end) <= PTRDIFF_MAX;
}

/* The slot of the next records: with it, those are part of the transfer. */
static void set_slot(void *arg, uint32_t i, struct kvs_slot *slot, uint32_t number)
{
    struct kvs_prep *p = arg;
    struct kvs_xfer *x = p->x;
    uint32_t from = x->count, to = p->count - from > KVS_SLOT_IOS ? from + KVS_SLOT_IOS : p->count;
    (void)i;
    x->slots[from / KVS_SLOT_IOS] = slot;
    slot->ios = &x->recs[from].io;
    for (uint32_t k = from; k < to; k++) {
        struct kvs_rec *rec = &x->recs[k];
        rec->io.token = kvs_token_of(number, k - from);
        rec->io.priv = p->io_priv ? p->io_priv + k * p->io_step : NULL;
        rec->text = NULL;
    }
    x->count = to;
}

/* An empty transfer with all its pointers set, and no records yet. */
static struct kvs_xfer *allocate(struct kvs_prep *p)
{
    const struct kvs_backend *be = p->e->be;
    struct layout l;
    if (!lay_out(p, &l))
        return NULL;
    /* Aligned by hand: blocks of this size are then taken from memory that the process has, and not from new
     * pages each time. */
    char *block = p->e->quarantine ? kvs_quarantine_alloc(l.total) : malloc(l.total);
    if (!block)
        return NULL;
    char *base = block + (-(uintptr_t)block & (l.align - 1));
    struct kvs_xfer *x = (struct kvs_xfer *)(void *)base;
    memset(x, 0, KVS_XFER_HEAD);
    memset(base + l.mems, 0, l.keys - l.mems);
    x->magic = KVS_XFER_MAGIC;
    x->block = block;
    x->engine = p->e;
    x->recs = (struct kvs_rec *)(base + KVS_XFER_HEAD);
    x->slots = (struct kvs_slot **)(base + l.slots);
    x->mems = (struct kvs_mem **)(base + l.mems);
    x->done = p->req->done;
    x->done_arg = p->req->arg;
    x->deferred = (p->req->flags & KVS_XFER_DEFERRED) || (p->e->limits.flags & KVS_F_COMPLETE_DEFERRED);
    x->reap = p->req->flags & KVS_XFER_REAP;
    x->batch = (struct kvs_batch){.size = sizeof x->batch,
                                  .op = p->req->op,
                                  .count = p->count,
                                  .io_stride = sizeof(struct kvs_rec),
                                  .ios = &x->recs[0].io,
                                  .ttl_ms = p->req->op == KVS_WRITE ? p->e->ttl_ms : 0,
                                  .priv = be->batch_priv ? base + l.batch_priv : NULL};
    x->user = kvs_prep_bounces(p) ? (uint64_t *)(base + l.user) : NULL;
    p->key_at = base + l.keys;
    p->key_end = p->key_at + p->key_bytes;
    p->io_priv = be->io_priv ? base + l.io_priv : NULL;
    p->io_step = l.io_step;
    p->bounce_at = base + l.bounce;
    p->bounce_end = p->bounce_at + (x->user ? p->bounce_bytes : 0);
    kvs_handle_add(x);
    return x;
}

/* Slots for the records [x->count, to). */
static int take_slots(struct kvs_prep *p, uint32_t to)
{
    if (kvs_slab_take(p->e->slab, kvs_slots_for(to - p->x->count), set_slot, p))
        return KVS_OK;
    return kvs_err_set(p->err, KVS_NO_MEMORY, "no memory for the completions of %u descriptors", p->count);
}

/* What is wrong with a descriptor, or else too much was asked for. */
static int no_memory(struct kvs_prep *p)
{
    int rc = kvs_prep_resolve(p, 0, p->count);
    if (rc != KVS_OK)
        return rc;
    return kvs_err_set(p->err, KVS_NO_MEMORY,
                       "no memory for a transfer of %u descriptors with %zu bytes of keys and %zu of buffers",
                       p->count, p->key_bytes, p->bounce_bytes);
}

/* Records that are made and then filled, still in the processor's cache. */
#define AT_ONCE (4 * KVS_SLOT_IOS)

/* All in one hold of the lock, so that no registration goes in between. */
static int fill(struct kvs_prep *p)
{
    kvs_mutex_lock(&p->e->mem_lock);
    int rc = KVS_OK;
    if (!kvs_prep_measure(p) || (p->x = allocate(p)) == NULL)
        rc = no_memory(p);
    for (uint32_t from = 0, to; rc == KVS_OK && from < p->count; from = to) {
        to = p->count - from > AT_ONCE ? from + AT_ONCE : p->count;
        rc = take_slots(p, to);
        if (rc == KVS_OK)
            rc = kvs_prep_resolve(p, from, to);
    }
    kvs_mutex_unlock(&p->e->mem_lock);
    return rc;
}

/* The engine keeps it from here on. */
static void adopt(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    kvs_engine_ref(e);
    kvs_mutex_lock(&e->lock);
    kvs_list_add(&e->live, KVS_IN_LIVE, x, true);
    kvs_mutex_unlock(&e->lock);
}

static int tell_backend(struct kvs_prep *p)
{
    if (!p->e->be->prep)
        return KVS_OK;
    struct kvs_error why = {KVS_OK, ""};
    struct kvs_error *outer = kvs_host_text_begin(&why);
    int rc = kvs_call_prep(p->e, p->x);
    kvs_host_text_end(outer);
    p->x->prepped = rc == KVS_OK ? KVS_PREP_OWED : KVS_PREP_NONE;
    if (rc == KVS_OK)
        return rc;
    char buf[64];
    return kvs_err_set(p->err, kvs_status_error(rc), "backend '%s' refused to prepare the transfer: %s",
                       p->e->be->name, kvs_err_why(buf, sizeof buf, &why, rc));
}

int kvs_xfer_prep(kvs_engine *e, const struct kvs_xfer_req *req, kvs_xfer **xfer, struct kvs_error *err)
{
    if (!xfer)
        return kvs_err_set(err, KVS_INVALID_PARAM, "pointer for the transfer is NULL");
    *xfer = NULL;
    int rc = kvs_engine_check(e, err);
    if (rc != KVS_OK)
        return rc;
    if (!req)
        return kvs_err_set(err, KVS_INVALID_PARAM, "request is NULL");
    if (req->size < sizeof *req)
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "size of the request is %zu; it has to be sizeof(struct kvs_xfer_req), %zu",
                           req->size, sizeof *req);
    if (kvs_a32_load(&e->closing))
        return kvs_err_set(err, KVS_NOT_ALLOWED, "engine of backend '%s' is closing", e->be->name);
    struct kvs_prep p = {.e = e, .req = req, .err = err};
    rc = kvs_prep_check(&p);
    if (rc == KVS_OK)
        rc = fill(&p);
    if (p.x)
        adopt(p.x);
    if (rc == KVS_OK)
        rc = tell_backend(&p);
    if (rc == KVS_OK)
        *xfer = p.x;
    else if (p.x)
        kvs_xfer_free(p.x);
    return rc;
}
