/* SPDX-License-Identifier: Apache-2.0 */
/* The locks that stand for the whole process. They outlive a fork: the forking thread takes them first, so
 * that the child finds what they guard whole, and free. */
#ifndef KVS_SRC_PROCLOCK_H
#define KVS_SRC_PROCLOCK_H

#include <stdbool.h>

/* In the order in which one thread may take them. */
enum kvs_proclock {
    KVS_LOCK_LOADER,     /* the list of backends, and dlopen and load() of plugins (loader.c) */
    KVS_LOCK_EPOCH,      /* making the epoch of a process (epoch.c) */
    KVS_LOCK_ONCE,       /* the configurations of backends that take one (once.c) */
    KVS_LOCK_SLAB,       /* the lists of slabs and of their chunks (slab.c) */
    KVS_LOCK_QUARANTINE, /* the released transfers that are guarded (quarantine.c) */
    KVS_LOCK_LOG,        /* the log function, while it runs (log.c) */
    KVS_LOCK_COUNT,
};

void kvs_proclock_take(enum kvs_proclock which);
void kvs_proclock_drop(enum kvs_proclock which);
/* Does this thread hold it. */
bool kvs_proclock_has(enum kvs_proclock which);

#endif
