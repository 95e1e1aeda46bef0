/* SPDX-License-Identifier: Apache-2.0 */
/* A transfer's handle, from prep to release: check, wait, results, cancel, release, abandon. */
#include "engine.h"
#include "epoch.h"
#include "quarantine.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#define LEAVE_TICK KVS_MS(10) /* between looks at whether a done function has posted again */

int kvs_xfer_usable(const kvs_xfer *x)
{
    if (!kvs_is_xfer(x))
        return KVS_INVALID_PARAM;
    return kvs_epoch_is(x->engine->epoch) ? KVS_OK : KVS_NOT_ALLOWED;
}

static bool is_running(const struct kvs_xfer *x)
{
    return (kvs_a64_load(&x->word) & KVS_W_COUNT) != 0;
}

void kvs_posted_link(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    kvs_posted_unlink(x);
    x->stage = KVS_IN_TIME;
    kvs_list_add(&e->posted[x->stage], KVS_IN_POSTED, x, false);
    x->deadline = x->batch.deadline_ns;
    e->posts++;
}

void kvs_posted_unlink(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    kvs_list_take(&e->posted[x->stage], KVS_IN_POSTED, x);
    kvs_list_take(&e->owed, KVS_IN_OWED, x);
}

static void free_memory(struct kvs_xfer *x)
{
    for (uint32_t i = 0; kvs_a32_load(&x->texts) && i < x->count; i++)
        free(kvs_rec_at(x, i)->text);
    free(x->owned);
    x->magic = KVS_DEAD_MAGIC;
    kvs_handle_remove(x);
    if (x->engine->quarantine)
        kvs_quarantine_free(x->block);
    else
        kvs_handle_free(x, KVS_XFER_HEAD + x->count * sizeof(struct kvs_rec), x->block);
}

bool kvs_xfer_unprep(struct kvs_xfer *x, bool may_wait)
{
    kvs_engine *e = x->engine;
    while (x->prepped == KVS_PREP_UNDOING) { /* by another thread, this moment */
        kvs_mutex_unlock(&e->lock);
        kvs_yield();
        kvs_mutex_lock(&e->lock);
    }
    if (x->prepped != KVS_PREP_OWED)
        return true;
    x->prepped = KVS_PREP_UNDOING;
    kvs_mutex_unlock(&e->lock);
    bool undone = kvs_call_unprep(e, x, may_wait);
    kvs_mutex_lock(&e->lock);
    x->prepped = undone ? KVS_PREP_NONE : KVS_PREP_OWED;
    return undone;
}

/* All of it that calls the backend. False: it may not wait, and the rest is to be done later. */
static bool leave_backend(struct kvs_xfer *x, bool may_wait)
{
    kvs_engine *e = x->engine;
    kvs_mutex_lock(&e->lock);
    kvs_reap_take(x);
    bool undone = kvs_xfer_unprep(x, may_wait);
    kvs_mutex_unlock(&e->lock);
    if (!undone)
        return false;
    kvs_mem_uncount(x);
    if (x->reg && !kvs_mem_end(e, x->reg, may_wait))
        return false;
    x->reg = NULL;
    return true;
}

static bool try_free(struct kvs_xfer *x, bool may_wait)
{
    kvs_engine *e = x->engine;
    if (!kvs_epoch_is(e->epoch)) {
        /* A forked child takes no lock, and touches nothing that the parent's threads may have left half
         * done. */
        free_memory(x);
        return true;
    }
    if (!leave_backend(x, may_wait))
        return false;
    kvs_slab_lock(e->slab);
    for (uint32_t i = 0; i < x->count; i += KVS_SLOT_IOS)
        kvs_slab_give(e->slab, kvs_rec_at(x, i)->io.token);
    kvs_slab_unlock(e->slab);
    kvs_mutex_lock(&e->lock);
    kvs_again_take(x); /* only after a submit that answered AGAIN, but completed it all the same */
    kvs_posted_unlink(x);
    kvs_list_take(&e->live, KVS_IN_LIVE, x);
    kvs_mutex_unlock(&e->lock);
    free_memory(x);
    kvs_engine_unref(e);
    return true;
}

void kvs_xfer_free(struct kvs_xfer *x)
{
    try_free(x, true);
}

void kvs_xfer_free_soon(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    if (try_free(x, e->blocking)) /* a blocking backend has no threads that it could wait for */
        return;
    kvs_mutex_lock(&e->lock);
    kvs_queue_push(&e->frees, x);
    kvs_service_kick_locked(e);
    kvs_mutex_unlock(&e->lock);
}

