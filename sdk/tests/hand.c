/* SPDX-License-Identifier: Apache-2.0 */
#include "hand.h"
#include "engine_test.h"

#include <sys/eventfd.h>
#include <unistd.h>

struct hand hand = {.lock = PTHREAD_MUTEX_INITIALIZER, .bell = -1};
_Thread_local bool hand_is_test;
_Thread_local unsigned hand_depth;

static void enter(void)
{
    hand_depth++;
    unsigned now = atomic_fetch_add(&hand.inside, 1) + 1, most = atomic_load(&hand.together);
    while (now > most && !atomic_compare_exchange_weak(&hand.together, &most, now))
        ;
}

static void leave(void)
{
    atomic_fetch_sub(&hand.inside, 1);
    hand_depth--;
}

static int hand_load(const struct kvs_host *host)
{
    hand.host = host;
    return KVS_OK;
}

static int hand_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)limits;
    pthread_mutex_lock(&hand.lock);
    hand.ctx = ctx;
    pthread_mutex_unlock(&hand.lock);
    return KVS_OK;
}

static void hand_close(void *eng)
{
    (void)eng;
    atomic_fetch_add(&hand.closes, 1);
}

static int hand_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    enter();
    atomic_fetch_add(&hand.submits, 1);
    pthread_mutex_lock(&hand.lock);
    hand.submitter = pthread_self();
    int status = hand.answered < hand.answers ? hand.answer[hand.answered++] : KVS_OK;
    if (status == KVS_OK && !hand.on_submit && hand.taken < HAND_MAX)
        hand.batch[hand.taken++] = batch;
    pthread_mutex_unlock(&hand.lock);
    if (status == KVS_OK && hand.on_submit)
        status = hand.on_submit(batch);
    leave();
    return status;
}

static void hand_cancel(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    enter();
    atomic_fetch_add(&hand.cancels, 1);
    if (hand.on_cancel)
        hand.on_cancel(batch);
    leave();
}

static int hand_poll(void *eng, int max)
{
    (void)eng;
    (void)max;
    enter();
    atomic_fetch_add(&hand.polls, 1);
    if (hand_is_test)
        atomic_fetch_add(&hand.polls_by_tests, 1);
    uint64_t rung;
    ssize_t n = read(hand.bell, &rung, sizeof rung);
    int done = n > 0 && hand.on_poll ? hand.on_poll() : 0;
    leave();
    return done;
}

static int hand_poll_fd(void *eng)
{
    (void)eng;
    return hand.mute ? -1 : hand.bell;
}

static void hand_unprep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
    enter();
    atomic_fetch_add(&hand.unpreps, 1);
    leave();
}

static int hand_prep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
    return KVS_OK;
}

#define HAND_CAPS (KVS_CAP_READ | KVS_CAP_WRITE | KVS_CAP_QUERY | KVS_CAP_REMOVE | KVS_CAP_QUERY_SIZE)
#define HAND_TABLE(ident, label, ...)                                                                        \
    static const struct kvs_backend ident = {                                                                \
        KVS_BACKEND_STAMP,     .name = label,       .version = "1",        .load = hand_load,                \
        .open = hand_open,     .close = hand_close, .submit = hand_submit, .prep = hand_prep,                \
        .unprep = hand_unprep, __VA_ARGS__}
HAND_TABLE(table, "hand", .thread_model = KVS_THREADS_PARALLEL, .caps_native = HAND_CAPS | KVS_CAP_CANCEL,
           .cancel = hand_cancel);
HAND_TABLE(stiff, "hand-stiff", .thread_model = KVS_THREADS_PARALLEL, .caps_native = HAND_CAPS,
           .caps_none = KVS_CAP_CANCEL);
HAND_TABLE(serial, "hand-serial", .thread_model = KVS_THREADS_SERIAL, .cancel = hand_cancel,
           .caps_native = HAND_CAPS | KVS_CAP_CANCEL, .poll = hand_poll, .poll_fd = hand_poll_fd);
HAND_TABLE(single, "hand-single", .thread_model = KVS_THREADS_SERIAL, .cancel = hand_cancel,
           .caps_native = HAND_CAPS | KVS_CAP_CANCEL);
HAND_TABLE(blocks, "hand-blocks", .thread_model = KVS_THREADS_PARALLEL, .cancel = hand_cancel,
           .caps_native = HAND_CAPS | KVS_CAP_CANCEL, .flags = KVS_F_SUBMIT_BLOCKS);
HAND_TABLE(deferred, "hand-deferred", .thread_model = KVS_THREADS_PARALLEL, .cancel = hand_cancel,
           .caps_native = HAND_CAPS | KVS_CAP_CANCEL, .flags = KVS_F_COMPLETE_DEFERRED);
HAND_TABLE(polls, "hand-polls", .thread_model = KVS_THREADS_PARALLEL, .cancel = hand_cancel,
           .caps_native = HAND_CAPS | KVS_CAP_CANCEL, .poll = hand_poll, .poll_fd = hand_poll_fd);

void hand_reset(void)
{
    const struct kvs_backend *const tables[] = {&table, &stiff, &serial, &single, &blocks, &deferred};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        assert_int_equal(kvs_backend_register(tables[i], NULL), KVS_OK);
    assert_int_equal(kvs_backend_register(&polls, NULL), KVS_OK);
    if (hand.bell < 0)
        hand.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_lock(&hand.lock);
    hand.on_submit = NULL;
    hand.on_cancel = NULL;
    hand.on_poll = NULL;
    hand.mute = false;
    hand.taken = hand.answers = hand.answered = 0;
    pthread_mutex_unlock(&hand.lock);
    atomic_store(&hand.submits, 0);
    atomic_store(&hand.cancels, 0);
    atomic_store(&hand.polls, 0);
    atomic_store(&hand.polls_by_tests, 0);
    atomic_store(&hand.unpreps, 0);
    atomic_store(&hand.closes, 0);
    atomic_store(&hand.together, 0);
}

void hand_answer(int status)
{
    pthread_mutex_lock(&hand.lock);
    if (hand.answers < HAND_MAX)
        hand.answer[hand.answers++] = status;
    pthread_mutex_unlock(&hand.lock);
}

struct kvs_batch *hand_batch(uint32_t i)
{
    pthread_mutex_lock(&hand.lock);
    struct kvs_batch *batch = i < hand.taken ? hand.batch[i] : NULL;
    pthread_mutex_unlock(&hand.lock);
    return batch;
}

uint32_t hand_taken(void)
{
    pthread_mutex_lock(&hand.lock);
    uint32_t n = hand.taken;
    pthread_mutex_unlock(&hand.lock);
    return n;
}

void hand_await(uint32_t n)
{
    eventually(hand_taken() >= n);
}

void hand_end(struct kvs_batch *batch, uint32_t i, int status)
{
    hand.host->complete(kvs_batch_io(batch, i), status);
}

void hand_ring(void)
{
    uint64_t one = 1;
    ssize_t n = write(hand.bell, &one, sizeof one);
    (void)n;
}
