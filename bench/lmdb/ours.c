/* SPDX-License-Identifier: Apache-2.0 */
/* The same through kvslot: transfers that are prepared once, posted and waited for. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kvs_engine *engines[2][ENGINES];

static kvs_engine *engine_of(const struct lmdb_case *c, unsigned i)
{
    kvs_engine **engine = &engines[strcmp(c->sync, "full") == 0][i];
    struct kvs_error err;
    char uri[1200];
    if (*engine != NULL)
        return *engine;
    snprintf(uri, sizeof uri, "lmdb:%s?map_size=4GiB&timeout=10m&sync=%s", folder("ours", c->sync), c->sync);
    if (kvs_engine_open(uri, NULL, 0, engine, &err) != KVS_OK)
        bench_fail(uri, err.text);
    return *engine;
}

/* `first`: of the keys. */
static kvs_xfer *prep(kvs_engine *engine, uint32_t op, struct part part, uint32_t first)
{
    struct kvs_desc *descs = calloc(part.count, sizeof *descs);
    struct kvs_key *keys = calloc(part.count, sizeof *keys);
    struct kvs_error err;
    kvs_xfer *x;
    if (descs == NULL || keys == NULL)
        bench_fail("bench", "no memory");
    for (uint32_t i = 0; i < part.count; i++) {
        keys[i] = (struct kvs_key){key_at(first + i), KEY};
        descs[i] = (struct kvs_desc){.addr = (uintptr_t)(space() + (size_t)i * part.size), .len = part.size};
    }
    struct kvs_dlist local = {.descs = descs, .count = part.count, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = op, .local = &local, .keys = keys, .nkeys = part.count};
    if (kvs_xfer_prep(engine, &req, &x, &err) != KVS_OK)
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
        bench_fail("transfer", kvs_status_name(status));
}

bool ours_setup(struct lmdb_case *c)
{
    struct part part = part_of(c);
    for (unsigned i = 0; i < (c->several ? ENGINES : 1) && c->xfers[i] == NULL; i++) {
        kvs_engine *engine = engine_of(c, i);
        kvs_xfer *put = prep(engine, KVS_WRITE, part, i * part.count);
        end(put, kvs_xfer_post(put)); /* what is read has to be there */
        c->xfers[i] = put;
        if (!c->get)
            continue;
        c->xfers[i] = prep(engine, KVS_READ, part, i * part.count);
        kvs_xfer_release(put, 0);
    }
    return true;
}

/* With several engines: a batch of each, all at once. */
uint64_t ours_run(void *arg, uint64_t n)
{
    const struct lmdb_case *c = arg;
    int status[ENGINES];
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++) {
        for (unsigned e = 0; e < ENGINES && c->xfers[e] != NULL; e++)
            status[e] = kvs_xfer_post(c->xfers[e]);
        for (unsigned e = 0; e < ENGINES && c->xfers[e] != NULL; e++)
            end(c->xfers[e], status[e]);
    }
    return bench_now() - start;
}

/* As many batches, by one engine, one after the other. */
uint64_t ours_one_run(void *arg, uint64_t n)
{
    const struct lmdb_case *c = arg;
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n * ENGINES; i++)
        end(c->xfers[0], kvs_xfer_post(c->xfers[0]));
    return bench_now() - start;
}
