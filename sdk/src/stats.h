/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine counts. Ends are counted in one of a few shards, each on cache lines of its own: a thread
 * begins with its own and takes the next where another thread is in it this moment, so that nobody waits.
 */
#ifndef KVS_SRC_STATS_H
#define KVS_SRC_STATS_H

#include "sync.h"

#include <kvslot/kvslot.h>

#define KVS_STATS_SHARDS 4
#define KVS_OPS          4

/* Guarded by `busy`, all of it. */
struct kvs_stats_shard {
    _Alignas(64) kvs_a32 busy;
    struct kvs_op_stats op[KVS_OPS];
    uint64_t ended[KVS_STATUS_SLOTS];
    uint64_t io_errors[KVS_STATUS_SLOTS];
};

struct kvs_tally {
    struct kvs_stats_shard shard[KVS_STATS_SHARDS];
    _Alignas(64) kvs_a64 abandoned;
    kvs_a32 threads; /* that began here, to give each a shard of its own */
};

/* One post that has ended. */
struct kvs_ended {
    uint32_t op, ios;
    int status;
    uint64_t bytes, ns;
    const uint32_t *io_errors; /* by KVS_STATUS_SLOT; NULL: none */
};

/* Zeroed; NULL where there is no memory. free() ends it. */
struct kvs_tally *kvs_tally_new(void);
void kvs_tally_add(struct kvs_tally *t, const struct kvs_ended *end);
/* Adds what all shards have to *out. */
void kvs_tally_sum(struct kvs_tally *t, struct kvs_stats *out);
/* The histogram's bucket of a time. */
unsigned kvs_latency_bucket(uint64_t ns);

#endif
