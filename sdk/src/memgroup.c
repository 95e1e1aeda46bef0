/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several registrations of one type and dev_id. What is asked of them is whether they stand for one key, and
 * then which one frames an address; both, and adding and removing, without a walk over all of them each time.
 *
 * `same` has those that are known to have one key. Where it runs empty the next question fills it again from
 * `other`, up to the first one that differs: so none goes from the one list to the other more than once.
 */
#include "memtab.h"

#include <stdlib.h>

#define FEW 16u /* so many are looked at one by one */

struct kvs_memspan {
    uint64_t addr, end;
    struct kvs_mem *m;
    size_t age;  /* place in `same`: 0 is the newest */
    size_t wide; /* the nearest one before it that ends later; SIZE_MAX: none */
};

static bool same_key(const struct kvs_mem *a, const struct kvs_mem *b)
{
    return a->key_len == b->key_len && memcmp(kvs_mem_key(a), kvs_mem_key(b), a->key_len) == 0;
}

static void ring_add(struct kvs_mem **ring, struct kvs_mem *m, bool first)
{
    struct kvs_mem *head = *ring;
    m->after = head ? head : m;
    m->before = head ? head->before : m;
    m->before->after = m;
    m->after->before = m;
    if (first || !head)
        *ring = m;
}

static void ring_remove(struct kvs_mem **ring, struct kvs_mem *m)
{
    m->before->after = m->after;
    m->after->before = m->before;
    if (*ring == m)
        *ring = m->after == m ? NULL : m->after;
}

static void changed(struct kvs_memgroup *g)
{
    free(g->spans);
    g->spans = NULL;
    g->walked = 0;
}

struct kvs_memgroup *kvs_memgroup_begin(struct kvs_mem *m)
{
    struct kvs_memgroup *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->face = m;
    g->count = g->same_count = 1;
    ring_add(&g->same, m, true);
    m->other = false;
    m->grouped = true;
    m->group = g;
    return g;
}

void kvs_memgroup_add(struct kvs_memgroup *g, struct kvs_mem *m)
{
    m->grouped = true;
    m->group = g;
    m->other = !g->same || !same_key(g->same, m);
    ring_add(m->other ? &g->other : &g->same, m, true);
    g->count++;
    g->same_count += !m->other;
    if (!m->other)
        changed(g);
}

void kvs_memgroup_remove(struct kvs_memgroup *g, struct kvs_mem *m)
{
    ring_remove(m->other ? &g->other : &g->same, m);
    g->count--;
    g->same_count -= !m->other;
    if (!m->other)
        changed(g);
    if (g->face == m)
        g->face = g->same ? g->same : g->other;
}

bool kvs_memgroup_one_key(struct kvs_memgroup *g, uint64_t *steps)
{
    struct kvs_mem *m;
    while ((m = g->other) != NULL && (!g->same || same_key(g->same, m))) {
        ring_remove(&g->other, m);
        ring_add(&g->same, m, false); /* it is older than those that are there */
        m->other = false;
        g->same_count++;
        changed(g);
        ++*steps;
    }
    return g->other == NULL;
}

static uint64_t end_of(const struct kvs_mem *m)
{
    return m->addr + m->len; /* which registering has seen to be no overflow */
}

/* Newest first: one that begins at the address is the answer at once. */
static struct kvs_mem *walk(struct kvs_memgroup *g, uint64_t addr, uint64_t *steps)
{
    struct kvs_mem *best = NULL, *m = g->same;
    do {
        ++*steps;
        ++g->walked;
        if (m->addr <= addr && addr <= end_of(m) && (!best || m->addr > best->addr))
            best = m;
        m = m->after;
    } while (m != g->same && !(best && best->addr == addr));
    return best;
}

/* By address, and the newest last. */
static int by_addr(const void *a, const void *b)
{
    const struct kvs_memspan *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (x->age < y->age) - (x->age > y->age);
}

/* Without memory for it there is none. */
static void make_spans(struct kvs_memgroup *g, uint64_t *steps)
{
    struct kvs_memspan *spans = calloc(g->same_count, sizeof *spans);
    if (!spans)
        return;
    struct kvs_mem *m = g->same;
    for (size_t i = 0; i < g->same_count; i++, m = m->after)
        spans[i] = (struct kvs_memspan){m->addr, end_of(m), m, i, SIZE_MAX};
    qsort(spans, g->same_count, sizeof *spans, by_addr);
    for (size_t i = 1; i < g->same_count; i++) {
        size_t wide = i - 1;
        while (wide != SIZE_MAX && spans[wide].end <= spans[i].end)
            wide = spans[wide].wide;
        spans[i].wide = wide;
    }
    g->spans = spans;
    *steps += g->same_count;
}

static struct kvs_mem *search(const struct kvs_memgroup *g, uint64_t addr, uint64_t *steps)
{
    size_t low = 0,
           high = g->same_count; /* the last one that begins at the address or below it, and one more */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        ++*steps;
        if (g->spans[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    size_t i = low ? low - 1 : SIZE_MAX;
    for (; i != SIZE_MAX && g->spans[i].end < addr; i = g->spans[i].wide)
        ++*steps;
    return i == SIZE_MAX ? NULL : g->spans[i].m;
}

struct kvs_mem *kvs_memgroup_framing(struct kvs_memgroup *g, uint64_t addr, uint64_t *steps)
{
    /* To sort them costs as much as some walks: first it has to be seen that there are walks. */
    if (!g->spans && g->same_count > FEW && g->walked > 8 * (uint64_t)g->same_count)
        make_spans(g, steps);
    return g->spans ? search(g, addr, steps) : walk(g, addr, steps);
}

void kvs_memgroup_free(struct kvs_memgroup *g)
{
    free(g->spans);
    free(g);
}
