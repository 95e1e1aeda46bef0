/* SPDX-License-Identifier: Apache-2.0 */
/* Reaping transfers that have ended. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

#include <pthread.h>
#include <stdatomic.h>

enum { N = 4 };

static unsigned char memory[16][16];

static kvs_xfer *prep_reap(kvs_engine *e, void *mem)
{
    kvs_xfer *x = NULL;
    struct kvs_error err = {0, ""};
    expect_status(prep_flags(e, KVS_WRITE, 1, mem, 16, KVS_XFER_REAP, NULL, NULL, &x, &err), KVS_OK, &err);
    return x;
}

static void post_reap(kvs_xfer *x)
{
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
}

/* There is none to be had. */
static void none(kvs_engine *e)
{
    kvs_xfer *got[2] = {NULL, NULL};
    size_t n = 7;
    expect_rc(kvs_engine_reap(e, got, 2, 0, &n), KVS_IN_PROG);
    assert_int_equal(n, 0);
    assert_null(got[0]);
}

static kvs_xfer *reap_one(kvs_engine *e)
{
    kvs_xfer *got = NULL;
    size_t n = 7;
    expect_rc(kvs_engine_reap(e, &got, 1, LONG, &n), KVS_OK);
    assert_int_equal(n, 1);
    return got;
}

static void never(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    (void)arg;
}

/* KVS-REQ-328 KVS-REQ-107 KVS-REQ-329 */
static void test_refused(void **state)
{
    struct fixture f;
    struct kvs_error err = {0, ""};
    kvs_xfer *x = (kvs_xfer *)(uintptr_t)1;
    size_t n = 7;
    open_mock(&f, *state, "");
    expect_status(prep_flags(f.e, KVS_WRITE, 1, memory, 16, KVS_XFER_REAP, never, NULL, &x, &err),
                  KVS_INVALID_PARAM, &err);
    expect_text(err.text, "KVS_XFER_REAP");
    assert_null(x);
    expect_rc(kvs_engine_reap(NULL, &x, 1, 0, &n), KVS_INVALID_PARAM);
    assert_int_equal(n, 0);
    expect_rc(kvs_engine_reap(f.e, NULL, 1, 0, &n), KVS_INVALID_PARAM);
    expect_rc(kvs_engine_reap(f.e, &x, 0, 0, &n), KVS_INVALID_PARAM);
    expect_rc(kvs_engine_reap(f.e, &x, 1, 0, NULL), KVS_INVALID_PARAM);
    expect_rc(kvs_engine_reap(f.e, &x, 1, KVS_MS(1), &n), KVS_IN_PROG);
    assert_int_equal(n, 0);
    close_mock(&f);
}

/* Each once for each post, in the order of the ends; those without the flag never. KVS-REQ-322 */
static void test_once(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&threads=8");
    kvs_xfer *x[N], *plain = prep(f.e, KVS_WRITE, 1, memory[N], 16), *got[N + 2];
    size_t n = 7;
    for (int i = 0; i < N; i++)
        x[i] = prep_reap(f.e, memory[i]);
    for (int round = 0; round < 3; round++) {
        expect_rc(kvs_xfer_post(plain), KVS_IN_PROG);
        wait_held(&f, 1);
        for (int i = 0; i < N; i++) {
            post_reap(x[i]);
            wait_held(&f, (size_t)i + 2);
        }
        none(f.e);
        let_go(&f, 3);
        expect_rc(wait_end(plain), KVS_OK);
        expect_rc(wait_end(x[0]), KVS_OK);
        expect_rc(wait_end(x[1]), KVS_OK);
        expect_rc(kvs_engine_reap(f.e, got, 1, LONG, &n), KVS_OK);
        assert_int_equal(n, 1);
        assert_true(got[0] == x[0] || (!is_model(state, model_inline) && got[0] == x[1]));
        expect_rc(kvs_engine_reap(f.e, &got[1], N, LONG, &n), KVS_OK);
        assert_int_equal(n, 1);
        assert_true(got[1] != got[0] && (got[1] == x[1] || got[1] == x[0]));
        none(f.e);
        let_go(&f, N - 2);
        for (int i = 2; i < N; i++)
            expect_rc(wait_end(x[i]), KVS_OK);
        expect_rc(kvs_engine_reap(f.e, got, N + 2, LONG, &n), KVS_OK);
        assert_int_equal(n, N - 2);
        none(f.e);
    }
    for (int i = 0; i < N; i++)
        release(x[i]);
    release(plain);
    close_mock(&f);
}

static int at_once(struct kvs_batch *batch)
{
    hand.host->complete_rest(batch, KVS_OK);
    return KVS_OK;
}

