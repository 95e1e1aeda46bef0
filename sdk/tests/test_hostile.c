/* SPDX-License-Identifier: Apache-2.0 */
/* Backends that break the contract: it is caught, and neither memory nor other transfers suffer. */
#include "engine_test.h"
#include "hand.h"
#include "toy.h"

static unsigned char memory[2 * 16];
static struct kvs_backend selfish;

static int setup(void **state)
{
    (void)state;
    kvs_set_log(no_log, NULL, -1);
    hand_reset();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kvs_set_log(NULL, NULL, -1);
    return 0;
}

static int end_all_but_again(struct kvs_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++)
        hand_end(batch, i, KVS_OK);
    return KVS_AGAIN;
}

/* AGAIN takes nothing. Who completes all the same gets the transfer ended, and nothing offers it again, not
 * even after it is gone. KVS-REQ-118 KVS-REQ-168 */
static void again_but_completed(void **state)
{
    static const char *const targets[] = {"hand", "hand-blocks"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        hand_reset();
        kvs_engine *e = open_engine(targets[i]);
        uint64_t before = kvs_engine_violations(e);
        kvs_xfer *bad = prep(e, KVS_WRITE, 2, memory, 16), *good = prep(e, KVS_WRITE, 2, memory, 16);
        hand.on_submit = end_all_but_again;
        post(bad);
        expect_rc(wait_end(bad), KVS_OK);
        eventually(kvs_engine_violations(e) > before);
        before = kvs_engine_violations(e);
        hand.on_submit = NULL;
        post(bad); /* while it may be in the queue */
        eventually(hand_taken() == 1);
        hand_end(hand_batch(0), 0, KVS_OK);
        hand_end(hand_batch(0), 1, KVS_OK);
        expect_rc(wait_end(bad), KVS_OK);
        hand.on_submit = end_all_but_again;
        post(bad);
        expect_rc(wait_end(bad), KVS_OK);
        eventually(kvs_engine_violations(e) > before);
        hand.on_submit = NULL;
        release(bad);
        post(good);
        eventually(hand_taken() == 2);
        hand_end(hand_batch(1), 0, KVS_OK);
        hand_end(hand_batch(1), 1, KVS_OK);
        expect_rc(wait_end(good), KVS_OK);
        release(good);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

static kvs_xfer *slow; /* set before its post */
static atomic_uint dones;

static void count_done(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)arg;
    if (status == KVS_TIMEOUT)
        atomic_fetch_add(&dones, 1);
}

/* Comes back only when the time of its transfer is over, and refuses then. */
static int refuse_late(struct kvs_batch *batch)
{
    (void)batch;
    int status;
    eventually(kvs_xfer_result(slow, 0, &status, NULL, NULL) == KVS_OK && status == KVS_TIMEOUT);
    return KVS_FULL;
}

/* A submit that waits though it must not, and refuses after its time: the post has happened. KVS-REQ-109
 * KVS-REQ-200 KVS-REQ-266 */
static void refused_too_late(void **state)
{
    (void)state;
    for (int with_done = 0; with_done < 2; with_done++) {
        atomic_store(&dones, 0);
        kvs_engine *e = open_engine("hand:?timeout=1ms&cancel_grace=1ms");
        slow = prep_done(e, KVS_WRITE, 2, memory, 16, with_done ? count_done : NULL, NULL);
        hand.on_submit = refuse_late;
        expect_rc(kvs_xfer_post(slow), with_done ? KVS_IN_PROG : KVS_TIMEOUT);
        expect_rc(wait_end(slow), KVS_TIMEOUT);
        assert_int_equal(atomic_load(&dones), with_done);
        assert_int_equal(status_of(slow, 1), KVS_TIMEOUT);
        release(slow);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
        hand.on_submit = NULL;
    }
}

static atomic_bool gone;

static void complete_and_linger(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    toy.host->complete(io, KVS_OK);
    eventually(atomic_load(&gone));
}

/* A blocking function that completes its io by itself: the transfer may be gone before the function is back.
 * KVS-REQ-446 KVS-REQ-163 KVS-REQ-168 */
static void blocking_completes(void **state)
{
    static const char *const traces[] = {"0", "1"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        toy_reset();
        atomic_store(&gone, false);
        struct kvs_param_value trace[] = {{"trace", traces[i]}, {NULL, NULL}};
        assert_int_equal(kvs_backend_register(&selfish, NULL), KVS_OK);
        kvs_engine *e = NULL;
        assert_int_equal(kvs_engine_open("selfish", trace, 1, &e, NULL), KVS_OK);
        uint64_t before = kvs_engine_violations(e);
        kvs_xfer *x = prep(e, KVS_REMOVE, 1, NULL, 0);
        toy.before = complete_and_linger;
        toy.remove_rc = KVS_IO; /* it looks at the io no more */
        post(x);
        expect_rc(wait_end(x), KVS_OK);
        release(x);
        atomic_store(&gone, true);
        eventually(kvs_engine_violations(e) == before + 1);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

int main(void)
{
    selfish = toy_table("selfish");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(again_but_completed, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_too_late, setup, teardown),
        cmocka_unit_test_setup_teardown(blocking_completes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
