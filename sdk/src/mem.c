/* SPDX-License-Identifier: Apache-2.0 */
/* Registering and deregistering. */
#include "backends.h"
#include "engine.h"
#include "epoch.h"
#include "log.h"
#include "span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_desc(kvs_engine *e, uint32_t type, const struct kvs_desc *d, size_t key_len,
                      struct kvs_error *err)
{
    uint32_t known = e->be->local_mems | e->be->remote_mems;
    if (type >= 32 || !(known & KVS_MEM_MASK(type)))
        return kvs_err_set(err, KVS_NOT_SUPPORTED,
                           "backend '%s' has no memory type %u; its types are %#x (mask)", e->be->name, type,
                           known);
    if (d->meta_len > 0 && !d->meta_info)
        return kvs_err_set(err, KVS_INVALID_PARAM, "meta_info is NULL, but meta_len is %llu",
                           (unsigned long long)d->meta_len);
    if (d->len > UINT64_MAX - d->addr)
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "address %#llx plus length %llu is beyond the end of memory",
                           (unsigned long long)d->addr, (unsigned long long)d->len);
    uint64_t whole = kvs_add_most(e->prefix_len, key_len);
    if (whole > UINT32_MAX || (e->limits.max_key && whole > e->limits.max_key))
        return kvs_err_set(
            err, KVS_TOO_LARGE, "the key has %llu bytes with its prefix; backend '%s' takes at most %u",
            (unsigned long long)whole, e->be->name, e->limits.max_key ? e->limits.max_key : UINT32_MAX);
    if (!kvs_bytes_fit(d->meta_info, d->meta_len))
        return kvs_err_set(err, KVS_INVALID_PARAM, "meta_info of %llu bytes is beyond the end of memory",
                           (unsigned long long)d->meta_len);
    return KVS_OK;
}

/* What it has beside its slot. */
static void free_parts(struct kvs_mem *m)
{
    free(m->priv);
    if (m->key_len > KVS_MEM_KEY_HERE)
        free(m->key.far);
    m->key_len = 0;
    m->priv = NULL;
}

/* Its own copy of the key, and the backend's space. */
static bool make_parts(const struct kvs_backend *be, struct kvs_mem *m, const void *key)
{
    bool far = m->key_len > KVS_MEM_KEY_HERE;
    size_t align = be->priv_align, room = (be->mem_priv + align - 1) & ~(align - 1);
    m->priv = room ? aligned_alloc(align, room) : NULL;
    if (far)
        m->key.far = malloc(m->key_len);
    if ((room && !m->priv) || (far && !m->key.far)) {
        free_parts(m);
        return false;
    }
    memcpy(far ? m->key.far : m->key.here, key, m->key_len);
    if (room)
        memset(m->priv, 0, room);
    return true;
}

/* Makes a registration in m, which is in no table yet; the backend has been told. */
static int make(kvs_engine *e, uint32_t type, const struct kvs_desc *d, struct kvs_mem *m,
                struct kvs_error *err)
{
    char decimal[24];
    size_t key_len = (size_t)d->meta_len;
    const void *key = d->meta_info;
    if (d->meta_len == 0) {
        key_len = (size_t)snprintf(decimal, sizeof decimal, "%llu", (unsigned long long)d->dev_id);
        key = decimal;
    }
    int rc = check_desc(e, type, d, key_len, err);
    if (rc != KVS_OK)
        return rc;
    m->type = (uint8_t)type;
    m->addr = d->addr;
    m->len = d->len;
    m->dev_id = d->dev_id;
    m->key_len = (uint32_t)key_len;
    if (!make_parts(e->be, m, key))
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for a registration of %zu bytes of key", key_len);
    struct kvs_desc told = *d;
    told.mem = m;
    told.meta_info = kvs_mem_key(m);
    told.meta_len = key_len;
    struct kvs_error why = {KVS_OK, ""};
    struct kvs_error *outer = kvs_host_text_begin(&why);
    rc = kvs_call_register(e, m, &told);
    kvs_host_text_end(outer);
    if (rc == KVS_OK)
        return rc;
    free_parts(m);
    char buf[64];
    return kvs_err_set(err, kvs_status_error(rc), "backend '%s' refused the registration of dev_id %llu: %s",
                       e->be->name, (unsigned long long)d->dev_id, kvs_err_why(buf, sizeof buf, &why, rc));
}

/* The backend's hook, then what the registration has; it is live no more, or its engine ends. False: not yet,
 * since it may not wait. */
static bool unmake_soon(kvs_engine *e, struct kvs_mem *m, bool may_wait)
{
    int rc = kvs_call_deregister(e, m, may_wait);
    char buf[64];
    if (rc == KVS_CALL_BUSY && !may_wait)
        return false;
    if (rc != KVS_OK)
        kvs_slab_violation(
            e->slab, "on_deregister of dev_id %llu failed: %s; the registration is gone all the same",
            (unsigned long long)m->dev_id, kvs_err_why(buf, sizeof buf, &(struct kvs_error){KVS_OK, ""}, rc));
    free_parts(m);
    return true;
}

