/* SPDX-License-Identifier: Apache-2.0 */
/* Timeouts, the grace after them, and transfers that are held. */
#include "engine_test.h"
#include "hand.h"

#include <semaphore.h>

static unsigned char memory[8 * 16];

/* No cancel, or in the blocking shape: ends TIMEOUT and is held until the store lets go. KVS-REQ-269
 * KVS-REQ-271 KVS-REQ-272 KVS-REQ-273 KVS-REQ-275 KVS-REQ-276 KVS-REQ-266 */
static void test_held(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=3&timeout=20ms&cancel_grace=20ms");
    kvs_set_log(no_log, NULL, -1);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    post_held(&f, x, 3);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    uint64_t puts = counts_of(&f).puts;
    for (int i = 0; i < 5; i++) {
        expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
        expect_rc(kvs_xfer_wait(x, LONG), KVS_TIMEOUT);
        expect_rc(kvs_xfer_post(x), KVS_BUSY);
        expect_rc(kvs_xfer_release(x, 0), KVS_BUSY);
        expect_rc(kvs_xfer_release(x, 1), KVS_BUSY);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(status_of(x, i), KVS_TIMEOUT);
        assert_string_not_equal(text_of(x, i), "");
    }
    assert_string_not_equal(kvs_xfer_error(x), "");
    assert_int_equal(counts_of(&f).unpreps, 0); /* KVS-REQ-291 */

    let_go(&f, 2); /* not the last: it stays held */
    eventually(kvs_engine_progress(f.e) == KVS_OK && counts_of(&f).puts == puts + 2);
    expect_rc(kvs_xfer_post(x), KVS_BUSY);
    expect_rc(kvs_xfer_release(x, 0), KVS_BUSY);
    let_go(&f, 1);
    int rc;
    eventually((rc = kvs_xfer_post(x)) != KVS_BUSY); /* KVS-REQ-114 */
    if (rc != KVS_TIMEOUT)
        expect_rc(rc, KVS_IN_PROG);
    eventually((let_go_all(&f), kvs_xfer_check(x)) != KVS_IN_PROG);
    eventually((let_go_all(&f), kvs_xfer_release(x, 0)) == KVS_OK);
    kvs_set_log(NULL, NULL, -1);
    close_mock(&f);
}

/* Late completions change no status, and release works once they are there. KVS-REQ-275 KVS-REQ-276 */
static void test_late_completion(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=2&timeout=20ms&cancel_grace=20ms");
    kvs_set_log(no_log, NULL, -1);
    kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, UINT64_MAX, KVS_FULL);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    post_held(&f, x, 2);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    let_go(&f, 2);
    int rc;
    eventually((rc = kvs_engine_close(f.e, 0, NULL)) != KVS_BUSY); /* which finds nothing held any more */
    expect_rc(rc, KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    assert_int_equal(status_of(x, 0), KVS_TIMEOUT);
    assert_int_equal(status_of(x, 1), KVS_TIMEOUT);
    release(x);
    kvs_set_log(NULL, NULL, -1);
}

/* A vendor's library that takes a batch and calls back long after its time, or never: release does not wait
 * for ever, its memory is not given up meanwhile, and a callback is harmless whenever it comes. KVS-REQ-269
 * KVS-REQ-273 KVS-REQ-276 KVS-REQ-164 */
static void test_lost_callback(void **state)
{
    (void)state;
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    kvs_engine *e = open_engine("hand-stiff:?timeout=5ms&cancel_grace=5ms");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16), *lost = prep(e, KVS_WRITE, 1, memory + 16, 16);
    post_short(x);
    post_short(lost);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    expect_rc(wait_end(lost), KVS_TIMEOUT);
    void *late = (void *)(uintptr_t)kvs_batch_io(hand_batch(0), 0)->token;
    void *later = (void *)(uintptr_t)kvs_batch_io(hand_batch(1), 0)->token;
    expect_rc(kvs_xfer_release(x, KVS_MS(1)), KVS_BUSY);
    assert_int_equal(atomic_load(&hand.unpreps), 0);
    struct kvs_error err = {0, ""};
    expect_status(kvs_engine_close(e, KVS_MS(1), &err), KVS_BUSY, &err);
    expect_text(err.text, "2 transfers");
    hand.host->complete_cb(0, late);
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    release(x);
    uint64_t before = kvs_engine_violations(e);
    hand.host->complete_cb(0, late); /* of a transfer that is gone */
    assert_int_equal(kvs_engine_violations(e), before + 1);
    kvs_xfer_abandon(lost);
    expect_status(kvs_engine_close(e, KVS_MS(1), &err), KVS_BUSY, &err);
    hand.host->complete_cb(0, later);
    expect_status(kvs_engine_close(e, LONG, &err), KVS_OK, &err);
    hand.host->complete_cb(0, later); /* of an engine that is gone */
    kvs_set_log(NULL, NULL, -1);
}

