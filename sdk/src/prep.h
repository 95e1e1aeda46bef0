/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing a transfer: what prep.c (sizes, memory) and resolve.c (descriptors, keys) share. */
#ifndef KVS_SRC_PREP_H
#define KVS_SRC_PREP_H

#include "engine.h"

/* One prep on its way. Passes run twice over the descriptors: to check and to measure, then to fill in. */
struct kvs_prep {
    kvs_engine *e;
    const struct kvs_xfer_req *req;
    struct kvs_error *err;
    uint32_t count;
    size_t key_bytes;      /* of all keys, prefixes included; from the first pass */
    size_t bounce_bytes;   /* of all buffers, or SIZE_MAX; from the first pass */
    uint32_t nmems;        /* distinct local registrations; from the first pass */
    struct kvs_xfer *x;    /* NULL in the first pass */
    char *key_at;          /* where the next key goes; second pass */
    char *bounce_at;       /* where the next buffer is; second pass */
    const char *custom_at; /* the next key of req->custom */
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

/* What does not depend on single descriptors: op, lists, counts; sets count. */
int kvs_prep_check(struct kvs_prep *p);
/* One pass over all descriptors, engine.mem_lock held. */
int kvs_prep_pass(struct kvs_prep *p);

#endif
