/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred done functions of transfers that end on a worker or a vendor's thread while that is in another
 * call. */
#include "blocked.h"
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[4][16];

struct ran {
    sem_t once;
    pthread_t on;
};

static void note(kvs_xfer *x, int status, void *arg)
{
    struct ran *r = arg;
    (void)x;
    (void)status;
    r->on = pthread_self();
    sem_post(&r->once);
}

static kvs_xfer *prep_deferred(kvs_engine *e, struct ran *r)
{
    kvs_xfer *x = NULL;
    struct kvs_error err = {0, ""};
    sem_init(&r->once, 0, 0);
    expect_status(prep_flags(e, KVS_WRITE, 1, memory[0], 16, KVS_XFER_DEFERRED, note, r, &x, &err), KVS_OK,
                  &err);
    return x;
}

static struct kvs_batch *first;

/* A library that looks after all it has in every call. */
static int end_first_too(struct kvs_batch *batch)
{
    if (!first) {
        first = batch;
        return KVS_OK;
    }
    hand_end(first, 0, KVS_OK);
    hand_end(batch, 0, KVS_OK);
    return KVS_OK;
}

/* A worker's submit of one batch ends another, too. KVS-REQ-207 */
static void test_worker(void **state)
{
    struct ran r;
    (void)state;
    hand_reset();
    hand.on_submit = end_first_too;
    first = NULL;
    kvs_engine *e = open_engine("hand-blocks:?threads=1");
    kvs_xfer *x = prep_deferred(e, &r), *other = prep(e, KVS_WRITE, 1, memory[1], 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    eventually(atomic_load(&hand.submits) == 1);
    post(other);
    sem_take(&r.once);
    expect_rc(wait_end(other), KVS_OK);
    expect_rc(wait_end(x), KVS_OK);
    assert_false(pthread_equal(r.on, hand.submitter));
    release(x);
    release(other);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    sem_destroy(&r.once);
}

static int end_at_once(struct kvs_batch *batch)
{
    hand_end(batch, 0, KVS_OK);
    return KVS_OK;
}

static void post_other(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    hand.on_submit = end_at_once;
    (void)kvs_xfer_post(arg);
}

static void *vendor_main(void *arg)
{
    hand_end(arg, 0, KVS_OK);
    return NULL;
}

/* A done function that a vendor's thread runs posts another transfer, which ends inside its submit.
 * KVS-REQ-207 */
static void test_vendor(void **state)
{
    struct ran r;
    pthread_t vendor;
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep_deferred(e, &r), *other = prep_done(e, KVS_WRITE, 1, memory[1], 16, post_other, x);
    expect_rc(kvs_xfer_post(other), KVS_IN_PROG);
    assert_int_equal(pthread_create(&vendor, NULL, vendor_main, hand_batch(0)), 0);
    sem_take(&r.once);
    expect_rc(wait_end(x), KVS_OK);
    assert_false(pthread_equal(r.on, vendor));
    assert_int_equal(pthread_join(vendor, NULL), 0);
    release(x);
    release(other);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    sem_destroy(&r.once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worker), cmocka_unit_test(test_vendor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
