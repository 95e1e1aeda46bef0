/* SPDX-License-Identifier: Apache-2.0 */
#include "memtab.h"
#include "platform.h"

#include <stdlib.h>

static void chain(struct kvs_memtab *t, struct kvs_mem *m)
{
    struct kvs_mem **head = &t->buckets[kvs_memtab_bucket(t, m->type, m->dev_id)];
    m->next = *head;
    m->link = head;
    if (m->next)
        m->next->link = &m->next;
    *head = m;
}

static void unchain(struct kvs_mem *m)
{
    *m->link = m->next;
    if (m->next)
        m->next->link = m->link;
}

/* `to` stands in the bucket in the place of `from`. */
static void put_in_place(struct kvs_mem *from, struct kvs_mem *to)
{
    to->next = from->next;
    to->link = from->link;
    *to->link = to;
    if (to->next)
        to->next->link = &to->next;
}

#define LARGE ((size_t)1 << 21) /* bytes of a large page */

static struct kvs_mem **make_buckets(size_t n)
{
    size_t bytes = n * sizeof(struct kvs_mem *);
    if (bytes < LARGE)
        return calloc(n, sizeof(struct kvs_mem *));
    void *buckets = aligned_alloc(LARGE, bytes);
    if (!buckets)
        return NULL;
    kvs_platform_large_pages(buckets, bytes);
    return memset(buckets, 0, bytes);
}

static bool buckets_resize(struct kvs_memtab *t, size_t n)
{
    struct kvs_memtab old = *t;
    struct kvs_mem **buckets = make_buckets(n);
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

bool kvs_memtab_see_room(struct kvs_memtab *t, size_t n)
{
    size_t room = t->seen_room ? t->seen_room : 64;
    if (n <= t->seen_room)
        return true;
    while (room < n)
        room *= 2;
    struct kvs_mem_seen *seen = calloc(room, sizeof *seen);
    if (!seen)
        return false;
    free(t->seen);
    t->seen = seen;
    t->seen_room = room;
    return true;
}

bool kvs_memtab_reserve(struct kvs_memtab *t, size_t n)
{
    size_t wanted = t->count + n, room = 64;
    while (room / 2 < wanted)
        room *= 2;
    return t->nbuckets >= room || buckets_resize(t, room);
}

struct kvs_mem *kvs_memtab_find(struct kvs_memtab *t, uint32_t type, uint64_t dev_id)
{
    struct kvs_mem *m = t->nbuckets ? t->buckets[kvs_memtab_bucket(t, type, dev_id)] : NULL;
    while (m && (m->dev_id != dev_id || m->type != type)) {
        m = m->next;
        t->steps++;
    }
    return m;
}

bool kvs_memtab_add(struct kvs_memtab *t, struct kvs_mem *m)
{
    struct kvs_mem *face = kvs_memtab_find(t, m->type, m->dev_id);
    m->grouped = m->other = false;
    if (face) {
        struct kvs_memgroup *g = face->grouped ? face->group : kvs_memgroup_begin(face);
        if (!g)
            return false;
        kvs_memgroup_add(g, m);
    } else {
        chain(t, m);
    }
    m->mark = 0;
    m->uses = 0;
    m->live = true;
    t->count++;
    return true;
}

void kvs_memtab_remove(struct kvs_memtab *t, struct kvs_mem *m)
{
    if (!m->grouped) {
        unchain(m);
    } else {
        struct kvs_memgroup *g = m->group;
        bool faced = g->face == m;
        kvs_memgroup_remove(g, m); /* chooses another face */
        if (faced)
            put_in_place(m, g->face);
        if (g->count == 1) {
            g->face->grouped = false;
            kvs_memgroup_free(g);
        }
    }
    m->live = false;
    t->count--;
}

bool kvs_memtab_one_key(struct kvs_memtab *t, const struct kvs_mem *m)
{
    return !m->grouped || kvs_memgroup_one_key(m->group, &t->steps);
}

struct kvs_mem *kvs_memtab_framing(struct kvs_memtab *t, struct kvs_mem *m, uint64_t addr)
{
    if (m->grouped)
        return kvs_memgroup_framing(m->group, addr, &t->steps);
    return addr >= m->addr && addr - m->addr <= m->len ? m : NULL;
}

void kvs_memtab_destroy(struct kvs_memtab *t)
{
    for (size_t i = 0; i < t->nbuckets; i++)
        for (struct kvs_mem *m = t->buckets[i]; m; m = m->next)
            if (m->grouped)
                kvs_memgroup_free(m->group);
    kvs_memslots_destroy(&t->slots);
    free(t->buckets);
    free(t->seen);
    *t = (struct kvs_memtab){0};
}
