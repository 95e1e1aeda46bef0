/* SPDX-License-Identifier: Apache-2.0 */
#include "kit.h"
#include <stdlib.h>

static bool has_memory(uint32_t op)
{
    return op == KVS_READ || op == KVS_WRITE;
}

struct kvs_desc kit_local(kvs_engine *e, const void *data, size_t len)
{
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)data, .len = len};
    struct kvs_limits limits = {.size = sizeof(limits)};
    struct kvs_error err = {0};
    KIT_STATUS(kvs_engine_limits(e, &limits), KVS_OK);
    if (limits.flags & KVS_F_NEEDS_REGISTRATION)
        KIT_STATUS_ERR(kvs_mem_register(e, KVS_MEM_DRAM, &d, &d.mem, &err), KVS_OK, &err);
    return d;
}

static int prep(kvs_engine *e, uint32_t op, const struct kit_item *items, size_t n, const uint64_t *offsets,
                kvs_done_fn done, void *arg, kvs_xfer **x, struct kvs_error *err)
{
    struct kvs_desc *descs = calloc(n + 1, sizeof(*descs));
    struct kvs_key *keys = calloc(n + 1, sizeof(*keys));
    KIT_CHECK(descs && keys, "no memory for %zu descriptors", n);
    for (size_t i = 0; i < n; i++) {
        if (has_memory(op))
            descs[i] = kit_local(e, items[i].data, items[i].len);
        keys[i] = (struct kvs_key){items[i].key.data, items[i].key.len};
    }
    struct kvs_dlist local = {.descs = descs, .count = n, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof(req),
                               .op = op,
                               .local = has_memory(op) ? &local : NULL,
                               .keys = keys,
                               .nkeys = n,
                               .offsets = offsets,
                               .done = done,
                               .arg = arg};
    int rc = kvs_xfer_prep(e, &req, x, err);
    free(descs);
    free(keys);
    return rc;
}

int kit_try_prep(struct kit *k, kvs_engine *e, uint32_t op, const struct kit_item *items, size_t n,
                 const uint64_t *offsets, kvs_xfer **x, struct kvs_error *err)
{
    (void)k;
    return prep(e, op, items, n, offsets, NULL, NULL, x, err);
}

kvs_xfer *kit_prep_at(struct kit_at at, struct kit *k, kvs_engine *e, uint32_t op,
                      const struct kit_item *items, size_t n, const uint64_t *offsets, kvs_done_fn done,
                      void *arg)
{
    struct kvs_error err = {0};
    kvs_xfer *x = NULL;
    (void)k;
    kit_status_at(at, "kvs_xfer_prep", prep(e, op, items, n, offsets, done, arg, &x, &err), KVS_OK, err.text);
    if (!x)
        kit_fail_at(at, "kvs_xfer_prep answered OK and gave no transfer");
    return x;
}

void kit_post_at(struct kit_at at, kvs_xfer *x)
{
    int rc = kvs_xfer_post(x);
    if (rc < 0 && kvs_xfer_check(x) != rc)
        kit_fail_at(at, "kvs_xfer_post was refused: %s (%d): %s", kvs_status_name(rc), rc, kvs_xfer_error(x));
}

int kit_wait_at(struct kit_at at, struct kit *k, kvs_xfer *x)
{
    uint64_t wait = kit_wait_ns(k);
    int rc = kvs_xfer_wait(x, wait);
    if (rc == KVS_IN_PROG)
        kit_hang_at(at, "a transfer of %zu descriptors is still running after %.1f s", kvs_xfer_count(x),
                    (double)wait / 1e9);
    return rc;
}

void kit_release_at(struct kit_at at, kvs_xfer *x)
{
    kit_status_at(at, "kvs_xfer_release", kvs_xfer_release(x, 0), KVS_OK, NULL);
}

int kit_run_at(struct kit_at at, struct kit *k, kvs_xfer *x)
{
    kit_post_at(at, x);
    return kit_wait_at(at, k, x);
}

static void ends(struct kit_at at, const char *what, struct kit *k, kvs_xfer *x, int want)
{
    int rc = kit_run_at(at, k, x); /* before the text is asked for */
    kit_status_at(at, what, rc, want, kvs_xfer_error(x));
}

void kit_ends_at(struct kit_at at, struct kit *k, kvs_xfer *x, int want)
{
    ends(at, "the transfer", k, x, want);
}

int kit_result(kvs_xfer *x, size_t i)
{
    int status = KVS_UNKNOWN;
    KIT_STATUS(kvs_xfer_result(x, i, &status, NULL, NULL), KVS_OK);
    return status;
}

uint64_t kit_result_bytes(kvs_xfer *x, size_t i)
{
    uint64_t bytes = 0;
    KIT_STATUS(kvs_xfer_result(x, i, NULL, &bytes, NULL), KVS_OK);
    return bytes;
}

void kit_put_at(struct kit_at at, struct kit *k, kvs_engine *e, struct kit_key key, const void *data,
                size_t len)
{
    struct kit_item item = {key, (void *)(uintptr_t)data, len};
    kvs_xfer *x = kit_prep_at(at, k, e, KVS_WRITE, &item, 1, NULL, NULL, NULL);
    ends(at, "WRITE", k, x, KVS_OK);
    kit_release_at(at, x);
}

int kit_read_at(struct kit_at at, struct kit *k, kvs_engine *e, struct kit_key key, struct kit_buf *to)
{
    struct kit_item item = {key, to->data, to->len};
    kvs_xfer *x = kit_prep_at(at, k, e, KVS_READ, &item, 1, NULL, NULL, NULL);
    int rc = kit_run_at(at, k, x);
    uint64_t bytes = kit_result_bytes(x, 0);
    if (rc == KVS_OK && bytes != to->len)
        kit_fail_at(at, "READ of %zu bytes is OK with %llu bytes moved", to->len, (unsigned long long)bytes);
    kit_release_at(at, x);
    return rc;
}

void kit_expect_at(struct kit_at at, struct kit *k, kvs_engine *e, struct kit_key key, const void *want,
                   size_t len)
{
    struct kit_buf to = kit_buf(k, len, KIT_AT_END);
    kit_poison(&to);
    struct kit_item item = {key, to.data, len};
    kvs_xfer *x = kit_prep_at(at, k, e, KVS_READ, &item, 1, NULL, NULL, NULL);
    ends(at, "READ", k, x, KVS_OK);
    kit_u64_at(at, "the number of bytes that READ moved", kit_result_bytes(x, 0), len);
    kit_release_at(at, x);
    kit_bytes_at(at, "the value read", to.data, want, len);
    kit_around_at(at, "the buffer", &to);
}
