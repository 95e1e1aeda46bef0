/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing transfers, and releasing them. Some are made, then all given back; only the one or the other is
 * timed. */
#include "cases.h"

#include <stdlib.h>

#define TOGETHER 1024u /* descriptors at least, so that the clock's own time does not count */

bool prep_setup(void *arg, bool small)
{
    (void)arg;
    return world_registrations(small);
}

/* Where the next transfer's registrations are: all have their turn before one comes again. */
static uint32_t next_from(struct prep_case *c)
{
    if (c->at + c->count > world.count)
        c->at = 0;
    uint32_t from = c->at;
    c->at += c->count;
    return from;
}

static uint64_t ours(struct prep_case *c, uint64_t n, bool prep)
{
    uint32_t most = c->count < TOGETHER ? TOGETHER / c->count : 1;
    kvs_xfer *x[TOGETHER];
    uint64_t took[2] = {0, 0};
    for (uint64_t left = n; left > 0;) {
        uint32_t together = left < most ? (uint32_t)left : most;
        uint64_t start = bench_now();
        for (uint32_t i = 0; i < together; i++)
            if (!(x[i] = world_prep(c->way, c->order, next_from(c), c->count, NULL, NULL)))
                exit(1);
        uint64_t middle = bench_now();
        for (uint32_t i = 0; i < together; i++)
            if (kvs_xfer_release(x[i], 0) != KVS_OK)
                world_fail("release", "refused");
        took[0] += bench_now() - middle;
        took[1] += middle - start;
        left -= together;
    }
    return took[prep];
}

static uint64_t loop(struct prep_case *c, uint64_t n, bool prep)
{
    uint32_t most = c->count < TOGETHER ? TOGETHER / c->count : 1;
    struct loop *l[TOGETHER];
    uint64_t took[2] = {0, 0};
    for (uint64_t left = n; left > 0;) {
        uint32_t together = left < most ? (uint32_t)left : most;
        uint64_t start = bench_now();
        for (uint32_t i = 0; i < together; i++) {
            if (!(l[i] = loop_prep(world.pairs[c->order] + next_from(c), c->count)))
                world_fail("loop", "no memory");
            bench_use(l[i]);
        }
        uint64_t middle = bench_now();
        for (uint32_t i = 0; i < together; i++)
            loop_release(l[i]);
        took[0] += bench_now() - middle;
        took[1] += middle - start;
        left -= together;
    }
    return took[prep];
}

uint64_t prep_ours(void *arg, uint64_t n)
{
    return ours(arg, n, true);
}

uint64_t prep_loop(void *arg, uint64_t n)
{
    return loop(arg, n, true);
}

uint64_t release_ours(void *arg, uint64_t n)
{
    return ours(arg, n, false);
}

uint64_t release_loop(void *arg, uint64_t n)
{
    return loop(arg, n, false);
}
