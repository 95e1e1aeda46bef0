/* SPDX-License-Identifier: Apache-2.0 */
/* Done functions that post, release or abandon their transfer, and transfers abandoned beside them. */
#include "blocked.h"
#include "engine_test.h"
#include "hand.h"

#include <semaphore.h>

static unsigned char memory[8 * 16];

struct second_thoughts {
    bool release; /* or cancel */
    unsigned ran;
    int post, then, last;
};

static void post_and_stop(kvs_xfer *x, int status, void *arg)
{
    struct second_thoughts *s = arg;
    s->last = status;
    if (s->ran++ > 0)
        return;
    s->post = kvs_xfer_post(x);
    s->then = s->release ? kvs_xfer_release(x, 0) : kvs_xfer_cancel(x);
}

/* A post that its own done function takes back reaches no backend, and ends CANCELED. KVS-REQ-208 KVS-REQ-251
 * KVS-REQ-254
 */
static void test_post_and_cancel(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        hand_reset();
        struct second_thoughts s = {.release = i == 1};
        kvs_engine *e = open_engine("hand:?timeout=0");
        kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, post_and_stop, &s);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        hand.host->complete_rest(hand_batch(0), KVS_OK);
        expect_rc(wait_end(x), KVS_CANCELED);
        assert_int_equal(s.post, KVS_IN_PROG);
        assert_int_equal(s.then, s.release ? KVS_BUSY : KVS_OK);
        assert_int_equal(s.ran, 2);
        assert_int_equal(s.last, KVS_CANCELED);
        assert_int_equal(atomic_load(&hand.submits), 1);
        assert_string_equal(text_of(x, 1), "canceled before the backend took it");
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

struct chain {
    kvs_xfer *other; /* posted by this one's done function; NULL: itself */
    unsigned left, ran;
    int failed;
    atomic_uint depth, nested;
    uintptr_t low, high; /* of the stack */
};

static void post_next(kvs_xfer *x, int status, void *arg)
{
    struct chain *c = arg;
    if (atomic_fetch_add(&c->depth, 1) != 0)
        atomic_fetch_add(&c->nested, 1);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    c->low = c->ran == 0 || here < c->low ? here : c->low;
    c->high = c->ran == 0 || here > c->high ? here : c->high;
    c->ran++;
    if (status != KVS_OK)
        c->failed = status;
    if (c->left > 0) {
        c->left--;
        int rc = kvs_xfer_post(c->other ? c->other : x);
        if (rc != KVS_IN_PROG || (!c->other && kvs_xfer_post(x) != KVS_BUSY))
            c->failed = rc;
        if (!c->other && kvs_xfer_check(x) != KVS_IN_PROG)
            c->failed = 1;
    }
    atomic_fetch_sub(&c->depth, 1);
}

/* 100,000 posts, each from the done function of the one before, on one level of the stack. KVS-REQ-208
 * KVS-REQ-211 */
static void test_post_from_done(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    unsigned rounds = is_model(state, "inline") ? 100000 : ROUNDS(100000);
    struct chain c = {.left = rounds};
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 1, memory, 16, post_next, &c);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_rc(wait_end(x), KVS_OK);
    assert_int_equal(c.ran, rounds + 1);
    assert_int_equal(c.failed, 0);
    assert_int_equal(atomic_load(&c.nested), 0);
    if (is_model(state, "inline")) /* elsewhere several threads may run it */
        assert_in_range(c.high - c.low, 0, 8192);
    assert_int_equal(counts_of(&f).puts, rounds + 1);
    release(x);
    close_mock(&f);
}

/* Two that post each other; on one thread, as else the one may end before the other's function has returned.
 * KVS-REQ-208 */
static void test_post_other_from_done(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct chain a = {.left = ROUNDS(50000)}, b = {.left = ROUNDS(50000)};
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 1, memory, 16, post_next, &a);
    kvs_xfer *y = prep_done(f.e, KVS_WRITE, 1, memory + 16, 16, post_next, &b);
    a.other = y;
    b.other = x;
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    eventually(counts_of(&f).puts >= 2 * ROUNDS(50000) + 1);
    eventually(kvs_xfer_check(x) == KVS_OK && kvs_xfer_check(y) == KVS_OK);
    assert_int_equal(a.ran + b.ran, 2 * ROUNDS(50000) + 1);
    assert_int_equal(a.failed, 0);
    assert_int_equal(b.failed, 0);
    assert_int_equal(atomic_load(&a.nested) + atomic_load(&b.nested), 0);
    if (is_model(state, "inline"))
        assert_in_range(a.high - a.low, 0, 8192);
    release(x);
    release(y);
    close_mock(&f);
}

struct queued {
    kvs_xfer *other;
    unsigned before, after;
    int rc;
};

static void post_other(kvs_xfer *x, int status, void *arg)
{
    struct queued *q = arg;
    (void)x;
    (void)status;
    q->before = atomic_load(&hand.submits);
    q->rc = kvs_xfer_post(q->other);
    q->after = atomic_load(&hand.submits);
}

