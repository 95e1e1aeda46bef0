/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's inside. Locks, in the order in which one thread may take them:
 *   engine.serial > engine.mem_lock > engine.lock > pool.lock > slab lock > process locks.
 * A shard of the statistics (stats.h) may be entered under any of them, and is left at once.
 * None but `serial` is ever held over a call into a backend, and none at all over a done function.
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

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <limits.h>
#include <stdalign.h>

#define KVS_ENGINE_MAGIC UINT32_C(0x6b76656e)
#define KVS_XFER_MAGIC   UINT32_C(0x6b767866)
#define KVS_DEAD_MAGIC   UINT32_C(0xdeadbeef)

/* An io with what the SDK keeps beside it: two cache lines. */
struct kvs_rec {
    alignas(64) struct kvs_io io;
    struct iovec iov;      /* the descriptor's memory; io.iov points here */
    int32_t status;        /* of the round that settled it; written by the one who disarmed the slot */
    kvs_a32 round;         /* that round, stored last; another than the transfer's: still open */
    uint64_t bytes;        /* moved, or found by QUERY */
    struct kvs_text *text; /* set by io_error before the io completes; NULL: none */
};
_Static_assert(sizeof(struct kvs_rec) % 64 == 0, "whole cache lines");

struct kvs_text {
    uint32_t round; /* the post it belongs to */
    char s[];
};

/*
 * kvs_xfer.word: how much of a posted transfer is open, and what its end must do. The count has one for each
 * open io, one for each SDK call that has the batch in hand (submit, cancel), and one for a done function
 * that has not returned. What brings it to 0 touches the transfer no more, but with ABANDONED, when it frees
 * it.
 */
#define KVS_W_COUNT     UINT64_C(0xffffffff)
#define KVS_W_WAITER    (UINT64_C(1) << 32) /* somebody waits in the park of its address */
#define KVS_W_DONE      (UINT64_C(1) << 33) /* a done function is still to be started */
#define KVS_W_STARTED   (UINT64_C(1) << 34) /* it runs */
#define KVS_W_HELD      (UINT64_C(1) << 35) /* ended TIMEOUT with ios open */
#define KVS_W_ABANDONED (UINT64_C(1) << 36) /* freed by whoever brings the count to 0 */
#define KVS_W_LEAVING   (UINT64_C(1) << 37) /* to be abandoned: its done function posts it no more */
#define KVS_W_ENDED     (UINT64_C(1) << 38) /* kvs_stats_ending has the round, or is not to have it */
#define KVS_W_TELL      (UINT64_C(1) << 39) /* its end is told to the engine, where somebody waits for it */

#define KVS_W_COPY                                                                                           \
    (UINT64_C(1) << 40) /* and above: how many copies to the caller's memory are on their way */

/* kvs_xfer.marks. One word, so that of submit and cancel the later one sees the earlier. */
#define KVS_M_CANCEL    1u /* an early end was asked for */
#define KVS_M_TIMEOUT   2u /* its deadline has passed: CANCELED is reported as TIMEOUT */
#define KVS_M_SUBMITTED 4u /* the backend has the batch: its cancel may be called */

/* Releasing a transfer and closing its engine may both want to call its unprep. */
enum kvs_prepped { KVS_PREP_NONE, KVS_PREP_OWED, KVS_PREP_UNDOING };

/* How far a posted transfer is out of time. */
enum kvs_stage { KVS_IN_TIME, KVS_IN_GRACE, KVS_IN_HELD, KVS_STAGES };

/* Lists of transfers that any of them can leave at once, by kind: a transfer is in one list of each. */
enum kvs_list_kind {
    KVS_IN_LIVE,
    KVS_IN_POSTED,
    KVS_IN_OWED,
    KVS_IN_AGAIN,
    KVS_IN_POOL,
    KVS_IN_REAP,
    KVS_LIST_KINDS
};
struct kvs_list {
    struct kvs_xfer *head, *tail;
};
struct kvs_link {
    struct kvs_xfer *prev, *next;
    bool in;
};

struct kvs_xfer {
    uint32_t magic;
    uint32_t count;          /* immutable after prep, as all to `word` */
    void *block;             /* the allocation that it is in */
    kvs_engine *engine;      /* counted in engine.refs */
    struct kvs_rec *recs;    /* count of them */
    struct kvs_slot **slots; /* one for each KVS_SLOT_IOS of them, from prep to release */
    struct kvs_mem **mems;   /* the distinct local registrations, each counted once */
    uint32_t nmems;
    kvs_done_fn done;
    void *done_arg;
    void *owned; /* memory that is freed with it, or NULL; set by the one who gives the transfer back */
    struct kvs_mem *reg; /* a registration of its own, which ends with it, or NULL; as owned */
    bool deferred;       /* the done function runs on no thread of the backend's or the pool */
    bool reap;           /* each of its posts that has ended is listed for kvs_engine_reap */
    uint64_t bytes;      /* of its local memory */
    uint64_t
        *user; /* bounce: the caller's addresses, the ios have buffers of the transfer's own; else NULL */

    kvs_a64 word;
    kvs_a64 first_error; /* 0, or (index + 1) << 32 | status, of this round */
    kvs_a32 marks;       /* KVS_M_ bits of this round */
    kvs_a32 texts;       /* some record has, or had, a text */
    kvs_a32 round;       /* of the last accepted post, 0: none yet; written by post with engine.lock held */
    uint64_t posted_at;  /* the clock at the last post; written likewise */

