/* SPDX-License-Identifier: Apache-2.0 */
/* Flags of backends that change which thread does what. */
#include "engines.h"
#include "toy.h"

#include <semaphore.h>

static struct kvs_backend blocks, deferred, direct;
static char buf[64];

static void take(sem_t *s)
{
    while (sem_wait(s) != 0)
        ;
}

/* ---- SUBMIT_BLOCKS ---- */

static sem_t in_submit, let_submit;
static pthread_t submitter; /* written before in_submit is posted */
static int submit_answer;

static int slow_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    submitter = pthread_self();
    sem_post(&in_submit);
    take(&let_submit);
    if (submit_answer != KVS_OK)
        return submit_answer;
    toy.host->complete_rest(batch, KVS_OK);
    return KVS_OK;
}

/* KVS-REQ-423 KVS-REQ-108: post does not wait for it, and an error comes with the ios. KVS-REQ-128 */
static void submit_may_wait(void **state)
{
    (void)state;
    sem_init(&in_submit, 0, 0);
    sem_init(&let_submit, 0, 0);
    kvs_engine *e = toy_open(&blocks, NULL);
    struct ask a;
    ask_for(&a, KVS_WRITE, 3, buf, 8);
    kvs_xfer *x = prepared(e, &a);
    static const int answers[] = {KVS_OK, KVS_FULL, 7, KVS_OK};
    for (size_t i = 0; i < 4; i++) {
        submit_answer = answers[i];
        int want = answers[i] == 7 ? KVS_BACKEND : answers[i];
        assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG); /* though submit stands still */
        take(&in_submit);
        assert_false(pthread_equal(submitter, pthread_self()));
        assert_int_equal(kvs_xfer_check(x), KVS_IN_PROG);
        assert_int_equal(kvs_xfer_post(x), KVS_BUSY);
        assert_int_equal(kvs_xfer_wait(x, 0), KVS_IN_PROG);
        sem_post(&let_submit);
        assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), want);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(result_of(x, k), want);
    }
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(e);
    sem_destroy(&in_submit);
    sem_destroy(&let_submit);
}

/* ---- COMPLETE_DEFERRED ---- */

static sem_t work, done_ran;
static struct kvs_batch *given; /* handed over by `work` */
static bool after_post;         /* the test hands over itself, once post has returned */
static atomic_bool stop;
static pthread_t completer, done_on;
static bool in_complete;  /* of the completing thread alone */
static atomic_uint below; /* done functions that ran below complete() */

static int hand_over(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    given = batch;
    if (!after_post)
        sem_post(&work);
    return KVS_OK;
}

static void *complete_on_own_thread(void *arg)
{
    for (;;) {
        take(&work);
        if (atomic_load(&stop))
            return arg;
        in_complete = true;
        toy.host->complete_rest(given, KVS_OK);
        in_complete = false;
    }
}

static void note_thread(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    (void)arg;
    done_on = pthread_self();
    if (pthread_equal(done_on, completer) && in_complete)
        atomic_fetch_add(&below, 1);
    sem_post(&done_ran);
}

static void run_on(const struct kvs_backend *table, uint32_t flags, bool on_completer)
{
    sem_init(&work, 0, 0);
    sem_init(&done_ran, 0, 0);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&completer, NULL, complete_on_own_thread, NULL), 0);
    kvs_engine *e = toy_open(table, NULL);
    struct ask a;
    ask_for(&a, KVS_WRITE, 3, buf, 8);
    a.req.done = note_thread;
    a.req.flags = flags;
    kvs_xfer *x = prepared(e, &a);
    for (int round = 0; round < 100; round++) {
        /* What ends while post is still on its way may end with it. */
        after_post = on_completer || round % 2;
        assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
        if (after_post)
            sem_post(&work);
        take(&done_ran);
        assert_int_equal(pthread_equal(done_on, completer) != 0, on_completer);
        assert_false(after_post && pthread_equal(done_on, pthread_self()));
        assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), KVS_OK);
    }
    assert_int_equal(kvs_xfer_release(x, KVS_SEC(30)), KVS_OK);
    close_engine(e);
    atomic_store(&stop, true);
    sem_post(&work);
    pthread_join(completer, NULL);
    sem_destroy(&work);
    sem_destroy(&done_ran);
}

/* KVS-REQ-206 KVS-REQ-207, and without either KVS-REQ-205 */
static void where_done_functions_run(void **state)
{
    (void)state;
    run_on(&deferred, 0, false);
    run_on(&direct, KVS_XFER_DEFERRED, false);
    assert_int_equal(atomic_load(&below), 0);
    run_on(&direct, 0, true);
}

static int setup(void **state)
{
    (void)state;
    toy_reset();
    return 0;
}

int main(void)
{
    blocks = toy_table("blocks");
    blocks.put = blocks.get = blocks.query = blocks.remove = NULL;
    blocks.submit = slow_submit;
    blocks.flags = KVS_F_SUBMIT_BLOCKS;
    direct = blocks;
    direct.name = "direct";
    direct.submit = hand_over;
    direct.flags = 0;
    deferred = direct;
    deferred.name = "deferred";
    deferred.flags = KVS_F_COMPLETE_DEFERRED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(submit_may_wait, setup),
        cmocka_unit_test_setup(where_done_functions_run, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