bool kvs_xfer_free_again(kvs_engine *e)
{
    struct kvs_xfer *x = kvs_queue_pop(&e->frees);
    kvs_mutex_unlock(&e->lock);
    bool freed = try_free(x, false);
    kvs_mutex_lock(&e->lock);
    if (!freed)
        kvs_queue_push(&e->frees, x);
    return freed;
}

/* What a caller other than its done function is told. */
static int seen_status(const struct kvs_xfer *x)
{
    uint32_t round = kvs_a32_load(&x->round);
    if (!kvs_xfer_ended(kvs_a64_load(&x->word)))
        return KVS_IN_PROG;
    int status = kvs_xfer_status(x);
    /* Where another thread posts it this moment, that may be of no round. */
    return kvs_a32_load(&x->round) == round ? status : KVS_IN_PROG;
}

static void progress(struct kvs_xfer *x)
{
    if (!kvs_a32_load(&x->engine->closed) && !kvs_xfer_ended(kvs_a64_load(&x->word)))
        kvs_progress_once(x->engine);
}

int kvs_xfer_check(kvs_xfer *x)
{
    int rc = kvs_xfer_usable(x);
    if (rc != KVS_OK)
        return rc;
    struct kvs_frame *frame = kvs_turn_frame(x);
    if (frame)
        return kvs_frame_get(frame) == KVS_WISH_POST ? KVS_IN_PROG : kvs_xfer_status(x);
    progress(x);
    return seen_status(x);
}

int kvs_xfer_wait(kvs_xfer *x, uint64_t timeout_ns)
{
    int rc = kvs_xfer_usable(x);
    if (rc != KVS_OK)
        return rc;
    if (kvs_turn_in_done())
        return KVS_NOT_ALLOWED;
    progress(x);
    if (timeout_ns > 0 && !kvs_xfer_ended(kvs_a64_load(&x->word)))
        kvs_progress_wait(x, kvs_until(timeout_ns));
    return seen_status(x);
}

int kvs_xfer_cancel(kvs_xfer *x)
{
    int rc = kvs_xfer_usable(x);
    if (rc != KVS_OK)
        return rc;
    struct kvs_frame *frame = kvs_turn_frame(x);
    if (frame && kvs_frame_get(frame) == KVS_WISH_POST) {
        kvs_frame_cancel(frame);
    } else if (kvs_xfer_hold(x)) {
        kvs_xfer_stop(x, KVS_CANCELED, "canceled before the backend took it");
        kvs_turn_drop(x);
    }
    return KVS_OK;
}

int kvs_io_status(const struct kvs_xfer *x, const struct kvs_rec *rec, bool *own)
{
    *own = false;
    if (kvs_xfer_round(x) == 0)
        return KVS_NOT_POSTED;
    for (;;) {
        uint64_t word = kvs_a64_load(&x->word);
        bool open = kvs_rec_armed(x, rec->io.index);
        *own = kvs_a32_load(&rec->round) == kvs_xfer_round(x);
        if (*own)
            return rec->status;
        if (!(word & KVS_W_HELD))
            return KVS_IN_PROG;
        /* Whoever disarms an armed slot from now on sees HELD. Who has disarmed one looked at HELD before or
         * after it was set: he is waited for, while he still has it on the count. */
        if (open || (word & KVS_W_COUNT) == 0)
            return KVS_TIMEOUT;
        kvs_yield();
    }
}

static const char *status_text(const struct kvs_rec *rec, int status, bool mine)
{
    if (status >= 0)
        return "";
    return mine && rec->text && rec->text->round == kvs_a32_load(&rec->round) ? rec->text->s
                                                                              : kvs_status_text(status);
}

int kvs_xfer_result(kvs_xfer *x, size_t index, int *status, uint64_t *bytes, const char **text)
{
    int rc = kvs_xfer_usable(x);
    if (rc != KVS_OK)
        return rc;
    if (index >= x->count)
        return KVS_INVALID_PARAM;
    const struct kvs_rec *rec = kvs_rec_at(x, (uint32_t)index);
    bool settled;
    int st = kvs_io_status(x, rec, &settled);
    if (status)
        *status = st;
    if (bytes)
        *bytes = settled ? rec->bytes : 0;
    if (text)
        *text = status_text(rec, st, settled);
    return KVS_OK;
}

