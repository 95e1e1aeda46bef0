/* SPDX-License-Identifier: Apache-2.0 */
/* Cancelling: a request, at any moment, by any thread. */
#include "engine_test.h"
#include "hand.h"

#include <sched.h>

static unsigned char memory[8 * 16];

/* KVS-REQ-254 KVS-REQ-255 */
static void test_native(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_cancel(x),
              KVS_OK); /* before the post: nothing to cancel, and it is not kept for later */
    expect_rc(kvs_xfer_check(x), KVS_NOT_POSTED);
    for (int i = 0; i < 3; i++) {
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        wait_held(&f, 3);
        expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        expect_rc(kvs_xfer_cancel(x), KVS_OK);
        expect_rc(kvs_xfer_cancel(x), KVS_OK);
        expect_rc(wait_end(x), KVS_CANCELED);
        expect_rc(kvs_xfer_cancel(x), KVS_OK); /* after the end */
        expect_rc(kvs_xfer_check(x), KVS_CANCELED);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(status_of(x, k), KVS_CANCELED);
    }
    assert_int_equal(counts_of(&f).puts, 0);
    assert_int_equal(counts_of(&f).held, 0);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 3);
    let_go(&f, 3);
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    close_mock(&f);
}

/* A store that cannot cancel goes on, and says how it ended. KVS-REQ-254 */
static void test_none(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=3");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 3);
    expect_rc(kvs_xfer_cancel(x), KVS_OK);
    expect_rc(kvs_xfer_wait(x, KVS_MS(1)), KVS_IN_PROG);
    assert_int_equal(open_ios(x), 3);
    let_go(&f, 3);
    expect_rc(wait_end(x), KVS_OK);
    assert_int_equal(counts_of(&f).puts, 3);
    assert_int_equal(counts_of(&f).cancels, 0);
    release(x);
    close_mock(&f);
}

/* What no worker has yet ends at once; what one has runs to its end. KVS-REQ-254 KVS-REQ-001 */
static void test_blocking(void **state)
{
    struct fixture f;
    (void)state;
    open_mock(&f, "blocking", "hold=yes&threads=1");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 4, memory, 16), *other = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 1);
    expect_rc(kvs_xfer_post(other), KVS_IN_PROG);
    expect_rc(kvs_xfer_cancel(x), KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    assert_int_equal(status_of(x, 0), KVS_IN_PROG);
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(status_of(x, i), KVS_CANCELED);
        assert_string_not_equal(text_of(x, i), "");
    }
    let_go(&f, 1);
    expect_rc(wait_end(x), KVS_CANCELED);
    assert_int_equal(status_of(x, 0), KVS_OK);
    expect_rc(kvs_xfer_cancel(other), KVS_OK); /* none, or its first, is at the store */
    eventually(kvs_mock_let_go(f.store, SIZE_MAX) + 1 > 0 && kvs_xfer_check(other) != KVS_IN_PROG);
    assert_int_equal(status_of(other, 1), KVS_CANCELED);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG); /* all of it, again */
    for (int i = 0; i < 4; i++) {
        wait_held(&f, 1);
        let_go(&f, 1);
    }
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    release(other);
    close_mock(&f);
}

struct canceler {
    _Atomic(kvs_xfer *) x; /* to be canceled over and over; NULL: pause */
    atomic_bool stop;
    atomic_uint idle; /* times it saw NULL */
};

static void *cancel_main(void *arg)
{
    struct canceler *c = arg;
    while (!atomic_load(&c->stop)) {
        kvs_xfer *x = atomic_load(&c->x);
        if (x)
            kvs_xfer_cancel(x);
        else
            atomic_fetch_add(&c->idle, 1);
        if (!x)
            sched_yield();
    }
    return NULL;
}

/* Its thread has let go of the transfer. */
static void stop_canceling(struct canceler *c)
{
    atomic_store(&c->x, NULL);
    unsigned before = atomic_load(&c->idle);
    while (atomic_load(&c->idle) < before + 2)
        sched_yield();
}

/* Cancelling while ios complete: each ends once, as OK or CANCELED, and nothing is caught as a second
 * completion. KVS-REQ-256 KVS-REQ-134 */
static void test_race(void **state)
{
    struct fixture f;
    open_mock(&f, *state, is_model(state, "blocking") ? "" : "hold=yes");
    struct canceler c = {0};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, cancel_main, &c), 0);
    uint64_t violations = kvs_engine_violations(f.e);
    for (unsigned i = 0; i < ROUNDS(3000); i++) {
        kvs_xfer *x = prep(f.e, KVS_WRITE, 4, memory, 16);
        if (i % 2)
            atomic_store(&c.x, x); /* from before the post */
        kvs_xfer_post(x);          /* may answer its end: canceled already */
        atomic_store(&c.x, x);
        while (kvs_xfer_check(x) == KVS_IN_PROG)
            kvs_mock_let_go(f.store, SIZE_MAX);
        int rc = kvs_xfer_check(x);
        stop_canceling(&c);
        uint32_t ok = 0;
        for (size_t k = 0; k < 4; k++) {
            int st = status_of(x, k);
            assert_true(st == KVS_OK || st == KVS_CANCELED);
            ok += st == KVS_OK;
        }
        expect_rc(rc, ok == 4 ? KVS_OK : KVS_CANCELED);
        expect_rc(kvs_xfer_release(x, LONG), KVS_OK);
    }
    atomic_store(&c.stop, true);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(kvs_engine_violations(f.e), violations);
    close_mock(&f);
}

static void end_none(struct kvs_batch *batch)
{
    (void)batch;
}

/* A cancel that has no effect has none however often. KVS-REQ-255 KVS-REQ-254 */
static void test_repeated(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    hand.on_cancel = end_none;
    kvs_xfer *x = prep(e, KVS_WRITE, 3, memory, 16);
    post(x);
    for (int i = 0; i < 5; i++) {
        expect_rc(kvs_xfer_cancel(x), KVS_OK);
        assert_int_equal(open_ios(x), 3);
    }
    hand_end(hand_batch(0), 0, KVS_OK);
    expect_rc(kvs_xfer_cancel(x), KVS_OK);
    assert_int_equal(open_ios(x), 2);
    hand_end(hand_batch(0), 1, KVS_OK);
    hand_end(hand_batch(0), 2, KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static int cancel_in_submit(struct kvs_batch *batch)
{
    /* The transfer of this batch is cancelled before submit has come back: the cancel is for after it. */
    kvs_xfer **x = hand.ctx;
    kvs_xfer_cancel(*x);
    assert_int_equal(atomic_load(&hand.cancels), 0);
    (void)batch;
    return KVS_OK;
}

/* A cancel that comes while submit runs is not lost. KVS-REQ-134 KVS-REQ-254 */
static void test_during_submit(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    hand.on_cancel = end_none;
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    post(x); /* so that its batch is known */
    struct kvs_batch *batch = hand_batch(0);
    hand_end(batch, 0, KVS_OK);
    hand.on_submit = cancel_in_submit;
    hand.ctx = &x;
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(atomic_load(&hand.cancels), 1);
    hand_end(batch, 0, KVS_CANCELED);
    expect_rc(kvs_xfer_check(x), KVS_CANCELED);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_ASYNC_MODEL(test_native),        EACH_MODEL(test_none),
        cmocka_unit_test(test_blocking),      EACH_MODEL(test_race),
        cmocka_unit_test(test_during_submit), cmocka_unit_test(test_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
