/* SPDX-License-Identifier: Apache-2.0 */
#include "slab.h"
#include "log.h"
#include "proclock.h"

#include <stdlib.h>
#include <string.h>

struct kvs_slab {
    const struct kvs_backend *backend;
    struct kvs_slab *next; /* guarded by KVS_LOCK_SLAB */
    kvs_mutex lock;
    uint32_t free_first, free_count; /* number of a free slot, and how many there are; guarded by lock */
    kvs_a64 violations;
};

/* Process-wide, since a completion names nothing but its token, at any time. A chunk, once there, stays;
 * written under KVS_LOCK_SLAB, read without. */
struct kvs_slot_chunk *_Atomic kvs_slot_chunks[KVS_SLOT_CHUNKS];
static uint32_t chunk_count;   /* guarded by KVS_LOCK_SLAB */
static struct kvs_slab *slabs; /* guarded by KVS_LOCK_SLAB */

struct kvs_slab *kvs_slab_of(const struct kvs_backend *backend)
{
    kvs_proclock_take(KVS_LOCK_SLAB);
    struct kvs_slab *s = slabs;
    while (s && s->backend != backend)
        s = s->next;
    if (!s && (s = calloc(1, sizeof *s)) != NULL) {
        kvs_mutex_init(&s->lock);
        s->backend = backend;
        s->next = slabs;
        slabs = s;
    }
    kvs_proclock_drop(KVS_LOCK_SLAB);
    return s;
}

void kvs_slab_after_fork(void)
{
    kvs_proclock_take(KVS_LOCK_SLAB);
    for (struct kvs_slab *s = slabs; s; s = s->next) {
        kvs_mutex_init(&s->lock);
        s->free_count = 0; /* what the lock guarded may be half changed */
    }
    kvs_proclock_drop(KVS_LOCK_SLAB);
}

const struct kvs_backend *kvs_slab_backend(const struct kvs_slab *slab)
{
    return slab->backend;
}

/* Nothing of a free slot is armed, so that nobody looks for its ios: there stands the number of the next one.
 * The slab's lock held. */
static void push_free(struct kvs_slab *slab, uint32_t number, struct kvs_slot *slot)
{
    slot->ios = (struct kvs_io *)(uintptr_t)slab->free_first;
    slab->free_first = number;
    slab->free_count++;
}

/* One more chunk of free slots; with the slab's lock held. */
static bool grow(struct kvs_slab *slab)
{
    struct kvs_slot_chunk *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    c->slab = slab;
    kvs_proclock_take(KVS_LOCK_SLAB);
    uint32_t at = chunk_count;
    if (at < KVS_SLOT_CHUNKS) {
        chunk_count++;
        atomic_store_explicit(&kvs_slot_chunks[at], c, memory_order_release);
    }
    kvs_proclock_drop(KVS_LOCK_SLAB);
    if (at >= KVS_SLOT_CHUNKS) {
        free(c);
        return false;
    }
    for (uint32_t i = KVS_CHUNK_SLOTS; i-- > 0;) /* the lowest is taken first */
        push_free(slab, at * KVS_CHUNK_SLOTS + i, &c->slots[i]);
    return true;
}

bool kvs_slab_take(struct kvs_slab *slab, uint32_t n,
                   void (*each)(void *arg, uint32_t i, struct kvs_slot *, uint32_t), void *arg)
{
    kvs_mutex_lock(&slab->lock);
    bool enough = true;
    while (enough && slab->free_count < n)
        enough = grow(slab);
    for (uint32_t i = 0; enough && i < n; i++) {
        uint32_t number = slab->free_first;
        struct kvs_slot *slot = kvs_slot_numbered(number);
        slab->free_first = (uint32_t)(uintptr_t)slot->ios;
        slab->free_count--;
        each(arg, i, slot, number);
    }
    kvs_mutex_unlock(&slab->lock);
    return enough;
}

void kvs_slab_lock(struct kvs_slab *slab)
{
    kvs_mutex_lock(&slab->lock);
}

void kvs_slab_unlock(struct kvs_slab *slab)
{
    kvs_mutex_unlock(&slab->lock);
}

void kvs_slab_give(struct kvs_slab *slab, uint64_t token)
{
    uint32_t number = KVS_TOKEN_SLOT(token);
    push_free(slab, number, kvs_slot_numbered(number));
}

/* Of nobody that is known: of completions that name no io. Process-wide, as the slots are. */
static kvs_a64 strays;

void kvs_slab_violation(struct kvs_slab *slab, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    kvs_vlog(KVS_LOG_ERROR, slab ? slab->backend->name : "sdk", fmt, args);
    va_end(args);
    kvs_slab_count_violation(slab);
}

void kvs_slab_count_violation(struct kvs_slab *slab)
{
    kvs_a64_add(slab ? &slab->violations : &strays, 1);
}

uint64_t kvs_slab_violations(const struct kvs_slab *slab)
{
    return kvs_a64_load(&slab->violations) + kvs_a64_load(&strays);
}
