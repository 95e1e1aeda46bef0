/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, their turns, and time. */
#include "scheduler.h"
#include "arena.h"
#include "fibre.h"
#include "happened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS  20000 /* of one run: more are taken for a run that does not end */
#define MAX_FORCED 60    /* looks of those that wait by looking, with nobody else to run */
#define MAX_LOCALS 512

enum state { READY, SPINNING, LOCKING, ASLEEP, NAPPING, WAITING, JOINING, ENDED };

struct thread {
    const char *name;
    enum state state;
    struct fibre *fibre;
    void *(*fn)(void *);
    void *arg;
    const char *what, *where; /* its last operation, or what it waits for */
    const void *object;       /* LOCKING: the mutex; ASLEEP: what it sleeps on */
    bool (*cond)(void *arg);  /* WAITING */
    void *cond_arg;
    int joined;     /* JOINING */
    uint64_t until; /* ASLEEP, NAPPING */
    bool timed_out; /* its sleep ended by time */
    uint64_t seen;  /* SPINNING: `changes` when it began */
    char locals[MAX_LOCALS];
};

const char *explore_where;
void (*explore_idle)(void);
bool explore_trace, explore_straight_on;

/* Of the run; there is one real thread. */
static struct thread threads[EXPLORE_THREADS];
static int nthreads, current;
static bool running, leave_threads;
static bool looked; /* the last time that nobody could run, one of those that look was chosen, and not time */
static uint64_t steps, changes, now_ns, forced;

extern char __start_explore_locals[], __stop_explore_locals[];

bool explore_running(void)
{
    return running;
}

int explore_self(void)
{
    return current;
}

uint64_t explore_now(void)
{
    if (running)
        happened_value(current, now_ns);
    return now_ns;
}

bool explore_asleep(int thread)
{
    return threads[thread].state == ASLEEP;
}

void explore_leave_threads(void)
{
    leave_threads = true;
}

static const char *base(const char *where)
{
    const char *slash = where ? strrchr(where, '/') : NULL;
    return slash ? slash + 1 : where ? where : "start";
}

void explore_print_threads(void)
{
    static const char *const names[] = {"can run", "looks again", "waits for the lock at",
                                        "sleeps",  "naps",        "waits for",
                                        "joins",   "has ended"};
    for (int i = 0; i < nthreads; i++) {
        const struct thread *t = &threads[i];
        fprintf(stderr, "  %c %-8s %s%s%s, %s at %s\n", i == current ? '*' : ' ', t->name, names[t->state],
                t->state == WAITING ? " " : "", t->state == WAITING ? t->what : "",
                t->what ? t->what : "begins", base(i == current ? explore_where : t->where));
    }
}

/* ---- Turns ---- */

static void thread_main(void *arg);

static void switch_to(int next)
{
    size_t size = (size_t)(__stop_explore_locals - __start_explore_locals);
    struct thread *from = &threads[current], *to = &threads[next];
    if (next == current)
        return;
    memcpy(from->locals, __start_explore_locals, size);
    memcpy(__start_explore_locals, to->locals, size);
    from->where = explore_where;
    explore_where = to->where;
    current = next;
    if (from->state == ENDED)
        fibre_end(from->fibre, to->fibre);
    else
        fibre_switch(from->fibre, to->fibre);
}

/* Can it go on, now? A spinning one only where something has changed. */
static bool enabled(const struct thread *t)
{
    switch (t->state) {
    case READY:
        return true;
    case SPINNING:
        return t->seen != changes;
    case LOCKING:
        return ((const struct explore_mutex *)t->object)->owner < 0;
    case WAITING:
        return t->cond(t->cond_arg);
    case JOINING:
        return threads[t->joined].state == ENDED;
    default:
        return false;
    }
}

static bool timed(const struct thread *t)
{
    return (t->state == ASLEEP || t->state == NAPPING) && t->until != EXPLORE_NEVER;
}

struct ways {
    struct explore_way at[2 * EXPLORE_THREADS];
    int n;
};

