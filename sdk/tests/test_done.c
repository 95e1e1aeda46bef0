/* SPDX-License-Identifier: Apache-2.0 */
/* Done functions: how often they run, where, and what may be called inside. */
#include "blocked.h"
#include "engine_test.h"
#include "hand.h"

#include <semaphore.h>

static unsigned char memory[8 * 16];

/* What a done function has seen; a test looks at it when the transfer has ended. */
struct seen {
    atomic_uint times;
    atomic_int status; /* of the last */
    int check, wait, put, close, result;
    atomic_uint inside, nested, below;
    char thread[16];
    pthread_t self;
};

static void look(kvs_xfer *x, int status, void *arg)
{
    struct seen *s = arg;
    s->check = kvs_xfer_check(x);
    s->wait = kvs_xfer_wait(x, LONG);
    s->self = pthread_self();
    pthread_getname_np(s->self, s->thread, sizeof s->thread);
    kvs_xfer_result(x, 0, &s->result, NULL, NULL);
    if (hand_depth > 0) /* what other threads do beside it is their affair */
        atomic_fetch_add(&s->below, 1);
    atomic_store(&s->status, status);
    atomic_fetch_add(&s->times, 1);
}

/* Once for each accepted post, with the transfer's status. KVS-REQ-200 KVS-REQ-111 KVS-REQ-210 KVS-REQ-214 */
static void test_once(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct seen s = {0};
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 3, memory, 16, look, &s);
    for (unsigned i = 0; i < 300; i++) {
        int want = i % 3 == 2 ? KVS_FULL : KVS_OK;
        kvs_mock_set_fault(f.store, KVS_MOCK_IO, 1, want == KVS_OK ? 0 : 1, want);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        expect_rc(wait_end(x), want);
        assert_int_equal(atomic_load(&s.times), i + 1);
        assert_int_equal(atomic_load(&s.status), want);
        assert_int_equal(s.check, want);
        assert_int_equal(s.wait, KVS_NOT_ALLOWED);
    }
    release(x);
    assert_int_equal(atomic_load(&s.times), 300);
    close_mock(&f);
}

/* KVS-REQ-209 */
static void test_not_for_refused(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct seen s = {0};
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 3, memory, 16, look, &s);
    kvs_mock_set_fault(f.store, KVS_MOCK_SUBMIT, 0, 1, KVS_IO);
    expect_rc(kvs_xfer_post(x), KVS_IO);
    expect_rc(kvs_xfer_check(x), KVS_NOT_POSTED);
    assert_int_equal(atomic_load(&s.times), 0);
    expect_rc(run_it(x), KVS_OK);
    assert_int_equal(atomic_load(&s.times), 1);
    release(x);
    close_mock(&f);
    assert_int_equal(atomic_load(&s.times), 1);
}

static int end_all(struct kvs_batch *batch)
{
    hand.host->complete_rest(batch, KVS_OK);
    return KVS_OK;
}

static void end_all_canceled(struct kvs_batch *batch)
{
    hand.host->complete_rest(batch, KVS_CANCELED);
}

static int end_first(void)
{
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    return 1;
}

static int end_third(void)
{
    hand.host->complete_rest(hand_batch(2), KVS_OK);
    return 1;
}

/* Never below a call into the backend, and on the thread that made it; which may be another than the caller's
 * where a thread that polls keeps him out. KVS-REQ-202 KVS-REQ-203 KVS-REQ-201 */
static void test_not_below_the_backend(void **state)
{
    static const char *const targets[] = {"hand", "hand-single", "hand-serial", "hand-deferred"};
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        hand_reset();
        hand.on_cancel = end_all_canceled;
        kvs_engine *e = open_engine(targets[i]);
        struct seen s = {0};
        kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, look, &s);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        expect_rc(kvs_xfer_cancel(x), KVS_OK);
        expect_rc(wait_end(x), KVS_CANCELED);
        assert_int_equal(atomic_load(&s.times), 1);
        assert_int_equal(atomic_load(&s.below), 0);
        assert_true(i == 2 || pthread_equal(s.self, pthread_self()));
        hand.on_submit = end_all;
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        expect_rc(wait_end(x), KVS_OK);
        assert_int_equal(atomic_load(&s.times), 2);
        assert_int_equal(atomic_load(&s.below), 0);
        assert_true(i == 2 || pthread_equal(s.self, pthread_self()));
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

/* The same for poll. KVS-REQ-202 KVS-REQ-203 */
static void test_not_below_poll(void **state)
{
    (void)state;
    hand_reset();
    hand.on_poll = end_first;
    kvs_engine *e = open_engine("hand-serial");
    struct seen s = {0};
    kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, look, &s);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    hand_await(1);
    hand_ring();
    expect_rc(wait_end(x), KVS_OK);
    assert_int_equal(atomic_load(&s.times), 1);
    assert_int_equal(atomic_load(&s.below), 0);
    release(x);
    assert_int_equal(atomic_load(&hand.together), 1); /* KVS-REQ-433 KVS-REQ-304 */
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
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

/* On the vendor's thread, or where the backend wants none of our code there, on the service thread.
 * KVS-REQ-205 KVS-REQ-206 */
