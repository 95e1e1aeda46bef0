/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a transfer: arming its ios, offering the batch to the backend, and offering it again. */
#include "engine.h"

#include <stdlib.h>

/* What a refused post puts back, so that check says what it said before. */
struct before {
    uint64_t word, first_error;
    uint32_t round, marks;
    bool reapable;
};

/* Nobody looks at the ios: none is open, and the backend has none. */
static void arm(struct kvs_xfer *x)
{
    for (uint32_t i = 0, to; i < x->count; i = to) {
        to = x->count - i < KVS_SLOT_IOS ? x->count : i + KVS_SLOT_IOS;
        uint64_t gen = kvs_slot_arm(kvs_slot_at(x, i), to - i);
        for (uint32_t k = i; k < to; k++) {
            struct kvs_io *io = &kvs_rec_at(x, k)->io;
            __builtin_prefetch(&kvs_rec_at(x, k + KVS_SLOT_IOS)->io, 1);
            io->token = kvs_token_in(io->token, gen);
            io->actual = KVS_ACTUAL_UNSET;
        }
    }
}

/* Makes all of the transfer ready for one more round; from here on it is running. */
static int begin(struct kvs_xfer *x, struct before *before)
{
    kvs_engine *e = x->engine;
    uint64_t now = kvs_now_ns();
    arm(x);
    /* One more for this call, so that nothing ends before the batch is handed over, and one for the done
     * function. With the lock held, so that the service thread never sees a part of the new round with the
     * rest of the old one: it may be at the end that this one follows. */
    uint64_t word = UINT64_C(1) + x->count;
    kvs_mutex_lock(&e->lock);
    before->word = kvs_a64_load(&x->word);
    before->first_error = kvs_a64_load(&x->first_error);
    before->marks = kvs_a32_load(&x->marks);
    before->round = kvs_xfer_round(x);
    kvs_a32_store(&x->round, before->round + 1 ? before->round + 1 : 1);
    kvs_a64_store(&x->first_error, 0);
    kvs_a32_store(&x->marks, 0);
    x->posted_at = now;
    x->batch.deadline_ns = e->timeout ? kvs_after(now, e->timeout) : 0;
    kvs_again_take(x); /* only after a submit that answered AGAIN, but completed it all the same */
    kvs_posted_link(x);
    before->reapable = kvs_reap_take(x);
    if (x->done)
        word = (word + 1) | KVS_W_DONE;
    if (x->reap || kvs_a32_load(&e->tells))
        word |= KVS_W_TELL;
    /* Posted by its done function, it may have a waiter or be about to be abandoned, also only just now. */
    uint64_t seen = before->word;
    uint64_t keep = seen & KVS_W_COUNT ? KVS_W_WAITER | KVS_W_TELL | KVS_W_LEAVING : 0;
    while (!kvs_a64_cas(&x->word, &seen, word | (seen & keep)))
        ;
    /* Looked at where close counts what runs: it waits for this transfer, or this sees it. */
    int rc = kvs_a32_load(&e->closing) || x->unbacked ? KVS_NOT_ALLOWED : kvs_service_need(x);
    if (rc != KVS_OK) /* a refusal does not become a timeout */
        kvs_posted_unlink(x);
    kvs_mutex_unlock(&e->lock);
    if (rc == KVS_OK)
        kvs_bounce_fill(x); /* not before: now its registrations stay */
    return rc;
}

/* What a refused post said, and which ios it had ended all the same: the next one has its number. */
static void forget(struct kvs_rec *rec, uint32_t round, uint32_t before)
{
    if (rec->text && rec->text->round == round) {
        free(rec->text);
        rec->text = NULL;
    }
    if (kvs_a32_load(&rec->round) != round)
        return;
    rec->status = KVS_BACKEND; /* what it was before is lost */
    rec->bytes = 0;
    kvs_a32_store(&rec->round, before);
}

/* The post did not happen: no completion can come any more, no done function runs. False where submit took so
 * long to refuse it that it has ended TIMEOUT meanwhile: then it did happen. */
