/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service thread of an engine: ends transfers whose time is up, offers waiting batches again, runs done
 * functions that may not run where they came up, makes calls for which a serial backend was too busy, and
 * polls while no caller does. It sleeps while nothing is posted.
 */
#include "engine.h"
#include "log.h"

#define AGAIN_TICK KVS_MS(1) /* a waiting batch is offered again at least so often */
#define COPY_TICK  KVS_MS(1) /* between looks at whether a value has been copied */
#define POLL_TICK  KVS_MS(1) /* callers who have not polled for so long do not poll */

void kvs_service_kick_locked(kvs_engine *e)
{
    kvs_cond_signal(&e->service_work);
    if (e->owned && e->owned_by_service) /* it sleeps on the backend's descriptor */
        kvs_event_set(e->event_fd);
    kvs_fd_owe(e);
}

void kvs_service_kick(kvs_engine *e)
{
    if (!kvs_a32_load(&e->handed)) { /* should it be, this very moment: the thread passes it on */
        kvs_cond_signal(&e->service_work);
        return;
    }
    kvs_mutex_lock(&e->lock);
    kvs_service_kick_locked(e);
    kvs_mutex_unlock(&e->lock);
}

/* The backend was too busy for its cancel; false: it needs none any more. `first`: it was the next to have
 * one. engine.lock held. */
static bool owe_cancel(struct kvs_xfer *x, bool first)
{
    if (!x->link[KVS_IN_POSTED].in || x->link[KVS_IN_OWED].in) /* it has ended, or is held */
        return false;
    kvs_list_add(&x->engine->owed, KVS_IN_OWED, x, first);
    return true;
}

void kvs_xfer_cancel_soon(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    if (kvs_call_cancel(e, x))
        return;
    kvs_mutex_lock(&e->lock);
    if (owe_cancel(x, false))
        kvs_service_kick_locked(e);
    kvs_mutex_unlock(&e->lock);
}

void kvs_xfer_stop(struct kvs_xfer *x, int status, const char *why)
{
    kvs_engine *e = x->engine;
    uint32_t before =
        kvs_a32_or(&x->marks, status == KVS_TIMEOUT ? KVS_M_CANCEL | KVS_M_TIMEOUT : KVS_M_CANCEL);
    if (e->blocking || (e->limits.flags & KVS_F_SUBMIT_BLOCKS)) {
        uint32_t from;
        kvs_pool_take(x, &from);
        kvs_settle_range(x, from, x->count, status, why);
        if (e->blocking)
            return;
    }
    kvs_mutex_lock(&e->lock);
    bool waiting = kvs_again_take(x);
    kvs_mutex_unlock(&e->lock);
    if (waiting)
        kvs_settle_range(x, 0, x->count, status, why);
    else if (before & KVS_M_SUBMITTED)
        kvs_xfer_cancel_soon(x);
    if (e->polls)
        kvs_progress_kick(e);
}

static uint32_t open_ios(const struct kvs_xfer *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->count; i += KVS_SLOT_IOS)
        n += kvs_slot_open(kvs_slot_at(x, i));
    return n;
}

/* What has become of a transfer whose grace is over. */
enum over { OVER_BY_ITSELF, OVER_SOON, OVER_HELD, OVER_HELD_DONE };

/* What is to be said of a held end. It is said without engine.lock: the program's log function may wait for a
 * lock that the program holds over a post. */
struct held_end {
    uint32_t count, open;
    bool bounced;
};

static void log_held_end(const kvs_engine *e, const struct held_end *end)
{
    if (e->limits.caps_native & KVS_CAP_CANCEL)
        kvs_log(KVS_LOG_ERROR, e->be->name, "cancel is native, but ios were open after the grace of %llu ms",
                (unsigned long long)(e->cancel_grace / 1000000u));
    kvs_log(KVS_LOG_WARN, e->be->name,
            "a transfer of %u descriptors has ended with TIMEOUT, but the backend still has %u of them; "
            "%s held",
            end->count, end->open, end->bounced ? "buffers of the SDK are" : "their memory is");
}

/* Ends it held, unless all its ios have ended after all. OVER_SOON: a value is being copied to the caller
 * this moment. OVER_HELD_DONE: its done function is now to be run here. */
