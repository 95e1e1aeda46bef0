/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a transfer, and polling. Where the backend polls, one thread at a time is the poll owner: it
 * alone calls poll and sleeps on the backend's descriptor; others sleep until it leaves or has completed
 * something.
 */
#include "engine.h"
#include "span.h"

#define POLL_EVENTS 256 /* ios a poll may complete in one go */
/* The longest sleep of an owner: a backend may have completed elsewhere and told nobody. */
#define OWNER_NAP KVS_MS(100)
/* Its sleep where there is no descriptor to wait for. */
#define BLIND_NAP KVS_MS(1)

bool kvs_xfer_ended(uint64_t word)
{
    return (word & KVS_W_COUNT) == 0 || (word & (KVS_W_HELD | KVS_W_STARTED)) == KVS_W_HELD;
}

bool kvs_owner_try(kvs_engine *e, bool service)
{
    if (e->owned)
        return false;
    e->owned = true;
    e->owned_by_service = service;
    e->owner = kvs_thread_self();
    e->owner_told = false;
    return true;
}

void kvs_owner_leave(kvs_engine *e)
{
    e->owned = false;
    if (e->owner_waiters > 0)
        kvs_cond_broadcast(&e->owner_left);
    kvs_fd_unpark(e);
}

/* Makes the sleeping owner look again. */
static void wake_owner(kvs_engine *e)
{
    kvs_event_set(e->event_fd);
}

void kvs_progress_kick(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    if (e->owned)
        wake_owner(e);
    if (e->owner_waiters > 0)
        kvs_cond_broadcast(&e->owner_left);
    kvs_fd_owe(e);
    kvs_mutex_unlock(&e->lock);
}

void kvs_owner_await(kvs_engine *e, uint64_t until)
{
    if (e->callers_poll && e->owned && e->owned_by_service)
        wake_owner(e);
    e->owner_waiters++;
    kvs_cond_wait(&e->owner_left, &e->lock, until);
    e->owner_waiters--;
}

void kvs_progress_look(kvs_engine *e)
{
    kvs_a64_add(&e->told, 1);
    if (e->owned && kvs_thread_same(e->owner, kvs_thread_self()))
        e->owner_told = true;
    else if (e->owned)
        wake_owner(e);
    if (e->owner_waiters > 0)
        kvs_cond_broadcast(&e->owner_left);
}

void kvs_progress_ended_locked(kvs_engine *e)
{
    kvs_progress_look(e);
    kvs_fd_news(e);
}

void kvs_progress_ended(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    kvs_progress_ended_locked(e);
    kvs_mutex_unlock(&e->lock);
}

/* Until the backend's descriptor is readable or somebody wakes the owner; `failed`: poll answered an error,
 * and its descriptor is not asked. */