static void test_which_thread(void **state)
{
    static const char *const targets[] = {"hand", "hand-deferred"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        hand_reset();
        kvs_engine *e = open_engine(targets[i]);
        struct seen s = {0};
        kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, look, &s);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        complete_on_a_thread(hand_batch(0));
        if (i == 0) /* it has run before complete came back */
            assert_int_equal(atomic_load(&s.times), 1);
        expect_rc(wait_end(x), KVS_OK);
        assert_int_equal(atomic_load(&s.times), 1);
        assert_int_equal(s.result, KVS_OK);
        assert_int_equal(strcmp(s.thread, "kvs-service") == 0, i == 1);
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

/* For all others the transfer runs until its done function has returned. KVS-REQ-215 KVS-REQ-250 KVS-REQ-113
 */
static void test_in_progress_meanwhile(void **state)
{
    static const char *const targets[] = {"hand", "hand-deferred"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        hand_reset();
        kvs_engine *e = open_engine(targets[i]);
        struct blocked b;
        blocked_init(&b);
        kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, block, &b);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, end_elsewhere, hand_batch(0)), 0);
        sem_take(&b.entered);
        for (int k = 0; k < 3; k++)
            expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        expect_rc(kvs_xfer_wait(x, 0), KVS_IN_PROG);
        expect_rc(kvs_xfer_wait(x, KVS_MS(1)), KVS_IN_PROG);
        expect_rc(kvs_xfer_post(x), KVS_BUSY);
        expect_rc(kvs_xfer_release(x, 0), KVS_BUSY);
        expect_rc(kvs_xfer_release(x, KVS_MS(1)), KVS_BUSY);
        expect_rc(kvs_engine_close(e, 0, NULL), KVS_BUSY);
        assert_int_equal(status_of(x, 0), KVS_OK);
        sem_post(&b.go);
        expect_rc(wait_end(x), KVS_OK);
        assert_int_equal(atomic_load(&b.times), 1);
        assert_int_equal(pthread_join(t, NULL), 0);
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

struct used {
    kvs_engine *e;
    atomic_uint times, failed;
};

/* Takes each of the SDK's locks: one that was held would never be had. */
static void use_all(kvs_xfer *x, int status, void *arg)
{
    struct used *u = arg;
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .dev_id = 1};
    struct kvs_stats stats = {.size = sizeof stats};
    kvs_xfer *y = NULL;
    kvs_mem *m = NULL;
    (void)x;
    (void)status;
    if (kvs_mem_register(u->e, KVS_MEM_DRAM, &d, &m, NULL) != KVS_OK ||
        prep_rc(u->e, KVS_WRITE, 1, memory, 16, NULL, NULL, &y, NULL) != KVS_OK ||
        kvs_xfer_release(y, 0) != KVS_OK || kvs_mem_deregister(u->e, m, NULL) != KVS_OK ||
        kvs_engine_stats(u->e, &stats) != KVS_OK || kvs_engine_progress(u->e) != KVS_OK)
        atomic_fetch_add(&u->failed, 1);
    atomic_fetch_add(&u->times, 1);
}

/* Wherever a done function runs: at the end of submit, cancel and poll, on a vendor's thread, on the service
 * thread, and at a held end. KVS-REQ-201 */
static void test_no_lock_held(void **state)
{
    static const char *const targets[] = {"hand", "hand-serial", "hand-deferred",
                                          "hand-stiff:?timeout=5ms&cancel_grace=1ms"};
    (void)state;
    kvs_set_log(no_log, NULL, -1);
    for (unsigned i = 0; i < 4; i++) {
        hand_reset();
        struct used u = {.e = open_engine(targets[i])};
        kvs_xfer *x = prep_done(u.e, KVS_WRITE, 2, memory, 16, use_all, &u);
        hand.on_submit = end_all;
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        (void)wait_end(x);
        hand.on_submit = NULL;
        hand.on_cancel = end_all_canceled;
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        hand_await(1);
        (void)kvs_xfer_cancel(x);
        (void)wait_end(x);
        complete_on_a_thread(hand_batch(0)); /* a held one is complete now */
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        hand_await(2);
        complete_on_a_thread(hand_batch(1));
        (void)wait_end(x);
        hand.on_poll = end_third;
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        hand_await(3);
        hand_ring();
        if (i != 1) /* the others do not poll */
            complete_on_a_thread(hand_batch(2));
        (void)wait_end(x);
        assert_int_equal(atomic_load(&u.times), 4);
        assert_int_equal(atomic_load(&u.failed), 0);
        expect_rc(kvs_xfer_release(x, LONG), KVS_OK);
        assert_int_equal(kvs_engine_close(u.e, LONG, NULL), KVS_OK);
    }
    kvs_set_log(NULL, NULL, -1);
}

struct others {
    kvs_engine *e;
    int put, get, close;
    atomic_uint times;
};

static void call_others(kvs_xfer *x, int status, void *arg)
{
    struct others *o = arg;
    char buf[1];
    (void)x;
    (void)status;
    o->put = kvs_put(o->e, "k", 1, "v", 1, NULL);
    o->get = kvs_get(o->e, "k", 1, buf, 1, NULL);
    o->close = kvs_engine_close(o->e, LONG, NULL);
    atomic_fetch_add(&o->times, 1);
}

/* What waits is refused in a done function. KVS-REQ-214 */
static void test_nothing_waits_inside(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct others o = {.e = f.e};
    kvs_xfer *x = prep_done(f.e, KVS_WRITE, 1, memory, 16, call_others, &o);
    expect_rc(run_it(x), KVS_OK);
    assert_int_equal(atomic_load(&o.times), 1);
    assert_int_equal(o.put, KVS_NOT_ALLOWED);
    assert_int_equal(o.get, KVS_NOT_ALLOWED);
    assert_int_equal(o.close, KVS_NOT_ALLOWED);
    expect_rc(run_it(x), KVS_OK); /* the refused close has shut nothing */
    release(x);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_once),
        EACH_ASYNC_MODEL(test_not_for_refused),
        cmocka_unit_test(test_not_below_the_backend),
        cmocka_unit_test(test_not_below_poll),
        cmocka_unit_test(test_which_thread),
        cmocka_unit_test(test_in_progress_meanwhile),
        cmocka_unit_test(test_no_lock_held),
        EACH_MODEL(test_nothing_waits_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