static void add(struct ways *w, int thread, bool timer, unsigned cost)
{
    w->at[w->n++] = (struct explore_way){thread, timer, cost};
}

/* Those that can run, from the one behind the current on: the spinning behind the others. */
static void add_enabled(struct ways *w, unsigned cost)
{
    for (int spinning = 0; spinning < 2; spinning++)
        for (int i = 1; i <= nthreads; i++) {
            int t = (current + i) % nthreads;
            bool me = t == current && threads[t].state == READY;
            if (!me && (threads[t].state == SPINNING) == spinning && enabled(&threads[t]))
                add(w, t, false, cost);
        }
}

/* Those whose time comes first; it can come at any moment. */
static void add_timers(struct ways *w, unsigned cost)
{
    uint64_t first = EXPLORE_NEVER;
    for (int i = 0; i < nthreads; i++)
        if (timed(&threads[i]) && threads[i].until < first)
            first = threads[i].until;
    for (int i = 0; i < nthreads; i++)
        if (timed(&threads[i]) && threads[i].until == first)
            add(w, i, true, cost);
}

/* Nobody can run before time passes or somebody looks again. */
static void add_forced(struct ways *w)
{
    struct ways timers = {.n = 0};
    add_timers(&timers, 0);
    bool spins = false;
    for (int i = 0; i < nthreads; i++)
        spins = spins || threads[i].state == SPINNING;
    if (++forced > MAX_FORCED && timers.n == 0)
        explore_fail(spins ? "livelock: those that can run look for what nobody changes"
                           : "deadlock: nobody can run");
    looked = spins && (!looked || timers.n == 0);
    if (looked) {
        for (int i = 0; i < nthreads; i++)
            if (threads[i].state == SPINNING)
                add(w, i, false, 0);
        return;
    }
    if (timers.n == 0)
        explore_fail("deadlock: nobody can run");
    if (explore_idle && !spins)
        explore_idle();
    *w = timers;
}

static void time_comes(struct thread *t)
{
    if (t->until > now_ns)
        now_ns = t->until;
    t->timed_out = true;
    t->state = READY;
    changes++;
    happened_value((int)(t - threads), now_ns);
}

/* Chooses who goes on, and goes there. Back again where this one was chosen. */
static void turn(void)
{
    struct ways w = {.n = 0};
    bool ready = threads[current].state == READY;
    if (ready && explore_straight_on)
        return;
    if (ready) {
        add(&w, current, false, 0);
        add_enabled(&w, 1);
        add_timers(&w, 1);
    } else {
        add_enabled(&w, 0);
        if (w.n > 0)
            add_timers(&w, 1);
    }
    if (w.n == 0)
        add_forced(&w);
    else
        forced = 0;
    const struct explore_way *way = &w.at[w.n > 1 && !explore_straight_on ? explore_choose(w.at, w.n) : 0];
    struct thread *t = &threads[way->thread];
    if (way->timer)
        time_comes(t);
    t->state = READY;
    if (explore_trace && way->thread != current)
        fprintf(stderr, "     %s -> %s%s\n", threads[current].name, t->name,
                way->timer ? " (its time has come)" : "");
    switch_to(way->thread);
}

static void step(const char *what)
{
    threads[current].what = what;
    if (explore_trace)
        fprintf(stderr, "%4llu %-8s %s, %s\n", (unsigned long long)steps, threads[current].name, what,
                base(explore_where));
    const char *written = explore_trace ? arena_check_freed() : NULL;
    if (written)
        explore_fail("freed memory was written (freed at %s)", base(written));
    if (++steps > MAX_STEPS)
        explore_fail("livelock: %d steps, and no end", MAX_STEPS);
}

void explore_point(const char *what, const void *object, bool change)
{
    if (!running)
        return;
    step(what);
    happened(current, object, change);
    if (change) {
        changes++;
        forced = 0;
    }
    turn();
}