/* Its registrations cannot go either. KVS-REQ-274 KVS-REQ-554 */
static void test_registration_held(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&timeout=20ms&cancel_grace=20ms");
    kvs_set_log(no_log, NULL, -1);
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .dev_id = 1};
    kvs_mem *mem;
    expect_status(kvs_mem_register(f.e, KVS_MEM_DRAM, &d, &mem, &err), KVS_OK, &err);
    d.mem = mem;
    struct kvs_dlist local = {&d, 1, 0, KVS_MEM_DRAM};
    struct kvs_key key = {"k", 1};
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = KVS_WRITE, .local = &local, .keys = &key, .nkeys = 1};
    kvs_xfer *x;
    expect_status(kvs_xfer_prep(f.e, &req, &x, &err), KVS_OK, &err);
    post_held(&f, x, 1);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    expect_status(kvs_mem_deregister(f.e, mem, &err), KVS_BUSY, &err);
    expect_text(err.text, "1 ");
    kvs_xfer_abandon(x); /* the count stays until the last completion: KVS-REQ-283 */
    expect_status(kvs_mem_deregister(f.e, mem, &err), KVS_BUSY, &err);
    let_go(&f, 1);
    int rc;
    eventually(kvs_engine_progress(f.e) == KVS_OK && (rc = kvs_mem_deregister(f.e, mem, &err)) != KVS_BUSY);
    expect_rc(rc, KVS_OK);
    kvs_set_log(NULL, NULL, -1);
    close_mock(&f);
}

/* A native cancel ends it within the grace: TIMEOUT, not CANCELED, and nothing is held. KVS-REQ-260
 * KVS-REQ-264 KVS-REQ-266 KVS-REQ-267 */
static void test_native_cancel(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&timeout=20ms&cancel_grace=35s");
    kvs_xfer *x = prep(f.e, KVS_READ, 3, memory, 16);
    for (unsigned i = 1; i <= 3; i++) {
        post_short(x);
        expect_rc(wait_end(x), KVS_TIMEOUT);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(status_of(x, k), KVS_TIMEOUT);
        expect_text(kvs_xfer_error(x), "timeout");
        assert_int_equal(counts_of(&f).cancels, i);
        assert_int_equal(counts_of(&f).held, 0);
    }
    release(x);
    close_mock(&f);
}

/* Ios that no worker has yet end at once, those at the store have the grace, and may be OK in it. KVS-REQ-259
 * KVS-REQ-261 KVS-REQ-262 KVS-REQ-263 KVS-REQ-265 */
static void test_grace(void **state)
{
    struct fixture f;
    (void)state;
    open_mock(&f, "blocking", "hold=yes&threads=1&timeout=20ms&cancel_grace=35s");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    post_held(&f, x, 1);
    eventually(status_of(x, 1) == KVS_TIMEOUT && status_of(x, 2) == KVS_TIMEOUT);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    assert_int_equal(status_of(x, 0), KVS_IN_PROG);
    let_go(&f, 1);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    assert_int_equal(status_of(x, 0), KVS_OK);
    assert_int_equal(bytes_of(x, 0), 16);
    release(x);
    close_mock(&f);
}

static atomic_uint cancels_seen;

static void count_cancel(struct kvs_batch *batch)
{
    (void)batch;
    atomic_fetch_add(&cancels_seen, 1);
}

