/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scenario is, and what holds of one at any time. A scenario has transfers 0, 1, ..., a store
 * (store.c) and callers, each with a script: words, those about a transfer with its number behind. post posts
 * it wait     waits for its end, and looks at the result check    checks until it has ended look     checks
 * once cancel   asks for its cancel release  releases it, as often as that answers BUSY try      releases it
 * once, whatever that answers abandon  abandons it gone     waits until its done function has given it back
 *   given    waits until the store was given an io
 *   begun    waits until its done function has begun
 *   dereg    ends the registration of its memory, unless that answers BUSY
 *   free     frees its memory, which nobody may use any more
 *   any      waits until one of those that it has posted has ended
 *   reap     reaps, until every post so far has been given; of one caller only
 *   fd       asks for the engine's descriptor
 *   loop     sleeps on it and makes progress until the transfer has ended, and looks at the result
 *   quiet    makes progress: then it is not readable
 *   count    looks whether the statistics have the statuses that the ios of a transfer with one post have
 *   held     lists the memory that is held
 *   stats    reads the engine's statistics
 *   join     waits for the other callers' ends
 *   letgo    lets a store that holds its completions back go on
 *   nap      lets 2 ms pass
 *   close    closes the engine, waiting for ever
 *   shut     closes it without waiting, whatever that answers
 *   drop     abandons the engine
 *   progress makes progress
 */
#ifndef KVS_TESTS_EXPLORE_MODEL_H
#define KVS_TESTS_EXPLORE_MODEL_H

#include "scheduler.h"

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <stdbool.h>
#include <stdint.h>

#define MODEL_XFERS 3
#define MODEL_IOS   4

enum shape { ASYNC, STIFF, DEFERRED, POLL, SERIAL, BLOCKING, SUBMIT_BLOCKS, SHAPES };
enum done { NO_DONE, DONE, DONE_POSTS, DONE_RELEASES, DONE_ABANDONS };

/* What may come beside OK. */
#define MAY_CANCEL  1u /* CANCELED */
#define MAY_TIMEOUT 2u /* TIMEOUT; the transfer may be held */
#define MAY_REFUSE  4u /* post answers NOT_ALLOWED, or what submit did */

struct scenario {
    const char *name;
    const char *params; /* of the engine; "timeout=0" where NULL */
    const char *script[3];
    enum shape shape;
    enum done done;
    unsigned xfers, ios; /* 0: 1 */
    unsigned may;
    unsigned reposts;  /* by done functions, for each transfer */
    unsigned agains;   /* so many submits answer AGAIN first */
    int refuses;       /* the first submit answers this */
    bool at_once;      /* submit completes the ios itself */
    bool half;         /* submit completes the first io itself */
    bool by_io;        /* completions name ios, else tokens */
    bool all_rest;     /* a batch's ios are completed in one call */
    bool cancel_later; /* cancel has the vendor's thread complete them, and does not itself */
    bool twice;        /* there is a second vendor, which completes all that the first does */
    bool held_back;    /* until letgo */
    bool registered;   /* memory is registered */
    bool reaps;        /* transfers are prepared with KVS_XFER_REAP */
    bool wakes;        /* POLL: host->wake, and no descriptor */
    unsigned bound;    /* preemptions; 0: 2 */
};

extern const struct scenario scenarios[];
extern const unsigned scenario_count;

/* One run of a scenario. */
void model_run(void *scenario);
/* Before all runs: what is made once in a process. */
void model_warm_up(void);

/* ---- Between model and store ---- */

struct model_xfer {
    kvs_xfer *x;
    char *mem;
    kvs_mem *reg;                         /* of mem, or NULL */
    unsigned accepted, started, returned; /* posts, and calls of the done function */
    unsigned posts;                       /* that were tried */
    unsigned reposts;                     /* left, for the done function */
    uint32_t owned;                       /* by the store: a bit for each io */
    bool unbacked;                        /* its registration has gone while it was held */
    bool gone, abandoned;                 /* given back; by abandon, which has returned */
    int poster;                           /* the thread of its last post in a script */
    uint64_t posted_at;                   /* its last post, or a little before */
    unsigned reaped;                      /* how often it was given */
    unsigned shown;                       /* the post whose ios' statuses have been seen, and these */
    int status[MODEL_IOS];
};

/* Of the run. */
struct model {
    const struct scenario *s;
    kvs_engine *e;
    struct model_xfer at[MODEL_XFERS];
    unsigned callers, ended; /* scripts, and of them those that have ended */
    bool let_go, closing, dropped;
    int fd;                                    /* of the engine, -1: nobody has asked for it */
    bool reaping[EXPLORE_THREADS];             /* a thread reaps without limit */
    struct model_xfer *waits[EXPLORE_THREADS]; /* what a thread waits for without limit, or NULL */
};
extern struct model model;

static inline unsigned model_xfers(const struct scenario *s)
{
    return s->xfers ? s->xfers : 1;
}
static inline unsigned model_ios(const struct scenario *s)
{
    return s->ios ? s->ios : 1;
}

#define MODEL_LEN 8 /* bytes of each io's memory */

void store_register(void);
const char *store_name(enum shape shape);
/* Before the engine is opened; then its threads. */
void store_begin(const struct scenario *s);
void store_start(void);
/* Ends them, and looks whether all was given back. */
void store_end(bool closed);
/* How many ios it was given, so far. */
unsigned store_taken(void);

#endif
