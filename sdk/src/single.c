/* SPDX-License-Identifier: Apache-2.0 */
/* One key at a time: prep, post, wait and release in one call. */
#include "engine.h"
#include "span.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_TRIES 8 /* of kvs_get_alloc, while the value's size changes */

/* Gives the transfer back; one that is held stays with the SDK until the store lets go of it. */
static void give_back(kvs_xfer *x)
{
    if (kvs_xfer_release(x, 0) != KVS_OK)
        kvs_xfer_abandon(x);
}

/* Where the backend takes registered memory only. The key, so that its limits are kept; a dev_id that stands
 * for nothing, so that no descriptor finds it. */
static int register_for_call(kvs_engine *e, struct kvs_desc *desc, const struct kvs_key *key,
                             struct kvs_error *err)
{
    if (key->len == 0 || !key->data)
        return KVS_OK; /* prep refuses it, in its own words */
    struct kvs_desc place = {.addr = desc->addr,
                             .len = desc->len,
                             .dev_id = UINT64_MAX,
                             .meta_info = key->data,
                             .meta_len = key->len};
    return kvs_mem_register(e, KVS_MEM_DRAM, &place, &desc->mem, err);
}

/* Runs a prepared transfer of one descriptor to its end. */
static int run(kvs_xfer *x, const struct kvs_key *key, uint64_t *bytes, struct kvs_error *err)
{
    int rc = kvs_xfer_post(x);
    if (rc == KVS_IN_PROG)
        rc = kvs_xfer_wait(x, KVS_FOREVER);
    int status = rc;
    const char *text = "";
    if (kvs_xfer_check(x) != KVS_NOT_POSTED)
        kvs_xfer_result(x, 0, &status, bytes, &text);
    if (rc == KVS_OK)
        rc = status;
    if (rc != KVS_OK && err) {
        char shown[80];
        kvs_err_set(err, rc, "key '%s': %s", kvs_show_bytes(shown, sizeof shown, key->data, key->len),
                    text[0] ? text : kvs_status_text(rc));
    }
    return rc;
}

/* Where it fails, *owned (may be NULL) goes with the transfer: the store may still write to it for a while.
 */
static int one(kvs_engine *e, uint32_t op, const void *key, size_t key_len, const void *data, uint64_t len,
               uint64_t *bytes, void **owned, struct kvs_error *err)
{
    struct kvs_desc desc = {.addr = (uint64_t)(uintptr_t)data, .len = len};
    struct kvs_dlist local = {&desc, 1, 0, KVS_MEM_DRAM};
    struct kvs_key k = {key, key_len};
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = op, .local = op < KVS_QUERY ? &local : NULL, .keys = &k, .nkeys = 1};
    if (kvs_turn_in_done())
        return kvs_err_set(err, KVS_NOT_ALLOWED, "a call that waits cannot be made inside a done function");
    int rc = KVS_OK;
    if (op < KVS_QUERY && kvs_engine_usable(e) == KVS_OK && (e->limits.flags & KVS_F_NEEDS_REGISTRATION))
        rc = register_for_call(e, &desc, &k, err);
    kvs_xfer *x = NULL;
    if (rc == KVS_OK)
        rc = kvs_xfer_prep(e, &req, &x, err);
    if (rc == KVS_OK) {
        rc = run(x, &k, bytes, err);
        x->reg = desc.mem; /* the store may hold it for a while, too */
        desc.mem = NULL;
        if (rc != KVS_OK && owned) {
            x->owned = *owned;
            *owned = NULL;
        }
        give_back(x);
    }
    if (desc.mem)
        (void)kvs_mem_deregister(e, desc.mem, NULL);
    return rc;
}

int kvs_put(kvs_engine *e, const void *key, size_t key_len, const void *data, uint64_t len,
            struct kvs_error *err)
{
    return one(e, KVS_WRITE, key, key_len, data, len, NULL, NULL, err);
}

int kvs_get(kvs_engine *e, const void *key, size_t key_len, void *data, uint64_t len, struct kvs_error *err)
{
    return one(e, KVS_READ, key, key_len, data, len, NULL, NULL, err);
}

int kvs_query(kvs_engine *e, const void *key, size_t key_len, uint64_t *size, struct kvs_error *err)
{
    uint64_t found = 0;
    int rc = one(e, KVS_QUERY, key, key_len, NULL, 0, &found, NULL, err);
    if (size)
        *size = rc == KVS_OK ? found : 0;
    return rc;
}

int kvs_remove(kvs_engine *e, const void *key, size_t key_len, struct kvs_error *err)
{
    return one(e, KVS_REMOVE, key, key_len, NULL, 0, NULL, NULL, err);
}

