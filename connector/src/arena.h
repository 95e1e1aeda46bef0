/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back as a whole. */
#ifndef KVS_CONNECTOR_ARENA_H
#define KVS_CONNECTOR_ARENA_H

#include <stddef.h>

struct kvs_arena_block;

/* Zero it. One thread's at a time. */
struct kvs_arena {
    char *at, *end; /* what is left of the newest block */
    struct kvs_arena_block *blocks;
    size_t next; /* bytes of the next block */
};

/* Memory that is aligned for any object, not zeroed; NULL where there is none. */
void *kvs_arena_get(struct kvs_arena *arena, size_t size);
/* Frees all, and leaves it as a zeroed one. */
void kvs_arena_clear(struct kvs_arena *arena);
/* Moves all that `from` has to `to`. */
void kvs_arena_join(struct kvs_arena *to, struct kvs_arena *from);

#endif
