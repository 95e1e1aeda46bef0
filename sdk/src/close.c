/* SPDX-License-Identifier: Apache-2.0 */
/* Closing an engine: cancel, drain, then the backend; or giving it up. */
#include "engine.h"
#include "epoch.h"
#include "log.h"

#define DRAIN_TICK KVS_MS(1) /* between polls of a backend that somebody else may be polling */

/* Holds the next one after x that runs and was not asked for an early end; x NULL: the first. */
static struct kvs_xfer *hold_next(kvs_engine *e, struct kvs_xfer *x)
{
    kvs_mutex_lock(&e->lock);
    x = x ? kvs_list_next(x, KVS_IN_LIVE) : e->live.head;
    while (x && ((kvs_a32_load(&x->marks) & KVS_M_CANCEL) || !kvs_xfer_hold(x)))
        x = kvs_list_next(x, KVS_IN_LIVE);
    kvs_mutex_unlock(&e->lock);
    return x;
}

/* Asks every running transfer for an early end, once. Each is held until the next is found, so it is in the
 * list. */
static void cancel_all(kvs_engine *e)
{
    for (struct kvs_xfer *x = hold_next(e, NULL), *next; x; x = next) {
        kvs_xfer_stop(x, KVS_CANCELED, "the engine was closed");
        next = hold_next(e, x);
        kvs_xfer_drop(x, 1);
    }
}

/* How many transfers are not at their end; one of them, made to wake its park. engine.lock held. */
static uint32_t count_running(kvs_engine *e, struct kvs_park **park, uint32_t *ticket)
{
    uint32_t n = 0;
    *park = NULL;
    for (struct kvs_xfer *x = e->live.head; x; x = kvs_list_next(x, KVS_IN_LIVE)) {
        uint64_t word = kvs_a64_load(&x->word);
        if ((word & KVS_W_COUNT) == 0 && !(word & KVS_W_ABANDONED))
            continue;
        n++;
        if (*park || (word & KVS_W_COUNT) == 0)
            continue;
        struct kvs_park *p = kvs_park_of(x);
        *ticket = kvs_park_ticket(p);
        if (kvs_a64_or(&x->word, KVS_W_WAITER) & KVS_W_COUNT)
            *park = p;
    }
    return n;
}

/* Waits until nothing runs. Answers how much still does at `until`. */
static uint32_t drain(kvs_engine *e, uint64_t until)
{
    for (;;) {
        struct kvs_park *park;
        uint32_t ticket = 0;
        kvs_engine_progress(e); /* also what is up to callers */
        cancel_all(e);
        kvs_mutex_lock(&e->lock);
        uint32_t n = count_running(e, &park, &ticket);
        kvs_mutex_unlock(&e->lock);
        uint64_t now = kvs_now_ns();
        if (n == 0 || now >= until)
            return n;
        /* One that is abandoned and at its end is being freed by another thread this moment: look again soon.
         */
        uint64_t tick = kvs_after(now, DRAIN_TICK);
        bool soon = e->polls || kvs_a32_load(&e->handed) || !park;
        uint64_t limit = soon && tick < until ? tick : until;
        if (park)
            kvs_park_wait(park, ticket, limit);
        else
            kvs_park_wait(kvs_park_of(e), kvs_park_ticket(kvs_park_of(e)), limit);
    }
}

/* Transfers that have ended may be released by other threads meanwhile. */
static void undo_preps(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    struct kvs_xfer *x = e->live.head;
    while (x) {
        if (x->prepped == KVS_PREP_UNDOING) {
            kvs_mutex_unlock(&e->lock);
            kvs_yield();
            kvs_mutex_lock(&e->lock);
            x = e->live.head; /* it may be gone */
            continue;
        }
        kvs_xfer_unprep(x, true); /* it stays for so long */
        x = kvs_list_next(x, KVS_IN_LIVE);
    }
    kvs_mutex_unlock(&e->lock);
}

/* Nothing runs any more: ends threads, registrations, what is owed to the backend, and the backend. */
static void shut(kvs_engine *e)
{
    kvs_service_stop(e);
    if (e->pool.thread)
        kvs_pool_stop(e);
    kvs_mutex_lock(&e->lock);
    kvs_fd_close(e);
    kvs_mutex_unlock(&e->lock);
    undo_preps(e);
    kvs_memtab_uncount_all(e);
    kvs_memtab_free_all(e);
    kvs_call_close(e);
    kvs_a32_store(&e->closed, 1);
    kvs_handle_remove(e);
    kvs_engine_unref(e);
}

int kvs_engine_close(kvs_engine *e, uint64_t timeout_ns, struct kvs_error *err)
{
    int rc = kvs_engine_usable(e);
    if (rc == KVS_NOT_ALLOWED) {
        /* In a forked child neither the threads nor the store of its copy are its own. */
        kvs_fd_close(e);
        if (e->event_fd >= 0)
            kvs_event_close(e->event_fd);
        e->event_fd = -1;
        e->magic = KVS_DEAD_MAGIC;
        kvs_handle_remove(e);
        return KVS_OK;
    }
    if (rc != KVS_OK)
        return kvs_engine_check(e, err);
    if (kvs_turn_in_done())
        return kvs_err_set(err, KVS_NOT_ALLOWED, "an engine cannot be closed inside a done function");
    kvs_a32_store(&e->closing, 1);
    uint64_t until = kvs_until(timeout_ns);
    uint32_t running = drain(e, until);
    if (running > 0)
        return kvs_err_set(err, KVS_BUSY, "%u transfers of backend '%s' are still running, held or abandoned",
                           running, e->be->name);
    shut(e);
    return KVS_OK;
}

void kvs_engine_abandon(kvs_engine *e)
{
    struct kvs_error err = {KVS_OK, ""};
    if (!e || kvs_engine_usable(e) == KVS_INVALID_PARAM)
        return;
    if (kvs_engine_close(e, 0, &err) == KVS_OK)
        return;
    kvs_leaks_add(e);
    kvs_handle_remove(e);
    kvs_log(KVS_LOG_ERROR, e->be->name, "engine abandoned with its memory and threads: %s", err.text);
}
