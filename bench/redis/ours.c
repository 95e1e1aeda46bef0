/* SPDX-License-Identifier: Apache-2.0 */
/* The same through kvslot: transfers that are prepared once, posted and waited for. */
#include "cases.h"

#include <kvslot/kvslot.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 16, FEW = 8 };

struct ours {
    kvs_xfer *xfers[BATCHES]; /* posted together */
    kvs_xfer *single; /* a part of that, which is posted `times` times; NULL: xfers, one after the other */
    uint32_t times;
};

static kvs_engine *engine_of(const struct redis_case *c)
{
    static kvs_engine *engines[2][2];
    kvs_engine **engine = &engines[c->unix_socket][c->one];
    struct kvs_error err;
    char uri[512];
    if (*engine != NULL)
        return *engine;
    if (c->unix_socket)
        snprintf(uri, sizeof(uri), "redis+unix:%s?timeout=10m%s", server_path(),
                 c->one ? "&pool_size=1" : "");
    else
        snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/?timeout=10m%s", server_number(),
                 c->one ? "&pool_size=1" : "");
    if (kvs_engine_open(uri, NULL, 0, engine, &err) != KVS_OK)
        bench_fail(uri, err.text);
    return *engine;
}

/* `first`: of the values. */
static kvs_xfer *prep(const struct redis_case *c, struct part part, uint32_t first)
{
    struct kvs_desc *descs = calloc(part.count, sizeof(*descs));
    struct kvs_key *keys = calloc(part.count, sizeof(*keys));
    struct kvs_error err;
    kvs_xfer *x;
    if (descs == NULL || keys == NULL)
        bench_fail("bench", "no memory");
    for (uint32_t i = 0; i < part.count; i++) {
        keys[i] = (struct kvs_key){key_at(c, first + i), KEY};
        descs[i] = (struct kvs_desc){.addr = (uintptr_t)value_at(c, first + i), .len = part.size};
    }
    struct kvs_dlist local = {.descs = descs, .count = part.count, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof(req),
                               .op = c->get ? KVS_READ : KVS_WRITE,
                               .local = &local,
                               .keys = keys,
                               .nkeys = part.count};
    if (kvs_xfer_prep(engine_of(c), &req, &x, &err) != KVS_OK)
        bench_fail("prep", err.text);
    free(descs);
    free(keys);
    return x;
}

static void end(kvs_xfer *x, int status)
{
    if (status == KVS_IN_PROG)
        status = kvs_xfer_wait(x, KVS_SEC(600));
    if (status != KVS_OK)
        bench_fail(kvs_status_name(status), kvs_xfer_error(x));
}

bool ours_setup(struct redis_case *c)
{
    struct part part = part_of(c), few = part;
    struct ours *o = c->ours;
    if (o != NULL)
        return true;
    c->ours = o = calloc(1, sizeof(*o));
    if (o == NULL)
        bench_fail("bench", "no memory");
    for (uint32_t i = 0; i < (c->batches != 0 ? c->batches : 1); i++) {
        struct redis_case others = *c;
        if (c->get) {
            others.get = false; /* what is read has to be there */
            kvs_xfer *put = prep(&others, part, i * part.count);
            end(put, kvs_xfer_post(put));
            kvs_xfer_release(put, 0);
        }
        o->xfers[i] = prep(c, part, i * part.count);
    }
    if (c->keys != 0) {
        few.count = part.count < FEW ? part.count : FEW;
        o->single = prep(c, few, 0);
        o->times = part.count / few.count;
    }
    return true;
}

uint64_t ours_run(void *arg, uint64_t n)
{
    const struct redis_case *c = arg;
    const struct ours *o = c->ours;
    int status[BATCHES];
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < BATCHES && o->xfers[k] != NULL; k++)
            status[k] = kvs_xfer_post(o->xfers[k]);
        for (unsigned k = 0; k < BATCHES && o->xfers[k] != NULL; k++)
            end(o->xfers[k], status[k]);
    }
    return bench_now() - start;
}

/* As many values, one batch after the other. */
uint64_t ours_single_run(void *arg, uint64_t n)
{
    const struct redis_case *c = arg;
    const struct ours *o = c->ours;
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++) {
        for (uint32_t k = 0; o->single != NULL && k < o->times; k++)
            end(o->single, kvs_xfer_post(o->single));
        for (unsigned k = 0; o->single == NULL && k < BATCHES && o->xfers[k] != NULL; k++)
            end(o->xfers[k], kvs_xfer_post(o->xfers[k]));
    }
    return bench_now() - start;
}