    struct kvs_batch batch;

    /* Guarded by engine.lock. */
    enum kvs_stage stage;
    bool unbacked; /* a registration of its went while it was held */
    enum kvs_prepped prepped;
    uint64_t deadline; /* of the last post, 0: none */
    uint64_t grace_end;

    uint32_t pool_index; /* the next io to hand out; count: none left; guarded by pool.lock */

    struct kvs_link link[KVS_LIST_KINDS]; /* each guarded by what guards its list */

    struct kvs_xfer *local_next; /* in a queue of one thread (turn.c), or in engine.deferred (engine.lock) */
};

/* At the list's end; `first`: at its beginning. */
static inline void kvs_list_add(struct kvs_list *list, enum kvs_list_kind kind, struct kvs_xfer *x,
                                bool first)
{
    struct kvs_xfer *prev = first ? NULL : list->tail, *next = first ? list->head : NULL;
    x->link[kind] = (struct kvs_link){prev, next, true};
    *(prev ? &prev->link[kind].next : &list->head) = x;
    *(next ? &next->link[kind].prev : &list->tail) = x;
}

/* False: it was not in it. */
static inline bool kvs_list_take(struct kvs_list *list, enum kvs_list_kind kind, struct kvs_xfer *x)
{
    struct kvs_link *link = &x->link[kind];
    if (!link->in)
        return false;
    *(link->prev ? &link->prev->link[kind].next : &list->head) = link->next;
    *(link->next ? &link->next->link[kind].prev : &list->tail) = link->prev;
    link->in = false;
    return true;
}

static inline struct kvs_xfer *kvs_list_next(const struct kvs_xfer *x, enum kvs_list_kind kind)
{
    return x->link[kind].next;
}

/* Transfers one behind the other, by local_next. */
struct kvs_queue {
    struct kvs_xfer *head, *tail;
};

static inline void kvs_queue_push(struct kvs_queue *q, struct kvs_xfer *x)
{
    x->local_next = NULL;
    if (q->tail)
        q->tail->local_next = x;
    else
        q->head = x;
    q->tail = x;
}

/* NULL: it is empty. */
static inline struct kvs_xfer *kvs_queue_pop(struct kvs_queue *q)
{
    struct kvs_xfer *x = q->head;
    if (x && (q->head = x->local_next) == NULL)
        q->tail = NULL;
    return x;
}

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
    bool bounce; /* transfers have buffers of their own */
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

static inline struct kvs_rec *kvs_rec_at(const struct kvs_xfer *x, uint32_t i)
{
    return &x->recs[i];
}

/* By those who have it in hand. */
static inline uint32_t kvs_xfer_round(const struct kvs_xfer *x)
{
    return kvs_a32_load_relaxed(&x->round);
}

static inline uint32_t kvs_slots_for(uint32_t ios)
{
    return (ios + KVS_SLOT_IOS - 1) / KVS_SLOT_IOS;
}

static inline struct kvs_slot *kvs_slot_at(const struct kvs_xfer *x, uint32_t i)
{
    return x->slots[i / KVS_SLOT_IOS];
}

static inline bool kvs_rec_armed(const struct kvs_xfer *x, uint32_t i)
{
    return kvs_slot_armed(kvs_slot_at(x, i), i % KVS_SLOT_IOS);
}

static inline bool kvs_rec_disarm(const struct kvs_xfer *x, uint32_t i)
{
    return kvs_slot_disarm(kvs_slot_at(x, i), kvs_rec_at(x, i)->io.token);
}

/* ---- Post and AGAIN (post.c) ---- */

/* A post that was kept by a turn: as kvs_xfer_post, but an error ends every io. */
void kvs_post_late(struct kvs_xfer *x);
/* Posts again a transfer from its own done function. */
void kvs_post_again(struct kvs_xfer *x);
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
 * called when this comes back, and only then is the transfer freed. */
void kvs_xfer_unprep(struct kvs_xfer *x);
/* Frees a transfer that has ended, with its counts on registrations and on the engine. */
void kvs_xfer_free(struct kvs_xfer *x);
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
/* Ends one that no caller knows of, and nobody counts any more. */
void kvs_mem_end(kvs_engine *e, struct kvs_mem *m);
/* Takes the transfer's counts off its registrations. */
void kvs_mem_uncount(struct kvs_xfer *x);

/* ---- Host services (host.c) ---- */

/* Where fail() of a backend's function that runs on this thread puts its text, from begin to end. Calls nest
 * where a done function runs in between: end gets what begin answered. */
struct kvs_error *kvs_host_text_begin(struct kvs_error *err);
void kvs_host_text_end(struct kvs_error *outer);

/* A transfer's records stand right behind it, on a cache line of their own. */
#define KVS_XFER_HEAD ((sizeof(struct kvs_xfer) + 63) & ~(size_t)63)

static inline struct kvs_xfer *kvs_xfer_of(struct kvs_io *io)
{
    struct kvs_rec *first = (struct kvs_rec *)io - io->index;
    return (struct kvs_xfer *)((char *)first - KVS_XFER_HEAD);
}

#endif