static void unmake(void *engine, struct kvs_mem *m)
{
    unmake_soon(engine, m, true);
}

static int check_list(kvs_engine *e, const struct kvs_dlist *list, struct kvs_error *err)
{
    int rc = kvs_engine_check(e, err);
    if (rc != KVS_OK)
        return rc;
    if (!list || (!list->descs && list->count))
        return kvs_err_set(err, KVS_INVALID_PARAM, "list of descriptors is NULL");
    if (list->count == 0)
        return kvs_err_set(err, KVS_INVALID_PARAM, "list of descriptors is empty");
    if (list->stride && list->stride < sizeof(struct kvs_desc))
        return kvs_err_set(err, KVS_INVALID_PARAM, "stride of the list is %zu; a descriptor has %zu bytes",
                           list->stride, sizeof(struct kvs_desc));
    return KVS_OK;
}

/* Slots for all, or none. */
static bool take_slots(kvs_engine *e, kvs_mem **mems, size_t n)
{
    size_t i = 0;
    kvs_mutex_lock(&e->mem_lock);
    while (i < n && (mems[i] = kvs_memslots_take(&e->mems.slots)) != NULL)
        i++;
    for (size_t j = 0; i < n && j < i; j++)
        kvs_memslots_give(&e->mems.slots, mems[j]);
    kvs_mutex_unlock(&e->mem_lock);
    return i == n;
}

static void give_slots(kvs_engine *e, kvs_mem *const *mems, size_t n)
{
    kvs_mutex_lock(&e->mem_lock);
    for (size_t i = 0; i < n; i++)
        if (mems[i])
            kvs_memslots_give(&e->mems.slots, mems[i]);
    kvs_mutex_unlock(&e->mem_lock);
}

/* Makes all of them live at one stroke, or none. */
static int enter_all(kvs_engine *e, kvs_mem *const *mems, size_t n, struct kvs_error *err)
{
    size_t i = 0;
    kvs_mutex_lock(&e->mem_lock);
    if (kvs_memtab_reserve(&e->mems, n))
        while (i < n && kvs_memtab_add(&e->mems, mems[i]))
            i++;
    int rc = i == n ? KVS_OK
                    : kvs_err_set(err, KVS_NO_MEMORY, "no memory for a table of %zu registrations",
                                  e->mems.count - i + n);
    while (i != n && i-- > 0)
        kvs_memtab_remove(&e->mems, mems[i]);
    kvs_mutex_unlock(&e->mem_lock);
    return rc;
}

/* All of a list that was checked, into slots that nobody looks at yet. */
static int make_all(kvs_engine *e, const struct kvs_dlist *list, kvs_mem *const *mems, struct kvs_error *err)
{
    size_t stride = list->stride ? list->stride : sizeof(struct kvs_desc), n = 0;
    int rc = KVS_OK;
    for (; rc == KVS_OK && n < list->count; n++)
        rc = make(e, list->type, (const struct kvs_desc *)((const char *)list->descs + n * stride), mems[n],
                  err);
    if (rc != KVS_OK) {
        n--;
        if (err && list->count > 1) {
            const struct kvs_error why = *err;
            kvs_err_set(err, rc, "descriptor %zu: %s", n, why.text);
        }
    } else {
        rc = enter_all(e, mems, n, err);
    }
    while (rc != KVS_OK && n-- > 0)
        unmake(e, mems[n]);
    return rc;
}

int kvs_mem_register_list(kvs_engine *e, const struct kvs_dlist *list, kvs_mem **mems, struct kvs_error *err)
{
    if (!mems)
        return kvs_err_set(err, KVS_INVALID_PARAM, "array for the registrations is NULL");
    size_t stride = list && list->stride ? list->stride : sizeof(struct kvs_desc);
    if (list && (!kvs_array_fits(mems, list->count, sizeof *mems, sizeof *mems) ||
                 !kvs_array_fits(list->descs, list->count, stride, sizeof(struct kvs_desc))))
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "list of %zu descriptors, %zu bytes apart, is beyond the end of memory",
                           list->count, stride);
    for (size_t i = 0; list && i < list->count; i++)
        mems[i] = NULL;
    int rc = check_list(e, list, err);
    if (rc != KVS_OK)
        return rc;
    if (take_slots(e, mems, list->count)) {
        rc = make_all(e, list, mems, err);
        if (rc == KVS_OK)
            return rc;
        give_slots(e, mems, list->count);
    } else {
        rc = kvs_err_set(err, KVS_NO_MEMORY, "no memory for %zu registrations", list->count);
    }
    for (size_t i = 0; i < list->count; i++)
        mems[i] = NULL;
    return rc;
}

