/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that submit does not take now: they wait in order, and are offered again. The linker puts the
 * function below in front of waits with a time limit, which only the service thread has here: a test can take
 * the limit away.
 */
#include "engine_test.h"
#include "hand.h"

#include <unistd.h>

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);

static atomic_bool no_limit;
static _Atomic(pthread_mutex_t *) asleep; /* the mutex of a wait that has lost its limit */

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    if (!atomic_load(&no_limit))
        return __real_pthread_cond_timedwait(c, m, until);
    atomic_store(&asleep, m);
    int rc = pthread_cond_wait(c, m);
    atomic_store(&asleep, NULL);
    return rc;
}

/* The service thread sleeps until it is woken. */
static void wait_asleep(void)
{
    pthread_mutex_t *m;
    eventually((m = atomic_load(&asleep)) != NULL);
    pthread_mutex_lock(m); /* which that wait has let go of now */
    pthread_mutex_unlock(m);
}

#define OFFERS 4096

static unsigned char memory[8 * 16];

/* Written by submit only, which is called by one thread at a time; read when the gate is shut or all is done.
 */
static struct kvs_batch *offer[OFFERS];
static atomic_uint offers, taken;
static struct kvs_batch *took[HAND_MAX];
static atomic_int shut;       /* what submit answers; 0: it takes, and ends each io OK */
static atomic_bool elsewhere; /* it was called on a thread that is no worker */

static int gate(struct kvs_batch *batch)
{
    char name[16] = "";
    do /* whoever has started it names it a moment later */
        pthread_getname_np(pthread_self(), name, sizeof name);
    while (gettid() != getpid() && strncmp(name, "kvs-", 4) != 0);
    if (strcmp(name, "kvs-worker") != 0)
        atomic_store(&elsewhere, true);
    unsigned n = atomic_load(&offers);
    if (n < OFFERS)
        offer[n] = batch;
    atomic_store(&offers, n + 1); /* who sees it sees the batch */
    int answer = atomic_load(&shut);
    if (answer != KVS_OK)
        return answer;
    n = atomic_load(&taken);
    if (n < HAND_MAX)
        took[n] = batch;
    atomic_store(&taken, n + 1);
    for (uint32_t i = 0; i < batch->count; i++)
        hand.host->complete(kvs_batch_io(batch, i), KVS_OK);
    return KVS_OK;
}

static kvs_engine *open_gate(const char *target)
{
    hand_reset();
    hand.on_submit = gate;
    atomic_store(&offers, 0);
    atomic_store(&taken, 0);
    atomic_store(&elsewhere, false);
    atomic_store(&shut, KVS_AGAIN);
    return open_engine(target);
}

static void close_gate(kvs_engine *e)
{
    struct kvs_error err = {0, ""};
    expect_status(kvs_engine_close(e, LONG, &err), KVS_OK, &err);
}

/* KVS-REQ-120 KVS-REQ-121 KVS-REQ-124 KVS-REQ-013 */
static void test_order(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand");
    kvs_xfer *x[6];
    for (int i = 0; i < 6; i++)
        x[i] = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(x[0]), KVS_IN_PROG);
    struct kvs_batch *first = offer[0]; /* of a transfer: what submit is called with */
    for (int i = 1; i < 6; i++)
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
    eventually(atomic_load(&offers) >= 10); /* nobody calls: the service thread does it */
    for (int i = 0; i < 6; i++)
        expect_rc(kvs_xfer_check(x[i]), KVS_IN_PROG);
    expect_rc(kvs_xfer_post(x[3]), KVS_BUSY);
    unsigned n = atomic_load(&offers);
    for (unsigned i = 0; i < n && i < OFFERS; i++)
        assert_ptr_equal(offer[i], first); /* those behind wait for it */
    atomic_store(&shut, KVS_OK);
    eventually(atomic_load(&taken) == 6);
    for (int i = 0; i < 6; i++)
        expect_rc(wait_end(x[i]), KVS_OK);
    for (int i = 0; i < 6; i++) { /* posted again, one after the other, each says which batch it is */
        post(x[i]);
        eventually(atomic_load(&taken) == 7u + (unsigned)i);
        assert_ptr_equal(took[6 + i], took[i]);
        expect_rc(wait_end(x[i]), KVS_OK);
        release(x[i]);
    }
    close_gate(e);
}

