/* SPDX-License-Identifier: Apache-2.0 */
/* What sync.c has. */
#include "arena.h"
#include "sync.h"

#include <errno.h>
#include <string.h>

#define EVENT_BASE 1000000 /* no descriptor has such a number */
#define EVENTS     64
#define BUCKETS    64

static struct kvs_park buckets[BUCKETS];

enum kind { EVENT = 1, TIMER, SET };
struct event {
    int kind; /* 0: free */
    bool set;
    uint64_t at;      /* TIMER: it is readable from then on */
    uint64_t members; /* SET: a bit for each event that is in it */
};
static struct event events[EVENTS];

void explore_sync_reset(void)
{
    memset(buckets, 0, sizeof buckets);
    memset(events, 0, sizeof events);
}

struct kvs_park *kvs_park_of(const void *address)
{
    uint64_t h = (uint64_t)arena_offset(address) >> 4;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return &buckets[h >> 58];
}

void kvs_park_wait(struct kvs_park *p, uint32_t ticket, uint64_t until)
{
    if (p->ticket.v == ticket)
        explore_sleep("park", p, until);
    else
        explore_point("park (woken before)", p, false);
}

void kvs_park_wake(struct kvs_park *p)
{
    p->ticket.v++;
    explore_point("park ticket", p, true);
    explore_wake("park wake", p);
}

int kvs_thread_start(kvs_thread *t, void *(*fn)(void *), void *arg, const char *name)
{
    *t = explore_start(fn, arg, name);
    return 0;
}

void kvs_thread_join(kvs_thread t)
{
    explore_join(t);
}

/* ---- Events, timers and sets of them ---- */

static int open_one(enum kind kind)
{
    for (int i = 0; i < EVENTS; i++)
        if (!events[i].kind) {
            events[i] = (struct event){.kind = kind, .at = EXPLORE_NEVER};
            return EVENT_BASE + i;
        }
    errno = EMFILE;
    return -1;
}

static struct event *event(int fd)
{
    int i = fd - EVENT_BASE;
    if (i < 0 || i >= EVENTS || !events[i].kind)
        explore_fail("use of an event that is not open");
    return &events[i];
}

int kvs_event_open(void)
{
    return open_one(EVENT);
}

/* It leaves the sets that it is in. */
void kvs_event_close(int fd)
{
    event(fd)->kind = 0;
    for (int i = 0; i < EVENTS; i++)
        events[i].members &= ~(UINT64_C(1) << (fd - EVENT_BASE));
}

void kvs_event_set(int fd)
{
    event(fd)->set = true;
    explore_wake("event", events);
}

/* Also of a timer that has gone off, which is then set no more. */
void kvs_event_clear(int fd)
{
    struct event *e = event(fd);
    e->set = false;
    if (e->kind == TIMER && e->at <= explore_now())
        e->at = EXPLORE_NEVER;
    explore_point("event clear", events, true);
}

int kvs_timer_open(void)
{
    return open_one(TIMER);
}

void kvs_timer_set(int fd, uint64_t at)
{
    event(fd)->at = at;
    explore_wake("timer", events);
}

int kvs_fds_open(void)
{
    return open_one(SET);
}

bool kvs_fds_add(int set, int fd)
{
    (void)event(fd);
    event(set)->members |= UINT64_C(1) << (fd - EVENT_BASE);
    explore_wake("set", events);
    return true;
}

void kvs_fds_remove(int set, int fd)
{
    event(set)->members &= ~(UINT64_C(1) << (fd - EVENT_BASE));
    explore_point("set", events, true);
}

/* Is it readable at this time; *next: when else, unless earlier. */
static bool readable(int fd, uint64_t now, uint64_t *next)
{
    const struct event *e = event(fd);
    bool is = e->set || e->at <= now;
    if (!is && e->at < *next)
        *next = e->at;
    for (int i = 0; i < EVENTS; i++)
        if (e->members >> i & 1)
            is |= readable(EVENT_BASE + i, now, next);
    return is;
}

static int ready(struct pollfd *fds, uint32_t n, uint64_t now, uint64_t *next)
{
    int set = 0;
    for (uint32_t i = 0; i < n; i++) {
        fds[i].revents = fds[i].fd >= 0 && readable(fds[i].fd, now, next) ? POLLIN : 0;
        set += fds[i].revents != 0;
    }
    return set;
}

int kvs_fds_wait(struct pollfd *fds, uint32_t n, uint64_t ns)
{
    uint64_t now = explore_now(), until = kvs_after(now, ns);
    for (;;) {
        uint64_t next = until;
        int set = ready(fds, n, now, &next);
        if (set > 0)
            explore_point("poll", events, false);
        if (set > 0 || (now >= until && ns != EXPLORE_NEVER))
            return set;
        explore_sleep("poll", events, next);
        now = explore_now();
    }
}
