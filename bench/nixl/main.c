/* SPDX-License-Identifier: Apache-2.0 */
/* bench-nixl: what the bridge takes, through a real agent. */
#include "../baselines/null.h"
#include "../harness.h"
#include "agent.h"

#include <kvslot/kvslot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET "mock:bench"

/* One size and count. The agents share the memory; so does the C API's engine, and the store. */
struct nixl_case {
    size_t size, count;
    const char *target; /* of the bridge: "null", or TARGET */
    bool create;        /* the transfer is made and released each time */
    bool c_api;         /* the baseline is the C API, else the plugin that does nothing */

    char *memory;
    struct agent *ours, *nothing;
    void *our_request, *no_request;
    kvs_engine *engine;
    kvs_xfer *xfer;
};

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return false;
}

/* The C API's transfer, of the keys that the agent's registrations have: their devIds. */
static bool setup_c_api(struct nixl_case *c)
{
    struct kvs_error err = {KVS_OK, ""};
    if (kvs_engine_open(c->target, NULL, 0, &c->engine, &err) != KVS_OK)
        return fail(c->target, err.text);
    struct kvs_desc *descs = calloc(c->count, sizeof *descs);
    struct kvs_key *keys = calloc(c->count, sizeof *keys);
    char(*names)[24] = calloc(c->count, sizeof *names);
    bool good = descs && keys && names;
    for (size_t i = 0; good && i < c->count; i++) {
        int len = snprintf(names[i], sizeof names[i], "%zu", i + 1);
        keys[i] = (struct kvs_key){names[i], (size_t)len};
        descs[i] = (struct kvs_desc){.addr = (uint64_t)(uintptr_t)c->memory + i * c->size, .len = c->size};
        good = kvs_put(c->engine, names[i], keys[i].len, c->memory + i * c->size, c->size, &err) == KVS_OK;
    }
    struct kvs_dlist local = {descs, c->count, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = KVS_READ, .local = &local, .keys = keys, .nkeys = c->count};
    good = good && kvs_xfer_prep(c->engine, &req, &c->xfer, &err) == KVS_OK;
    free(descs);
    free(keys);
    free(names);
    return good || fail(c->target, err.text);
}

static bool setup(void *arg, bool small)
{
    struct nixl_case *c = arg;
    if (c->memory)
        return true;
    if (small && c->size > 4096)
        c->size = 4096;
    struct kvs_error err = {KVS_OK, ""};
    static bool registered;
    if (!registered && null_register("null", &err) != KVS_OK)
        return fail("null", err.text);
    registered = true;
    c->memory = aligned_alloc(4096, (c->size * c->count + 4095) / 4096 * 4096);
    if (!c->memory)
        return fail("memory", "there is none");
    memset(c->memory, 'x', c->size * c->count);
    c->ours = agent_make("BENCH", "backend", c->target);
    c->nothing = agent_make("NOTHING", NULL, NULL);
    return c->ours && c->nothing && agent_register(c->ours, c->memory, c->size, c->count) &&
           agent_register(c->nothing, c->memory, c->size, c->count) &&
           (c->our_request = agent_prep(c->ours)) && (c->no_request = agent_prep(c->nothing)) &&
           (!c->c_api || setup_c_api(c));
}

static void end(struct nixl_case *c)
{
    if (c->our_request)
        agent_release(c->ours, c->our_request);
    if (c->no_request)
        agent_release(c->nothing, c->no_request);
    agent_end(c->ours);
    agent_end(c->nothing);
    if (c->xfer)
        (void)kvs_xfer_release(c->xfer, KVS_FOREVER);
    if (c->engine)
        (void)kvs_engine_close(c->engine, KVS_FOREVER, NULL);
    free(c->memory);
}

static uint64_t through(const struct nixl_case *c, struct agent *a, void *request, uint64_t n)
{
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++) {
        void *made = c->create ? agent_prep(a) : request;
        if (!made)
            exit(1);
        agent_post(a, made);
        if (c->create)
            agent_release(a, made);
    }
    return bench_now() - start;
}

static uint64_t nothing(void *arg, uint64_t n)
{
    const struct nixl_case *c = arg;
    return through(c, c->nothing, c->no_request, n);
}

static uint64_t bridge(void *arg, uint64_t n)
{
    const struct nixl_case *c = arg;
    return through(c, c->ours, c->our_request, n);
}

/* What the bridge and the SDK take above the agent: by turns with the plugin that does nothing. */
static uint64_t above(void *arg, uint64_t n)
{
    enum { TURN = 64 };
    uint64_t ours = 0, theirs = 0;
    for (uint64_t left = n; left > 0;) {
        uint64_t now = left < TURN ? left : TURN;
        ours += bridge(arg, now);
        theirs += nothing(arg, now);
        left -= now;
    }
    return ours > theirs ? ours - theirs : 1;
}

static uint64_t c_api(void *arg, uint64_t n)
{
    const struct nixl_case *c = arg;
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++) {
        int rc = kvs_xfer_post(c->xfer);
        while (rc == KVS_IN_PROG)
            rc = kvs_xfer_check(c->xfer);
        if (rc != KVS_OK) {
            fail("the C API", kvs_xfer_error(c->xfer));
            exit(1);
        }
    }
    return bench_now() - start;
}

static struct nixl_case one = {.size = 64, .count = 1, .target = "null"};
static struct nixl_case few = {.size = 64, .count = 64, .target = "null"};
static struct nixl_case many = {.size = 64, .count = 4096, .target = "null"};
static struct nixl_case made = {.size = 64, .count = 64, .target = "null", .create = true};
static struct nixl_case large = {.size = 1 << 20, .count = 64, .target = TARGET, .c_api = true};

#define ABOVE(title, which, n, limit_kind, most)                                                             \
    {                                                                                                        \
        .name = title, .unit = "ns/descriptor", .ours = above, .baseline = nothing, .arg = &(which),         \
        .units = (n), .limited = limit_kind, .limit = (most), .setup = setup                                 \
    }

static const struct bench benches[] = {
    ABOVE("post/1", one, 1, BENCH_NO_LIMIT, 0),
    ABOVE("post/64", few, 64, BENCH_VALUE, 100),
    ABOVE("post/4096", many, 4096, BENCH_VALUE, 100),
    ABOVE("create/64", made, 64, BENCH_NO_LIMIT, 0),
    {.name = "large/64",
     .unit = "ns/descriptor",
     .ours = bridge,
     .baseline = c_api,
     .arg = &large,
     .units = 64,
     .limited = BENCH_RATIO,
     .limit = 1.05,
     .setup = setup},
};

int main(int argc, char **argv)
{
    int rc = bench_main(argc, argv, benches, sizeof benches / sizeof benches[0]);
    struct nixl_case *cases[] = {&one, &few, &many, &made, &large};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        end(cases[i]);
    return rc;
}
