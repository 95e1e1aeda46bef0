/* SPDX-License-Identifier: Apache-2.0 */
/* Once the engine's descriptor was asked for, whoever waits in the engine keeps the time limits of others
 * too, whatever he began to wait for. */
#include "engine.h"
#include "engine_test.h"
#include "event_loop.h"
#include "hand.h"

#include <pthread.h>

static unsigned char memory[16];

struct reaper {
    pthread_t thread;
    kvs_engine *e;
    kvs_xfer *got;
    int rc;
};

static void *reap_main(void *arg)
{
    struct reaper *r = arg;
    size_t n;
    r->rc = kvs_engine_reap(r->e, &r->got, 1, LONG, &n);
    return NULL;
}

static bool sleeps(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    bool any = e->owner_waiters > 0;
    kvs_mutex_unlock(&e->lock);
    return any;
}

static kvs_xfer *prep_reaped(kvs_engine *e)
{
    kvs_xfer *x = NULL;
    struct kvs_error err = {0, ""};
    expect_status(prep_flags(e, KVS_WRITE, 1, memory, 16, KVS_XFER_REAP, NULL, NULL, &x, &err), KVS_OK, &err);
    return x;
}

static void begin_reaping(struct reaper *r)
{
    assert_int_equal(pthread_create(&r->thread, NULL, reap_main, r), 0);
    eventually(sleeps(r->e));
}

static void expect_out_of_time(struct reaper *r, kvs_xfer *x)
{
    assert_int_equal(pthread_join(r->thread, NULL), 0);
    expect_rc(r->rc, KVS_OK);
    assert_ptr_equal(r->got, x);
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(r->e, LONG, NULL), KVS_OK);
}

static kvs_engine *open_stiff(const char *target)
{
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    return open_engine(target);
}

/* He waits for whatever ends, with nothing posted; what is posted then has a time limit, and nobody else
 * keeps it. KVS-REQ-334 KVS-REQ-386 */
static void test_posted_later(void **state)
{
    (void)state;
    kvs_engine *e = open_stiff("hand-stiff:?timeout=20ms&cancel_grace=1ms");
    struct reaper r = {.e = e};
    kvs_xfer *x = prep_reaped(e);
    (void)fd_of(e);
    begin_reaping(&r);
    post_short(x);
    expect_out_of_time(&r, x);
}

/* He waits before the descriptor is asked for, and so does what was posted. KVS-REQ-334 */
static void test_asked_later(void **state)
{
    (void)state;
    kvs_engine *e = open_stiff("hand-stiff:?timeout=500ms&cancel_grace=1ms");
    struct reaper r = {.e = e};
    kvs_xfer *x = prep_reaped(e);
    begin_reaping(&r);
    post_short(x);
    (void)fd_of(e);
    expect_out_of_time(&r, x);
}

static void *wait_main(void *arg)
{
    struct reaper *r = arg;
    r->rc = kvs_xfer_wait(r->got, LONG);
    return NULL;
}

/* The same, of one who waits for his transfer alone, and sleeps elsewhere. KVS-REQ-334 */
static void test_asked_beside(void **state)
{
    (void)state;
    kvs_engine *e = open_stiff("hand-stiff:?timeout=500ms&cancel_grace=1ms");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    struct reaper r = {.e = e, .got = x};
    post_short(x);
    assert_int_equal(pthread_create(&r.thread, NULL, wait_main, &r), 0);
    eventually(kvs_a64_load(&x->word) & KVS_W_WAITER || kvs_xfer_check(x) == KVS_TIMEOUT);
    (void)fd_of(e);
    assert_int_equal(pthread_join(r.thread, NULL), 0);
    expect_rc(r.rc, KVS_TIMEOUT);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static int teardown(void **state)
{
    (void)state;
    kvs_set_log(NULL, NULL, -1);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_posted_later, teardown),
        cmocka_unit_test_teardown(test_asked_later, teardown),
        cmocka_unit_test_teardown(test_asked_beside, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
