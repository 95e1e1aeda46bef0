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
/* 0: free, 1: open, 2: open and set. */
static char events[EVENTS];

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

int kvs_event_open(void)
{
    for (int i = 0; i < EVENTS; i++)
        if (!events[i]) {
            events[i] = 1;
            return EVENT_BASE + i;
        }
    errno = EMFILE;
    return -1;
}

static char *event(int fd)
{
    int i = fd - EVENT_BASE;
    if (i < 0 || i >= EVENTS || !events[i])
        explore_fail("use of an event that is not open");
    return &events[i];
}

void kvs_event_close(int fd)
{
    *event(fd) = 0;
}

void kvs_event_set(int fd)
{
    *event(fd) = 2;
    explore_wake("event", events);
}

void kvs_event_clear(int fd)
{
    *event(fd) = 1;
    explore_point("event clear", events, true);
}

static int ready(struct pollfd *fds, uint32_t n)
{
    int set = 0;
    for (uint32_t i = 0; i < n; i++) {
        fds[i].revents = fds[i].fd >= 0 && *event(fds[i].fd) == 2 ? POLLIN : 0;
        set += fds[i].revents != 0;
    }
    return set;
}

int kvs_fds_wait(struct pollfd *fds, uint32_t n, uint64_t ns)
{
    uint64_t until = kvs_after(explore_now(), ns);
    int set;
    while ((set = ready(fds, n)) == 0)
        if (!explore_sleep("poll", events, until))
            return ready(fds, n);
    explore_point("poll", events, false);
    return set;
}

/* No scenario asks for an engine's descriptor: there are no timers and no sets to be had. */
int kvs_timer_open(void)
{
    errno = EMFILE;
    return -1;
}

void kvs_timer_set(int fd, uint64_t at)
{
    (void)at;
    (void)event(fd);
}

int kvs_fds_open(void)
{
    errno = EMFILE;
    return -1;
}

bool kvs_fds_add(int set, int fd)
{
    (void)event(set);
    (void)fd;
    return false;
}

void kvs_fds_remove(int set, int fd)
{
    (void)event(set);
    (void)fd;
}