/* Offered again by who makes progress, and after wake. KVS-REQ-124 */
static void test_offered_by_callers(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    post(x);
    unsigned before = atomic_load(&offers);
    for (int i = 0; i < 50; i++) {
        kvs_engine_progress(e);
        kvs_xfer_check(x);
    }
    assert_true(atomic_load(&offers) > before);
    before = atomic_load(&offers);
    hand.host->wake(hand.ctx);
    eventually(atomic_load(&offers) > before);
    atomic_store(&shut, KVS_OK);
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    close_gate(e);
}

/* `waits` is offered again whenever ios of `open` end, or wake is called: nothing else brings that about. */
static void offered_at_once(kvs_xfer *open, kvs_xfer *waits, bool by_wake)
{
    enum { NUDGES = 20 };
    hand.on_submit = NULL;
    hand.taken = 0;
    expect_rc(kvs_xfer_post(open), KVS_IN_PROG);
    hand.on_submit = gate;
    atomic_store(&shut, KVS_AGAIN);
    atomic_store(&no_limit, true);
    expect_rc(kvs_xfer_post(waits), KVS_IN_PROG);
    for (uint32_t i = 0; i < NUDGES; i++) {
        wait_asleep();
        unsigned before = atomic_load(&offers);
        if (by_wake)
            hand.host->wake(hand.ctx);
        else
            hand_end(hand_batch(0), i, KVS_OK);
        eventually(atomic_load(&offers) > before);
    }
    wait_asleep();
    atomic_store(&no_limit, false);
    atomic_store(&shut, KVS_OK);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    expect_rc(wait_end(open), KVS_OK);
    expect_rc(wait_end(waits), KVS_OK);
}

/* Not only every millisecond: after each completion, and after wake. KVS-REQ-122 KVS-REQ-123 */
static void test_offered_at_once(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand");
    kvs_xfer *open = prep(e, KVS_WRITE, MAX_BATCH, memory, 0), *waits = prep(e, KVS_WRITE, 2, memory, 16);
    for (int by_wake = 0; by_wake < 2; by_wake++)
        offered_at_once(open, waits, by_wake);
    release(open);
    release(waits);
    close_gate(e);
}

/* Taken out without a call into the backend. KVS-REQ-125 */
static void test_cancel_waiting(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand");
    kvs_xfer *a = prep(e, KVS_WRITE, 2, memory, 16), *b = prep(e, KVS_WRITE, 2, memory, 16);
    for (int round = 0; round < 50; round++) {
        expect_rc(kvs_xfer_post(a), KVS_IN_PROG);
        expect_rc(kvs_xfer_post(b), KVS_IN_PROG);
        kvs_xfer *first = round % 2 ? a : b, *second = round % 2 ? b : a;
        expect_rc(kvs_xfer_cancel(first), KVS_OK);
        expect_rc(wait_end(first), KVS_CANCELED);
        expect_rc(kvs_xfer_check(second), KVS_IN_PROG);
        assert_int_equal(status_of(first, 1), KVS_CANCELED);
        expect_rc(kvs_xfer_cancel(second), KVS_OK);
        expect_rc(wait_end(second), KVS_CANCELED);
    }
    unsigned n = atomic_load(&offers);
    for (int i = 0; i < 20; i++)
        kvs_engine_progress(e);
    assert_int_equal(atomic_load(&offers), n);
    assert_int_equal(atomic_load(&hand.cancels), 0);
    assert_int_equal(atomic_load(&taken), 0);
    atomic_store(&shut, KVS_OK); /* nothing stands in the way of what comes after */
    expect_rc(run_it(a), KVS_OK);
    release(a);
    release(b);
    close_gate(e);
}

/* KVS-REQ-125 KVS-REQ-259 */
static void test_time_out_waiting(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand:?timeout=20ms&cancel_grace=35s");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    post_short(x);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    assert_int_equal(status_of(x, 0), KVS_TIMEOUT);
    assert_string_not_equal(text_of(x, 1), "");
    assert_int_equal(atomic_load(&hand.cancels), 0);
    release(x); /* it is not held */
    close_gate(e);
}

