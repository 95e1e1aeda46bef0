/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an engine's registrations are: slots in aligned chunks, so that a look at the chunks' addresses,
 * which stay in the processor's cache, tells a registration from any other pointer before that is followed.
 * engine.mem_lock held for every call.
 */
#ifndef KVS_SRC_MEMSLOTS_H
#define KVS_SRC_MEMSLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KVS_MEM_SLOT 128u /* bytes of a slot; a chunk's head takes one as well */
#define KVS_MEM_CHUNK                                                                                        \
    (1u << 21) /* bytes of a chunk, and its alignment; what was never taken is not touched */

struct kvs_mem;
struct kvs_memchunk;

struct kvs_memslots {
    uintptr_t *set;  /* each chunk's address, with the number of its slots that were ever taken in
                        the bits that the alignment leaves; 0: none; open addressing */
    size_t set_room; /* a power of 2, at least twice `chunks`; 0: no set */
    size_t chunks;   /* in the set */
    size_t empty;    /* those with no slot taken: at most one is kept */
    struct kvs_memchunk *first, *last; /* those that have a free slot */
};

/* A slot that nobody has, not live; NULL: no memory. */
struct kvs_mem *kvs_memslots_take(struct kvs_memslots *s);
/* Gives back one that is not live. It stays free while others are, so that a stale handle is still known. */
void kvs_memslots_give(struct kvs_memslots *s, struct kvs_mem *m);
/* Calls each(arg, m) of all that are live. */
void kvs_memslots_each(struct kvs_memslots *s, void (*each)(void *arg, struct kvs_mem *m), void *arg);
/* All slots go. */
void kvs_memslots_destroy(struct kvs_memslots *s);

static inline size_t kvs_memslots_place(const struct kvs_memslots *s, uintptr_t chunk)
{
    uint64_t h = (uint64_t)(chunk / KVS_MEM_CHUNK) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) & (s->set_room - 1);
}

/* Is it a slot that was taken once: then it may be looked at. */
static inline bool kvs_memslots_has(const struct kvs_memslots *s, const struct kvs_mem *m)
{
    uintptr_t at = (uintptr_t)m, offset = at % KVS_MEM_CHUNK, chunk = at - offset;
    if (s->set_room == 0 || offset % KVS_MEM_SLOT != 0)
        return false;
    size_t i = kvs_memslots_place(s, chunk);
    while (s->set[i] && s->set[i] - s->set[i] % KVS_MEM_CHUNK != chunk)
        i = (i + 1) & (s->set_room - 1);
    uintptr_t slot = offset / KVS_MEM_SLOT; /* the first is 1 */
    return slot > 0 && slot <= s->set[i] % KVS_MEM_CHUNK;
}

#endif