static enum over end_held(struct kvs_xfer *x, struct held_end *end)
{
    uint32_t open = open_ios(x);
    if (open == 0) /* what the count says is a call that has it in hand */
        return OVER_BY_ITSELF;
    uint64_t seen = kvs_a64_load(&x->word), next;
    do {
        if (!kvs_word_open(seen) || (seen & KVS_W_ENDED))
            return OVER_BY_ITSELF;
        if (seen >= KVS_W_COPY)
            return OVER_SOON;
        next = seen | KVS_W_HELD | KVS_W_ENDED;
        if ((seen & KVS_W_DONE) && (seen & KVS_W_ABANDONED))
            next = (next & ~KVS_W_DONE) - 1;
        else if (seen & KVS_W_DONE)
            next = (next & ~KVS_W_DONE) | KVS_W_STARTED;
    } while (!kvs_a64_cas(&x->word, &seen, next));
    kvs_stats_ending(x);
    if (x->engine->limits.caps_native & KVS_CAP_CANCEL)
        kvs_slab_count_violation(x->engine->slab);
    *end = (struct held_end){x->count, open, x->user != NULL};
    if (x->reap && !(seen & KVS_W_ABANDONED))
        kvs_reap_add(x);
    if (seen & KVS_W_TELL)
        kvs_progress_ended_locked(x->engine);
    if (seen & KVS_W_WAITER)
        kvs_park_wake(kvs_park_of(x));
    return next & KVS_W_STARTED ? OVER_HELD_DONE : OVER_HELD;
}

static void unlock_stop_lock(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    kvs_mutex_unlock(&e->lock);
    kvs_xfer_stop(x, KVS_TIMEOUT, "no answer within the engine's timeout");
    kvs_xfer_drop(x, 1);
    kvs_mutex_lock(&e->lock);
}

static void move_to(struct kvs_xfer *x, enum kvs_stage stage)
{
    kvs_engine *e = x->engine;
    kvs_list_take(&e->posted[x->stage], KVS_IN_POSTED, x);
    x->stage = stage;
    kvs_list_add(&e->posted[stage], KVS_IN_POSTED, x, false);
}

/* One that has ended is taken off its list. */
static bool has_ended(struct kvs_xfer *x)
{
    x->engine->looks++;
    if (kvs_a64_load(&x->word) & KVS_W_COUNT)
        return false;
    kvs_posted_unlink(x);
    return true;
}

/* The first transfer whose grace is over. As deadline_step. */
static bool grace_step(kvs_engine *e, uint64_t now, uint64_t *next)
{
    for (struct kvs_xfer *x = e->posted[KVS_IN_GRACE].head, *after; x; x = after) {
        after = kvs_list_next(x, KVS_IN_POSTED);
        if (has_ended(x))
            continue;
        if (x->grace_end > now) {
            *next = x->grace_end < *next ? x->grace_end : *next;
            return false;
        }
        struct held_end end;
        enum over over = end_held(x, &end);
        if (over == OVER_SOON) {
            *next = kvs_after(now, COPY_TICK) < *next ? kvs_after(now, COPY_TICK) : *next;
            continue;
        }
        if (over == OVER_BY_ITSELF || !e->polls) /* what is held may end only where somebody polls */
            kvs_posted_unlink(x);
        else
            move_to(x, KVS_IN_HELD);
        if (over == OVER_BY_ITSELF)
            return true;
        kvs_mutex_unlock(&e->lock);
        log_held_end(e, &end);
        if (over == OVER_HELD_DONE) {
            kvs_turn_begin();
            kvs_done_call(x);
            kvs_turn_end();
        }
        kvs_mutex_lock(&e->lock);
        return true;
    }
    return false;
}

/* The first transfer whose deadline has passed. As deadline_step. */
static bool timeout_step(kvs_engine *e, uint64_t now, uint64_t *next)
{
    struct kvs_xfer *x;
    while ((x = e->posted[KVS_IN_TIME].head) != NULL) {
        if (has_ended(x))
            continue;
        if (x->deadline == 0 || x->deadline > now) { /* those behind it were posted later */
            *next = x->deadline && x->deadline < *next ? x->deadline : *next;
            return false;
        }
        if (!kvs_xfer_hold(x)) { /* only its done function runs still */
            kvs_posted_unlink(x);
            continue;
        }
        move_to(x, KVS_IN_GRACE);
        x->grace_end = kvs_after(now, e->cancel_grace);
        unlock_stop_lock(x);
        return true;
    }
    return false;
}

/* One step on the first transfer that needs one; false: none does until *next. engine.lock held; it is let go
 * in between. */
static bool deadline_step(kvs_engine *e, uint64_t now, uint64_t *next)
{
    if (grace_step(e, now, next) || timeout_step(e, now, next))
        return true;
    for (struct kvs_xfer *x = e->posted[KVS_IN_HELD].head, *after; x; x = after) {
        after = kvs_list_next(x, KVS_IN_POSTED);
        has_ended(x);
    }
    return false;
}

/* The first cancel that a busy backend has not had yet; false: it is busy still. engine.lock held, and let go
 * in between. */
static bool call_owed(kvs_engine *e)
{
    struct kvs_xfer *x = e->owed.head;
    kvs_list_take(&e->owed, KVS_IN_OWED, x);
    if (!kvs_xfer_hold(x))
        return true;
    kvs_mutex_unlock(&e->lock);
    bool made = kvs_call_cancel(e, x);
    kvs_mutex_lock(&e->lock);
    if (!made)
        made = !owe_cancel(x, true);
    kvs_mutex_unlock(&e->lock);
    kvs_xfer_drop(x, 1);
    kvs_mutex_lock(&e->lock);
    return made;
}

