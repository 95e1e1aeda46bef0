/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"
#include "../baselines/null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTRATIONS 1000000u

struct world world;

void world_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

void *world_alloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        world_fail("bench", "no memory");
    return p;
}

bool world_engine(bool small)
{
    (void)small;
    struct kvs_error err = {KVS_OK, ""};
    if (world.e)
        return true;
    if (null_register("null", &err) != KVS_OK || kvs_engine_open("null", NULL, 0, &world.e, &err) != KVS_OK) {
        fprintf(stderr, "backend null: %s\n", err.text);
        return false;
    }
    world.values = world_alloc(MOST, VALUE);
    world.locals = world_alloc(MOST, sizeof *world.locals);
    struct kvs_desc all = {.addr = (uint64_t)(uintptr_t)world.values, .len = (uint64_t)MOST * VALUE};
    if (kvs_mem_register(world.e, KVS_MEM_DRAM, &all, &world.local, &err) != KVS_OK) {
        fprintf(stderr, "local memory: %s\n", err.text);
        return false;
    }
    for (uint32_t i = 0; i < MOST; i++)
        world.locals[i] =
            (struct kvs_desc){.mem = world.local, .addr = all.addr + (uint64_t)i * VALUE, .len = VALUE};
    return true;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* The descriptors of all registrations, in an order of their own. */
static void make_order(enum order order)
{
    uint32_t n = world.count;
    uint32_t *at = world_alloc(n, sizeof *at);
    uint64_t seed = 7;
    for (uint32_t i = 0; i < n; i++)
        at[i] = i;
    for (uint32_t i = n; order == RANDOM && i > 1; i--) {
        uint32_t j = (uint32_t)(next_random(&seed) % i), was = at[j];
        at[j] = at[i - 1];
        at[i - 1] = was;
    }
    for (enum way way = 0; way < WAYS; way++)
        world.remotes[way][order] = world_alloc(n, sizeof(struct kvs_desc));
    world.pairs[order] = world_alloc(n, sizeof(struct loop_pair));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = at[i];
        world.remotes[BY_HANDLE][order][i] = (struct kvs_desc){.mem = world.mems[m], .len = VALUE};
        world.remotes[BY_DEV_ID][order][i] = (struct kvs_desc){.dev_id = m + 1, .len = VALUE};
        world.pairs[order][i] =
            (struct loop_pair){world.values + (size_t)(i % MOST) * VALUE, &world.by_hand[m], VALUE};
    }
    free(at);
}

bool world_registrations(bool small)
{
    struct kvs_error err = {KVS_OK, ""};
    if (!world_engine(small))
        return false;
    if (world.count)
        return true;
    world.count = small ? MOST : REGISTRATIONS;
    world.mems = world_alloc(world.count, sizeof *world.mems);
    world.by_hand = world_alloc(world.count, sizeof *world.by_hand);
    for (uint32_t i = 0; i < world.count; i++) {
        struct loop_mem *m = &world.by_hand[i];
        struct kvs_desc d = {.len = VALUE, .dev_id = i + 1};
        m->len = VALUE;
        m->dev_id = i + 1;
        m->key_len = (uint32_t)snprintf(m->key, sizeof m->key, "%u", i + 1);
        if (kvs_mem_register(world.e, KVS_MEM_DRAM, &d, &world.mems[i], &err) != KVS_OK) {
            fprintf(stderr, "registration %u: %s\n", i, err.text);
            return false;
        }
    }
    for (enum order order = 0; order < ORDERS; order++)
        make_order(order);
    return true;
}

kvs_xfer *world_prep(enum way way, enum order order, uint32_t from, uint32_t count, kvs_done_fn done,
                     void *arg)
{
    struct kvs_dlist local = {world.locals, count, 0, KVS_MEM_DRAM},
                     remote = {world.remotes[way][order] + from, count, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = KVS_READ, .local = &local, .remote = &remote, .done = done, .arg = arg};
    struct kvs_error err = {KVS_OK, ""};
    kvs_xfer *x;
    if (kvs_xfer_prep(world.e, &req, &x, &err) == KVS_OK)
        return x;
    fprintf(stderr, "prep: %s\n", err.text);
    return NULL;
}

void world_end(void)
{
    for (enum order order = 0; order < ORDERS; order++) {
        for (enum way way = 0; way < WAYS; way++)
            free(world.remotes[way][order]);
        free(world.pairs[order]);
    }
    free(world.mems);
    free(world.by_hand);
    struct kvs_error err = {KVS_OK, ""};
    if (world.e && kvs_engine_close(world.e, KVS_SEC(10), &err) != KVS_OK)
        world_fail("close", err.text);
    free(world.locals);
    free(world.values);
    world = (struct world){0};
}