/* All OK in the grace: OK. One that the backend cancels then: TIMEOUT. KVS-REQ-263 KVS-REQ-264 KVS-REQ-262 */
static void test_ok_in_grace(void **state)
{
    (void)state;
    hand_reset();
    hand.on_cancel = count_cancel;
    atomic_store(&cancels_seen, 0);
    kvs_engine *e = open_engine("hand:?timeout=20ms&cancel_grace=35s");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    eventually(atomic_load(&cancels_seen) == 1);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    hand_end(hand_batch(0), 0, KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    hand_end(hand_batch(0), 1, KVS_OK);
    expect_rc(wait_end(x), KVS_OK);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    eventually(atomic_load(&cancels_seen) == 2);
    hand_end(hand_batch(1), 0, KVS_CANCELED);
    hand_end(hand_batch(1), 1, KVS_OK);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    assert_int_equal(status_of(x, 0), KVS_TIMEOUT);
    assert_int_equal(status_of(x, 1), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A cancel that breaks its word is counted. KVS-REQ-268 KVS-REQ-269 */
static void test_broken_cancel(void **state)
{
    static const char *const targets[] = {"hand:?timeout=10ms&cancel_grace=10ms",
                                          "hand-stiff:?timeout=10ms&cancel_grace=10ms"};
    (void)state;
    kvs_set_log(no_log, NULL, -1);
    for (int i = 0; i < 2; i++) {
        hand_reset();
        kvs_engine *e = open_engine(targets[i]);
        uint64_t before = kvs_engine_violations(e);
        kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
        uint64_t posted = now_ns();
        post_short(x);
        expect_rc(wait_end(x), KVS_TIMEOUT);
        assert_true(now_ns() - posted >= KVS_MS(20)); /* KVS-REQ-261: the grace as well */
        expect_rc(kvs_xfer_release(x, 0), KVS_BUSY);
        assert_int_equal(kvs_engine_violations(e) - before, i == 0);
        hand_end(hand_batch(0), 0, KVS_OK);
        expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
    kvs_set_log(NULL, NULL, -1);
}

struct fired {
    atomic_uint times, posts; /* and posts by the function, of a transfer that is not held */
    atomic_int status;
    int check, post, release;
};

static void fire(kvs_xfer *x, int status, void *arg)
{
    struct fired *fired = arg;
    fired->check = kvs_xfer_check(x);
    fired->post = status == KVS_TIMEOUT ? kvs_xfer_post(x) : KVS_BUSY;
    fired->release = status == KVS_TIMEOUT ? kvs_xfer_release(x, 0) : KVS_BUSY;
    atomic_fetch_add(&fired->posts, fired->post == KVS_IN_PROG);
    atomic_store(&fired->status, status);
    atomic_fetch_add(&fired->times, 1);
}

/* The done function runs once, with TIMEOUT, while it is held; not again when the store lets go. KVS-REQ-270
 * KVS-REQ-272 KVS-REQ-273 */
static void test_done_once(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&timeout=20ms&cancel_grace=20ms");
    kvs_set_log(no_log, NULL, -1);
    struct fired fired = {0};
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 2, memory, 16, fire, &fired);
    unsigned posts = post_held(&f, x, 2);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    posts += atomic_load(&fired.posts);
    assert_int_equal(atomic_load(&fired.times), posts);
    assert_int_equal(atomic_load(&fired.status), KVS_TIMEOUT);
    expect_rc(fired.check, KVS_TIMEOUT);
    expect_rc(fired.post, KVS_BUSY);
    expect_rc(fired.release, KVS_BUSY);
    let_go(&f, 2);
    eventually(kvs_xfer_release(x, 0) == KVS_OK);
    assert_int_equal(atomic_load(&fired.times), posts);
    kvs_set_log(NULL, NULL, -1);
    close_mock(&f);
}

static void abandon_held(kvs_xfer *x, int status, void *arg)
{
    (void)status;
    kvs_xfer_abandon(x); /* held or not */
    sem_post((sem_t *)arg);
}

/* Given up by its own done function while it is held: freed by the last completion. KVS-REQ-213 KVS-REQ-282
 */
static void test_done_abandons_held(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&timeout=20ms&cancel_grace=20ms");
    kvs_set_log(no_log, NULL, -1);
    sem_t fired;
    sem_init(&fired, 0, 0);
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 2, memory, 16, abandon_held, &fired);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG); /* what is at the store when its time is up stays there */
    eventually(sem_trywait(&fired) == 0);
    if (!is_model(state, "blocking")) /* there none may have got so far */
        assert_int_equal(counts_of(&f).unpreps, 0);
    eventually((let_go_all(&f), kvs_engine_progress(f.e)) == KVS_OK && counts_of(&f).unpreps == 1);
    kvs_set_log(NULL, NULL, -1);
    close_mock(&f);
}

/* timeout=0 is none. KVS-REQ-258 */
static void test_no_timeout(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&timeout=0&cancel_grace=1ms");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 1);
    expect_rc(kvs_xfer_wait(x, KVS_MS(30)), KVS_IN_PROG);
    assert_int_equal(counts_of(&f).cancels, 0);
    let_go(&f, 1);
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    close_mock(&f);
}

/* Each post has a timeout of its own, however often and long after the first. KVS-REQ-258 KVS-REQ-422 */
static void test_each_post(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&timeout=15ms&cancel_grace=35s");
    kvs_xfer *a = prep(f.e, KVS_WRITE, 1, memory, 16), *b = prep(f.e, KVS_WRITE, 1, memory, 16);
    for (int i = 0; i < 5; i++) {
        uint64_t posted = now_ns();
        post_short(a);
        kvs_xfer_wait(a, KVS_MS(i * 2)); /* some time passes */
        uint64_t second = now_ns();
        post_short(b);
        expect_rc(wait_end(a), KVS_TIMEOUT);
        assert_true(now_ns() - posted >= KVS_MS(15)); /* and not before it is over */
        expect_rc(wait_end(b), KVS_TIMEOUT);
        assert_true(now_ns() - second >= KVS_MS(15));
        if (i == 2)
            expect_rc(kvs_xfer_wait(a, KVS_MS(1)), KVS_TIMEOUT);
    }
    release(a);
    release(b);
    close_mock(&f);
}

/* How many transfers are held; each of them is at the store, or about to be. */
static size_t all_held(const struct fixture *f)
{
    struct kvs_stats s = {.size = sizeof s};
    assert_int_equal(kvs_engine_stats(f->e, &s), KVS_OK);
    wait_held(f, s.held_transfers);
    return s.held_transfers;
}

/* A single key's call ends by the deadline too; what came too late is harmless. KVS-REQ-386 KVS-REQ-384 */
static void test_single_calls(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=5&timeout=50ms&cancel_grace=10ms");
    kvs_set_log(no_log, NULL, -1);
    struct kvs_error err = {0, ""};
    uint64_t size;
    void *p;
    expect_status(kvs_put(f.e, "k", 1, memory, 16, &err), KVS_TIMEOUT, &err);
    expect_status(kvs_get(f.e, "k", 1, memory, 16, &err), KVS_TIMEOUT, &err);
    expect_status(kvs_query(f.e, "k", 1, &size, &err), KVS_TIMEOUT, &err);
    expect_status(kvs_remove(f.e, "k", 1, &err), KVS_TIMEOUT, &err);
    expect_status(kvs_get_alloc(f.e, "k", 1, 100, &p, &size, &err), KVS_TIMEOUT, &err);
    size_t n = all_held(&f); /* not those for which a worker was too late */
    if (is_model(state, "blocking"))
        eventually(n > 0 || (kvs_put(f.e, "k", 1, memory, 16, NULL), n = all_held(&f)) > 0);
    else
        assert_int_equal(n, 5);
    char held[32];
    snprintf(held, sizeof held, "%zu ", n);
    expect_status(kvs_engine_close(f.e, 0, &err), KVS_BUSY, &err); /* KVS-REQ-287 */
    expect_text(err.text, held);
    kvs_set_log(NULL, NULL, -1);
    close_held(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_held),
        EACH_MODEL(test_late_completion),
        cmocka_unit_test(test_lost_callback),
        EACH_MODEL(test_registration_held),
        EACH_ASYNC_MODEL(test_native_cancel),
        cmocka_unit_test(test_grace),
        cmocka_unit_test(test_ok_in_grace),
        cmocka_unit_test(test_broken_cancel),
        EACH_MODEL(test_done_once),
        EACH_MODEL(test_done_abandons_held),
        EACH_MODEL(test_no_timeout),
        EACH_ASYNC_MODEL(test_each_post),
        EACH_MODEL(test_single_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
