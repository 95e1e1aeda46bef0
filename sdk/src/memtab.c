/* SPDX-License-Identifier: Apache-2.0 */
#include "memtab.h"
#include "engine.h"

#include <stdlib.h>

#define GONE ((struct kvs_mem *)(uintptr_t)1) /* a registration was here: go on looking behind it */

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static size_t place(const struct kvs_memtab *t, const struct kvs_mem *m)
{
    return (size_t)mix((uint64_t)(uintptr_t)m >> 4) & (t->set_room - 1);
}

static size_t bucket(const struct kvs_memtab *t, uint32_t type, uint64_t dev_id)
{
    return (size_t)mix(dev_id * 8 + type) & (t->nbuckets - 1);
}

static void chain(struct kvs_memtab *t, struct kvs_mem *m)
{
    struct kvs_mem **head = &t->buckets[bucket(t, m->type, m->dev_id)];
    m->next = *head;
    m->link = head;
    if (m->next)
        m->next->link = &m->next;
    *head = m;
}

static void set_put(struct kvs_memtab *t, struct kvs_mem *m)
{
    size_t i = place(t, m);
    while (t->set[i] && t->set[i] != GONE)
        i = (i + 1) & (t->set_room - 1);
    if (!t->set[i])
        t->set_filled++;
    t->set[i] = m;
}

static bool set_resize(struct kvs_memtab *t, size_t room)
{
    struct kvs_mem **old = t->set;
    size_t old_room = t->set_room;
    struct kvs_mem **set = calloc(room, sizeof(struct kvs_mem *));
    if (!set)
        return false;
    t->set = set;
    t->set_room = room;
    t->set_filled = 0;
    for (size_t i = 0; i < old_room; i++)
        if (old[i] && old[i] != GONE)
            set_put(t, old[i]);
    free(old);
    return true;
}

static bool buckets_resize(struct kvs_memtab *t, size_t n)
{
    struct kvs_memtab old = *t;
    struct kvs_mem **buckets = calloc(n, sizeof(struct kvs_mem *));
    if (!buckets)
        return false;
    t->buckets = buckets;
    t->nbuckets = n;
    for (size_t i = 0; i < old.nbuckets; i++)
        for (struct kvs_mem *m = old.buckets[i], *next; m; m = next) {
            next = m->next;
            chain(t, m);
        }
    free(old.buckets);
    return true;
}

bool kvs_memtab_reserve(struct kvs_memtab *t, size_t n)
{
    size_t wanted = t->count + n, room = 64;
    while (room / 2 < wanted)
        room *= 2;
    /* Marks of gone registrations are swept where they, too, would fill the set more than to three quarters.
     */
    if (t->set_room < room || (t->set_filled + n) > t->set_room / 4 * 3)
        if (!set_resize(t, room > t->set_room ? room : t->set_room))
            return false;
    return t->nbuckets >= room || buckets_resize(t, room);
}

void kvs_memtab_add(struct kvs_memtab *t, struct kvs_mem *m)
{
    set_put(t, m);
    chain(t, m);
    t->count++;
}

static size_t set_find(const struct kvs_memtab *t, const struct kvs_mem *m)
{
    if (!t->set_room || !m || m == GONE)
        return SIZE_MAX;
    size_t i = place(t, m);
    while (t->set[i] && t->set[i] != m)
        i = (i + 1) & (t->set_room - 1);
    return t->set[i] ? i : SIZE_MAX;
}

bool kvs_memtab_has(const struct kvs_memtab *t, const struct kvs_mem *m)
{
    return set_find(t, m) != SIZE_MAX;
}

void kvs_memtab_remove(struct kvs_memtab *t, struct kvs_mem *m)
{
    t->set[set_find(t, m)] = GONE;
    *m->link = m->next;
    if (m->next)
        m->next->link = m->link;
    t->count--;
}

static struct kvs_mem *match(struct kvs_mem *m, uint32_t type, uint64_t dev_id)
{
    while (m && (m->type != type || m->dev_id != dev_id))
        m = m->next;
    return m;
}

struct kvs_mem *kvs_memtab_first(const struct kvs_memtab *t, uint32_t type, uint64_t dev_id)
{
    return t->nbuckets ? match(t->buckets[bucket(t, type, dev_id)], type, dev_id) : NULL;
}

struct kvs_mem *kvs_memtab_next(const struct kvs_mem *m)
{
    return match(m->next, m->type, m->dev_id);
}

void kvs_memtab_destroy(struct kvs_memtab *t)
{
    free(t->set);
    free(t->buckets);
    *t = (struct kvs_memtab){0};
}
