/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing a transfer: what prep.c (memory), request.c (the request), measure.c (sizes) and
 * resolve.c (descriptors, keys) share. */
#ifndef KVS_SRC_PREP_H
#define KVS_SRC_PREP_H

#include "engine.h"

/*
 * One prep on its way. Its descriptors are gone through twice: to measure, with no more than that takes, and
 * then to check them and fill them in. Registrations of the remote side, which may be anywhere in memory, are
 * looked at by the first only.
 */
struct kvs_prep {
    kvs_engine *e;
    const struct kvs_xfer_req *req;
    struct kvs_error *err;
    uint32_t count;
    size_t key_bytes;                 /* of all keys, prefixes included; measured */
    size_t bounce_bytes;              /* of all buffers of bounce=yes; measured */
    uint32_t nmems;                   /* distinct local registrations; measured */
    struct kvs_xfer *x;               /* NULL: only to check */
    char *key_at, *key_end;           /* where the next key goes, and the end of the room for keys */
    char *bounce_at, *bounce_end;     /* the same for buffers */
    char *io_priv;                    /* the backend's space of the first io, NULL: it has none */
    size_t io_step;                   /* and bytes from one to the next */
    const char *custom_at;            /* the next key of req->custom */
    uint64_t stamp;                   /* see kvs_mem.mark */
    const struct kvs_mem *local_seen; /* the last local one, found to be a registration in this pass */
    struct kvs_mem_seen seen;         /* a remote one, where there is no transfer yet */
};

/* A buffer of bounce=yes begins at a multiple of this: a cache line. */
#define KVS_BOUNCE_ALIGN 64

/* What one descriptor pair comes to. */
struct kvs_pair {
    const void *key; /* without prefix */
    size_t key_len;
    uint64_t addr, len, offset;
    bool ranged;
    struct kvs_mem *local;
};

static inline const struct kvs_desc *kvs_desc_at(const struct kvs_dlist *list, size_t i)
{
    size_t stride = list->stride ? list->stride : sizeof(struct kvs_desc);
    return (const struct kvs_desc *)((const char *)list->descs + i * stride);
}

/* Bytes of the longest key, prefix included. */
static inline uint32_t kvs_prep_max_key(const struct kvs_prep *p)
{
    return p->e->limits.max_key ? p->e->limits.max_key : UINT32_MAX;
}

static inline bool kvs_prep_bounces(const struct kvs_prep *p)
{
    return p->e->bounce && p->req->op < KVS_QUERY;
}

/* What a value takes of the transfer's buffers; its length is at most SIZE_MAX / 2. */
static inline size_t kvs_bounce_room(uint64_t len)
{
    return ((size_t)len + KVS_BOUNCE_ALIGN - 1) & ~(size_t)(KVS_BOUNCE_ALIGN - 1);
}

/* Whose keys are they: the request's own, or those of registrations. */
static inline bool kvs_prep_own_keys(const struct kvs_prep *p)
{
    return p->req->keys || p->req->custom;
}

/* Asks memory for what is looked at soon, step by step: the bucket of a remote descriptor, then its
 * registration. It need not be any. */
static inline void kvs_prep_fetch_bucket(const struct kvs_prep *p, uint32_t i)
{
    const struct kvs_desc *d = kvs_desc_at(p->req->remote, i);
    const struct kvs_memtab *t = &p->e->mems;
    if (!d->mem && t->nbuckets)
        __builtin_prefetch(&t->buckets[kvs_memtab_bucket(t, p->req->remote->type, d->dev_id)]);
}

static inline void kvs_prep_fetch_mem(const struct kvs_prep *p, uint32_t i)
{
    const struct kvs_desc *d = kvs_desc_at(p->req->remote, i);
    const struct kvs_memtab *t = &p->e->mems;
    const struct kvs_mem *m = d->mem;
    if (!m && t->nbuckets)
        m = t->buckets[kvs_memtab_bucket(t, p->req->remote->type, d->dev_id)];
    __builtin_prefetch(m);
}

/* The registration a dev_id stands for: any of those with its one key, best one that frames the address.
 * NOT_FOUND: there is none; INVALID_PARAM: they have two keys. */
static inline int kvs_prep_by_dev_id(struct kvs_prep *p, const struct kvs_desc *d, const struct kvs_mem **out)
{
    struct kvs_memtab *t = &p->e->mems;
    struct kvs_mem *m = kvs_memtab_find(t, p->req->remote->type, d->dev_id);
    if (!m)
        return KVS_NOT_FOUND;
    *out = m;
    if (!m->grouped)
        return KVS_OK;
    if (!kvs_memtab_one_key(t, m))
        return KVS_INVALID_PARAM;
    struct kvs_mem *fit = kvs_memtab_framing(t, m, d->addr);
    *out = fit ? fit : m;
    return KVS_OK;
}

/* What does not depend on single descriptors: op, lists, counts; sets count. */
int kvs_prep_check(struct kvs_prep *p);
/* Sets key_bytes and nmems; engine.mem_lock held. False: there is something wrong, which kvs_prep_resolve
 * names. */
bool kvs_prep_measure(struct kvs_prep *p);
/* Checks the descriptors [from, to), and fills in x; engine.mem_lock held, from the first one on. */
int kvs_prep_resolve(struct kvs_prep *p, uint32_t from, uint32_t to);

#endif
