/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: the one place where ios are settled, KVS_SLOT_IOS of a transfer in each. A slot outlives its ios,
 * since a completion may come at any later time: slots are reused, and never unmapped. A token names a slot,
 * one of its ios, and the post it was armed for.
 */
#ifndef KVS_SRC_SLAB_H
#define KVS_SRC_SLAB_H

#include "sync.h"

#include <kvslot/backend.h>

#define KVS_SLOT_IOS     16u
#define KVS_SLOT_IO_BITS 4

struct kvs_slot {
    kvs_a64 state;      /* generation << KVS_SLOT_IOS | one bit for each io that is armed */
    struct kvs_io *ios; /* the first; written while none is armed, read by those who disarmed one */
};

/* The slots of one backend; lives for the rest of the process, so that a late completion still finds a name.
 */
struct kvs_slab;

/* In a forked child, before its first engine: starts with no slots, leaving its parent's as they are. */
void kvs_slab_after_fork(void);

/* A token: generation, number of the slot, io of the slot. The generation has 35 bits, and comes round after
 * 3e10 posts of one slot. */
#define KVS_TOKEN_SLOT_BITS 25
#define KVS_TOKEN_GEN       (KVS_TOKEN_SLOT_BITS + KVS_SLOT_IO_BITS)
#define KVS_TOKEN_SLOT(token)                                                                                \
    ((uint32_t)((token) >> KVS_SLOT_IO_BITS & ((UINT64_C(1) << KVS_TOKEN_SLOT_BITS) - 1)))
#define KVS_TOKEN_IO(token) ((uint32_t)((token) & (KVS_SLOT_IOS - 1)))

/* The slab of a backend, made at the first call; NULL where there is no memory. */
struct kvs_slab *kvs_slab_of(const struct kvs_backend *backend);
const struct kvs_backend *kvs_slab_backend(const struct kvs_slab *slab);

/* Hands n slots to each(arg, i, slot, its number); all or none. */
bool kvs_slab_take(struct kvs_slab *slab, uint32_t n,
                   void (*each)(void *arg, uint32_t i, struct kvs_slot *, uint32_t), void *arg);
/* Back goes the slot of a token, of which no io is armed. The caller holds kvs_slab_lock, to give many in one
 * go. */
void kvs_slab_give(struct kvs_slab *slab, uint64_t token);
void kvs_slab_lock(struct kvs_slab *slab);
void kvs_slab_unlock(struct kvs_slab *slab);

#define KVS_CHUNK_SLOTS 4096u
#define KVS_SLOT_CHUNKS ((1u << KVS_TOKEN_SLOT_BITS) / KVS_CHUNK_SLOTS)

struct kvs_slot_chunk {
    struct kvs_slab *slab;
    struct kvs_slot slots[KVS_CHUNK_SLOTS];
};
extern struct kvs_slot_chunk *_Atomic kvs_slot_chunks[KVS_SLOT_CHUNKS];

/* A slot that was made. */
static inline struct kvs_slot *kvs_slot_numbered(uint32_t number)
{
    struct kvs_slot_chunk *c =
        atomic_load_explicit(&kvs_slot_chunks[number / KVS_CHUNK_SLOTS], memory_order_acquire);
    return &c->slots[number % KVS_CHUNK_SLOTS];
}

/* The slot and the slab a token names; NULL for a token that no slot ever had. */
static inline struct kvs_slot *kvs_slot_of(uint64_t token, struct kvs_slab **slab)
{
    uint32_t number = KVS_TOKEN_SLOT(token);
    struct kvs_slot_chunk *c =
        atomic_load_explicit(&kvs_slot_chunks[number / KVS_CHUNK_SLOTS], memory_order_acquire);
    *slab = c ? c->slab : NULL;
    return c ? &c->slots[number % KVS_CHUNK_SLOTS] : NULL;
}

/* The token of a slot's io, of no generation: 0 is none, and such a token names nothing. */
static inline uint64_t kvs_token_of(uint32_t number, uint32_t io)
{
    return (uint64_t)number << KVS_SLOT_IO_BITS | io;
}

/* The same in another generation. */
static inline uint64_t kvs_token_in(uint64_t token, uint64_t gen)
{
    return gen << KVS_TOKEN_GEN | (token & ((UINT64_C(1) << KVS_TOKEN_GEN) - 1));
}

/* Arms the first n ios, of which none is, for one completion each; answers their generation. */
static inline uint64_t kvs_slot_arm(struct kvs_slot *slot, uint32_t n)
{
    uint64_t gen = (kvs_a64_load_relaxed(&slot->state) >> KVS_SLOT_IOS) + 1;
    gen &= UINT64_MAX >> KVS_TOKEN_GEN;
    if (gen == 0)
        gen = 1;
    kvs_a64_store(&slot->state, gen << KVS_SLOT_IOS | ((UINT64_C(1) << n) - 1));
    return gen;
}

/* Settles: true for exactly one caller of those that name this io and this arming. */
static inline bool kvs_slot_disarm(struct kvs_slot *slot, uint64_t token)
{
    uint64_t bit = UINT64_C(1) << KVS_TOKEN_IO(token), seen = kvs_a64_load(&slot->state);
    do
        if (seen >> KVS_SLOT_IOS != token >> KVS_TOKEN_GEN || !(seen & bit))
            return false;
    while (!kvs_a64_cas(&slot->state, &seen, seen & ~bit));
    return true;
}

/* How many of its ios are armed; one of them. */
static inline uint32_t kvs_slot_open(const struct kvs_slot *slot)
{
    return (uint32_t)__builtin_popcountll(kvs_a64_load(&slot->state) & ((1u << KVS_SLOT_IOS) - 1));
}
static inline bool kvs_slot_armed(const struct kvs_slot *slot, uint32_t io)
{
    return kvs_a64_load(&slot->state) >> io & 1;
}

/* A breach of the contract was caught: logged with the backend's name, and counted; NULL: it cannot be told
 * whose it is, and counts for all. */
void kvs_slab_violation(struct kvs_slab *slab, const char *fmt, ...) KVS_PRINTF(2, 3);
/* Only counted, where it cannot be logged this moment. */
void kvs_slab_count_violation(struct kvs_slab *slab);
uint64_t kvs_slab_violations(const struct kvs_slab *slab);

#endif
