/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors to ios: every check on memory, keys, offsets and limits. */
#include "prep.h"
#include "span.h"

#include <string.h>

static int local_side(struct kvs_prep *p, uint32_t i, struct kvs_pair *pair)
{
    const struct kvs_desc *d = kvs_desc_at(p->req->local, i);
    const struct kvs_mem *m = d->mem;
    pair->addr = d->addr;
    pair->len = d->len;
    if (d->len > UINT64_MAX - d->addr || d->len > SIZE_MAX / 2)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: address %#llx plus length %llu is beyond the end of memory", i,
                           (unsigned long long)d->addr, (unsigned long long)d->len);
    if (d->len > 0 && d->addr == 0)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "descriptor %u: local address is NULL", i);
    if (!m && (p->e->limits.flags & KVS_F_NEEDS_REGISTRATION))
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: backend '%s' needs registered local memory", i, p->e->be->name);
    if (!m)
        return KVS_OK;
    if (m != p->local_seen && !kvs_memtab_has(&p->e->mems, m))
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: its local mem is no registration of this engine", i);
    if (m->type != p->req->local->type)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: local list of memory type %u, registration of type %u", i,
                           p->req->local->type, m->type);
    if (d->addr < m->addr || d->addr - m->addr > m->len || d->len > m->len - (d->addr - m->addr))
        return kvs_err_set(
            p->err, KVS_INVALID_PARAM,
            "descriptor %u: %llu bytes at %#llx are not inside its registration (%llu at %#llx)", i,
            (unsigned long long)d->len, (unsigned long long)d->addr, (unsigned long long)m->len,
            (unsigned long long)m->addr);
    p->local_seen = pair->local = d->mem;
    return KVS_OK;
}

static int by_dev_id(struct kvs_prep *p, uint32_t i, const struct kvs_desc *d, const struct kvs_mem **out)
{
    int rc = kvs_prep_by_dev_id(p, d, out);
    if (rc == KVS_NOT_FOUND)
        return kvs_err_set(p->err, rc, "descriptor %u: dev_id %llu is not registered as memory type %u", i,
                           (unsigned long long)d->dev_id, p->req->remote->type);
    if (rc == KVS_INVALID_PARAM)
        return kvs_err_set(p->err, rc,
                           "descriptor %u: dev_id %llu stands for two keys; name the registration", i,
                           (unsigned long long)d->dev_id);
    return rc;
}

/* Looks at the registration, where measuring has not come so far. */
static int see(struct kvs_prep *p, uint32_t i, struct kvs_mem_seen *seen)
{
    const struct kvs_desc *d = kvs_desc_at(p->req->remote, i);
    const struct kvs_mem *m = d->mem;
    int rc = KVS_OK;
    if (m && !kvs_memtab_has(&p->e->mems, m))
        rc = kvs_err_set(p->err, KVS_INVALID_PARAM,
                         "descriptor %u: its remote mem is no registration of this engine", i);
    else if (!m)
        rc = by_dev_id(p, i, d, &m);
    if (rc == KVS_OK)
        kvs_mem_see(seen, m);
    return rc;
}

static int remote_side(struct kvs_prep *p, uint32_t i, struct kvs_pair *pair)
{
    const struct kvs_desc *d = kvs_desc_at(p->req->remote, i);
    struct kvs_mem_seen *m = &p->seen;
    if (p->x) {
        m = &p->e->mems.seen[i];
    } else {
        int rc = see(p, i, m);
        if (rc != KVS_OK)
            return rc;
    }
    if (m->type != p->req->remote->type)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: remote list of memory type %u, registration of type %u", i,
                           p->req->remote->type, m->type);
    pair->key = kvs_mem_seen_key(m);
    pair->key_len = m->key_len;
    if (p->req->op >= KVS_QUERY)
        return KVS_OK;
    if (d->len != pair->len)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: %llu bytes on the local side, %llu on the remote side", i,
                           (unsigned long long)pair->len, (unsigned long long)d->len);
    if (d->addr < m->addr)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: remote address %#llx is below its registration's %#llx", i,
                           (unsigned long long)d->addr, (unsigned long long)m->addr);
    uint64_t offset = d->addr - m->addr;
    if (m->len == 0 && offset == 0)
        return KVS_OK;
    if (offset > m->len || d->len > m->len - offset)
        return kvs_err_set(
            p->err, KVS_INVALID_PARAM,
            "descriptor %u: %llu bytes at offset %llu are past the end of its registration of %llu", i,
            (unsigned long long)d->len, (unsigned long long)offset, (unsigned long long)m->len);
    pair->offset = offset;
    pair->ranged = offset != 0 || d->len != m->len;
    return KVS_OK;
}

