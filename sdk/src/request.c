/* SPDX-License-Identifier: Apache-2.0 */
/* A request for a transfer as a whole: its op, its lists, how many descriptors and keys it has. */
#include "prep.h"
#include "span.h"

#include <string.h>

static int check_op(struct kvs_prep *p)
{
    static const struct {
        const char *name;
        uint32_t cap;
    } ops[] = {{"READ", KVS_CAP_READ},
               {"WRITE", KVS_CAP_WRITE},
               {"QUERY", KVS_CAP_QUERY},
               {"REMOVE", KVS_CAP_REMOVE}};
    uint32_t op = p->req->op;
    if (op >= sizeof ops / sizeof ops[0])
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "op is %u; it can be READ 0, WRITE 1, QUERY 2 or REMOVE 3", op);
    if (p->e->limits.caps_none & ops[op].cap)
        return kvs_err_set(p->err, KVS_NOT_SUPPORTED, "backend '%s' does not support %s", p->e->be->name,
                           ops[op].name);
    return KVS_OK;
}

static int check_list(struct kvs_prep *p, const struct kvs_dlist *list, const char *side, uint32_t mask)
{
    if (!list)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "%s list is NULL", side);
    if (list->count > 0 && !list->descs)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "%s list has %zu descriptors at NULL", side,
                           list->count);
    if (list->stride && list->stride < sizeof(struct kvs_desc))
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "%s list has a stride of %zu; a descriptor has %zu bytes", side, list->stride,
                           sizeof(struct kvs_desc));
    if (list->type >= 32 || !(mask & KVS_MEM_MASK(list->type)))
        return kvs_err_set(p->err, KVS_NOT_SUPPORTED,
                           "backend '%s' has no memory type %u on the %s side; its types are %#x (mask)",
                           p->e->be->name, list->type, side, mask);
    return KVS_OK;
}

/* How many keys the newline list has: "a\n" is two. */
static size_t custom_count(const struct kvs_xfer_req *req)
{
    size_t n = 1;
    for (const char *at = req->custom, *end = at + req->custom_len;
         (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n++;
    return n;
}

static int check_counts(struct kvs_prep *p, size_t local, size_t remote, const char *what)
{
    if (p->req->op < KVS_QUERY && local != remote)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "%zu local descriptors, but %zu %s", local, remote,
                           what);
    if (remote == 0)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "a transfer of 0 descriptors; at least 1 was expected");
    if (remote > p->e->limits.max_batch)
        return kvs_err_set(p->err, KVS_TOO_LARGE,
                           "a transfer of %zu descriptors; backend '%s' takes at most %u", remote,
                           p->e->be->name, p->e->limits.max_batch);
    p->count = (uint32_t)remote;
    return KVS_OK;
}

static int check_flags(struct kvs_prep *p)
{
    const struct kvs_xfer_req *req = p->req;
    if (req->flags & ~(uint32_t)(KVS_XFER_DEFERRED | KVS_XFER_REAP))
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "flags is %#x; only KVS_XFER_DEFERRED (%#x) and KVS_XFER_REAP (%#x) were expected",
                           req->flags, KVS_XFER_DEFERRED, KVS_XFER_REAP);
    if (req->done && (req->flags & KVS_XFER_REAP))
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "KVS_XFER_REAP goes with no done function");
    return KVS_OK;
}

/* After the counts. */
static int check_span(struct kvs_prep *p, const struct kvs_dlist *list, const char *side)
{
    size_t stride = list->stride ? list->stride : sizeof(struct kvs_desc);
    if (kvs_array_fits(list->descs, list->count, stride, sizeof(struct kvs_desc)))
        return KVS_OK;
    return kvs_err_set(p->err, KVS_INVALID_PARAM,
                       "%s list of %zu descriptors, %zu bytes apart, is beyond the end of memory", side,
                       list->count, stride);
}

static int check_request(struct kvs_prep *p)
{
    const struct kvs_xfer_req *req = p->req;
    int rc = check_op(p);
    size_t local = 0;
    if (rc == KVS_OK)
        rc = check_flags(p);
    if (rc == KVS_OK && req->op >= KVS_QUERY && req->local)
        rc = kvs_err_set(p->err, KVS_INVALID_PARAM, "QUERY and REMOVE take no local list");
    if (rc == KVS_OK && req->op < KVS_QUERY) {
        rc = check_list(p, req->local, "local", p->e->be->local_mems);
        if (rc == KVS_OK && p->e->bounce && req->local->type != KVS_MEM_DRAM)
            rc = kvs_err_set(p->err, KVS_NOT_SUPPORTED,
                             "local memory type %u cannot be copied; with bounce=yes it has to be DRAM",
                             req->local->type);
        if (rc == KVS_OK)
            local = req->local->count;
    }
    if (rc != KVS_OK)
        return rc;
    if (req->keys && req->custom)
        return kvs_err_set(p->err, KVS_INVALID_PARAM,
                           "keys are given both as an array and as a list in custom");
    if (req->keys)
        return check_counts(p, local, req->nkeys, "keys");
    if (req->nkeys)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "%zu keys at NULL", req->nkeys);
    if (req->custom && !kvs_array_fits(req->custom, req->custom_len, 1, 1))
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "custom of %zu bytes is beyond the end of memory",
                           req->custom_len);
    if (req->custom)
        return check_counts(p, local, custom_count(req), "keys in custom");
    if (req->custom_len)
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "custom has %zu bytes at NULL", req->custom_len);
    if (req->offsets && req->op < KVS_QUERY) /* KVS-REQ-392 */
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "offsets are given without keys");
    rc = check_list(p, req->remote, "remote", p->e->be->remote_mems);
    if (rc == KVS_OK)
        rc = check_counts(p, local, req->remote->count, "remote ones");
    return rc == KVS_OK ? check_span(p, req->remote, "remote") : rc;
}

/* After the counts. */
static int check_arrays(struct kvs_prep *p)
{
    const struct kvs_key *keys = p->req->keys;
    const uint64_t *offsets = p->req->op < KVS_QUERY ? p->req->offsets : NULL;
    if (keys && !kvs_array_fits(keys, p->count, sizeof *keys, sizeof *keys))
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "an array of %u keys is beyond the end of memory",
                           p->count);
    if (offsets && !kvs_array_fits(offsets, p->count, sizeof *offsets, sizeof *offsets))
        return kvs_err_set(p->err, KVS_INVALID_PARAM, "an array of %u offsets is beyond the end of memory",
                           p->count);
    return KVS_OK;
}

int kvs_prep_check(struct kvs_prep *p)
{
    int rc = check_request(p);
    if (rc == KVS_OK)
        rc = check_arrays(p);
    return rc == KVS_OK && p->req->op < KVS_QUERY ? check_span(p, p->req->local, "local") : rc;
}