static bool take_back(struct kvs_xfer *x, const struct before *before)
{
    kvs_engine *e = x->engine;
    uint32_t open = 0;
    kvs_mutex_lock(&e->lock);
    bool ended = kvs_a64_load(&x->word) & KVS_W_HELD;
    if (!ended) /* from here on the service thread does not find it */
        kvs_posted_unlink(x);
    kvs_mutex_unlock(&e->lock);
    if (ended)
        return false;
    for (uint32_t i = 0; i < x->count; i++)
        open += kvs_rec_disarm(x, i);
    if (open != x->count)
        kvs_slab_violation(e->slab, "submit answered an error, but had completed %u of %u ios",
                           x->count - open, x->count);
    uint64_t counted = UINT64_C(1) + open + (x->done ? 1 : 0);
    uint64_t seen = kvs_a64_load(&x->word), next;
    do /* a cancel that has it in hand, on another thread, is then no end of it */
        next = ((seen & ~(KVS_W_DONE | KVS_W_TELL)) | KVS_W_ENDED) - counted;
    while (!kvs_a64_cas(&x->word, &seen, next));
    while (kvs_a64_load(&x->word) & KVS_W_COUNT)
        kvs_yield();
    for (uint32_t i = 0; (open != x->count || kvs_a32_load(&x->texts)) && i < x->count; i++)
        forget(kvs_rec_at(x, i), kvs_xfer_round(x), before->round);
    kvs_mutex_lock(&e->lock);
    kvs_a32_store(&x->round, before->round);
    kvs_a64_store(&x->first_error, before->first_error);
    kvs_a32_store(&x->marks, before->marks);
    kvs_a64_store(&x->word, before->word);
    if (before->reapable) {
        kvs_reap_add(x);
        kvs_progress_ended_locked(e);
    }
    kvs_mutex_unlock(&e->lock);
    return true;
}

static const char *stop_text(uint32_t marks, int *status)
{
    *status = marks & KVS_M_TIMEOUT ? KVS_TIMEOUT : KVS_CANCELED;
    return marks & KVS_M_TIMEOUT ? "the engine's timeout passed before the backend took it"
                                 : "canceled before the backend took it";
}

/* The backend has it. A cancel that came in between was left to this call. */
static void taken(struct kvs_xfer *x)
{
    if (kvs_a32_or(&x->marks, KVS_M_SUBMITTED) & KVS_M_CANCEL)
        kvs_xfer_cancel_soon(x);
}

static void wait_again(struct kvs_xfer *x, bool first)
{
    kvs_engine *e = x->engine;
    kvs_list_add(&e->again, KVS_IN_AGAIN, x, first);
    kvs_a64_add(&e->again_count, 1);
    kvs_service_kick_locked(e);
}

bool kvs_again_take(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    if (!kvs_list_take(&e->again, KVS_IN_AGAIN, x))
        return false;
    kvs_a64_sub(&e->again_count, 1);
    return true;
}

/* Puts the batch on the AGAIN list, behind or (one that was offered already) before the others. */
static void queue_again(struct kvs_xfer *x, bool first)
{
    kvs_mutex_lock(&x->engine->lock);
    /* A cancel that found it neither queued nor submitted left it to this call. */
    uint32_t marks = kvs_a32_load(&x->marks);
    if (!(marks & KVS_M_CANCEL))
        wait_again(x, first);
    kvs_mutex_unlock(&x->engine->lock);
    if (marks & KVS_M_CANCEL) {
        int status;
        const char *why = stop_text(marks, &status);
        kvs_settle_range(x, 0, x->count, status, why);
    }
}

/* submit answered AGAIN, which takes nothing: this call's hold, every io, and the done function that is to
 * come are on the count. A batch that has lost ios is not offered again. */
static void refused(struct kvs_xfer *x, bool first)
{
    uint64_t word = kvs_a64_load(&x->word), all = UINT64_C(1) + x->count;
    if (word & (KVS_W_DONE | KVS_W_STARTED))
        all++;
    if ((word & KVS_W_COUNT) >= all) {
        queue_again(x, first);
        return;
    }
    kvs_slab_violation(x->engine->slab, "submit answered AGAIN, but had completed ios of a batch of %u",
                       x->count);
    kvs_settle_range(x, 0, x->count, KVS_BACKEND,
                     "the backend did not take it, but completed other ios of its batch");
}

/* Hands the batch to the backend, or to the queue before it. KVS_IN_PROG, or the backend's error. */
static int offer(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    if (kvs_a64_load(&e->again_count)) {
        queue_again(x, false);
        return KVS_IN_PROG;
    }
    if (e->blocking || (e->limits.flags & KVS_F_SUBMIT_BLOCKS)) {
        int rc = kvs_pool_add(x);
        return rc == KVS_OK ? KVS_IN_PROG : rc;
    }
    int rc = kvs_call_submit(e, x, false);
    if (rc == KVS_AGAIN)
        refused(x, false);
    else if (rc == KVS_OK)
        taken(x);
    else
        return kvs_status_error(rc);
    if (e->polls)
        kvs_progress_kick(e);
    return KVS_IN_PROG;
}

/* A transfer that has ended held, in its own done function, which has one of the count: may it be posted,
 * after its last late completion. */
static int refuse_held(struct kvs_xfer *x)
{
    if ((kvs_a64_load(&x->word) & KVS_W_COUNT) > 1)
        return KVS_BUSY;
    kvs_mutex_lock(&x->engine->lock);
    int rc = x->unbacked ? KVS_NOT_ALLOWED : KVS_OK; /* from here on its registrations stay */
    kvs_mutex_unlock(&x->engine->lock);
    return rc;
}

