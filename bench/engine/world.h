/* SPDX-License-Identifier: Apache-2.0 */
/* What the benches of the engine work on: an engine of the null store, registrations, and buffers. Made by
 * the first bench that needs it. */
#ifndef KVS_BENCH_WORLD_H
#define KVS_BENCH_WORLD_H

#include "../baselines/loop.h"

#include <kvslot/kvslot.h>

#define VALUE 256u
#define MOST  65536u /* descriptors of the largest transfer */

enum order { SEQUENCE, RANDOM, ORDERS };
enum way { BY_HANDLE, BY_DEV_ID, WAYS };

struct world {
    kvs_engine *e;
    char *values; /* MOST of them */
    kvs_mem *local;
    struct kvs_desc *locals; /* MOST, one behind the other in `values` */
    uint32_t count;          /* registrations, at least MOST */
    kvs_mem **mems;
    struct loop_mem *by_hand;               /* the same for the loop */
    struct kvs_desc *remotes[WAYS][ORDERS]; /* all registrations */
    struct loop_pair *pairs[ORDERS];        /* the same for the loop */
};

extern struct world world;

/* Makes the engine and the buffers; then also the registrations. False: said on standard error. */
bool world_engine(bool small);
bool world_registrations(bool small);
void world_end(void);

/* A READ of `count` registrations from the place `from` on. NULL: said on standard error. */
kvs_xfer *world_prep(enum way way, enum order order, uint32_t from, uint32_t count, kvs_done_fn done,
                     void *arg);
/* Allocates, or ends the program. */
void *world_alloc(size_t n, size_t size);
void world_fail(const char *what, const char *why);

#endif
