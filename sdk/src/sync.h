/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every atomic, lock, wait, thread and clock read of the engine goes through here, so that a test build can
 * put a scheduler in their place. Atomics are structures, so that none is used past these functions by
 * mistake.
 */
#ifndef KVS_SRC_SYNC_H
#define KVS_SRC_SYNC_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define KVS_NEVER UINT64_MAX /* a point in time that does not come */

/* now + span, KVS_NEVER for a span that does not end. */
static inline uint64_t kvs_after(uint64_t now, uint64_t span)
{
    return span > KVS_NEVER - 1 - now ? KVS_NEVER : now + span;
}

static inline struct timespec kvs_timespec(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return t;
}

#ifdef KVS_EXPLORE
#include "sync_explore.h" /* of sdk/tests/explore: the same, at the will of its scheduler */
#else

/* ---- Atomics: loads and read-modify-writes are in one order for all threads, stores release ----
 * Who changes one word and then looks at another, while a second thread does it the other way round, needs
 * that order: a slot and HELD (kvs_io_status). On x86 and ARM it costs no more than acquire does. */

typedef struct {
    _Atomic(uint64_t) v;
} kvs_a64;
typedef struct {
    _Atomic(uint32_t) v;
} kvs_a32;

#define KVS_ATOMIC_FUNCTIONS(type, num)                                                                      \
    static inline num type##_load(const type *a)                                                             \
    {                                                                                                        \
        return atomic_load_explicit(&((type *)(uintptr_t)a)->v, memory_order_seq_cst);                       \
    }                                                                                                        \
    static inline num type##_load_relaxed(const type *a)                                                     \
    {                                                                                                        \
        return atomic_load_explicit(&((type *)(uintptr_t)a)->v, memory_order_relaxed);                       \
    }                                                                                                        \
    static inline void type##_store(type *a, num n)                                                          \
    {                                                                                                        \
        atomic_store_explicit(&a->v, n, memory_order_release);                                               \
    }                                                                                                        \
    static inline num type##_add(type *a, num n)                                                             \
    {                                                                                                        \
        return atomic_fetch_add_explicit(&a->v, n, memory_order_seq_cst);                                    \
    }                                                                                                        \
    static inline num type##_sub(type *a, num n)                                                             \
    {                                                                                                        \
        return atomic_fetch_sub_explicit(&a->v, n, memory_order_seq_cst);                                    \
    }                                                                                                        \
    static inline num type##_or(type *a, num n)                                                              \
    {                                                                                                        \
        return atomic_fetch_or_explicit(&a->v, n, memory_order_seq_cst);                                     \
    }                                                                                                        \
    static inline bool type##_cas(type *a, num *seen, num n)                                                 \
    {                                                                                                        \
        return atomic_compare_exchange_strong_explicit(&a->v, seen, n, memory_order_seq_cst,                 \
                                                       memory_order_seq_cst);                                \
    }
KVS_ATOMIC_FUNCTIONS(kvs_a64, uint64_t)
KVS_ATOMIC_FUNCTIONS(kvs_a32, uint32_t)
#undef KVS_ATOMIC_FUNCTIONS

/* Looks at what others will soon have done, before one sleeps: a microsecond or two. */
#define KVS_SPINS 200

/* Between two of these. */
static inline void kvs_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Between two looks at what another thread is doing this moment. */
static inline void kvs_yield(void)
{
    sched_yield();
}

/* ---- Clock ---- */

/* Nanoseconds on the clock of all deadlines. */
static inline uint64_t kvs_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Lets others run for about so long. */
static inline void kvs_nap(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    (void)nanosleep(&t, NULL);
}

/* ---- Locks, condition variables, threads ---- */

typedef struct {
    pthread_mutex_t m;
} kvs_mutex;
typedef struct {
    pthread_cond_t c;
} kvs_cond;

