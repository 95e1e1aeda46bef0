/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations, and how they are found by type and dev_id; engine.mem_lock held for every call. */
#ifndef KVS_SRC_MEMTAB_H
#define KVS_SRC_MEMTAB_H

#include "memslots.h"

#include <string.h>

#define KVS_MEM_KEY_HERE 32u /* a key of up to so many bytes stands in the registration itself */

struct kvs_memgroup;

/*
 * A registration: one slot, two cache lines. What prep looks at is in the first, a key of up to 24 bytes
 * included. It does not change while it is live, but for what is named guarded.
 */
struct kvs_mem {
    uint64_t addr, len, dev_id;
    void *priv; /* the backend's mem_priv, or NULL */
    uint32_t key_len;
    uint8_t type;
    bool live; /* in the table; not, while it is made, unmade or free; guarded by engine.mem_lock, as all that
                  follows `key` */
    bool grouped; /* there is a group; here, since the group is in the other cache line */
    bool other;   /* in its group's list of others */
    union {
        char here[KVS_MEM_KEY_HERE];
        char *far;              /* allocated */
    } key;                      /* without prefix */
    struct kvs_mem *next;       /* in its bucket, if it stands there for its group; or the next free slot */
    struct kvs_mem **link;      /* what points to it there */
    struct kvs_memgroup *group; /* those of the same type and dev_id, if it is grouped */
    struct kvs_mem *before, *after; /* in a list of the group, which is a ring */
    uint64_t uses;                  /* prepared transfers that have it as local memory */
    uint64_t mark;                  /* the last pass over a list that met it */
};

#define KVS_MEM_SEEN_KEY 24u /* bytes of a key that are in a registration's first cache line */

/* What a prep has seen of a registration: it looks at each but once. */
struct kvs_mem_seen {
    uint64_t addr, len;
    uint32_t key_len;
    uint32_t type;
    union {
        char here[KVS_MEM_SEEN_KEY];
        const char *far; /* a longer one, in the registration */
    } key;
};

struct kvs_memtab {
    struct kvs_memslots slots;
    struct kvs_mem_seen *seen; /* for the prep that holds the lock; as many as the longest so far had */
    size_t seen_room;
    struct kvs_mem **buckets; /* by type and dev_id, chained; one registration of each */
    size_t nbuckets;          /* a power of 2 */
    size_t count;             /* registrations */
    uint64_t stamp;           /* of the last pass over a list, see kvs_mem.mark */
    uint64_t steps; /* looks at one registration on the way to another, so far: what a test counts */
};

static inline const void *kvs_mem_key(const struct kvs_mem *m)
{
    return m->key_len <= KVS_MEM_KEY_HERE ? m->key.here : m->key.far;
}

/* Is it a registration; it may be any pointer. */
static inline bool kvs_memtab_has(const struct kvs_memtab *t, const struct kvs_mem *m)
{
    return kvs_memslots_has(&t->slots, m) && m->live;
}

/* Eight dev_ids one behind the other share a cache line of buckets, in an order that depends on the others of
 * their bits: also those that are all multiples of something are spread. */
static inline size_t kvs_memtab_bucket(const struct kvs_memtab *t, uint32_t type, uint64_t dev_id)
{
    uint64_t h = (dev_id >> 3) * 8 + type;
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    return (size_t)(h * 8 | ((dev_id ^ h >> 29) & 7)) & (t->nbuckets - 1);
}

static inline void kvs_mem_see(struct kvs_mem_seen *s, const struct kvs_mem *m)
{
    s->addr = m->addr;
    s->len = m->len;
    s->key_len = m->key_len;
    s->type = m->type;
    if (m->key_len <= KVS_MEM_SEEN_KEY)
        memcpy(s->key.here, m->key.here, KVS_MEM_SEEN_KEY);
    else
        s->key.far = kvs_mem_key(m);
}

static inline const char *kvs_mem_seen_key(const struct kvs_mem_seen *s)
{
    return s->key_len <= KVS_MEM_SEEN_KEY ? s->key.here : s->key.far;
}

/* Room for n of `seen`; false: no memory. */
bool kvs_memtab_see_room(struct kvs_memtab *t, size_t n);
/* Room in the buckets for n more. */
bool kvs_memtab_reserve(struct kvs_memtab *t, size_t n);
/* Makes it live; false: no memory. */
bool kvs_memtab_add(struct kvs_memtab *t, struct kvs_mem *m);
/* It is live no more; its slot is the caller's. */
void kvs_memtab_remove(struct kvs_memtab *t, struct kvs_mem *m);
/* One registration of a type and dev_id, or NULL. */
struct kvs_mem *kvs_memtab_find(struct kvs_memtab *t, uint32_t type, uint64_t dev_id);
/* Do all registrations of its type and dev_id have its key. */
bool kvs_memtab_one_key(struct kvs_memtab *t, const struct kvs_mem *m);
/* Of those with the type, dev_id and key of m, which are all that have this type and dev_id: one that frames
 * the address, and of these the one that begins last, then the newest. NULL: none frames it. */
struct kvs_mem *kvs_memtab_framing(struct kvs_memtab *t, struct kvs_mem *m, uint64_t addr);
void kvs_memtab_destroy(struct kvs_memtab *t);

/* ---- Groups (memgroup.c): registrations of one type and dev_id, where there are several ---- */

struct kvs_memgroup {
    struct kvs_mem *face;  /* the one in the bucket */
    struct kvs_mem *same;  /* those with one key, newest first */
    struct kvs_mem *other; /* those that had another key than `same` when they were put there */
    size_t count, same_count;
    uint64_t walked;           /* steps along `same` since it last changed */
    struct kvs_memspan *spans; /* `same` by address, once that is worth it; NULL: not yet */
};

/* Makes a group of one that has none; NULL: no memory. */
struct kvs_memgroup *kvs_memgroup_begin(struct kvs_mem *m);
void kvs_memgroup_add(struct kvs_memgroup *g, struct kvs_mem *m);
/* Where it was the face, another is; the group is freed by the caller where only one is left. */
void kvs_memgroup_remove(struct kvs_memgroup *g, struct kvs_mem *m);
bool kvs_memgroup_one_key(struct kvs_memgroup *g, uint64_t *steps);
struct kvs_mem *kvs_memgroup_framing(struct kvs_memgroup *g, uint64_t addr, uint64_t *steps);
void kvs_memgroup_free(struct kvs_memgroup *g);

#endif