/* KVS-REQ-125 KVS-REQ-286 */
static void test_close_waiting(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    close_gate(e);
    expect_rc(kvs_xfer_check(x), KVS_CANCELED);
    assert_int_equal(atomic_load(&hand.cancels), 0);
    release(x);
}

struct ended {
    atomic_uint times;
    atomic_int status;
};

static void note_end(kvs_xfer *x, int status, void *arg)
{
    struct ended *ended = arg;
    (void)x;
    atomic_store(&ended->status, status);
    atomic_fetch_add(&ended->times, 1);
}

/* An error to a later offer ends every io, and the done function runs. KVS-REQ-128 KVS-REQ-129 */
static void test_later_error(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand");
    struct ended ended = {0};
    kvs_xfer *x = prep_done(e, KVS_WRITE, 3, memory, 16, note_end, &ended);
    kvs_xfer *behind = prep(e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_rc(kvs_xfer_post(behind), KVS_IN_PROG);
    atomic_store(&shut, KVS_DISCONNECTED);
    expect_rc(wait_end(x), KVS_DISCONNECTED);
    expect_rc(wait_end(behind), KVS_DISCONNECTED);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(status_of(x, i), KVS_DISCONNECTED);
    assert_int_equal(atomic_load(&ended.times), 1);
    assert_int_equal(atomic_load(&ended.status), KVS_DISCONNECTED);
    atomic_store(&shut, KVS_OK);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG); /* KVS-REQ-111 */
    expect_rc(wait_end(x), KVS_OK);
    assert_int_equal(atomic_load(&ended.times), 2);
    release(x);
    release(behind);
    close_gate(e);
}

/* Where submit may block it is never called but on a worker, first offer or later one. KVS-REQ-423
 * KVS-REQ-108 */
static void test_blocking_submit(void **state)
{
    (void)state;
    kvs_engine *e = open_gate("hand-blocks");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16), *behind = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_rc(kvs_xfer_post(behind), KVS_IN_PROG);
    eventually(kvs_engine_progress(e) == KVS_OK && atomic_load(&offers) >= 10);
    atomic_store(&shut, KVS_OK);
    expect_rc(wait_end(x), KVS_OK);
    expect_rc(wait_end(behind), KVS_OK);
    assert_false(atomic_load(&elsewhere));
    atomic_store(&shut, KVS_AGAIN);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_rc(kvs_xfer_cancel(x), KVS_OK);
    expect_rc(wait_end(x), KVS_CANCELED);
    atomic_store(&shut, KVS_IO);
    expect_rc(run_it(x), KVS_IO);
    expect_rc(kvs_xfer_check(x), KVS_IO);
    assert_false(atomic_load(&elsewhere));
    release(x);
    release(behind);
    close_gate(e);
}

/* Many at once, some of which are not taken at the first offer, over the mock. KVS-REQ-121 */
static void test_many(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    enum { N = 40 };
    kvs_xfer *x[N];
    struct ended ended = {0};
    for (int i = 0; i < N; i++)
        x[i] = prep_done(f.e, KVS_WRITE, 4, memory, 16, note_end, &ended);
    for (int round = 0; round < 20; round++) {
        kvs_mock_set_fault(f.store, KVS_MOCK_SUBMIT, (uint64_t)round, 5, KVS_AGAIN);
        for (int i = 0; i < N; i++)
            expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
        for (int i = 0; i < N; i++)
            expect_rc(wait_end(x[i]), KVS_OK);
    }
    assert_int_equal(atomic_load(&ended.times), N * 20);
    assert_int_equal(counts_of(&f).puts, N * 20 * 4);
    assert_true(counts_of(&f).submits >= N * 20 + 20 * 5 - 5);
    for (int i = 0; i < N; i++)
        release(x[i]);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_offered_by_callers),
        cmocka_unit_test(test_offered_at_once),
        cmocka_unit_test(test_cancel_waiting),
        cmocka_unit_test(test_time_out_waiting),
        cmocka_unit_test(test_close_waiting),
        cmocka_unit_test(test_later_error),
        cmocka_unit_test(test_blocking_submit),
        EACH_ASYNC_MODEL(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