static void owner_sleep(kvs_engine *e, uint64_t until, bool failed)
{
    uint64_t now = kvs_now_ns();
    if (now >= until)
        return;
    int fd = failed ? -1 : kvs_call_poll_fd(e);
    uint64_t most = fd < 0 ? BLIND_NAP : OWNER_NAP, nap = until - now < most ? until - now : most;
    struct pollfd fds[2] = {{.fd = e->event_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    if (kvs_fds_wait(fds, 2, nap) > 0 && (fds[0].revents & POLLIN))
        kvs_event_clear(e->event_fd);
    else if (fds[1].revents & POLLNVAL) /* which is at once, and for ever: the backend's descriptor is none */
        owner_sleep(e, until, true);
}

static int poll_as_owner(kvs_engine *e)
{
    int n = kvs_call_poll(e, POLL_EVENTS);
    if (n != KVS_CALL_BUSY && kvs_a32_load(&e->handed))
        kvs_fd_follow(e, n < 0);
    return n;
}

void kvs_owner_turn(kvs_engine *e, uint64_t until)
{
    if (kvs_a64_load(&e->again_count))
        kvs_again_offer(e);
    int n = poll_as_owner(e);
    if (n == KVS_CALL_BUSY)
        return;
    bool told = e->owner_told;
    e->owner_told = false;
    if (n <= 0 && told)
        return; /* somebody's transfer has ended, maybe its own */
    if (n <= 0) {
        owner_sleep(e, until, n < 0);
        return;
    }
    kvs_mutex_lock(&e->lock);
    if (e->owner_waiters > 0)
        kvs_cond_broadcast(&e->owner_left);
    kvs_mutex_unlock(&e->lock);
}

bool kvs_progress_once(kvs_engine *e)
{
    if (kvs_a64_load(&e->again_count))
        kvs_again_offer(e);
    if (!e->callers_poll)
        return true;
    kvs_a64_add(&e->polls_seen, 1);
    kvs_mutex_lock(&e->lock);
    bool mine = kvs_owner_try(e, false);
    if (!mine)
        kvs_fd_park(e);
    kvs_mutex_unlock(&e->lock);
    if (!mine)
        return true;
    int n = poll_as_owner(e);
    kvs_mutex_lock(&e->lock);
    kvs_owner_leave(e);
    kvs_mutex_unlock(&e->lock);
    return n != KVS_CALL_BUSY;
}

/* False: what the service thread did is up to those who wait, from now on. */
static bool wait_parked(struct kvs_xfer *x, uint64_t until)
{
    struct kvs_park *park = kvs_park_of(x);
    for (int i = 0; i < KVS_SPINS; i++) {
        if (kvs_xfer_ended(kvs_a64_load(&x->word)))
            return true;
        kvs_cpu_relax();
    }
    for (;;) {
        uint32_t ticket = kvs_park_ticket(park);
        if (kvs_xfer_ended(kvs_a64_or(&x->word, KVS_W_WAITER)))
            return true;
        if (until != KVS_NEVER && kvs_now_ns() >= until)
            return true;
        if (kvs_a32_load(&x->engine->handed))
            return false;
        kvs_park_wait(park, ticket, until);
    }
}

/* Waiting in the engine. An end is told with the lock held, and counted: one that comes after the look keeps
 * the waiter from its sleep, or wakes it. What the service thread has handed over is done here too: the
 * thread that waits may be the very one who would else make progress. */
bool kvs_engine_wait(kvs_engine *e, bool (*look)(void *arg), void *arg, uint64_t until)
{
    bool mine = false, found;
    int spins = e->callers_poll ? 0 : KVS_SPINS;
    for (;;) {
        uint64_t told = kvs_a64_load(&e->told);
        found = look(arg);
        for (; !found && spins > 0 && kvs_a64_load(&e->told) == told; spins--)
            kvs_cpu_relax();
        if (found || (until != KVS_NEVER && kvs_now_ns() >= until))
            break;
        uint64_t next = KVS_NEVER;
        kvs_mutex_lock(&e->lock);
        if (kvs_a32_load(&e->handed) && !kvs_turn_inside())
            next = kvs_fd_duties(e);
        if (until < next)
            next = until;
        if (kvs_a64_load(&e->told) != told) {
            kvs_mutex_unlock(&e->lock);
            continue;
        }
        kvs_fd_sleeps(e, next);
        if (e->callers_poll && (mine || (mine = kvs_owner_try(e, false)))) {
            kvs_mutex_unlock(&e->lock);
            kvs_a64_add(&e->polls_seen, 1);
            kvs_owner_turn(e, next);
            continue;
        }
        kvs_owner_await(e, next);
        kvs_mutex_unlock(&e->lock);
    }
    if (mine) {
        kvs_mutex_lock(&e->lock);
        kvs_owner_leave(e);
        kvs_mutex_unlock(&e->lock);
    }
    return found;
}

/* The first of these that has ended; NULL is none. */
struct any {
    kvs_xfer *const *xfers;
    size_t n, ended;
};

static bool has_ended(void *arg)
{
    struct any *any = arg;
    for (size_t i = 0; i < any->n; i++) {
        struct kvs_xfer *x = any->xfers[i];
        if (!x)
            continue;
        uint64_t word = kvs_a64_load(&x->word);
        if (!kvs_xfer_ended(word) && !(word & KVS_W_TELL))
            word = kvs_a64_or(&x->word, KVS_W_TELL);
        any->ended = i;
        if (kvs_xfer_ended(word))
            return true;
    }
    return false;
}

void kvs_progress_wait(struct kvs_xfer *x, uint64_t until)
{
    if (!x->engine->callers_poll && !kvs_a32_load(&x->engine->handed) && wait_parked(x, until))
        return;
    struct any one = {&x, 1, 0};
    (void)kvs_engine_wait(x->engine, has_ended, &one, until);
}

/* The engine of all these; NULL where there is none, or one of them is no handle. */
static int engine_of(kvs_xfer *const *xfers, size_t n, kvs_engine **engine)
{
    *engine = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!xfers[i])
            continue;
        int rc = kvs_xfer_usable(xfers[i]);
        if (rc != KVS_OK)
            return rc;
        if (*engine && *engine != xfers[i]->engine)
            return KVS_INVALID_PARAM;
        *engine = xfers[i]->engine;
    }
    return *engine ? KVS_OK : KVS_INVALID_PARAM;
}

int kvs_xfer_wait_any(kvs_xfer *const *xfers, size_t n, uint64_t timeout_ns, size_t *index)
{
    kvs_engine *e;
    bool fits = xfers && kvs_array_fits(xfers, n, sizeof(kvs_xfer *), sizeof(kvs_xfer *));
    int rc = fits ? engine_of(xfers, n, &e) : KVS_INVALID_PARAM;
    if (rc != KVS_OK)
        return rc;
    if (kvs_turn_in_done())
        return KVS_NOT_ALLOWED;
    struct any any = {xfers, n, 0};
    bool ended = has_ended(&any);
    if (!ended) {
        kvs_progress_once(e);
        ended = timeout_ns > 0 ? kvs_engine_wait(e, has_ended, &any, kvs_until(timeout_ns)) : has_ended(&any);
    }
    if (ended && index)
        *index = any.ended;
    return ended ? KVS_OK : KVS_IN_PROG;
}
