/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's inside. Locks, in the order in which one thread may take them:
 *   engine.serial > engine.mem_lock > engine.lock > pool.lock > slab lock > process locks.
 * A shard of the statistics (stats.h) may be entered under any of them, and is left at once.
 * None but `serial` is ever held over a call into a backend, and none at all over a done function; but a
 * plugin's load() runs under the process lock of the loader.
 */
#ifndef KVS_SRC_ENGINE_H
#define KVS_SRC_ENGINE_H

#include "bounce.h"
#include "calls.h"
#include "err.h"
#include "handles.h"
#include "memtab.h"
#include "params.h"
#include "progress.h"
#include "slab.h"
#include "sync.h"
#include "turn.h"
#include "xfer.h"

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <limits.h>

#define KVS_ENGINE_MAGIC UINT32_C(0x6b76656e)
#define KVS_XFER_MAGIC   UINT32_C(0x6b767866)
#define KVS_DEAD_MAGIC   UINT32_C(0xdeadbeef)

struct kvs_pool {
    kvs_mutex lock;
    kvs_cond work;
    struct kvs_list list; /* transfers with ios to hand out; guarded by lock, as all below */
    uint64_t queued;      /* ios, or whole batches, that wait in the queue */
    uint32_t threads, idle, max;
    bool stop;
    bool offer;         /* batches wait to be offered again, where submit may block */
    kvs_thread *thread; /* max of them, `threads` started */
};

/* What kvs_engine_fd gives (fd.c). */
struct kvs_fd {
    int set, event, timer; /* -1: it was not asked for, or the engine is closed */
    int backend;           /* of the backend, in the set; -1: none */
    bool blind;            /* it has none at the moment */
    bool parked;           /* it is kept out of the set while another thread is the poll owner */
    bool news, owed;       /* something for the caller to look at; to do */
    bool up;               /* event is set */
    uint64_t timer_at;
    uint64_t asleep_to; /* nobody who waits in the engine sleeps for longer than to then; 0: nobody does */
};

struct kvs_engine {
    uint32_t magic;
    uint64_t epoch;
    const struct kvs_backend *be; /* immutable after open, as all to `refs` */
    struct kvs_params *params;
    struct kvs_slab *slab;
    struct kvs_tally *tally;
    struct kvs_limits limits;
    void *priv;
    const char *prefix;
    size_t prefix_len;
    uint64_t timeout, cancel_grace, ttl_ms;
    bool bounce;     /* transfers have buffers of their own */
    bool quarantine; /* and pages of their own, guarded once they are released */
    bool blocking, polls, serial, trace;
    bool by_thread;    /* progress=thread */
    bool callers_poll; /* it polls, and not only its service thread does */
    int event_fd;      /* wakes a poll owner; -1 where there is none to wake */

    kvs_a64 refs;    /* the handle, and each transfer */
    kvs_a32 closing; /* posts are refused */
    kvs_a32 closed;  /* the backend is closed: transfers only free */
    kvs_a32 tells;   /* the engine's descriptor was asked for; written with lock held, as the next */
    kvs_a32 handed;  /* and what the service thread did is up to callers */

    kvs_mutex serial_lock; /* one call at a time into a serial backend */

    kvs_mutex mem_lock;
    struct kvs_memtab mems;

