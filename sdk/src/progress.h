/* SPDX-License-Identifier: Apache-2.0 */
/* Who polls, who waits, and who does what is due. */
#ifndef KVS_SRC_PROGRESS_H
#define KVS_SRC_PROGRESS_H

#include <kvslot/kvslot.h>
#include <stdbool.h>

struct kvs_xfer;

/* ---- Progress (progress.c) and the service thread (service.c) ---- */

/* Polls once if there is no owner, and offers waiting batches. False: the backend was busy. */
bool kvs_progress_once(kvs_engine *e);
/* Waits until ended(x) or `until`; as poll owner where callers poll. */
void kvs_progress_wait(struct kvs_xfer *x, uint64_t until);
/* Waits in the engine until look(arg) or `until`; what look() asks for has to be told to the engine. Answers
 * what look() said last. */
bool kvs_engine_wait(kvs_engine *e, bool (*look)(void *arg), void *arg, uint64_t until);
/* After completions outside poll: whoever sleeps as or behind the owner looks again. */
void kvs_progress_kick(kvs_engine *e);
/* Whoever waits in the engine looks again; engine.lock held. */
void kvs_progress_look(kvs_engine *e);
/* A transfer has ended for those who wait in the engine, or hear of it; engine.lock held, or not. */
void kvs_progress_ended_locked(kvs_engine *e);
void kvs_progress_ended(kvs_engine *e);
/* Poll and sleep once as owner, at most to `until`; the owner's flag is the caller's. */
void kvs_owner_turn(kvs_engine *e, uint64_t until);
/* Take and leave the ownership; engine.lock held. */
bool kvs_owner_try(kvs_engine *e, bool service);
void kvs_owner_leave(kvs_engine *e);
/* Sleeps until the owner has left, something was told, or `until`; engine.lock held. */
void kvs_owner_await(kvs_engine *e, uint64_t until);
/* For its caller the transfer's result stands: nothing is open, or it is held and its done function has
 * returned. */
bool kvs_xfer_ended(uint64_t word);

/* With engine.lock held: starts the service thread if it does not run yet, and wakes it if it sleeps for
 * good. */
int kvs_service_need(const struct kvs_xfer *x);
/* There is something for the service thread, or for whoever does its work; with engine.lock held, or not. */
void kvs_service_kick_locked(kvs_engine *e);
void kvs_service_kick(kvs_engine *e);
/* Does something that is due, but for polling, with engine.lock held, which is let go meanwhile. True: there
 * may be more; false: nothing is due at *now, before *next. */
bool kvs_service_step(kvs_engine *e, uint64_t *now, uint64_t *next);
void kvs_service_stop(kvs_engine *e);
/* Asks for an early end of a running transfer: what the backend was not given ends with `status` and the text
 * `why`, the rest is cancelled. */
void kvs_xfer_stop(struct kvs_xfer *x, int status, const char *why);
/* Calls the backend's cancel, or has the service thread do it. */
void kvs_xfer_cancel_soon(struct kvs_xfer *x);

/* ---- The engine's descriptor (fd.c); engine.lock held, but for follow and progress ---- */

/* It becomes readable or not, as things are. */
void kvs_fd_sync(kvs_engine *e);
/* A transfer has ended. */
void kvs_fd_news(kvs_engine *e);
/* The caller has to make progress; where that is up to the service thread nothing happens. */
void kvs_fd_owe(kvs_engine *e);
/* Or at this time. */
void kvs_fd_due(kvs_engine *e, uint64_t at);
/* Somebody is about to wait in the engine, for no longer than to `next`: a deadline before that wakes him. */
void kvs_fd_sleeps(kvs_engine *e, uint64_t next);
/* A transfer was posted, with this deadline. */
void kvs_fd_posted(kvs_engine *e, uint64_t deadline);
/* By the poll owner once it has polled: the backend may have another descriptor now. */
void kvs_fd_follow(kvs_engine *e, bool failed);
/* There is a poll owner, and the caller of progress is not it; the owner has left. */
void kvs_fd_park(kvs_engine *e);
void kvs_fd_unpark(kvs_engine *e);
/* Does what is due, and answers when something is next; lets the lock go meanwhile. */
uint64_t kvs_fd_duties(kvs_engine *e);
/* kvs_engine_progress where the descriptor was asked for. */
void kvs_fd_progress(kvs_engine *e);
/* With no lock in a forked child. */
void kvs_fd_close(kvs_engine *e);

/* ---- Reaping (reap.c); engine.lock held ---- */

void kvs_reap_add(struct kvs_xfer *x);
/* Takes it off the list; answers whether it was there. */
bool kvs_reap_take(struct kvs_xfer *x);

#endif
