/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a transfer needs, before anything of it is checked that does not bear on that. */
#include "prep.h"
#include "span.h"

#include <string.h>

/* The registration that a remote descriptor stands for; false: there is none. */
static bool see(struct kvs_prep *p, uint32_t i, struct kvs_mem_seen *seen)
{
    struct kvs_memtab *t = &p->e->mems;
    const struct kvs_desc *d = kvs_desc_at(p->req->remote, i);
    const struct kvs_mem *m = d->mem;
    if (m && !kvs_memtab_has(t, m))
        return false;
    if (!m && kvs_prep_by_dev_id(p, d, &m) != KVS_OK)
        return false;
    kvs_mem_see(seen, m);
    return true;
}

#define AHEAD 32u /* descriptors: what memory takes to answer, in the time that one takes here */

/* The keys of the registrations. */
static bool measure_remote(struct kvs_prep *p)
{
    struct kvs_memtab *t = &p->e->mems;
    if (!kvs_memtab_see_room(t, p->count))
        return false;
    for (uint32_t i = 0; i < 2 * AHEAD && i < p->count; i++)
        kvs_prep_fetch_bucket(p, i);
    for (uint32_t i = 0; i < AHEAD && i < p->count; i++)
        kvs_prep_fetch_mem(p, i);
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->count - i > 2 * AHEAD)
            kvs_prep_fetch_bucket(p, i + 2 * AHEAD);
        if (p->count - i > AHEAD)
            kvs_prep_fetch_mem(p, i + AHEAD);
        if (!see(p, i, &t->seen[i]))
            return false;
        p->key_bytes += t->seen[i].key_len;
    }
    return true;
}

/* The keys of the request; for one that is too long no memory is asked for. */
static bool measure_own(struct kvs_prep *p)
{
    if (p->req->custom) {
        p->key_bytes += p->req->custom_len - (p->count - 1); /* without the newlines */
        return true;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const struct kvs_key *key = &p->req->keys[i];
        if (!kvs_bytes_fit(key->data, key->len) ||
            kvs_add_most(p->e->prefix_len, key->len) > kvs_prep_max_key(p))
            return false;
        p->key_bytes += p->req->keys[i].len;
    }
    return true;
}

/* The buffers of bounce=yes. */
static bool measure_buffers(struct kvs_prep *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t len = kvs_desc_at(p->req->local, i)->len;
        if (len > SIZE_MAX / 2)
            return false;
        if (__builtin_add_overflow(p->bounce_bytes, kvs_bounce_room(len), &p->bounce_bytes)) {
            p->bounce_bytes = SIZE_MAX; /* for which there is no memory */
            return true;
        }
    }
    return true;
}

/* The distinct registrations of the local side. */
static bool measure_local(struct kvs_prep *p)
{
    const struct kvs_mem *last = NULL;
    uint64_t stamp = ++p->e->mems.stamp;
    for (uint32_t i = 0; i < p->count; i++) {
        struct kvs_mem *m = kvs_desc_at(p->req->local, i)->mem;
        if (!m || m == last)
            continue;
        if (!kvs_memtab_has(&p->e->mems, m))
            return false;
        last = m;
        p->nmems += m->mark != stamp;
        m->mark = stamp;
    }
    return true;
}

bool kvs_prep_measure(struct kvs_prep *p)
{
    p->key_bytes = p->count * p->e->prefix_len;
    if (kvs_prep_bounces(p) && !measure_buffers(p))
        return false;
    if (p->req->op < KVS_QUERY && !measure_local(p))
        return false;
    return kvs_prep_own_keys(p) ? measure_own(p) : measure_remote(p);
}
