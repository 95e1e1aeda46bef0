/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the ends of transfers, and reading what was counted. */
#include "stats.h"
#include "engine.h"

#include <stdlib.h>
#include <string.h>

struct kvs_tally *kvs_tally_new(void)
{
    struct kvs_tally *t = aligned_alloc(_Alignof(struct kvs_tally), sizeof *t);
    return t ? memset(t, 0, sizeof *t) : NULL;
}

/* Four buckets to each power of two: the two bits below a time's highest choose among them. */
unsigned kvs_latency_bucket(uint64_t ns)
{
    if (ns < 4)
        return (unsigned)ns;
    unsigned high = 63u - (unsigned)__builtin_clzll(ns);
    unsigned bucket = 4 * (high - 1) + (unsigned)(ns >> (high - 2) & 3);
    return bucket < KVS_LATENCY_BUCKETS ? bucket : KVS_LATENCY_BUCKETS - 1;
}

uint64_t kvs_latency_floor(unsigned bucket)
{
    if (bucket < 4)
        return bucket;
    if (bucket >= KVS_LATENCY_BUCKETS)
        return UINT64_MAX;
    return (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

uint64_t kvs_latency_quantile(const uint64_t *latency, double share)
{
    uint64_t total = 0, seen = 0;
    for (unsigned i = 0; latency && i < KVS_LATENCY_BUCKETS; i++)
        total += latency[i];
    if (total == 0)
        return 0;
    /* The rank of the one that is asked for, from 1; no number at all is taken for 0. */
    double rank = share >= 1 ? (double)total : share > 0 ? share * (double)total : 0;
    unsigned bucket = 0;
    while (bucket < KVS_LATENCY_BUCKETS - 1 && ((seen += latency[bucket]) == 0 || (double)seen < rank))
        bucket++;
    return bucket == KVS_LATENCY_BUCKETS - 1 ? UINT64_MAX : kvs_latency_floor(bucket + 1) - 1;
}

/* Where this thread begins. */
static uint32_t own_shard(struct kvs_tally *t)
{
    static _Thread_local uint32_t mine; /* 0: not chosen yet */
    if (mine == 0)
        mine = kvs_a32_add(&t->threads, 1) % KVS_STATS_SHARDS + 1;
    return mine - 1;
}

static struct kvs_stats_shard *enter(struct kvs_tally *t, uint32_t first, bool any)
{
    for (uint32_t i = 0;; i++) {
        struct kvs_stats_shard *s = &t->shard[any ? (first + i) % KVS_STATS_SHARDS : first];
        uint32_t open = 0;
        if (kvs_a32_cas(&s->busy, &open, 1))
            return s;
        if (i % KVS_STATS_SHARDS == KVS_STATS_SHARDS - 1)
            kvs_yield();
    }
}

static void leave(struct kvs_stats_shard *s)
{
    kvs_a32_store(&s->busy, 0);
}

void kvs_tally_add(struct kvs_tally *t, const struct kvs_ended *end)
{
    struct kvs_stats_shard *s = enter(t, own_shard(t), true);
    struct kvs_op_stats *op = &s->op[end->op];
    op->transfers++;
    op->ios += end->ios;
    op->bytes += end->bytes;
    op->ns += end->ns;
    op->latency[kvs_latency_bucket(end->ns)]++;
    s->ended[KVS_STATUS_SLOT(end->status)]++;
    for (unsigned i = 0; end->io_errors && i < KVS_STATUS_SLOTS; i++)
        s->io_errors[i] += end->io_errors[i];
    leave(s);
}

static void add_all(uint64_t *to, const uint64_t *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] += from[i];
}

void kvs_tally_sum(struct kvs_tally *t, struct kvs_stats *out)
{
    for (uint32_t i = 0; i < KVS_STATS_SHARDS; i++) {
        struct kvs_stats_shard *s = enter(t, i, false);
        for (uint32_t k = 0; k < KVS_OPS; k++) {
            out->op[k].transfers += s->op[k].transfers;
            out->op[k].ios += s->op[k].ios;
            out->op[k].bytes += s->op[k].bytes;
            out->op[k].ns += s->op[k].ns;
            add_all(out->op[k].latency, s->op[k].latency, KVS_LATENCY_BUCKETS);
        }
        add_all(out->ended, s->ended, KVS_STATUS_SLOTS);
        add_all(out->io_errors, s->io_errors, KVS_STATUS_SLOTS);
        leave(s);
    }
    out->abandoned = kvs_a64_load(&t->abandoned);
}

/* The statuses that are errors of the transfer, by slot, and the bytes that were moved all the same. */
static uint64_t count_errors(const struct kvs_xfer *x, uint32_t *errors)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct kvs_rec *rec = kvs_rec_at(x, i);
        bool own;
        int status = kvs_io_status(x, rec, &own);
        if (kvs_io_is_error(x, status))
            errors[KVS_STATUS_SLOT(status)]++;
        else if (x->batch.op < KVS_QUERY)
            bytes += rec->bytes;
    }
    return bytes;
}

void kvs_stats_ending(const struct kvs_xfer *x)
{
    uint32_t errors[KVS_STATUS_SLOTS];
    struct kvs_ended end = {.op = x->batch.op,
                            .ios = x->count,
                            .status = kvs_xfer_status(x),
                            .bytes = x->bytes,
                            .ns = kvs_now_ns() - x->posted_at};
    if (end.status != KVS_OK) { /* only then are there single ios to be looked at */
        memset(errors, 0, sizeof errors);
        end.bytes = count_errors(x, errors);
        end.io_errors = errors;
    }
    kvs_tally_add(x->engine->tally, &end);
}

int kvs_engine_stats(const kvs_engine *e, struct kvs_stats *out)
{
    int rc = kvs_engine_usable(e);
    if (rc != KVS_OK)
        return rc;
    if (!out || out->size < offsetof(struct kvs_stats, op))
        return KVS_INVALID_PARAM;
    size_t size = out->size < sizeof *out ? out->size : sizeof *out;
    struct kvs_stats all;
    memset(&all, 0, sizeof all);
    all.size = size;
    all.violations = kvs_slab_violations(e->slab);
    /* A transfer that ends held is counted under this lock, but is seen as ended before: so wait for it. */
    kvs_held_sum((kvs_engine *)(uintptr_t)e, &all.held_transfers, &all.held_bytes);
    kvs_tally_sum(e->tally, &all);
    memcpy(out, &all, size);
    return KVS_OK;
}
