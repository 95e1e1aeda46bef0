/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's descriptor: a set of the backend's descriptor, an event and a timer. The event is set while
 * the caller has something to look at (`news`: transfers have ended; what is to be reaped) or to do
 * (`owed`). kvs_engine_progress takes `owed` back before it looks itself, and `news` when it is done: its
 * caller looks after that.
 */
#include "engine.h"

#define BLIND_TICK KVS_MS(1) /* between polls where the backend has no descriptor, or was busy */
#define MOST_STEPS 16        /* of what is due, in one call; the rest is owed */

/* The engine that this thread makes progress of: what comes up meanwhile is told at the end of that. */
static _Thread_local const kvs_engine *progressing;

void kvs_fd_sync(kvs_engine *e)
{
    struct kvs_fd *fd = &e->fd;
    bool up = fd->news || fd->owed || e->reap.head;
    if (fd->set < 0 || up == fd->up || progressing == e)
        return;
    fd->up = up;
    if (up)
        kvs_event_set(fd->event);
    else
        kvs_event_clear(fd->event);
}

void kvs_fd_news(kvs_engine *e)
{
    e->fd.news = true;
    kvs_fd_sync(e);
}

void kvs_fd_owe(kvs_engine *e)
{
    if (!kvs_a32_load(&e->handed))
        return;
    kvs_progress_look(e); /* whoever waits in the engine does it too */
    e->fd.owed = true;
    kvs_fd_sync(e);
}

void kvs_fd_due(kvs_engine *e, uint64_t at)
{
    struct kvs_fd *fd = &e->fd;
    if (fd->set < 0 || at >= fd->timer_at) /* one that goes off too early costs a look */
        return;
    fd->timer_at = at;
    kvs_timer_set(fd->timer, at);
}

void kvs_fd_sleeps(kvs_engine *e, uint64_t next)
{
    if (e->fd.asleep_to < next)
        e->fd.asleep_to = next;
}

void kvs_fd_posted(kvs_engine *e, uint64_t deadline)
{
    kvs_fd_due(e, deadline);
    if (deadline < e->fd.asleep_to) {
        e->fd.asleep_to = 0;
        kvs_progress_look(e);
    }
}

static void forget_backend(struct kvs_fd *fd)
{
    if (fd->backend >= 0)
        kvs_fds_remove(fd->set, fd->backend);
    fd->backend = -1;
}

void kvs_fd_follow(kvs_engine *e, bool failed)
{
    struct kvs_fd *fd = &e->fd;
    int now = failed ? -1 : kvs_call_poll_fd(e);
    kvs_mutex_lock(&e->lock);
    if (now != fd->backend)
        forget_backend(fd);
    fd->blind = now < 0;
    /* Also one that is there already: it may be another of the same number. */
    if (fd->set >= 0 && now >= 0 && !fd->parked) {
        fd->blind = !kvs_fds_add(fd->set, now);
        fd->backend = fd->blind ? -1 : now;
    }
    kvs_mutex_unlock(&e->lock);
}

void kvs_fd_park(kvs_engine *e)
{
    if (kvs_a32_load(&e->handed)) {
        e->fd.parked = true;
        forget_backend(&e->fd);
    }
}

void kvs_fd_unpark(kvs_engine *e)
{
    if (!e->fd.parked)
        return;
    e->fd.parked = false;
    kvs_fd_owe(e);
}

uint64_t kvs_fd_duties(kvs_engine *e)
{
    uint64_t now, next;
    int steps = MOST_STEPS;
    while (kvs_service_step(e, &now, &next))
        if (--steps == 0) {
            kvs_fd_owe(e);
            break;
        }
    kvs_fd_due(e, next);
    return next;
}

void kvs_fd_progress(kvs_engine *e)
{
    struct kvs_fd *fd = &e->fd;
    bool mine = kvs_a32_load(&e->handed) && !kvs_turn_inside();
    if (mine) {
        progressing = e;
        kvs_mutex_lock(&e->lock);
        fd->owed = false;
        if (fd->timer_at != KVS_NEVER && fd->timer_at <= kvs_now_ns()) {
            fd->timer_at = KVS_NEVER;
            kvs_event_clear(fd->timer);
        }
        kvs_mutex_unlock(&e->lock);
    }
    bool polled = kvs_progress_once(e);
    kvs_mutex_lock(&e->lock);
    if (mine) {
        kvs_fd_duties(e);
        progressing = NULL;
    }
    /* One that has no descriptor has nothing to say before something was posted. */
    if (kvs_a32_load(&e->handed) && (!polled || (fd->blind && !fd->parked && kvs_any_posted(e))))
        kvs_fd_due(e, kvs_after(kvs_now_ns(), BLIND_TICK));
    if (!kvs_turn_inside())
        fd->news = false;
    kvs_fd_sync(e);
    kvs_mutex_unlock(&e->lock);
}

/* The caller does it from now on. engine.lock held, let go in between. */
static void take_over(kvs_engine *e)
{
    kvs_a32_store(&e->handed, 1);
    kvs_fd_owe(e); /* also for those who wait already */
    for (struct kvs_xfer *x = e->live.head; x; x = kvs_list_next(x, KVS_IN_LIVE))
        if (kvs_a64_load(&x->word) & KVS_W_COUNT)
            kvs_park_wake(kvs_park_of(x));
    kvs_cond_signal(&e->service_work);
    while (e->owned && e->owned_by_service && !kvs_turn_inside())
        kvs_owner_await(e, KVS_NEVER);
}

/* engine.lock held. */
static int open_fds(kvs_engine *e)
{
    struct kvs_fd *fd = &e->fd;
    int set = kvs_fds_open();
    fd->event = kvs_event_open();
    fd->timer = kvs_timer_open();
    if (set < 0 || fd->event < 0 || fd->timer < 0 || !kvs_fds_add(set, fd->event) ||
        !kvs_fds_add(set, fd->timer)) {
        if (set >= 0)
            kvs_event_close(set);
        kvs_fd_close(e);
        return KVS_NO_MEMORY;
    }
    fd->set = set;
    fd->news = true;
    fd->blind = e->polls;
    fd->timer_at = KVS_NEVER;
    /* What runs already tells its end too; those that are reaped do so from their posts on. */
    for (struct kvs_xfer *x = e->live.head; x; x = kvs_list_next(x, KVS_IN_LIVE))
        if (!x->reap && (kvs_a64_load(&x->word) & KVS_W_COUNT))
            kvs_a64_or(&x->word, KVS_W_TELL);
    kvs_a32_store(&e->tells, 1);
    if (!e->by_thread)
        take_over(e);
    kvs_fd_sync(e);
    return KVS_OK;
}

void kvs_fd_close(kvs_engine *e)
{
    struct kvs_fd *fd = &e->fd;
    int *const all[] = {&fd->set, &fd->event, &fd->timer};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i] >= 0)
            kvs_event_close(*all[i]);
        *all[i] = -1;
    }
    fd->backend = -1;
    kvs_a32_store(&e->handed, 0);
    kvs_a32_store(&e->tells, 0);
}

int kvs_engine_fd(kvs_engine *e, int *out)
{
    if (out)
        *out = -1;
    int rc = kvs_engine_usable(e);
    if (rc != KVS_OK)
        return rc;
    if (!out)
        return KVS_INVALID_PARAM;
    kvs_mutex_lock(&e->lock);
    if (e->fd.set < 0)
        rc = open_fds(e);
    *out = e->fd.set;
    kvs_mutex_unlock(&e->lock);
    return rc;
}
