/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend whose answers a test gives by hand: which io ends when, on which thread, with what. As there is
 * one table for each name in a process, there is one state; each test begins with hand_reset(). Its engines:
 *   hand           completes when told, has a native cancel
 *   hand-stiff     has no cancel
 *   hand-serial    one call at a time, polls
 *   hand-single    one call at a time, does not poll
 *   hand-blocks    its submit may wait
 *   hand-deferred  no user code on the thread that completes
 *   hand-polls     polls, beside its other calls
 */
#ifndef KVS_TESTS_HAND_H
#define KVS_TESTS_HAND_H

#include <kvslot/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define HAND_MAX 64

struct hand {
    const struct kvs_host *host; /* set by load, once a process */

    /* Set by the test while nothing runs. */
    int (*on_submit)(struct kvs_batch *batch); /* in place of keeping the batch; its answer is submit's */
    void (*on_cancel)(struct kvs_batch *batch);
    int (*on_poll)(void);

    pthread_mutex_t lock;              /* guards what follows, to the next comment */
    struct kvs_batch *batch[HAND_MAX]; /* taken, oldest first */
    uint32_t taken;
    int answer[HAND_MAX]; /* of the next submits, which take nothing where it is not OK */
    uint32_t answers, answered;
    pthread_t submitter;
    void *ctx;

    atomic_uint submits, cancels, polls, unpreps, closes;
    atomic_uint polls_by_tests; /* of these polls, on threads that have set hand_is_test */
    atomic_uint inside;         /* calls that are in the backend now */
    atomic_uint together;       /* the most there were at once */
    bool mute; /* its bell is not shown, so that poll is called again and again; set in a quiet moment */
    int bell;  /* readable: poll has something to do */
};

extern struct hand hand;
extern _Thread_local bool hand_is_test;
extern _Thread_local unsigned hand_depth; /* calls into the backend that this thread is in */

void hand_reset(void);
/* The next submits answer so. */
void hand_answer(int status);
struct kvs_batch *hand_batch(uint32_t i);
uint32_t hand_taken(void);
/* Until it has taken so many. A serial one that is inside poll, on a thread that is late, gets a batch after
 * that: what a test then ends, rings for or cancels has to be there. */
void hand_await(uint32_t n);
/* Ends io i of a batch. */
void hand_end(struct kvs_batch *batch, uint32_t i, int status);
/* Makes the poll descriptor readable. */
void hand_ring(void);

#endif