    kvs_mutex lock;       /* guards what follows, to the next comment */
    struct kvs_list live; /* all transfers, the newest first */
    /* Those posted, by stage, in the order of deadlines and of the ends of graces; held ones only where their
     * late completions must be polled for. One that has ended stays until somebody comes by. */
    struct kvs_list posted[KVS_STAGES];
    uint64_t looks;       /* at these, for what is due, so far: what a test counts */
    uint64_t posts;       /* so far */
    struct kvs_list owed; /* of those posted: the backend was too busy for their cancels */
    struct kvs_list again;
    bool again_busy;
    struct kvs_list reap;      /* ended and not reaped yet, in the order of their ends */
    struct kvs_queue deferred; /* done functions for the service thread */
    struct kvs_queue frees;    /* transfers that a busy serial backend has kept from being freed */
    kvs_cond service_work;
    kvs_thread service;
    bool service_started, service_stop;
    bool service_asleep;    /* every post wakes it */
    uint64_t service_until; /* one with an earlier deadline wakes it; 0: it does not sleep */
    kvs_cond owner_left;    /* poll ownership changed, or something was told */
    bool owned, owned_by_service;
    kvs_thread owner; /* while it is owned */
    bool owner_told;  /* by itself, in its turn: it does not sleep; only the owner looks at it */
    uint32_t owner_waiters;
    struct kvs_fd fd;

    kvs_a64 told; /* how often the ends of transfers were; written with lock held, read before a look */
    kvs_a64 again_count; /* on the AGAIN list; a hint for those who do not hold lock */
    kvs_a64 polls_seen;  /* polls by callers, so that the service thread sees whether there are any */

    struct kvs_pool pool;
};

/* ---- Completion (settle.c) ---- */

/* Settles one io, after the caller has won by disarming its slot. */
void kvs_settle_won(struct kvs_xfer *x, struct kvs_io *io, int status);
/* Those of [from, to) that are open, by the SDK itself. */
void kvs_settle_range(struct kvs_xfer *x, uint32_t from, uint32_t to, int status, const char *why);
/* Takes n from the count, and does what the end of a transfer asks for. */
void kvs_xfer_drop(struct kvs_xfer *x, uint64_t n);
/* One more on the count, if the transfer is running: it cannot end before kvs_xfer_drop. */
bool kvs_xfer_hold(struct kvs_xfer *x);
int kvs_xfer_status(const struct kvs_xfer *x);
/* A descriptor's status, and whether it is its own, with bytes and text in rec. Once the transfer has ended
 * it does not change: at a held end, where one is being settled this moment, it waits for that. */
int kvs_io_status(const struct kvs_xfer *x, const struct kvs_rec *rec, bool *own);
/* Is an io's status an error of its transfer, and no answer of QUERY or REMOVE. */
bool kvs_io_is_error(const struct kvs_xfer *x, int status);
void kvs_io_text(struct kvs_rec *rec, uint32_t round, const char *fmt, va_list args) KVS_PRINTF(3, 0);

/* When the time of a call of the user's ends. */
static inline uint64_t kvs_until(uint64_t timeout_ns)
{
    return timeout_ns == KVS_FOREVER ? KVS_NEVER : kvs_after(kvs_now_ns(), timeout_ns);
}

/* ---- Post and AGAIN (post.c) ---- */

/* A post that was kept by a turn: as kvs_xfer_post, but an error ends every io. */
void kvs_post_late(struct kvs_xfer *x);
/* Posts again a transfer from its own done function, which may have canceled that as well. */
void kvs_post_again(struct kvs_xfer *x, bool canceled);
/* Submits a batch that waited, with a hold on it; `first`: should it have to wait on, it goes before the
 * others. */
void kvs_submit_late(struct kvs_xfer *x, bool first);
/* Offers waiting batches, oldest first, until one is not taken; or has a worker do it, where submit may
 * block. */
void kvs_again_offer(kvs_engine *e);
/* The same, here and now. */
void kvs_again_offer_here(kvs_engine *e);
/* Takes a batch off the AGAIN list; engine.lock held. */
bool kvs_again_take(struct kvs_xfer *x);

/* ---- Worker pool (pool.c) ---- */

int kvs_pool_init(kvs_engine *e, uint32_t threads);
/* Every thread has ended and closed its worker; nothing is queued any more. */
void kvs_pool_stop(kvs_engine *e);
void kvs_pool_destroy(kvs_engine *e);
/* Queues the transfer's ios. KVS_OK, or NO_MEMORY where not one worker could be started. */
int kvs_pool_add(struct kvs_xfer *x);
/* Has a worker call kvs_again_offer_here. */
void kvs_pool_offer(kvs_engine *e);
/* Takes back the ios that no worker has yet: [*from, count). */
void kvs_pool_take(struct kvs_xfer *x, uint32_t *from);

