/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: what one thread owes once it is out of the backend. */
#ifndef KVS_SRC_TURN_H
#define KVS_SRC_TURN_H

#include <kvslot/kvslot.h>
#include <stdbool.h>
#include <stdint.h>

struct kvs_xfer;

/* Whose batch this thread is handing to a backend, and how many of its ios have been settled on this thread
 * meanwhile: they are taken from its count in one go. */
struct kvs_submits {
    const struct kvs_xfer *x;
    uint32_t ended;
};
/* Around submit; begin answers what end puts back. */
struct kvs_submits kvs_turn_submit_begin(const struct kvs_xfer *x);
uint32_t kvs_turn_submit_end(struct kvs_submits outer);
/* Counts one that was settled, if this thread is inside the submit of its batch; else false. */
bool kvs_turn_submits(const struct kvs_xfer *x);

/* Done functions and posts that come up between begin and the outermost end run at that end, one after the
 * other. */
void kvs_turn_begin(void);
void kvs_turn_end(void);
/* Around code of the user's that a backend calls, list's `each`: what comes up there, in other engines, has a
 * turn of its own, since it may be waited for there. */
uint32_t kvs_turn_leave(void);
void kvs_turn_back(uint32_t depth);
bool kvs_turn_inside(void);
/* Is this thread a worker, or one of a backend's that has completed something: a deferred done function does
 * not run on it, whichever call it is in. And: sets that, and answers what it was. */
bool kvs_turn_is_theirs(void);
bool kvs_turn_theirs(bool theirs);
void kvs_turn_add_done(struct kvs_xfer *x);
/* One that is abandoned and has ended is freed by then: that calls the backend too. */
void kvs_turn_add_free(struct kvs_xfer *x);
/* Runs the done function of a transfer whose ios have ended, here and now, unless it was abandoned. */
void kvs_done_run(struct kvs_xfer *x);
/* The same after the caller has set STARTED in the transfer's word. */
void kvs_done_call(struct kvs_xfer *x);
/* kvs_xfer_drop inside a turn of its own: a done function or an end that it leads to is run at that turn's
 * end. */
void kvs_turn_drop(struct kvs_xfer *x);
/* In a done function of this thread: the post is kept for its end. False elsewhere. */
bool kvs_turn_add_post(struct kvs_xfer *x);
/* Is this thread inside a done function: of any transfer; of this one. */
bool kvs_turn_in_done(void);
struct kvs_frame;
struct kvs_frame *kvs_turn_frame(const struct kvs_xfer *x);
enum kvs_frame_wish { KVS_WISH_NONE, KVS_WISH_POST, KVS_WISH_FREE };
void kvs_frame_set(struct kvs_frame *f, enum kvs_frame_wish wish);
enum kvs_frame_wish kvs_frame_get(const struct kvs_frame *f);
/* Its post is to end CANCELED. */
void kvs_frame_cancel(struct kvs_frame *f);

#endif
