/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: the one place where an io is settled. A slot outlives its io, since a completion may come at any
 * later time: slots are reused, and never unmapped. A token names a slot and the post it was armed for.
 */
#ifndef KVS_SRC_SLAB_H
#define KVS_SRC_SLAB_H

#include "sync.h"

#include <kvslot/backend.h>

struct kvs_slot {
    kvs_a64 state;     /* generation << 1 | armed */
    struct kvs_io *io; /* written while the slot is not armed; read by the one who disarmed it */
};

/* The slots of one backend; lives for the rest of the process, so that a late completion still finds a name.
 */
struct kvs_slab;

/* In a forked child, before its first engine: starts with no slots, leaving its parent's as they are. */
void kvs_slab_after_fork(void);

#define KVS_TOKEN_SLOT_BITS   28
#define KVS_TOKEN_SLOT(token) ((uint32_t)((token) & ((UINT64_C(1) << KVS_TOKEN_SLOT_BITS) - 1)))

/* The slab of a backend, made at the first call; NULL where there is no memory. */
struct kvs_slab *kvs_slab_of(const struct kvs_backend *backend);
const struct kvs_backend *kvs_slab_backend(const struct kvs_slab *slab);

/* Hands n slots to each(arg, i, slot, token without generation); all or none. */
bool kvs_slab_take(struct kvs_slab *slab, uint32_t n,
                   void (*each)(void *arg, uint32_t i, struct kvs_slot *, uint64_t), void *arg);
/* One slot back, not armed. The caller holds kvs_slab_lock, to give many in one go. */
void kvs_slab_give(struct kvs_slab *slab, uint64_t token);
void kvs_slab_lock(struct kvs_slab *slab);
void kvs_slab_unlock(struct kvs_slab *slab);

/* The slot and the slab a token names; NULL for a token that no slot ever had. */
struct kvs_slot *kvs_slot_of(uint64_t token, struct kvs_slab **slab);

/* Arms a slot for one completion and answers the token for it. */
static inline uint64_t kvs_slot_arm(struct kvs_slot *slot, uint64_t token)
{
    /* A generation has the token's upper 36 bits; it comes round after 6e10 posts of one slot. */
    uint64_t gen = (kvs_a64_load_relaxed(&slot->state) >> 1) + 1;
    gen &= UINT64_MAX >> KVS_TOKEN_SLOT_BITS;
    if (gen == 0)
        gen = 1;
    kvs_a64_store(&slot->state, gen << 1 | 1);
    return gen << KVS_TOKEN_SLOT_BITS | KVS_TOKEN_SLOT(token);
}

/* Settles: true for exactly one caller of those that name this arming. */
bool kvs_slot_disarm(struct kvs_slot *slot, uint64_t token);
bool kvs_slot_armed(const struct kvs_slot *slot);

/* A breach of the contract was caught: logged with the backend's name, and counted; NULL: it cannot be told
 * whose it is, and counts for all. */
void kvs_slab_violation(struct kvs_slab *slab, const char *fmt, ...) KVS_PRINTF(2, 3);
uint64_t kvs_slab_violations(const struct kvs_slab *slab);

#endif