/* The order is that of the ends, also where they come inside the post. KVS-REQ-322 KVS-REQ-323 */
static void test_order(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x[N], *got[N];
    size_t n;
    for (int i = 0; i < N; i++) {
        x[i] = prep_reap(e, memory[i]);
        post_reap(x[i]);
    }
    for (uint32_t i = N; i-- > 0;)
        hand_end(hand_batch(i), 0, i % 2 ? KVS_OK : KVS_IO);
    expect_rc(kvs_engine_reap(e, got, N, 0, &n), KVS_OK);
    assert_int_equal(n, N);
    for (int i = 0; i < N; i++) {
        assert_ptr_equal(got[i], x[N - 1 - i]);
        expect_rc(kvs_xfer_check(got[i]), (N - 1 - i) % 2 ? KVS_OK : KVS_IO);
    }
    hand.on_submit = at_once;
    for (int i = 0; i < N; i++)
        post_reap(x[i]); /* though it has ended: whoever reaps may have released it already */
    for (int i = 0; i < N; i++)
        assert_ptr_equal(reap_one(e), x[i]);
    none(e);
    /* One with a done function is not given. */
    kvs_xfer *with = prep_done(e, KVS_WRITE, 1, memory, 16, never, NULL);
    post(with);
    expect_rc(wait_end(with), KVS_OK);
    none(e);
    release(with);
    for (int i = 0; i < N; i++)
        release(x[i]);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Release and abandon take it off the list, and so does an accepted post; a refused one leaves it there.
 * KVS-REQ-324 KVS-REQ-327 KVS-REQ-127 */
static void test_taken_off(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x[3];
    for (int i = 0; i < 3; i++) {
        x[i] = prep_reap(e, memory[i]);
        post_reap(x[i]);
        hand_end(hand_batch((uint32_t)i), 0, KVS_OK);
    }
    release(x[1]);
    assert_ptr_equal(reap_one(e), x[0]);
    assert_ptr_equal(reap_one(e), x[2]);
    none(e);
    for (int i = 0; i < 3; i += 2) {
        post_reap(x[i]);
        hand_end(hand_batch(3 + (uint32_t)i / 2), 0, KVS_OK);
    }
    kvs_xfer_abandon(x[2]);
    hand_answer(KVS_FULL);
    expect_rc(kvs_xfer_post(x[0]), KVS_FULL);
    assert_ptr_equal(reap_one(e), x[0]);
    none(e);
    hand_answer(KVS_FULL);
    expect_rc(kvs_xfer_post(x[0]), KVS_FULL); /* it was reaped: nothing has ended since */
    none(e);
    for (uint32_t i = 0; i < 3; i++) { /* only the last of three ends is left */
        post_reap(x[0]);
        hand_end(hand_batch(5 + i), 0, KVS_OK);
    }
    assert_ptr_equal(reap_one(e), x[0]);
    none(e);
    post_reap(x[0]);
    none(e);
    kvs_xfer_abandon(x[0]); /* and it runs */
    hand_end(hand_batch(8), 0, KVS_CANCELED);
    none(e);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static int end_all(struct kvs_batch *batch)
{
    hand_end(hand_batch(0), 0, KVS_CANCELED);
    hand_end(hand_batch(1), 0, KVS_OK);
    hand.host->complete_rest(batch, KVS_OK);
    return KVS_OK;
}

static void reap_inside(kvs_xfer *x, int status, void *arg)
{
    kvs_xfer *got = NULL;
    size_t n;
    (void)status;
    *(int *)arg = kvs_engine_reap(x->engine, &got, 1, 0, &n);
    assert_int_equal(kvs_engine_reap(x->engine, &got, 1, LONG, &n), KVS_NOT_ALLOWED);
}

/* One that was abandoned is not given, not even between its end and its freeing: both happen inside one call,
 * and a done function in between. KVS-REQ-324 KVS-REQ-282 KVS-REQ-214 */
static void test_abandoned(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    int inside = 77;
    kvs_xfer *x = prep_reap(e, memory[0]);
    kvs_xfer *other = prep_done(e, KVS_WRITE, 1, memory[1], 16, reap_inside, &inside);
    post_reap(x);
    post(other);
    kvs_xfer_abandon(x);
    hand.on_submit = end_all;
    kvs_xfer *third = prep(e, KVS_WRITE, 1, memory[2], 16);
    expect_rc(kvs_xfer_post(third), KVS_OK);
    expect_rc(wait_end(other), KVS_OK);
    expect_rc(inside, KVS_IN_PROG);
    release(other);
    release(third);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A held transfer has ended, once: its late completion is no other end. KVS-REQ-322 KVS-REQ-269 */
static void test_held(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=8&timeout=20ms&cancel_grace=20ms");
    kvs_set_log(no_log, NULL, -1);
    kvs_xfer *x = prep_reap(f.e, memory);
    post_held(&f, x, 1);
    assert_ptr_equal(reap_one(f.e), x);
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    none(f.e);
    let_go(&f, 1);
    eventually((kvs_engine_progress(f.e), !(kvs_a64_load(&x->word) & KVS_W_COUNT)));
    none(f.e);
    release(x);
    close_mock(&f);
    kvs_set_log(NULL, NULL, -1);
}

/* One that is on the list and held leaves it when it is abandoned. KVS-REQ-324 KVS-REQ-278 */
static void test_held_abandoned(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=8&timeout=20ms&cancel_grace=20ms");
    kvs_set_log(no_log, NULL, -1);
    kvs_xfer *x = prep_reap(f.e, memory);
    post_held(&f, x, 1);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    kvs_xfer_abandon(x);
    none(f.e);
    let_go(&f, 1);
    close_mock(&f);
    kvs_set_log(NULL, NULL, -1);
}

/* ---- Several threads ---- */

#define REAPERS 3
#define XFERS   12

struct race {
    kvs_engine *e;
    atomic_int posts;   /* still to be made */
    atomic_int given;   /* by reap */
    atomic_int running; /* transfers that are not released yet */
    atomic_int failed;
};

/* Posts again what it is given, or releases it: whoever completed it may still be at it. */
static void *reap_main(void *arg)
{
    struct race *r = arg;
    while (atomic_load(&r->running) > 0) {
        kvs_xfer *got[3];
        size_t n = 0;
        int rc = kvs_engine_reap(r->e, got, 3, KVS_MS(5), &n);
        if (rc != KVS_OK && rc != KVS_IN_PROG)
            atomic_store(&r->failed, 1);
        for (size_t i = 0; i < n; i++) {
            atomic_fetch_add(&r->given, 1);
            if (kvs_xfer_check(got[i]) != KVS_OK)
                atomic_store(&r->failed, 2);
            if (atomic_fetch_sub(&r->posts, 1) > 0) {
                if (kvs_xfer_post(got[i]) != KVS_IN_PROG)
                    atomic_store(&r->failed, 3);
            } else {
                if (kvs_xfer_release(got[i], 0) != KVS_OK)
                    atomic_store(&r->failed, 4);
                atomic_fetch_sub(&r->running, 1);
            }
        }
    }
    return NULL;
}

/* Each end is given to one of many, and none is lost. KVS-REQ-322 KVS-REQ-174 */
static void hammer(const char *model, const char *more)
{
    struct fixture f;
    pthread_t t[REAPERS];
    int posts = ROUNDS(20000);
    struct race r;
    open_mock(&f, model, more);
    r.e = f.e;
    atomic_init(&r.posts, posts);
    atomic_init(&r.given, 0);
    atomic_init(&r.running, XFERS);
    atomic_init(&r.failed, 0);
    kvs_xfer *x[XFERS];
    for (int i = 0; i < XFERS; i++) {
        x[i] = prep_reap(f.e, memory[i]);
        post_reap(x[i]);
    }
    for (int i = 0; i < REAPERS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, reap_main, &r), 0);
    uint64_t until = now_ns() + LONG;
    while (atomic_load(&r.running) > 0 && now_ns() < until)
        pause_briefly();
    assert_int_equal(atomic_load(&r.running), 0);
    for (int i = 0; i < REAPERS; i++)
        assert_int_equal(pthread_join(t[i], NULL), 0);
    assert_int_equal(atomic_load(&r.failed), 0);
    assert_int_equal(atomic_load(&r.given), posts + XFERS);
    none(f.e);
    close_mock(&f);
}

static void test_hammer(void **state)
{
    hammer(*state, "");
    hammer(*state, "progress=thread");
}

/* Released the moment it is seen to have ended, never reaped: the list has nothing of it. KVS-REQ-324
 * KVS-REQ-174 */
static void test_release_at_once(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    for (int i = 0; i < ROUNDS(4000); i++) {
        kvs_xfer *x = prep_reap(f.e, memory);
        post_reap(x);
        if (i % 3 == 0) {
            kvs_xfer_abandon(x);
            continue;
        }
        while (kvs_xfer_check(x) == KVS_IN_PROG)
            ;
        release(x);
    }
    none(f.e);
    close_mock(&f);
}

/* A reaper that sleeps is woken by an end, of whichever transfer. KVS-REQ-329 KVS-REQ-301 */
static void test_woken(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "latency=2ms");
    kvs_xfer *x[2] = {prep_reap(f.e, memory[0]), prep_reap(f.e, memory[1])};
    for (int i = 0; i < 20; i++) {
        post_reap(x[i % 2]);
        assert_ptr_equal(reap_one(f.e), x[i % 2]);
        expect_rc(kvs_xfer_check(x[i % 2]), KVS_OK);
    }
    release(x[0]);
    release(x[1]);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_refused),         EACH_MODEL(test_once),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_taken_off),
        cmocka_unit_test(test_abandoned), EACH_MODEL(test_held),
        EACH_MODEL(test_held_abandoned),  EACH_MODEL(test_woken),
        EACH_MODEL(test_release_at_once), EACH_MODEL(test_hammer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
