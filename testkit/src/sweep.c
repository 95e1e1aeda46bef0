/* SPDX-License-Identifier: Apache-2.0 */
/* Removing the kit's keys. Only keys that the kit made, or found under the run's own prefix, are ever named
 * here. */
#include "kit.h"
#include <stdio.h>
#include <stdlib.h>

#define SWEEP_BATCH 256

static int run_batch(kvs_engine *e, const struct kit_key *keys, size_t n, uint64_t wait_ns,
                     struct kvs_error *err)
{
    struct kvs_key list[SWEEP_BATCH];
    struct kvs_xfer_req req = {.size = sizeof(req), .op = KVS_REMOVE, .keys = list, .nkeys = n};
    kvs_xfer *x = NULL;
    for (size_t i = 0; i < n; i++)
        list[i] = (struct kvs_key){keys[i].data, keys[i].len};
    int rc = kvs_xfer_prep(e, &req, &x, err);
    if (rc != KVS_OK)
        return rc;
    rc = kvs_xfer_post(x);
    if (rc == KVS_IN_PROG)
        rc = kvs_xfer_wait(x, wait_ns);
    if (rc < 0) {
        err->status = rc;
        snprintf(err->text, sizeof(err->text), "%s: %s", kvs_status_name(rc), kvs_xfer_error(x));
    }
    kvs_xfer_abandon(x);
    return rc;
}

int sweep_keys(kvs_engine *e, const struct kit_key *keys, size_t n, uint64_t wait_ns, struct kvs_error *err)
{
    struct kvs_limits limits = {.size = sizeof(limits)};
    int rc = kvs_engine_limits(e, &limits);
    size_t most = limits.max_batch > 0 && limits.max_batch < SWEEP_BATCH ? limits.max_batch : SWEEP_BATCH;
    for (size_t at = 0; rc == KVS_OK && at < n; at += most)
        rc = run_batch(e, keys + at, n - at < most ? n - at : most, wait_ns, err);
    return rc;
}

struct found {
    struct kit_key *keys;
    size_t n, room;
};

static int collect(void *arg, const void *key, size_t len, uint64_t size)
{
    struct found *f = arg;
    (void)size;
    if (f->n == f->room) {
        size_t room = f->room ? 2 * f->room : 64;
        struct kit_key *grown = realloc(f->keys, room * sizeof(*grown));
        if (!grown)
            return KVS_NO_MEMORY;
        f->keys = grown;
        f->room = room;
    }
    uint8_t *copy = malloc(len + 1);
    if (!copy)
        return KVS_NO_MEMORY;
    memcpy(copy, key, len);
    f->keys[f->n++] = (struct kit_key){len, copy};
    return 0;
}

int sweep_prefix(kvs_engine *e, const char *prefix, uint64_t wait_ns, struct kvs_error *err)
{
    struct found f = {0};
    size_t len = strlen(prefix), kept = 0;
    int rc = kvs_list(e, prefix, len, collect, &f, err);
    /* A list that gives other keys is a backend's fault that must not cost anybody data. */
    for (size_t i = 0; i < f.n; i++) {
        if (f.keys[i].len >= len && memcmp(f.keys[i].data, prefix, len) == 0)
            f.keys[kept++] = f.keys[i];
        else
            free((void *)(uintptr_t)f.keys[i].data);
    }
    if (rc == KVS_OK)
        rc = sweep_keys(e, f.keys, kept, wait_ns, err);
    for (size_t i = 0; i < kept; i++)
        free((void *)(uintptr_t)f.keys[i].data);
    free(f.keys);
    return rc;
}