/* The backend gets a post of a done function when that has returned. KVS-REQ-208 */
static void test_post_is_queued(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    struct queued q = {.other = prep(e, KVS_WRITE, 1, memory, 16), .rc = 99};
    kvs_xfer *x = prep_done(e, KVS_WRITE, 1, memory, 16, post_other, &q);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    hand_end(hand_batch(0), 0, KVS_OK);
    expect_rc(q.rc, KVS_IN_PROG);
    assert_int_equal(q.before, 1);
    assert_int_equal(q.after, 1);
    assert_int_equal(atomic_load(&hand.submits), 2);
    hand_end(hand_batch(1), 0, KVS_OK);
    expect_rc(kvs_xfer_check(q.other), KVS_OK);
    release(x);
    release(q.other);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

struct ending {
    bool abandon;
    atomic_int rc; /* of release */
    atomic_uint times;
};

static void end_it(kvs_xfer *x, int status, void *arg)
{
    struct ending *ending = arg;
    (void)status;
    if (ending->abandon)
        kvs_xfer_abandon(x);
    else
        atomic_store(&ending->rc, kvs_xfer_release(x, 0));
    atomic_fetch_add(&ending->times, 1);
}

/* KVS-REQ-212 KVS-REQ-213 KVS-REQ-216: from post on the caller leaves the handle alone, and so does post
 * itself */
static void test_end_from_done(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    unsigned rounds = 200;
    struct ending ending = {.rc = KVS_OK};
    for (unsigned i = 0; i < rounds; i++) {
        ending.abandon = i % 2; /* read by the last round's function no more */
        kvs_xfer *x = prep_done(f.e, KVS_WRITE, 2, memory, 16, end_it, &ending);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG); /* the handle is not ours any more */
        eventually(kvs_engine_progress(f.e) == KVS_OK && counts_of(&f).unpreps == i + 1 &&
                   atomic_load(&ending.times) == i + 1);
        assert_int_equal(atomic_load(&ending.rc), KVS_OK);
    }
    close_mock(&f);
}

static void *end_elsewhere(void *arg)
{
    hand.host->complete_rest(arg, KVS_OK);
    return NULL;
}

static void complete_on_a_thread(struct kvs_batch *batch)
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, end_elsewhere, batch), 0);
    assert_int_equal(pthread_join(t, NULL), 0);
}

static void count_once(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void *abandon_it(void *arg)
{
    kvs_xfer_abandon(arg);
    return NULL;
}

/* Waits for a done function that runs, and lets none start. KVS-REQ-280 KVS-REQ-281 */
static void test_abandon_waits(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    struct blocked b;
    blocked_init(&b);
    kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, block, &b);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    pthread_t vendor, caller;
    assert_int_equal(pthread_create(&vendor, NULL, end_elsewhere, hand_batch(0)), 0);
    sem_take(&b.entered);
    assert_int_equal(pthread_create(&caller, NULL, abandon_it, x), 0);
    for (int i = 0; i < 100; i++)
        pause_briefly();
    assert_int_equal(pthread_tryjoin_np(caller, NULL), EBUSY);
    assert_int_equal(atomic_load(&hand.unpreps), 0);
    sem_post(&b.go);
    assert_int_equal(pthread_join(caller, NULL), 0);
    assert_int_equal(atomic_load(&b.times), 1);
    assert_int_equal(pthread_join(vendor, NULL), 0);
    assert_int_equal(atomic_load(&hand.unpreps), 1);

    x = prep_done(e, KVS_WRITE, 2, memory, 16, block, &b);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    kvs_xfer_abandon(x); /* while its ios are open: freed by their end, without its done function */
    assert_int_equal(atomic_load(&hand.unpreps), 1);
    complete_on_a_thread(hand_batch(1));
    assert_int_equal(atomic_load(&hand.unpreps), 2); /* KVS-REQ-282 */
    assert_int_equal(atomic_load(&b.times), 1);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Abandoned in whatever moment, the function does not start afterwards. KVS-REQ-280 */
static void test_abandon_races(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    for (unsigned i = 0; i < ROUNDS(5000); i++) {
        atomic_uint *times = calloc(1, sizeof *times);
        kvs_xfer *x = prep_done(f.e, KVS_WRITE, 2, memory, 16, count_once, times);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        kvs_xfer_abandon(x);
        free(times); /* a function that started now would be caught by a sanitizer */
    }
    close_mock(&f);
}

static void post_forever(kvs_xfer *x, int status, void *arg)
{
    (void)status;
    atomic_fetch_add((atomic_uint *)arg, 1);
    (void)kvs_xfer_post(x);
}

/* A transfer that keeps itself running can be given up, and an engine with it closed. KVS-REQ-278 KVS-REQ-285
 */
static void test_abandon_endless(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    atomic_uint times[20];
    for (int i = 0; i < 20; i++) {
        atomic_init(&times[i], 0);
        kvs_xfer *x = prep_done(f.e, KVS_WRITE, 1, memory, 16, post_forever, &times[i]);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        eventually(kvs_engine_progress(f.e) == KVS_OK && atomic_load(&times[i]) > 10);
        kvs_xfer_abandon(x);
        unsigned n = atomic_load(&times[i]);
        kvs_engine_progress(f.e);
        pause_briefly();
        assert_int_equal(atomic_load(&times[i]), n);
    }
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 1, memory, 16, post_forever, &times[0]);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    close_mock(&f);
    kvs_xfer_abandon(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post_and_cancel),
        EACH_MODEL(test_post_from_done),
        {"test_post_other_from_done (inline)", test_post_other_from_done, NULL, NULL, model_inline},
        {"test_post_other_from_done (thread)", test_post_other_from_done, NULL, NULL, model_thread},
        cmocka_unit_test(test_post_is_queued),
        EACH_MODEL(test_end_from_done),
        cmocka_unit_test(test_abandon_waits),
        EACH_MODEL(test_abandon_races),
        {"test_abandon_endless (thread)", test_abandon_endless, NULL, NULL, model_thread},
        {"test_abandon_endless (blocking)", test_abandon_endless, NULL, NULL, model_blocking},
        {"test_abandon_endless (poll)", test_abandon_endless, NULL, NULL, model_poll},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
