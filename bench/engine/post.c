/* SPDX-License-Identifier: Apache-2.0 */
/* From post to the end, the transfer prepared once: no wake-up, since it has ended when post is back. */
#include "cases.h"

#include <stdatomic.h>

static atomic_uint ended;

static void on_done(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)arg;
    if (status != KVS_OK)
        world_fail("done function", kvs_status_name(status));
    atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

bool post_setup(void *arg, bool small)
{
    struct post_case *c = arg;
    if (c->x)
        return true;
    if (!world_registrations(small))
        return false;
    c->x = world_prep(BY_HANDLE, SEQUENCE, 0, c->count, c->done ? on_done : NULL, NULL);
    c->loop = loop_prep(world.pairs[SEQUENCE], c->count);
    return c->x && c->loop;
}

void post_end(struct post_case *c)
{
    if (c->x && kvs_xfer_release(c->x, 0) != KVS_OK)
        world_fail("post", "a transfer runs that should have ended");
    if (c->loop)
        loop_release(c->loop);
    c->x = NULL;
    c->loop = NULL;
}

uint64_t post_ours(void *arg, uint64_t n)
{
    const struct post_case *c = arg;
    const unsigned before = atomic_load(&ended);
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++) {
        int rc = kvs_xfer_post(c->x);
        if (rc == KVS_IN_PROG)
            rc = kvs_xfer_check(c->x);
        if (rc != KVS_OK)
            world_fail("post", kvs_status_name(rc));
    }
    uint64_t took = bench_now() - start;
    if (c->done && atomic_load(&ended) - before != (unsigned)n)
        world_fail("post", "a done function did not run");
    return took;
}

uint64_t post_loop(void *arg, uint64_t n)
{
    const struct post_case *c = arg;
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++)
        if (loop_post(c->loop) != 0)
            world_fail("post", "the loop failed");
    return bench_now() - start;
}
