/* SPDX-License-Identifier: Apache-2.0 */
/* The table of an engine's registrations; engine.mem_lock held for every call. */
#ifndef KVS_SRC_MEMTAB_H
#define KVS_SRC_MEMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kvs_mem;

struct kvs_memtab {
    struct kvs_mem **set;     /* every registration, by its own address, so that a stale handle is never read;
                                 open addressing */
    size_t set_room;          /* a power of 2 */
    size_t set_filled;        /* entries that are not NULL: registrations, and the marks of those that went */
    struct kvs_mem **buckets; /* by (type, dev_id), chained */
    size_t nbuckets;          /* a power of 2 */
    size_t count;             /* registrations */
    uint64_t stamp;           /* of the last pass over a list, see kvs_mem.mark */
};

/* Room for n more, so that adding them cannot fail. */
bool kvs_memtab_reserve(struct kvs_memtab *t, size_t n);
void kvs_memtab_add(struct kvs_memtab *t, struct kvs_mem *m);
void kvs_memtab_remove(struct kvs_memtab *t, struct kvs_mem *m);
bool kvs_memtab_has(const struct kvs_memtab *t, const struct kvs_mem *m);
/* The first registration of a (type, dev_id), or NULL; and the next of the same. */
struct kvs_mem *kvs_memtab_first(const struct kvs_memtab *t, uint32_t type, uint64_t dev_id);
struct kvs_mem *kvs_memtab_next(const struct kvs_mem *m);
void kvs_memtab_destroy(struct kvs_memtab *t);

#endif
