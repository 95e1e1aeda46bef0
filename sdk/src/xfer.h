/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transfer: its records, the word that says how much of it is open, and the lists and queues that transfers
 * are in. What is done with them is declared in engine.h.
 */
#ifndef KVS_SRC_XFER_H
#define KVS_SRC_XFER_H

#include "slab.h"
#include "sync.h"

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <stdalign.h>

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

/* And above: how many copies to the caller's memory are on their way. */
#define KVS_W_COPY (UINT64_C(1) << 40)

/* More of it is open than its done function. */
static inline bool kvs_word_open(uint64_t word)
{
    return (word & KVS_W_COUNT) > (word & (KVS_W_DONE | KVS_W_STARTED) ? 1 : 0);
}

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

/* A transfer's records stand right behind it, on a cache line of their own. */
#define KVS_XFER_HEAD ((sizeof(struct kvs_xfer) + 63) & ~(size_t)63)

static inline struct kvs_xfer *kvs_xfer_of(struct kvs_io *io)
{
    struct kvs_rec *first = (struct kvs_rec *)io - io->index;
    return (struct kvs_xfer *)((char *)first - KVS_XFER_HEAD);
}

#endif