int kvs_mem_register(kvs_engine *e, uint32_t type, const struct kvs_desc *desc, kvs_mem **mem,
                     struct kvs_error *err)
{
    if (!mem)
        return kvs_err_set(err, KVS_INVALID_PARAM, "pointer for the registration is NULL");
    *mem = NULL;
    struct kvs_dlist list = {desc, 1, 0, type};
    if (!desc)
        return kvs_err_set(err, KVS_INVALID_PARAM, "descriptor is NULL");
    return kvs_mem_register_list(e, &list, mem, err);
}

/* Looks through the whole set before any is touched; mem_lock held, and with bounce=yes engine.lock too. */
static int check_set(kvs_engine *e, kvs_mem *const *mems, size_t n, struct kvs_error *err)
{
    uint64_t stamp = ++e->mems.stamp;
    for (size_t i = 0; i < n; i++) {
        struct kvs_mem *m = mems[i];
        if (!m)
            continue;
        if (!kvs_memtab_has(&e->mems, m))
            return kvs_err_set(err, KVS_NOT_FOUND,
                               "registration %zu is none of this engine, or is gone already", i);
        if (m->mark == stamp)
            return kvs_err_set(err, KVS_NOT_FOUND, "registration %zu stands twice in the list", i);
        m->mark = stamp;
        uint64_t uses = m->uses;
        if (uses > 0 && e->bounce)
            uses -= kvs_bounce_lost(e, m);
        if (uses > 0)
            return kvs_err_set(err, KVS_BUSY,
                               "registration %zu (dev_id %llu) is local memory of %llu prepared transfers", i,
                               (unsigned long long)m->dev_id, (unsigned long long)uses);
    }
    return KVS_OK;
}

int kvs_mem_deregister_list(kvs_engine *e, kvs_mem *const *mems, size_t n, struct kvs_error *err)
{
    int rc = kvs_engine_usable(e);
    if (rc == KVS_NOT_ALLOWED)
        return KVS_OK; /* in a forked child: the parent's; its copy goes with the process */
    if (rc != KVS_OK)
        return kvs_engine_check(e, err);
    if (n > 0 && !mems)
        return kvs_err_set(err, KVS_INVALID_PARAM, "list of registrations is NULL");
    if (!kvs_array_fits(mems, n, sizeof *mems, sizeof *mems))
        return kvs_err_set(err, KVS_INVALID_PARAM, "list of %zu registrations is beyond the end of memory",
                           n);
    kvs_mutex_lock(&e->mem_lock);
    if (e->bounce) /* what has ended held is not posted meanwhile */
        kvs_mutex_lock(&e->lock);
    rc = check_set(e, mems, n, err);
    for (size_t i = 0; rc == KVS_OK && i < n; i++) {
        if (!mems[i])
            continue;
        if (mems[i]->uses > 0)
            kvs_bounce_uncount(e, mems[i]);
        kvs_memtab_remove(&e->mems, mems[i]);
    }
    if (e->bounce)
        kvs_mutex_unlock(&e->lock);
    kvs_mutex_unlock(&e->mem_lock);
    if (rc != KVS_OK)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (mems[i])
            unmake(e, mems[i]);
    give_slots(e, mems, n);
    return rc;
}

int kvs_mem_deregister(kvs_engine *e, kvs_mem *mem, struct kvs_error *err)
{
    return kvs_mem_deregister_list(e, &mem, 1, err);
}

bool kvs_mem_end(kvs_engine *e, struct kvs_mem *m, bool may_wait)
{
    kvs_mutex_lock(&e->mem_lock);
    if (m->live) /* not at another try */
        kvs_memtab_remove(&e->mems, m);
    kvs_mutex_unlock(&e->mem_lock);
    if (!unmake_soon(e, m, may_wait))
        return false;
    give_slots(e, &m, 1);
    return true;
}

/* mem_lock held. */
static void uncount(struct kvs_xfer *x)
{
    for (uint32_t i = 0; i < x->nmems; i++)
        x->mems[i]->uses--;
    x->nmems = 0;
}

void kvs_mem_uncount(struct kvs_xfer *x)
{
    kvs_mutex_lock(&x->engine->mem_lock);
    uncount(x);
    kvs_mutex_unlock(&x->engine->mem_lock);
}

void kvs_memtab_uncount_all(kvs_engine *e)
{
    kvs_mutex_lock(&e->mem_lock);
    kvs_mutex_lock(&e->lock);
    for (struct kvs_xfer *x = e->live.head; x; x = kvs_list_next(x, KVS_IN_LIVE))
        uncount(x);
    kvs_mutex_unlock(&e->lock);
    kvs_mutex_unlock(&e->mem_lock);
}

void kvs_memtab_free_all(kvs_engine *e)
{
    kvs_memslots_each(&e->mems.slots, unmake, e);
    kvs_memtab_destroy(&e->mems);
}
