/* SPDX-License-Identifier: Apache-2.0 */
#include "memslots.h"
#include "memtab.h"
#include "platform.h"

#include <stdlib.h>

#define SLOTS (KVS_MEM_CHUNK / KVS_MEM_SLOT - 1)
#define REST  64u /* slots that are free before one of them is taken again, where there are new ones */

struct kvs_memchunk {
    struct kvs_memchunk *before, *after; /* in the list of those that have a free slot */
    struct kvs_mem *oldest, *newest;     /* slots that were given back, by `next` */
    uint32_t taken;                      /* slots that somebody has */
    uint32_t fresh; /* slots that were ever taken: those behind them were never touched */
};

_Static_assert(sizeof(struct kvs_memchunk) <= KVS_MEM_SLOT, "the head has the place of one slot");
_Static_assert(sizeof(struct kvs_mem) == KVS_MEM_SLOT, "a registration is one slot");
_Static_assert(SLOTS < KVS_MEM_CHUNK, "a number of slots goes into the low bits of an address");

static struct kvs_memchunk *chunk_of(const struct kvs_mem *m)
{
    return (struct kvs_memchunk *)((uintptr_t)m & ~(uintptr_t)(KVS_MEM_CHUNK - 1));
}

static struct kvs_mem *slot_of(struct kvs_memchunk *c, uint32_t i)
{
    return (struct kvs_mem *)((char *)c + (size_t)(i + 1) * KVS_MEM_SLOT);
}

static bool has_free(const struct kvs_memchunk *c)
{
    return c->taken < SLOTS;
}

static void link_last(struct kvs_memslots *s, struct kvs_memchunk *c)
{
    c->after = NULL;
    c->before = s->last;
    if (s->last)
        s->last->after = c;
    else
        s->first = c;
    s->last = c;
}

static void unlink_chunk(struct kvs_memslots *s, struct kvs_memchunk *c)
{
    if (c->before)
        c->before->after = c->after;
    else
        s->first = c->after;
    if (c->after)
        c->after->before = c->before;
    else
        s->last = c->before;
}

/* Where a chunk is in the set, or would be. */
static size_t find(const struct kvs_memslots *s, uintptr_t chunk)
{
    size_t i = kvs_memslots_place(s, chunk);
    while (s->set[i] && s->set[i] - s->set[i] % KVS_MEM_CHUNK != chunk)
        i = (i + 1) & (s->set_room - 1);
    return i;
}

static bool set_grow(struct kvs_memslots *s)
{
    struct kvs_memslots grown = *s;
    grown.set_room = s->set_room ? s->set_room * 2 : 16;
    grown.set = calloc(grown.set_room, sizeof *grown.set);
    if (!grown.set)
        return false;
    for (size_t i = 0; i < s->set_room; i++)
        if (s->set[i])
            grown.set[find(&grown, s->set[i] - s->set[i] % KVS_MEM_CHUNK)] = s->set[i];
    free(s->set);
    *s = grown;
    return true;
}

/* Takes one out and brings those behind it that would not be found any more to nearer places. */
static void set_remove(struct kvs_memslots *s, uintptr_t chunk)
{
    size_t mask = s->set_room - 1, hole = find(s, chunk);
    for (size_t i = (hole + 1) & mask; s->set[i]; i = (i + 1) & mask) {
        size_t home = kvs_memslots_place(s, s->set[i] - s->set[i] % KVS_MEM_CHUNK);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        s->set[hole] = s->set[i];
        hole = i;
    }
    s->set[hole] = 0;
}

static struct kvs_memchunk *add_chunk(struct kvs_memslots *s)
{
    if (s->set_room < (s->chunks + 1) * 2 && !set_grow(s))
        return NULL;
    struct kvs_memchunk *c = aligned_alloc(KVS_MEM_CHUNK, KVS_MEM_CHUNK);
    if (!c)
        return NULL;
    if (s->chunks > 0) /* so many may be looked at in any order */
        kvs_platform_large_pages(c, KVS_MEM_CHUNK);
    *c = (struct kvs_memchunk){0};
    s->set[find(s, (uintptr_t)c)] = (uintptr_t)c;
    s->chunks++;
    s->empty++;
    link_last(s, c);
    return c;
}

struct kvs_mem *kvs_memslots_take(struct kvs_memslots *s)
{
    struct kvs_memchunk *c = s->first ? s->first : add_chunk(s);
    if (!c)
        return NULL;
    struct kvs_mem *m = c->oldest;
    if (m && (c->fresh == SLOTS || c->fresh - c->taken >= REST)) {
        c->oldest = m->next;
    } else {
        m = slot_of(c, c->fresh++);
        s->set[find(s, (uintptr_t)c)]++;
        m->live = false;
    }
    s->empty -= c->taken == 0;
    c->taken++;
    if (!has_free(c))
        unlink_chunk(s, c);
    return m;
}

void kvs_memslots_give(struct kvs_memslots *s, struct kvs_mem *m)
{
    struct kvs_memchunk *c = chunk_of(m);
    bool was_full = !has_free(c);
    m->next = NULL;
    if (c->oldest)
        c->newest->next = m;
    else
        c->oldest = m;
    c->newest = m;
    c->taken--;
    if (was_full)
        link_last(s, c);
    if (c->taken > 0)
        return;
    unlink_chunk(s, c);
    if (s->empty == 0) { /* kept, behind those that are in use */
        s->empty = 1;
        link_last(s, c);
        return;
    }
    set_remove(s, (uintptr_t)c);
    s->chunks--;
    free(c);
}

void kvs_memslots_each(struct kvs_memslots *s, void (*each)(void *arg, struct kvs_mem *m), void *arg)
{
    for (size_t i = 0; i < s->set_room; i++) {
        struct kvs_memchunk *c = (struct kvs_memchunk *)(s->set[i] & ~(uintptr_t)(KVS_MEM_CHUNK - 1));
        for (uint32_t j = 0; c && j < c->fresh; j++)
            if (slot_of(c, j)->live)
                each(arg, slot_of(c, j));
    }
}

void kvs_memslots_destroy(struct kvs_memslots *s)
{
    for (size_t i = 0; i < s->set_room; i++)
        free((void *)(s->set[i] & ~(uintptr_t)(KVS_MEM_CHUNK - 1)));
    free(s->set);
    *s = (struct kvs_memslots){0};
}
