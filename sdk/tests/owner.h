/* SPDX-License-Identifier: Apache-2.0 */
/* Who polls an engine, and who waits behind: for tests that bring that about and have to know when it is so.
 */
#ifndef KVS_TESTS_OWNER_H
#define KVS_TESTS_OWNER_H

#include "engine.h"

/* This thread is the poll owner. */
static inline bool owned_by(kvs_engine *e, pthread_t thread)
{
    kvs_mutex_lock(&e->lock);
    bool owned = e->owned && !e->owned_by_service && pthread_equal(e->owner, thread);
    kvs_mutex_unlock(&e->lock);
    return owned;
}

/* How many threads sleep until the owner leaves or has completed something. */
static inline uint32_t behind_owner(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    uint32_t n = e->owner_waiters;
    kvs_mutex_unlock(&e->lock);
    return n;
}

#endif