int kvs_xfer_post(kvs_xfer *x)
{
    int rc = kvs_xfer_usable(x);
    if (rc != KVS_OK)
        return rc;
    struct kvs_frame *frame = kvs_turn_frame(x);
    if (frame) {
        if (kvs_frame_get(frame) == KVS_WISH_POST)
            return KVS_BUSY;
        if (kvs_frame_get(frame) == KVS_WISH_FREE || kvs_a32_load(&x->engine->closing))
            return KVS_NOT_ALLOWED;
        int held = kvs_a64_load(&x->word) & KVS_W_HELD ? refuse_held(x) : KVS_OK;
        if (held != KVS_OK)
            return held;
        kvs_frame_set(frame, KVS_WISH_POST);
        return KVS_IN_PROG;
    }
    if (kvs_a64_load(&x->word) & KVS_W_COUNT)
        return KVS_BUSY;
    if (kvs_a32_load(&x->engine->closing))
        return KVS_NOT_ALLOWED;
    bool others = x->done || x->reap; /* may have taken it over when this is back */
    struct before before;
    rc = begin(x, &before);
    if (rc == KVS_OK && !x->engine->blocking && kvs_turn_add_post(x))
        return KVS_IN_PROG;
    if (rc == KVS_OK)
        rc = offer(x);
    if (rc != KVS_IN_PROG) {
        if (take_back(x, &before))
            return rc;
        kvs_settle_range(x, 0, x->count, rc, NULL);
    }
    kvs_turn_drop(x);
    if (others)
        return KVS_IN_PROG;
    return kvs_xfer_ended(kvs_a64_load(&x->word)) ? kvs_xfer_status(x) : KVS_IN_PROG;
}

/* The end of a post that has been accepted: hands the batch over, or ends it where rc is an error already. */
static void hand_over(struct kvs_xfer *x, int rc, const char *why)
{
    if (rc == KVS_OK)
        rc = offer(x);
    if (rc != KVS_IN_PROG)
        kvs_settle_range(x, 0, x->count, rc, why);
    kvs_xfer_drop(x, 1);
}

void kvs_post_late(struct kvs_xfer *x)
{
    uint32_t marks = kvs_a32_load(&x->marks);
    int rc = KVS_OK;
    const char *why = NULL;
    if (marks & KVS_M_CANCEL)
        why = stop_text(marks, &rc);
    hand_over(x, rc, why);
}

void kvs_post_again(struct kvs_xfer *x, bool canceled)
{
    /* begin() turns the done function's count into the new round's at one stroke: nobody sees an end. */
    struct before before;
    int rc = begin(x, &before);
    if (canceled)
        kvs_a32_or(&x->marks, KVS_M_CANCEL);
    if (rc == KVS_OK)
        kvs_post_late(x);
    else if (rc == KVS_NOT_ALLOWED) /* it was accepted before the engine began to close: it has its own end */
        hand_over(x, KVS_CANCELED, "the engine was closed before the backend took it");
    else
        hand_over(x, rc, NULL);
}

void kvs_submit_late(struct kvs_xfer *x, bool first)
{
    uint32_t marks = kvs_a32_load(&x->marks);
    int rc = KVS_OK;
    const char *why = NULL;
    if (marks & KVS_M_CANCEL)
        why = stop_text(marks, &rc);
    else
        rc = kvs_call_submit(x->engine, x, !first);
    if (rc == KVS_OK)
        taken(x);
    else if (rc == KVS_AGAIN)
        refused(x, first);
    else
        kvs_settle_range(x, 0, x->count, kvs_status_error(rc), why);
}

void kvs_again_offer(kvs_engine *e)
{
    if (e->limits.flags & KVS_F_SUBMIT_BLOCKS)
        kvs_pool_offer(e);
    else
        kvs_again_offer_here(e);
}

void kvs_again_offer_here(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    if (e->again_busy) {
        kvs_mutex_unlock(&e->lock);
        return;
    }
    e->again_busy = true;
    struct kvs_xfer *x;
    while ((x = e->again.head) != NULL) {
        kvs_again_take(x);
        if (!kvs_xfer_hold(x)) /* completed, though its offer was answered AGAIN */
            continue;
        /* The count keeps later posts behind it while it is on offer. */
        kvs_a64_add(&e->again_count, 1);
        kvs_mutex_unlock(&e->lock);
        kvs_submit_late(x, true);
        kvs_a64_sub(&e->again_count, 1);
        kvs_mutex_lock(&e->lock);
        bool again = x->link[KVS_IN_AGAIN].in;
        kvs_mutex_unlock(&e->lock);
        kvs_xfer_drop(x, 1);
        kvs_mutex_lock(&e->lock);
        if (again)
            break;
    }
    e->again_busy = false;
    kvs_mutex_unlock(&e->lock);
}