const char *kvs_xfer_error(kvs_xfer *x)
{
    if (kvs_xfer_usable(x) != KVS_OK)
        return "";
    int status = kvs_turn_frame(x) ? kvs_xfer_status(x) : seen_status(x);
    uint64_t error = kvs_a64_load(&x->first_error);
    if (status >= 0)
        return "";
    if (!error || (int32_t)(uint32_t)error != status)
        return kvs_status_text(status);
    return status_text(kvs_rec_at(x, (uint32_t)(error >> 32) - 1), status, true);
}

size_t kvs_xfer_count(const kvs_xfer *x)
{
    return kvs_is_xfer(x) ? x->count : 0;
}

/* From inside the transfer's own done function: it is freed when that returns, also in a forked child, where
 * nothing else comes of it. */
static int release_in_done(struct kvs_xfer *x, struct kvs_frame *frame, bool abandon)
{
    bool held = (kvs_a64_load(&x->word) & KVS_W_COUNT) > 1;
    if (!abandon && (held || kvs_frame_get(frame) == KVS_WISH_POST)) {
        kvs_frame_cancel(frame);
        return KVS_BUSY;
    }
    if (abandon && held)
        kvs_a64_add(&x->engine->tally->abandoned, 1);
    kvs_frame_set(frame, KVS_WISH_FREE);
    return KVS_OK;
}

int kvs_xfer_release(kvs_xfer *x, uint64_t timeout_ns)
{
    int rc = kvs_xfer_usable(x);
    if (rc == KVS_INVALID_PARAM)
        return rc;
    struct kvs_frame *frame = kvs_turn_frame(x);
    if (frame)
        return release_in_done(x, frame, rc == KVS_NOT_ALLOWED);
    if (rc == KVS_NOT_ALLOWED) {
        kvs_xfer_free(x);
        return KVS_OK;
    }
    if (is_running(x)) {
        kvs_xfer_cancel(x);
        progress(x);
        if (timeout_ns > 0 && !kvs_turn_in_done())
            kvs_progress_wait(x, kvs_until(timeout_ns));
        if (is_running(x))
            return KVS_BUSY;
    }
    kvs_xfer_free(x);
    return KVS_OK;
}

/* Leaves the transfer to its last completion. KVS_OK: done; KVS_BUSY: its done function is running elsewhere;
 * KVS_NOT_FOUND: it has ended. */
static int disown(struct kvs_xfer *x)
{
    uint64_t seen = kvs_a64_load(&x->word);
    do {
        for (; seen >= KVS_W_COPY; seen = kvs_a64_load(&x->word))
            kvs_yield(); /* to the memory of the caller's, who may free it after this */
        if ((seen & KVS_W_COUNT) == 0)
            return KVS_NOT_FOUND;
    } while (!kvs_a64_cas(&x->word, &seen, seen | (seen & KVS_W_STARTED ? KVS_W_LEAVING : KVS_W_ABANDONED)));
    return seen & KVS_W_STARTED ? KVS_BUSY : KVS_OK;
}

void kvs_xfer_abandon(kvs_xfer *x)
{
    int rc = kvs_xfer_usable(x);
    if (rc == KVS_INVALID_PARAM)
        return;
    kvs_engine *e = x->engine;
    struct kvs_frame *frame = kvs_turn_frame(x);
    if (frame) {
        release_in_done(x, frame, true);
        return;
    }
    /* What is open now is freed by what ends it, and no done function starts. One that has started is waited
     * for; should it have posted once more just before, that round is stopped too. */
    while (rc == KVS_OK) {
        bool open = kvs_xfer_hold(x);
        if (open)
            kvs_xfer_stop(x, KVS_CANCELED, "canceled before the backend took it");
        rc = disown(x);
        if (rc == KVS_OK)
            kvs_a64_add(&e->tally->abandoned, 1);
        if (rc == KVS_OK && open && x->reap) { /* a held end may have listed it */
            kvs_mutex_lock(&e->lock);
            kvs_reap_take(x);
            kvs_mutex_unlock(&e->lock);
        }
        if (open)
            kvs_xfer_drop(x, 1);
        if (rc == KVS_OK)
            return;
        if (rc == KVS_BUSY) {
            kvs_progress_wait(x, kvs_after(kvs_now_ns(), LEAVE_TICK));
            rc = KVS_OK;
        }
    }
    kvs_xfer_free(x);
}