static inline int kvs_mutex_init(kvs_mutex *m)
{
    return pthread_mutex_init(&m->m, NULL);
}
static inline void kvs_mutex_destroy(kvs_mutex *m)
{
    pthread_mutex_destroy(&m->m);
}
static inline void kvs_mutex_lock(kvs_mutex *m)
{
    pthread_mutex_lock(&m->m);
}
static inline bool kvs_mutex_trylock(kvs_mutex *m)
{
    return pthread_mutex_trylock(&m->m) == 0;
}
static inline void kvs_mutex_unlock(kvs_mutex *m)
{
    pthread_mutex_unlock(&m->m);
}

static inline int kvs_cond_init(kvs_cond *c)
{
    pthread_condattr_t attr;
    int rc = pthread_condattr_init(&attr);
    if (rc != 0)
        return rc;
    rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (rc == 0)
        rc = pthread_cond_init(&c->c, &attr);
    pthread_condattr_destroy(&attr);
    return rc;
}
static inline void kvs_cond_destroy(kvs_cond *c)
{
    pthread_cond_destroy(&c->c);
}
static inline void kvs_cond_signal(kvs_cond *c)
{
    pthread_cond_signal(&c->c);
}
static inline void kvs_cond_broadcast(kvs_cond *c)
{
    pthread_cond_broadcast(&c->c);
}
/* Until signalled, or `until` (KVS_NEVER: no limit); may also come back for no reason. */
static inline void kvs_cond_wait(kvs_cond *c, kvs_mutex *m, uint64_t until)
{
    if (until == KVS_NEVER) {
        pthread_cond_wait(&c->c, &m->m);
        return;
    }
    struct timespec t = kvs_timespec(until);
    pthread_cond_timedwait(&c->c, &m->m, &t);
}

typedef pthread_t kvs_thread;
static inline kvs_thread kvs_thread_self(void)
{
    return pthread_self();
}
static inline bool kvs_thread_same(kvs_thread a, kvs_thread b)
{
    return pthread_equal(a, b) != 0;
}

#endif

/* Answers 0 or an errno; in the new thread, which belongs to the library, all signals but those of faults are
 * blocked. `name` is static. */
int kvs_thread_start(kvs_thread *t, void *(*fn)(void *), void *arg, const char *name);
void kvs_thread_join(kvs_thread t);

/* ---- Events: descriptors that are readable from set to clear, and sleeping on descriptors ---- */

/* Negative where there is none to be had. */
int kvs_event_open(void);
void kvs_event_close(int fd);
void kvs_event_set(int fd);
void kvs_event_clear(int fd);
/* As poll(), for at most `ns`. */
int kvs_fds_wait(struct pollfd *fds, uint32_t n, uint64_t ns);

/* A timer is readable from its point in time on, until it is cleared or set again; KVS_NEVER: not at all. */
int kvs_timer_open(void);
void kvs_timer_set(int fd, uint64_t at);
/* A set is readable while one of the descriptors in it is. */
int kvs_fds_open(void);
/* False: it is none that can be slept on. One that is in the set already is fine. */
bool kvs_fds_add(int set, int fd);
void kvs_fds_remove(int set, int fd);

/* ---- Parking: waiting for a word of memory that may be gone by the time the waker is done ---- */

/*
 * A waiter takes the bucket of an address and its ticket, then tells the waker through a bit of its own,
 * looks again, and waits. The waker clears the reason, then wakes the bucket. Buckets are static, so a waker
 * touches nothing of what was waited for.
 */
struct kvs_park {
    kvs_a32 ticket;
    char pad[60];
};
struct kvs_park *kvs_park_of(const void *address);
static inline uint32_t kvs_park_ticket(const struct kvs_park *p)
{
    return kvs_a32_load(&p->ticket);
}
/* Until woken after `ticket` was taken, or `until`; may also come back for no reason. */
void kvs_park_wait(struct kvs_park *p, uint32_t ticket, uint64_t until);
void kvs_park_wake(struct kvs_park *p);

#endif
