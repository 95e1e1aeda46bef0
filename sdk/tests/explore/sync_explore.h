/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sync.h has, for a build in which one thread runs at a time and a scheduler says which (scheduler.h).
 * Each operation takes place at once and then lets the scheduler choose, so that what a thread does between
 * two operations comes as late as it can. Memory is sequentially consistent here.
 */
#ifndef KVS_TESTS_SYNC_EXPLORE_H
#define KVS_TESTS_SYNC_EXPLORE_H

#include "scheduler.h"

/* A thread of the explorer has its own copy of these; the scheduler puts it there (scheduler.c). */
#define _Thread_local __attribute__((section("explore_locals")))

#define KVS_SPINS 2

#define EXPLORE_TEXT(n)    #n
#define EXPLORE_LINE(n)    EXPLORE_TEXT(n)
#define EXPLORE_HERE(call) (explore_where = __FILE__ ":" EXPLORE_LINE(__LINE__), (call))

typedef struct {
    uint64_t v;
} kvs_a64;
typedef struct {
    uint32_t v;
} kvs_a32;

#define EXPLORE_ATOMIC(type, num)                                                                            \
    static inline num explore_##type##_load(const type *a)                                                   \
    {                                                                                                        \
        explore_touch(a, sizeof *a);                                                                         \
        num seen = a->v;                                                                                     \
        explore_point("load", a, false);                                                                     \
        return seen;                                                                                         \
    }                                                                                                        \
    static inline void explore_##type##_store(type *a, num n)                                                \
    {                                                                                                        \
        explore_touch(a, sizeof *a);                                                                         \
        a->v = n;                                                                                            \
        explore_point("store", a, true);                                                                     \
    }                                                                                                        \
    static inline num explore_##type##_add(type *a, num n)                                                   \
    {                                                                                                        \
        explore_touch(a, sizeof *a);                                                                         \
        num seen = a->v;                                                                                     \
        a->v += n;                                                                                           \
        explore_point("add", a, true);                                                                       \
        return seen;                                                                                         \
    }                                                                                                        \
    static inline num explore_##type##_or(type *a, num n)                                                    \
    {                                                                                                        \
        explore_touch(a, sizeof *a);                                                                         \
        num seen = a->v;                                                                                     \
        a->v |= n;                                                                                           \
        explore_point("or", a, (seen | n) != seen);                                                          \
        return seen;                                                                                         \
    }                                                                                                        \
    static inline bool explore_##type##_cas(type *a, num *seen, num n)                                       \
    {                                                                                                        \
        explore_touch(a, sizeof *a);                                                                         \
        bool same = a->v == *seen;                                                                           \
        if (same)                                                                                            \
            a->v = n;                                                                                        \
        else                                                                                                 \
            *seen = a->v;                                                                                    \
        explore_point(same ? "cas" : "cas (failed)", a, same);                                               \
        return same;                                                                                         \
    }
EXPLORE_ATOMIC(kvs_a64, uint64_t)
EXPLORE_ATOMIC(kvs_a32, uint32_t)
#undef EXPLORE_ATOMIC

#define kvs_a64_load(a)         EXPLORE_HERE(explore_kvs_a64_load(a))
#define kvs_a64_load_relaxed(a) EXPLORE_HERE(explore_kvs_a64_load(a))
#define kvs_a64_store(a, n)     EXPLORE_HERE(explore_kvs_a64_store(a, n))
#define kvs_a64_add(a, n)       EXPLORE_HERE(explore_kvs_a64_add(a, n))
#define kvs_a64_sub(a, n)       EXPLORE_HERE(explore_kvs_a64_add(a, UINT64_C(0) - (n)))
#define kvs_a64_or(a, n)        EXPLORE_HERE(explore_kvs_a64_or(a, n))
#define kvs_a64_cas(a, seen, n) EXPLORE_HERE(explore_kvs_a64_cas(a, seen, n))
#define kvs_a32_load(a)         EXPLORE_HERE(explore_kvs_a32_load(a))
#define kvs_a32_load_relaxed(a) EXPLORE_HERE(explore_kvs_a32_load(a))
#define kvs_a32_store(a, n)     EXPLORE_HERE(explore_kvs_a32_store(a, n))
#define kvs_a32_add(a, n)       EXPLORE_HERE(explore_kvs_a32_add(a, n))
#define kvs_a32_sub(a, n)       EXPLORE_HERE(explore_kvs_a32_add(a, UINT32_C(0) - (n)))
#define kvs_a32_or(a, n)        EXPLORE_HERE(explore_kvs_a32_or(a, n))
#define kvs_a32_cas(a, seen, n) EXPLORE_HERE(explore_kvs_a32_cas(a, seen, n))

#define kvs_cpu_relax() EXPLORE_HERE(explore_spin())
#define kvs_yield()     EXPLORE_HERE(explore_spin())
#define kvs_now_ns()    explore_now()
#define kvs_nap(ns)     EXPLORE_HERE(explore_nap(ns))

typedef struct explore_mutex kvs_mutex;
typedef struct explore_cond kvs_cond;

#define kvs_mutex_init(m)         explore_mutex_init(m)
#define kvs_mutex_destroy(m)      EXPLORE_HERE(explore_mutex_destroy(m))
#define kvs_mutex_lock(m)         EXPLORE_HERE(explore_mutex_lock(m))
#define kvs_mutex_trylock(m)      EXPLORE_HERE(explore_mutex_trylock(m))
#define kvs_mutex_unlock(m)       EXPLORE_HERE(explore_mutex_unlock(m))
#define kvs_cond_init(c)          explore_cond_init(c)
#define kvs_cond_destroy(c)       EXPLORE_HERE(explore_cond_destroy(c))
#define kvs_cond_signal(c)        EXPLORE_HERE(explore_cond_signal(c, false))
#define kvs_cond_broadcast(c)     EXPLORE_HERE(explore_cond_signal(c, true))
#define kvs_cond_wait(c, m, till) EXPLORE_HERE(explore_cond_wait(c, m, till))

typedef int kvs_thread;
#define kvs_thread_self()     explore_self()
#define kvs_thread_same(a, b) ((a) == (b))

#endif
