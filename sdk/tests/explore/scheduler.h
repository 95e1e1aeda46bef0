/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The explorer's scheduler: threads that take turns on one real thread, locks, waits, events, and time. What
 * comes next is chosen at every operation; nothing here blocks or reads a clock.
 */
#ifndef KVS_TESTS_EXPLORE_SCHED_H
#define KVS_TESTS_EXPLORE_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLORE_THREADS 12
#define EXPLORE_NEVER   UINT64_MAX

struct explore_mutex {
    uint32_t magic;
    int owner; /* of the explorer's threads, or -1 */
};
struct explore_cond {
    uint32_t magic;
};

/* "file.c:12", the place of the operation that comes next; set by those who call it. */
extern const char *explore_where;

/* ---- Runs ---- */

/* Runs body(arg) as the first thread, and all that it starts, once. Answers whether every thread has ended.
 */
bool explore_run(void (*body)(void *arg), void *arg);
/* Is a run under way; memory is the arena's then (arena.h). */
bool explore_running(void);

/* ---- Of a thread that runs ---- */

/* An operation on an object has taken place: another may run now. `change`: others may see it. */
void explore_point(const char *what, const void *object, bool change);
/* The object was changed, or looked at, and this is no point. What threads share and is not told here or
 * there makes orders alike that are not. */
void explore_note(const void *object);
/* The same where this one waits for others without saying for what: it is the last that is chosen. */
void explore_spin(void);
/* Until cond(arg), which is asked at every choice. */
void explore_wait(const char *what, bool (*cond)(void *arg), void *arg);
void explore_nap(uint64_t ns);
uint64_t explore_now(void);
int explore_self(void);
int explore_start(void *(*fn)(void *), void *arg, const char *name);
void explore_join(int thread);
/* Memory that is about to be used has to be there. */
void explore_touch(const void *p, size_t n);

int explore_mutex_init(struct explore_mutex *m);
void explore_mutex_destroy(struct explore_mutex *m);
void explore_mutex_lock(struct explore_mutex *m);
bool explore_mutex_trylock(struct explore_mutex *m);
void explore_mutex_unlock(struct explore_mutex *m);
int explore_cond_init(struct explore_cond *c);
void explore_cond_destroy(struct explore_cond *c);
void explore_cond_signal(struct explore_cond *c, bool all);
void explore_cond_wait(struct explore_cond *c, struct explore_mutex *m, uint64_t until);

/* Puts the thread to sleep for `what` until another wakes all that sleep on `object`, or `until`, or one of
 * the events is set. Answers false where the time came. */
bool explore_sleep(const char *what, const void *object, uint64_t until);
void explore_wake(const char *what, const void *object);
/* For locks.c, without a choice: wakes one or all; does anybody sleep there; until the lock may be free. */
void explore_rouse(const void *object, bool all);
bool explore_sleepers(const void *object);
void explore_wait_lock(const struct explore_mutex *m);

/* ---- What may be asked by a scenario ---- */

/* A run is over its last step: a violated rule ends the program, after a report with the schedule. */
void explore_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Called where nobody can run but by time passing; may fail. Set once. */
extern void (*explore_idle)(void);
/* Does it sleep until it is woken, or for a time. */
bool explore_asleep(int thread);
/* Threads that have not ended when the run does are no error. */
void explore_leave_threads(void);
/* Forgets the events and tickets of the last run (sync_explore.c). */
void explore_sync_reset(void);
/* The threads' positions, for a report. */
void explore_print_threads(void);

/* ---- What the search answers (schedules.c) ---- */

/* One way to go on: a thread that may run, or whose time may come. */
struct explore_way {
    int thread;
    bool timer;
    unsigned cost; /* 1: a preemption */
};
/* Of n > 1, the cheapest first. */
int explore_choose(const struct explore_way *ways, int n);
/* Set by it where the rest of the run was tried before: the first way, wherever there is one. */
extern bool explore_straight_on;
/* Steps of a run are shown. */
extern bool explore_trace;

#endif