/* Done functions that came up where they may not run: those that are there now. */
static void run_deferred(kvs_engine *e)
{
    const struct kvs_xfer *last = e->deferred.tail;
    struct kvs_xfer *x;
    bool more = last;
    while (more && (x = kvs_queue_pop(&e->deferred)) != NULL) {
        more = x != last; /* it may be gone when it has run */
        kvs_mutex_unlock(&e->lock);
        kvs_turn_begin();
        kvs_done_run(x);
        kvs_turn_end();
        kvs_mutex_lock(&e->lock);
    }
}

/* Polls for callers who do not, or may not; *seen is how often callers had polled when it last looked. */
static void poll_for_others(kvs_engine *e, uint64_t now, uint64_t next, uint64_t *seen)
{
    uint64_t polls = kvs_a64_load(&e->polls_seen);
    if ((!e->callers_poll || (polls == *seen && e->owner_waiters == 0)) && kvs_owner_try(e, true)) {
        kvs_mutex_unlock(&e->lock);
        kvs_owner_turn(e, next);
        kvs_mutex_lock(&e->lock);
        kvs_owner_leave(e);
        return;
    }
    *seen = polls;
    uint64_t tick = kvs_after(now, POLL_TICK);
    kvs_cond_wait(&e->service_work, &e->lock, tick < next ? tick : next);
}

/* When to look again where nothing is due: a post after this moment is due a whole timeout later, so that it
 * need not wake this thread. Without a post for so long it sleeps until one wakes it. */
static uint64_t look_again(kvs_engine *e, uint64_t now, uint64_t *posts)
{
    bool idle = !e->timeout || (!kvs_any_posted(e) && *posts == e->posts);
    *posts = e->posts;
    return idle ? KVS_NEVER : kvs_after(now, e->timeout);
}

bool kvs_service_step(kvs_engine *e, uint64_t *now, uint64_t *next)
{
    *now = kvs_now_ns();
    *next = KVS_NEVER;
    run_deferred(e);
    if (deadline_step(e, *now, next))
        return true;
    uint64_t tick = kvs_after(*now, AGAIN_TICK);
    if (e->owed.head) {
        if (call_owed(e))
            return true;
        *next = tick < *next ? tick : *next;
    }
    if (e->frees.head) {
        if (kvs_xfer_free_again(e))
            return true;
        *next = tick < *next ? tick : *next;
    }
    if (e->again.head) {
        kvs_mutex_unlock(&e->lock);
        kvs_again_offer(e);
        kvs_mutex_lock(&e->lock);
        if (!e->again.head)
            return true; /* meanwhile something may have been posted that is due before *next */
        *next = tick < *next ? tick : *next;
    }
    return e->deferred.head != NULL;
}

static void *service_main(void *arg)
{
    kvs_engine *e = arg;
    uint64_t seen = UINT64_MAX, posts = 0;
    kvs_mutex_lock(&e->lock);
    while (!e->service_stop) {
        uint64_t now, next;
        if (kvs_a32_load(&e->handed)) { /* whoever wakes it has not seen that yet */
            kvs_cond_wait(&e->service_work, &e->lock, KVS_NEVER);
            kvs_fd_owe(e);
            continue;
        }
        if (kvs_service_step(e, &now, &next) || e->service_stop)
            continue;
        if (e->polls && kvs_any_posted(e)) {
            poll_for_others(e, now, next, &seen);
            continue;
        }
        if (next == KVS_NEVER)
            next = look_again(e, now, &posts);
        e->service_asleep = next == KVS_NEVER || e->polls;
        e->service_until = next;
        kvs_cond_wait(&e->service_work, &e->lock, next);
        e->service_asleep = false;
        e->service_until = 0;
    }
    kvs_mutex_unlock(&e->lock);
    return NULL;
}

int kvs_service_need(const struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    if (kvs_a32_load(&e->handed)) {
        if (x->deadline)
            kvs_fd_posted(e, x->deadline);
        return KVS_OK;
    }
    bool needed = e->timeout || e->polls || x->deferred || !e->blocking;
    if (!needed)
        return KVS_OK;
    if (!e->service_started) {
        if (kvs_thread_start(&e->service, service_main, e, "kvs-service") != 0)
            return KVS_NO_MEMORY;
        e->service_started = true;
    } else if (e->service_asleep || (x->deadline && x->deadline < e->service_until)) {
        kvs_cond_signal(&e->service_work);
    }
    return KVS_OK;
}

void kvs_service_stop(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    bool started = e->service_started;
    e->service_stop = true;
    kvs_cond_signal(&e->service_work);
    kvs_mutex_unlock(&e->lock);
    if (e->event_fd >= 0 && started)
        kvs_progress_kick(e);
    if (started)
        kvs_thread_join(e->service);
    e->service_started = false;
}
