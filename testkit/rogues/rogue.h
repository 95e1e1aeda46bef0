/* SPDX-License-Identifier: Apache-2.0 */
/* A small store in memory with one deliberate defect. */
#ifndef KVSLOT_ROGUE_H
#define KVSLOT_ROGUE_H

#include "defects.h"
#include <pthread.h>
#include <sys/queue.h>

/* Private space of an engine; what has no guard beside it is set by open. */
struct rogue_engine {
    void *ctx;
    const char *password, *server; /* NULL: none */
    uint64_t capacity;             /* bytes of all values; 0: no limit */
    bool connected;                /* guarded by rogue_lock */
    bool lost;                     /* has once found no store; guarded by rogue_lock */
    int fd;                        /* poll: an eventfd */
    TAILQ_HEAD(, rogue_io) queue;  /* poll: guarded by `guard` */
    pthread_mutex_t guard;         /* of the queue; with completes_locked held while completing */
};

/* Private space of an io. */
struct rogue_io {
    TAILQ_ENTRY(rogue_io) link; /* guarded by the engine's guard */
    struct kvs_batch *batch;
    struct kvs_io *io;
    uint64_t token; /* as it was in prep */
    bool failed;
    bool sent; /* poll: by a poll, and answered at the next one; guarded by the engine's guard */
};

/* One store and one defect a process: the parameter of the last open counts. */
extern _Atomic enum defect rogue_defect;
extern const struct kvs_host *rogue_host;
extern pthread_mutex_t rogue_lock; /* guards the store, and what says so */
extern char rogue_notes[4096];     /* name of a file; "": none */

/* ---- store.c ---- */

/* Carries an io out. Its status; the caller owns the io. */
int rogue_run(struct rogue_engine *e, const struct kvs_batch *batch, struct kvs_io *io);
int rogue_list(void *eng, const void *prefix, size_t len,
               int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
               uint64_t deadline);
/* Forgets all values of an engine (NULL: all). rogue_lock is held. */
void rogue_forget(const struct rogue_engine *owner);
/* Undoes all removals. rogue_lock is held. */
void rogue_put_back(void);
/* Is there a value of the io's key. rogue_lock is not held. */
bool rogue_has(struct rogue_engine *e, const struct kvs_io *io);

/* ---- reach.c ---- */

/* KVS_OK, or why the store does not take the io. rogue_lock is not held. */
int rogue_reach(struct rogue_engine *e, const struct kvs_batch *batch, struct kvs_io *io);

/* ---- misdeeds.c ---- */

_Noreturn void rogue_hang(void);
void rogue_crash(void); /* SIGSEGV */
void rogue_crash_on_thread(void);
void rogue_touch_missing_page(void); /* SIGBUS */
void rogue_leave_child(void);
void rogue_leak_descriptor(void);
void rogue_leak_thread(void);
/* What the defect leaves behind with each operation of that kind, of enum kvs_op or ROGUE_LIST. */
#define ROGUE_LIST 4
void rogue_leak_by(unsigned op);
void rogue_print_much(void);
/* Does a file of this process hold the text. */
bool rogue_file_holds(const char *file, const char *text);
void rogue_note(const char *what, const void *key, size_t len);
/* Lists the keys that were written, by the notes. */
int rogue_list_notes(int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg);
/* Is this every third call. It counts in the notes, which all processes share. */
bool rogue_third_time(void);

/* ---- async.c ---- */

int rogue_prep(void *eng, struct kvs_batch *batch);
int rogue_submit(void *eng, struct kvs_batch *batch);
void rogue_cancel(void *eng, struct kvs_batch *batch);
int rogue_poll(void *eng, int max_events);
int rogue_poll_fd(void *eng);

#endif