void explore_note(const void *object)
{
    if (!running)
        return;
    changes++;
    happened(current, object, true);
}

void explore_touch(const void *p, size_t n)
{
    const char *fault = running ? arena_fault(p, n) : NULL;
    if (fault)
        explore_fail("%s", fault);
}

static void block(enum state state, const char *what)
{
    step(what);
    threads[current].state = state;
    turn();
}

void explore_spin(void)
{
    if (!running)
        return;
    threads[current].seen = changes;
    block(SPINNING, "looks again");
}

void explore_wait(const char *what, bool (*cond)(void *arg), void *arg)
{
    threads[current].cond = cond;
    threads[current].cond_arg = arg;
    while (!cond(arg))
        block(WAITING, what);
    explore_note(&threads);
}

static uint64_t after(uint64_t ns)
{
    return ns > EXPLORE_NEVER - now_ns ? EXPLORE_NEVER : now_ns + ns;
}

void explore_nap(uint64_t ns)
{
    threads[current].until = after(ns);
    block(NAPPING, "nap");
}

bool explore_sleep(const char *what, const void *object, uint64_t until)
{
    struct thread *t = &threads[current];
    t->object = object;
    t->until = until;
    t->timed_out = false;
    explore_note(object);
    block(ASLEEP, what);
    return !t->timed_out;
}

void explore_rouse(const void *object, bool all)
{
    for (int i = 0; i < nthreads; i++) {
        struct thread *t = &threads[i];
        if (t->state != ASLEEP || t->object != object)
            continue;
        t->state = READY;
        if (!all)
            return;
    }
}

bool explore_sleepers(const void *object)
{
    for (int i = 0; i < nthreads; i++)
        if (threads[i].state == ASLEEP && threads[i].object == object)
            return true;
    return false;
}

void explore_wait_lock(const struct explore_mutex *m)
{
    threads[current].object = m;
    block(LOCKING, "lock");
}

void explore_wake(const char *what, const void *object)
{
    explore_rouse(object, true);
    explore_point(what, object, true);
}

/* ---- Threads ---- */

static void thread_main(void *arg)
{
    struct thread *t = arg;
    t->fn(t->arg);
    t->state = ENDED;
    changes++;
    explore_note(t);
    if (t == &threads[0]) {
        running = false;
        t->where = explore_where;
        fibre_end(t->fibre, NULL);
    }
    turn();
    abort();
}

int explore_start(void *(*fn)(void *), void *arg, const char *name)
{
    if (nthreads == EXPLORE_THREADS)
        explore_fail("more than %d threads", EXPLORE_THREADS);
    int n = nthreads++;
    struct thread *t = &threads[n];
    memset(t, 0, sizeof *t);
    t->name = name;
    t->fn = fn;
    t->arg = arg;
    t->fibre = fibre_start(n, thread_main, t);
    if (running)
        explore_point("start", t, true);
    return n;
}

void explore_join(int thread)
{
    threads[current].joined = thread;
    if (threads[thread].state != ENDED) {
        block(JOINING, "join");
        explore_note(&threads[thread]);
    } else
        explore_point("join", &threads[thread], false);
}

static void *body_main(void *arg)
{
    void **both = arg;
    void (*body)(void *) = (void (*)(void *))(uintptr_t)both[0];
    body(both[1]);
    return NULL;
}

bool explore_run(void (*body)(void *arg), void *arg)
{
    void *both[2] = {(void *)(uintptr_t)body, arg};
    nthreads = current = 0;
    steps = changes = forced = 0;
    now_ns = 1000000000;
    leave_threads = looked = false;
    memset(__start_explore_locals, 0, (size_t)(__stop_explore_locals - __start_explore_locals));
    arena_reset();
    happened_reset();
    explore_start(body_main, both, "main");
    explore_where = NULL;
    running = true;
    fibre_switch(NULL, threads[0].fibre);
    for (int i = 0; !leave_threads && i < nthreads; i++)
        if (threads[i].state != ENDED)
            return false;
    return true;
}