/* One try of kvs_get_alloc: the value as long as it is now. MISMATCH: it has become another in between. */
static int get_alloc_once(kvs_engine *e, const void *key, size_t key_len, uint64_t max, void **data,
                          uint64_t *len, struct kvs_error *err)
{
    uint64_t size;
    int rc = kvs_query(e, key, key_len, &size, err);
    if (rc != KVS_OK)
        return rc;
    if (size == KVS_SIZE_UNKNOWN)
        return kvs_err_set(err, KVS_NOT_SUPPORTED, "backend '%s' cannot tell how long a value is",
                           e->be->name);
    if (size > max)
        return kvs_err_set(err, KVS_TOO_LARGE, "the value has %llu bytes; at most %llu were expected",
                           (unsigned long long)size, (unsigned long long)max);
    void *p = size <= PTRDIFF_MAX ? malloc(size ? (size_t)size : 1) : NULL;
    if (!p)
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for a value of %llu bytes",
                           (unsigned long long)size);
    rc = one(e, KVS_READ, key, key_len, p, size, NULL, &p, err);
    if (rc == KVS_OK) {
        *data = p;
        *len = size;
    } else {
        free(p);
    }
    return rc;
}

int kvs_get_alloc(kvs_engine *e, const void *key, size_t key_len, uint64_t max, void **data, uint64_t *len,
                  struct kvs_error *err)
{
    if (!data || !len)
        return kvs_err_set(err, KVS_INVALID_PARAM, "pointer for the %s is NULL", data ? "length" : "value");
    *data = NULL;
    *len = 0;
    struct kvs_error last = {KVS_OK, ""};
    int rc = KVS_MISMATCH;
    for (int i = 0; i < SIZE_TRIES && rc == KVS_MISMATCH; i++)
        rc = get_alloc_once(e, key, key_len, max, data, len, &last);
    if (rc != KVS_OK && err)
        *err = last;
    return rc;
}

void kvs_free(void *p)
{
    free(p);
}

struct listing {
    int (*each)(void *arg, const void *key, size_t len, uint64_t size);
    void *arg;
    const char *prefix; /* the engine's and the caller's */
    size_t prefix_len, own_len;
    uint64_t strangers; /* keys that do not begin with prefix */
    int answer;         /* of each, once it is other than 0 */
};

/* A backend that gives more than it was asked for, or goes on for too long, shows the caller nothing of it.
 */
static int list_one(void *arg, const void *key, size_t len, uint64_t size)
{
    struct listing *l = arg;
    if (l->answer != 0)
        return l->answer;
    if (len < l->prefix_len || memcmp(key, l->prefix, l->prefix_len) != 0) {
        l->strangers++;
        return 0;
    }
    if (len <= l->own_len) /* an empty key, which no caller can name */
        return 0;
    uint32_t depth = kvs_turn_leave();
    l->answer = l->each(l->arg, (const char *)key + l->own_len, len - l->own_len, size);
    kvs_turn_back(depth);
    return l->answer;
}

int kvs_list(kvs_engine *e, const void *prefix, size_t prefix_len,
             int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
             struct kvs_error *err)
{
    int rc = kvs_engine_check(e, err);
    if (rc != KVS_OK)
        return rc;
    if (!each || (prefix_len && !prefix))
        return kvs_err_set(err, KVS_INVALID_PARAM, "%s is NULL", each ? "prefix" : "function for the keys");
    if (kvs_a32_load(&e->closing))
        return kvs_err_set(err, KVS_NOT_ALLOWED, "engine of backend '%s' is closing", e->be->name);
    if (!(e->limits.caps_native & KVS_CAP_LIST))
        return kvs_err_set(err, KVS_NOT_SUPPORTED, "backend '%s' cannot list keys", e->be->name);
    size_t len = kvs_add_most(e->prefix_len, prefix_len);
    if (len > UINT32_MAX)
        return kvs_err_set(err, KVS_TOO_LARGE, "a prefix of %zu bytes; no key has more than %u", len,
                           UINT32_MAX);
    if (!kvs_bytes_fit(prefix, prefix_len))
        return kvs_err_set(err, KVS_INVALID_PARAM, "a prefix of %zu bytes is beyond the end of memory",
                           prefix_len);
    char *whole = malloc(len ? len : 1);
    if (!whole)
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for a prefix of %zu bytes", len);
    if (e->prefix_len)
        memcpy(whole, e->prefix, e->prefix_len);
    if (prefix_len)
        memcpy(whole + e->prefix_len, prefix, prefix_len);
    struct listing l = {each, arg, whole, len, e->prefix_len, 0, 0};
    struct kvs_error why = {KVS_OK, ""};
    struct kvs_error *outer = kvs_host_text_begin(&why);
    rc = kvs_call_list(e, whole, len, list_one, &l, e->timeout ? kvs_after(kvs_now_ns(), e->timeout) : 0);
    kvs_host_text_end(outer);
    free(whole);
    if (l.strangers > 0)
        kvs_slab_violation(e->slab, "list gave %llu keys that do not begin with the prefix it was asked for",
                           (unsigned long long)l.strangers);
    if (l.answer != 0)
        return l.answer;
    char buf[64];
    return rc == KVS_OK ? rc
                        : kvs_err_set(err, kvs_status_error(rc), "backend '%s' cannot list keys: %s",
                                      e->be->name, kvs_err_why(buf, sizeof buf, &why, rc));
}
