/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes up while a thread is inside a backend waits until it is out again: done functions, so that user
 * code never runs below a backend's call, and posts made by done functions, so that neither nests.
 */
#include "engine.h"
#include "epoch.h"

struct kvs_frame {
    const struct kvs_xfer *x;
    enum kvs_frame_wish wish;
    bool canceled; /* the post that it wishes */
    struct kvs_frame *outer;
};

/* Per thread: nobody else looks at it. */
static _Thread_local struct {
    uint32_t depth;
    bool draining;
    bool theirs;
    struct kvs_queue done, posts, frees;
    struct kvs_frame *frames;
    struct kvs_submits submits;
} turn;

struct kvs_submits kvs_turn_submit_begin(const struct kvs_xfer *x)
{
    struct kvs_submits outer = turn.submits;
    turn.submits = (struct kvs_submits){x, 0};
    return outer;
}

uint32_t kvs_turn_submit_end(struct kvs_submits outer)
{
    uint32_t ended = turn.submits.ended;
    turn.submits = outer;
    return ended;
}

bool kvs_turn_submits(const struct kvs_xfer *x)
{
    if (turn.submits.x != x)
        return false;
    turn.submits.ended++;
    return true;
}

void kvs_turn_begin(void)
{
    turn.depth++;
}

uint32_t kvs_turn_leave(void)
{
    /* What is to run in an outer turn runs at its end. */
    if (turn.frames || turn.draining || turn.done.head || turn.posts.head || turn.frees.head)
        return 0;
    uint32_t depth = turn.depth;
    turn.depth = 0;
    return depth;
}

void kvs_turn_back(uint32_t depth)
{
    turn.depth += depth;
}

void kvs_turn_end(void)
{
    if (turn.depth == 1 && !turn.draining) {
        struct kvs_xfer *x;
        turn.draining = true;
        for (;;) {
            if ((x = kvs_queue_pop(&turn.done)) != NULL)
                kvs_done_run(x);
            else if ((x = kvs_queue_pop(&turn.posts)) != NULL)
                kvs_post_late(x);
            else if ((x = kvs_queue_pop(&turn.frees)) != NULL)
                kvs_xfer_free_soon(x);
            else
                break;
        }
        turn.draining = false;
    }
    turn.depth--;
}

bool kvs_turn_inside(void)
{
    return turn.depth != 0;
}

bool kvs_turn_is_theirs(void)
{
    return turn.theirs;
}

bool kvs_turn_theirs(bool theirs)
{
    bool before = turn.theirs;
    turn.theirs = theirs;
    return before;
}

void kvs_turn_add_done(struct kvs_xfer *x)
{
    kvs_queue_push(&turn.done, x);
}

void kvs_turn_add_free(struct kvs_xfer *x)
{
    kvs_queue_push(&turn.frees, x);
}

void kvs_turn_drop(struct kvs_xfer *x)
{
    kvs_turn_begin();
    kvs_xfer_drop(x, 1);
    kvs_turn_end();
}

bool kvs_turn_add_post(struct kvs_xfer *x)
{
    if (!turn.frames)
        return false;
    kvs_queue_push(&turn.posts, x);
    return true;
}

bool kvs_turn_in_done(void)
{
    return turn.frames != NULL;
}

struct kvs_frame *kvs_turn_frame(const struct kvs_xfer *x)
{
    struct kvs_frame *f = turn.frames;
    while (f && f->x != x)
        f = f->outer;
    return f;
}

void kvs_frame_set(struct kvs_frame *f, enum kvs_frame_wish wish)
{
    f->wish = wish;
}

enum kvs_frame_wish kvs_frame_get(const struct kvs_frame *f)
{
    return f->wish;
}

void kvs_frame_cancel(struct kvs_frame *f)
{
    f->canceled = f->wish == KVS_WISH_POST;
}

/* The child of a fork inside a done function: what its parent's thread owed is none of its business. */
static void forget_turn(void)
{
    turn.done = turn.posts = turn.frees = (struct kvs_queue){NULL, NULL};
}

void kvs_done_call(struct kvs_xfer *x)
{
    struct kvs_park *park = kvs_park_of(x);
    struct kvs_frame frame = {x, KVS_WISH_NONE, false, turn.frames};
    uint64_t epoch = x->engine->epoch;
    turn.frames = &frame;
    x->done(x, kvs_xfer_status(x), x->done_arg);
    turn.frames = frame.outer;
    if (!kvs_epoch_is(epoch)) {
        forget_turn();
        if (frame.wish == KVS_WISH_FREE)
            kvs_xfer_free(x);
        return;
    }
    uint64_t seen = kvs_a64_load(&x->word), next;
    if (frame.wish == KVS_WISH_POST && !(seen & KVS_W_LEAVING)) {
        kvs_post_again(x, frame.canceled);
        return;
    }
    kvs_engine *told = NULL;
    do {
        next = (seen & ~KVS_W_STARTED) - 1;
        if (frame.wish == KVS_WISH_FREE)
            next |= KVS_W_ABANDONED;
        if ((seen & KVS_W_TELL) && !told) /* it may be closed as soon as the transfer has ended */
            kvs_engine_ref(told = x->engine);
    } while (!kvs_a64_cas(&x->word, &seen, next));
    /* Also where it is held: that is an end for those who wait. */
    if (told)
        kvs_progress_ended(told);
    if (seen & KVS_W_WAITER)
        kvs_park_wake(park);
    if ((next & KVS_W_COUNT) == 0 && (next & KVS_W_ABANDONED))
        kvs_xfer_free_soon(x);
    if (told)
        kvs_engine_unref(told);
}

void kvs_done_run(struct kvs_xfer *x)
{
    uint64_t seen = kvs_a64_load(&x->word);
    do {
        if (seen & KVS_W_ABANDONED) { /* its owner wants no done function any more */
            kvs_xfer_drop(x, 1);
            return;
        }
    } while (!kvs_a64_cas(&x->word, &seen, (seen & ~KVS_W_DONE) | KVS_W_STARTED));
    kvs_done_call(x);
}