/* ---- Transfers and engines ---- */

/* Calls the backend's unprep if it is owed, with engine.lock held, which is let go meanwhile. It has been
 * called when this comes back, and only then is the transfer freed. False: it may not wait, and is still
 * owed. */
bool kvs_xfer_unprep(struct kvs_xfer *x, bool may_wait);
/* Frees a transfer that has ended, with its counts on registrations and on the engine. */
void kvs_xfer_free(struct kvs_xfer *x);
/* The same on a thread that may be the store's: a serial backend may wait for what that thread does next.
 * Then the service thread frees it, as soon as the backend can be called. */
void kvs_xfer_free_soon(struct kvs_xfer *x);
/* Once more; engine.lock held, and let go in between. False: the backend is busy still. */
bool kvs_xfer_free_again(kvs_engine *e);
void kvs_posted_link(struct kvs_xfer *x); /* engine.lock held, as for the next */
void kvs_posted_unlink(struct kvs_xfer *x);
static inline bool kvs_any_posted(const kvs_engine *e)
{
    return e->posted[KVS_IN_TIME].head || e->posted[KVS_IN_GRACE].head || e->posted[KVS_IN_HELD].head;
}
void kvs_engine_ref(kvs_engine *e);
void kvs_engine_unref(kvs_engine *e);
/* Is it a handle; without a look at a NULL, nor, in builds without NDEBUG, at one that was given back. */
static inline bool kvs_is_engine(const kvs_engine *e)
{
    return e && kvs_handle_live(e, "an engine") && e->magic == KVS_ENGINE_MAGIC;
}
static inline bool kvs_is_xfer(const kvs_xfer *x)
{
    return x && kvs_handle_live(x, "a transfer") && x->magic == KVS_XFER_MAGIC;
}
/* KVS_OK, INVALID_PARAM or, in a forked child, NOT_ALLOWED. */
int kvs_engine_usable(const kvs_engine *e);
/* The same, with a text. */
int kvs_engine_check(const kvs_engine *e, struct kvs_error *err);
int kvs_xfer_usable(const kvs_xfer *x);

/* ---- Statistics (stats.c) and memory that is held (held.c) ---- */

/*
 * Counts a post, once for each that was accepted, when the transfer's result stands: after the last of its
 * ios, or when it ends held, and before its owner or its done function hears of it. Called by the one who set
 * ENDED, who still has the count that keeps the transfer; at a held end with engine.lock held.
 */
void kvs_stats_ending(const struct kvs_xfer *x);
/* What is held or abandoned now. Takes engine.lock. */
void kvs_held_sum(kvs_engine *e, uint64_t *transfers, uint64_t *bytes);
/* The engine is abandoned with all that runs in it. Takes engine.lock. */
void kvs_leaks_add(kvs_engine *e);

/* ---- Registrations (mem.c) ---- */

/* Takes all counts off, at the engine's close: transfers may outlive it. */
void kvs_memtab_uncount_all(kvs_engine *e);
/* Ends all that are left, at the engine's close. */
void kvs_memtab_free_all(kvs_engine *e);
/* Ends one that no caller knows of, and nobody counts any more. False: it may not wait, and is to be called
 * again. */
bool kvs_mem_end(kvs_engine *e, struct kvs_mem *m, bool may_wait);
/* Takes the transfer's counts off its registrations. */
void kvs_mem_uncount(struct kvs_xfer *x);

/* ---- Host services (host.c) ---- */

/* Where fail() of a backend's function that runs on this thread puts its text, from begin to end. Calls nest
 * where a done function runs in between: end gets what begin answered. */
struct kvs_error *kvs_host_text_begin(struct kvs_error *err);
void kvs_host_text_end(struct kvs_error *outer);

#endif