/* Its own key, from the array or the newline list. */
static void own_key(struct kvs_prep *p, uint32_t i, struct kvs_pair *pair)
{
    if (p->req->keys) {
        pair->key = p->req->keys[i].data;
        pair->key_len = p->req->keys[i].len;
    } else {
        const char *end = p->req->custom + p->req->custom_len;
        const char *newline = memchr(p->custom_at, '\n', (size_t)(end - p->custom_at));
        pair->key = p->custom_at;
        pair->key_len = (size_t)((newline ? newline : end) - p->custom_at);
        p->custom_at = newline ? newline + 1 : end;
    }
    if (p->req->offsets && p->req->op < KVS_QUERY) {
        pair->offset = p->req->offsets[i];
        pair->ranged = true;
    }
}

static int check_limits(struct kvs_prep *p, uint32_t i, const struct kvs_pair *pair)
{
    const kvs_engine *e = p->e;
    if (pair->key_len == 0)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: the key is empty; at least 1 byte was expected", i);
    if (!pair->key)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "descriptor %u: a key of %zu bytes at NULL", i,
                           pair->key_len);
    uint32_t max = kvs_prep_max_key(p);
    size_t whole = kvs_add_most(e->prefix_len, pair->key_len);
    if (whole > max)
        return kvs_err_set(
            p->err, KVS_TOO_LARGE,
            "descriptor %u: the key has %zu bytes with its prefix; backend '%s' takes at most %u", i, whole,
            e->be->name, max);
    if (!kvs_bytes_fit(pair->key, pair->key_len))
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: a key of %zu bytes at %p is beyond the end of memory", i,
                           pair->key_len, pair->key);
    if (whole < e->limits.min_key)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "descriptor %u: the key has %zu bytes; backend '%s' takes at least %u", i, whole,
                           e->be->name, e->limits.min_key);
    if (e->limits.max_value && pair->len > e->limits.max_value)
        return kvs_err_set(
            p->err, KVS_TOO_LARGE, "descriptor %u: the value has %llu bytes; backend '%s' takes at most %llu",
            i, (unsigned long long)pair->len, e->be->name, (unsigned long long)e->limits.max_value);
    if (pair->ranged && p->req->op == KVS_WRITE)
        return kvs_err_set(p->err, KVS_NOT_SUPPORTED,
                           "descriptor %u: a WRITE of %llu bytes at offset %llu; values are written whole", i,
                           (unsigned long long)pair->len, (unsigned long long)pair->offset);
    if (pair->ranged && !(e->limits.caps_native & KVS_CAP_RANGE))
        return kvs_err_set(p->err, KVS_NOT_SUPPORTED,
                           "descriptor %u: backend '%s' cannot READ a part of a value", i, e->be->name);
    if (pair->ranged && pair->len > UINT64_MAX - pair->offset)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "descriptor %u: offset %llu plus length %llu overflows",
                           i, (unsigned long long)pair->offset, (unsigned long long)pair->len);
    return KVS_OK;
}

static int changed(struct kvs_prep *p, uint32_t i)
{
    return kvs_err_set(p->err, KVS_INVALID_PARAM,
                       "descriptor %u: the request was changed while it was prepared", i);
}

/* The key, and the value's buffer with bounce=yes, go where room was measured for them. False: there is none.
 */
static bool place(struct kvs_prep *p, struct kvs_rec *rec, uint32_t i, const struct kvs_pair *pair)
{
    size_t prefix = p->e->prefix_len;
    if (prefix + pair->key_len > (size_t)(p->key_end - p->key_at))
        return false;
    if (prefix)
        memcpy(p->key_at, p->e->prefix, prefix);
    memcpy(p->key_at + prefix, pair->key, pair->key_len);
    rec->io.key = p->key_at;
    rec->io.key_len = (uint32_t)(prefix + pair->key_len);
    p->key_at += prefix + pair->key_len;
    rec->iov.iov_base = (void *)(uintptr_t)pair->addr;
    if (!p->x->user)
        return true;
    size_t room = kvs_bounce_room(pair->len);
    if (room > (size_t)(p->bounce_end - p->bounce_at))
        return false;
    p->x->user[i] = pair->addr;
    rec->iov.iov_base = p->bounce_at;
    p->bounce_at += room;
    return true;
}

/* All of the record but for its slot, token and private space. */
static int fill(struct kvs_prep *p, uint32_t i, const struct kvs_pair *pair)
{
    struct kvs_rec *rec = kvs_rec_at(p->x, i);
    bool memory = p->req->op < KVS_QUERY, ranged = memory && pair->ranged;
    if (!place(p, rec, i, pair))
        return changed(p, i);
    rec->io.index = i;
    rec->io.actual = KVS_ACTUAL_UNSET;
    rec->iov.iov_len = (size_t)pair->len;
    rec->io.iov = memory ? &rec->iov : NULL;
    rec->io.iovcnt = pair->len ? 1 : 0;
    rec->io.len = pair->len;
    p->x->bytes += pair->len;
    rec->io.flags = ranged ? KVS_IO_RANGED : 0;
    rec->io.offset = ranged ? pair->offset : 0;
    /* The backend does not see memory that is copied. */
    rec->io.mem_priv = pair->local && !p->x->user ? pair->local->priv : NULL;
    rec->status = KVS_OK;
    kvs_a32_store(&rec->round, 0);
    rec->bytes = 0;
    return KVS_OK;
}

/* Each distinct local registration once: `stamp` marks those that were met. False: there are more than were
 * measured. */
static bool count_local(struct kvs_prep *p, struct kvs_mem *m)
{
    if (!m || m->mark == p->stamp)
        return true;
    if (p->x->nmems == p->nmems)
        return false;
    m->mark = p->stamp;
    m->uses++;
    p->x->mems[p->x->nmems++] = m;
    return true;
}

#define AHEAD 16u /* descriptors */

/* Asks memory for a long key, which is with its registration. */
static void fetch_key(const struct kvs_prep *p, uint32_t i)
{
    const struct kvs_mem_seen *s = &p->e->mems.seen[i];
    if (s->key_len > KVS_MEM_SEEN_KEY)
        __builtin_prefetch(s->key.far);
}

int kvs_prep_resolve(struct kvs_prep *p, uint32_t from, uint32_t to)
{
    bool own_keys = kvs_prep_own_keys(p), fetch = !own_keys && p->x;
    if (from == 0) {
        p->stamp = ++p->e->mems.stamp;
        p->custom_at = p->req->custom;
        p->local_seen = NULL;
    }
    for (uint32_t i = from; i < to; i++) {
        struct kvs_pair pair = {0};
        int rc = KVS_OK;
        if (fetch && p->count - i > AHEAD)
            fetch_key(p, i + AHEAD);
        if (p->req->op < KVS_QUERY)
            rc = local_side(p, i, &pair);
        if (rc == KVS_OK && own_keys)
            own_key(p, i, &pair);
        else if (rc == KVS_OK)
            rc = remote_side(p, i, &pair);
        if (rc == KVS_OK)
            rc = check_limits(p, i, &pair);
        if (rc == KVS_OK && p->x && !count_local(p, pair.local))
            rc = changed(p, i);
        if (rc == KVS_OK && p->x)
            rc = fill(p, i, &pair);
        if (rc != KVS_OK)
            return rc;
    }
    return KVS_OK;
}
