/* SPDX-License-Identifier: Apache-2.0 */
/* Posting: again, while it runs, where the backend refuses it; and releasing what runs. */
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[MAX_BATCH * 16];

/* KVS-REQ-113 */
static void test_busy(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 2);
    for (int i = 0; i < 5; i++)
        expect_rc(kvs_xfer_post(x), KVS_BUSY);
    let_go(&f, 1);
    eventually(open_ios(x) == 1);
    expect_rc(kvs_xfer_post(x), KVS_BUSY);
    assert_int_equal(open_ios(x), 1);
    let_go(&f, 1);
    expect_rc(wait_end(x), KVS_OK);
    assert_int_equal(counts_of(&f).ios, 2);
    release(x);
    close_mock(&f);
}

/* Releasing what runs: refused, and the handle stays good for all else. KVS-REQ-250 */
static void test_release_running(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none");
    kvs_xfer *a = prep(f.e, KVS_WRITE, 1, memory, 16);
    kvs_xfer *b = prep(f.e, KVS_WRITE, 1, memory + 16, 16);
    expect_rc(kvs_xfer_post(a), KVS_IN_PROG);
    wait_held(&f, 1);
    expect_rc(kvs_xfer_release(a, 0), KVS_BUSY);
    expect_rc(kvs_xfer_release(a, KVS_MS(1)), KVS_BUSY); /* KVS-REQ-253 */
    expect_rc(kvs_xfer_post(b), KVS_IN_PROG);
    wait_held(&f, 2);
    expect_rc(kvs_xfer_check(a), KVS_IN_PROG);
    expect_rc(kvs_xfer_release(a, 0), KVS_BUSY);
    let_go(&f, 1); /* a's io: it came first */
    eventually(kvs_xfer_check(a) != KVS_IN_PROG);
    expect_rc(kvs_xfer_check(b), KVS_IN_PROG);
    expect_rc(kvs_xfer_check(a), KVS_OK);
    release(a);
    let_go(&f, 1);
    expect_rc(wait_end(b), KVS_OK);
    release(b);
    close_mock(&f);
}

/* Releasing asks for a cancel, and its variant waits for the end. KVS-REQ-251 KVS-REQ-253 */
static void test_release_cancels(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 3);
    expect_rc(kvs_xfer_release(x, LONG), KVS_OK);
    assert_int_equal(counts_of(&f).cancels, 1);
    assert_int_equal(counts_of(&f).puts, 0);
    close_mock(&f);
}

static void *end_canceled(void *arg)
{
    eventually(atomic_load(&hand.cancels) == 1);
    for (int i = 0; i < 200; i++) /* until release sleeps */
        pause_briefly();
    hand.host->complete_rest(hand_batch(0), KVS_CANCELED);
    return arg;
}

/* It waits for an end that comes later, on another thread. KVS-REQ-253 */
static void test_release_waits(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 3, memory, 16);
    pthread_t t;
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(pthread_create(&t, NULL, end_canceled, NULL), 0);
    expect_rc(kvs_xfer_release(x, LONG), KVS_OK);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static bool release_polled(kvs_xfer *x)
{
    unsigned before = atomic_load(&hand.polls_by_tests);
    expect_rc(kvs_xfer_release(x, 0), KVS_BUSY);
    unsigned polls = atomic_load(&hand.polls_by_tests) - before;
    assert_in_range(polls, 0, 1); /* none where the service thread was the owner */
    return polls == 1;
}

/* It polls itself, and once. KVS-REQ-252 KVS-REQ-305 */
static void test_release_polls_once(void **state)
{
    (void)state;
    hand_reset();
    hand_is_test = true;
    kvs_engine *e = open_engine("hand-serial:?timeout=0");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    hand_await(1);
    for (int i = 0; i < 10; i++)
        eventually(release_polled(x));
    hand_end(hand_batch(0), 0, KVS_OK);
    release(x);
    hand_is_test = false;
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* One progress in release is enough where the io is complete. KVS-REQ-252 */
static void test_release_polls(void **state)
{
    struct fixture f;
    (void)state;
    open_mock(&f, "poll", "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    post(x);
    eventually(kvs_xfer_release(x, 0) == KVS_OK);
    close_mock(&f);
}

/* A finished transfer can be posted again, failed or not, and nothing of the round before is left.
 * KVS-REQ-114 KVS-REQ-116 */
static void test_clean_again(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, 2, KVS_FULL);
    for (int round = 0; round < 3; round++) {
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(status_of(x, i), KVS_IN_PROG);
            assert_int_equal(bytes_of(x, i), 0);
            assert_string_equal(text_of(x, i), "");
        }
        assert_string_equal(kvs_xfer_error(x), "");
        wait_held(&f, 2);
        let_go(&f, 2);
        expect_rc(wait_end(x), round == 0 ? KVS_FULL : KVS_OK);
        assert_string_equal(text_of(x, 1), kvs_xfer_error(x));
        assert_int_equal(bytes_of(x, 1), round == 0 ? 0 : 16);
    }
    assert_string_equal(kvs_xfer_error(x), "");
    release(x);
    close_mock(&f);
}

/* KVS-REQ-114 */
static void test_many_rounds(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    unsigned char in[4 * 16], out[4 * 16];
    kvs_xfer *w = prep(f.e, KVS_WRITE, 4, in, 16), *r = prep(f.e, KVS_READ, 4, out, 16);
    for (int round = 0; round < 1000; round++) {
        memset(in, round & 0xff, sizeof in);
        expect_rc(run_it(w), KVS_OK);
        expect_rc(run_it(r), KVS_OK);
        assert_memory_equal(in, out, sizeof in);
    }
    assert_int_equal(counts_of(&f).puts, 4000);
    release(w);
    release(r);
    close_mock(&f);
}

/* What submit refuses has reached nothing, and is as it was before. KVS-REQ-126 KVS-REQ-127 KVS-REQ-106
 */
static void test_refused(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *a = prep(f.e, KVS_WRITE, 3, memory, 16), *b = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(a), KVS_IN_PROG);
    wait_held(&f, 3);
    kvs_mock_set_fault(f.store, KVS_MOCK_SUBMIT, 0, UINT64_MAX, KVS_DISCONNECTED);
    for (int i = 0; i < 3; i++) {
        expect_rc(kvs_xfer_post(b), KVS_DISCONNECTED);
        expect_rc(kvs_xfer_check(b), KVS_NOT_POSTED);
        assert_int_equal(status_of(b, 1), KVS_NOT_POSTED);
    }
    assert_int_equal(counts_of(&f).ios, 3);
    expect_rc(kvs_xfer_check(a), KVS_IN_PROG);
    kvs_mock_set_fault(f.store, KVS_MOCK_SUBMIT, 0, 0, 0);
    expect_rc(kvs_xfer_post(b), KVS_IN_PROG);
    let_go(&f, 5);
    expect_rc(wait_end(a), KVS_OK);
    expect_rc(wait_end(b), KVS_OK);

    kvs_mock_set_fault(f.store, KVS_MOCK_SUBMIT, 0, 1, KVS_FULL);
    expect_rc(kvs_xfer_post(b), KVS_FULL);
    expect_rc(kvs_xfer_check(b), KVS_OK); /* the round before */
    assert_int_equal(status_of(b, 0), KVS_OK);
    assert_int_equal(bytes_of(b, 1), 16);
    assert_int_equal(counts_of(&f).ios, 5);
    release(b);
    release(a);
    close_mock(&f);
}

#define ROOM 64 /* ios that the store's queue has room for */

static uint32_t queued;              /* by posts, one after the other */
static struct kvs_batch *last_taken; /* of them */

static int take_if_room(struct kvs_batch *batch)
{
    if (queued + batch->count > ROOM)
        return KVS_FULL;
    queued += batch->count;
    last_taken = batch;
    return KVS_OK;
}

/* A queue that is full but for one place: of two ios none is taken, so that nothing of a refused and released
 * transfer is left there to be sent with another's. KVS-REQ-126 KVS-REQ-127 KVS-REQ-104 KVS-REQ-119 */
static void test_full_queue(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    queued = 0;
    hand.on_submit = take_if_room;
    kvs_xfer *a = prep(e, KVS_WRITE, ROOM - 1, memory, 16), *b = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(a), KVS_IN_PROG);
    struct kvs_batch *first = last_taken;
    expect_rc(kvs_xfer_post(b), KVS_FULL);
    expect_rc(kvs_xfer_check(b), KVS_NOT_POSTED);
    assert_int_equal(queued, ROOM - 1);
    release(b);
    for (int i = 0; i < 10; i++)
        expect_rc(kvs_xfer_check(a), KVS_IN_PROG);
    assert_int_equal(atomic_load(&hand.submits), 2); /* the one of b was not offered again */
    b = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(b), KVS_FULL);
    queued = 0; /* the store has sent what it had */
    expect_rc(kvs_xfer_post(b), KVS_IN_PROG);
    assert_int_equal(queued, 2);
    hand.host->complete_rest(first, KVS_OK);
    hand.host->complete_rest(last_taken, KVS_OK);
    expect_rc(kvs_xfer_check(a), KVS_OK);
    expect_rc(kvs_xfer_check(b), KVS_OK);
    release(a);
    release(b);
    assert_int_equal(kvs_engine_violations(e), 0);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* An answer of submit that is no error is one of the backend's. KVS-REQ-013 KVS-REQ-117 */
static void test_refused_with_no_status(void **state)
{
    static const int answers[] = {KVS_IN_PROG, 7, KVS_NOT_POSTED, -12, -99, INT32_MIN};
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        hand_answer(answers[i]);
        expect_rc(kvs_xfer_post(x), KVS_BACKEND);
        expect_rc(kvs_xfer_check(x), KVS_NOT_POSTED);
    }
    assert_int_equal(hand_taken(), 0);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static int complete_and_refuse(struct kvs_batch *batch)
{
    hand_end(batch, 0, KVS_OK);
    return KVS_IO;
}

/* A backend that completes part of what it refuses: caught, and the post did not happen. KVS-REQ-119
 * KVS-REQ-127 */
static void test_refused_and_completed(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_set_log(no_log, NULL, -1);
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    uint64_t before = kvs_engine_violations(e);
    hand.on_submit = complete_and_refuse;
    expect_rc(kvs_xfer_post(x), KVS_IO);
    expect_rc(kvs_xfer_check(x), KVS_NOT_POSTED);
    assert_true(kvs_engine_violations(e) > before);
    hand.on_submit = NULL;
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    hand_end(hand_batch(0), 0, KVS_OK);
    hand_end(hand_batch(0), 1, KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    kvs_set_log(NULL, NULL, -1);
}

static int end_all(struct kvs_batch *batch)
{
    hand.host->complete_rest(batch, KVS_OK);
    return KVS_OK;
}

/* What a refused post has ended all the same is no result of the next one. KVS-REQ-116 KVS-REQ-127 */
static void test_refused_leaves_no_result(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_set_log(no_log, NULL, -1);
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    hand.on_submit = end_all;
    expect_rc(kvs_xfer_post(x), KVS_OK);
    hand.on_submit = complete_and_refuse;
    expect_rc(kvs_xfer_post(x), KVS_IO);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    assert_int_equal(status_of(x, 0), KVS_BACKEND); /* what it was is lost */
    assert_int_equal(status_of(x, 1), KVS_OK);
    hand.on_submit = NULL;
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(status_of(x, 0), KVS_IN_PROG);
    assert_int_equal(status_of(x, 1), KVS_IN_PROG);
    hand_end(hand_batch(0), 0, KVS_IO);
    hand_end(hand_batch(0), 1, KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_IO);
    assert_int_equal(status_of(x, 0), KVS_IO);
    assert_int_equal(status_of(x, 1), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    kvs_set_log(NULL, NULL, -1);
}

static int explain_and_refuse(struct kvs_batch *batch)
{
    hand.host->io_error(kvs_batch_io(batch, 0), "what the refused post said");
    return KVS_FULL;
}

/* What was said of an io before its post was refused is not said of the next post. KVS-REQ-116 KVS-REQ-127 */
static void test_refused_says_no_more(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    for (int round = 0; round < 3; round++) {
        hand.on_submit = explain_and_refuse;
        expect_rc(kvs_xfer_post(x), KVS_FULL);
        hand.on_submit = NULL;
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        hand_end(hand_batch(0), 0, KVS_FULL);
        hand_end(hand_batch(0), 1, KVS_OK);
        hand.taken = 0;
        expect_rc(kvs_xfer_check(x), KVS_FULL);
        assert_string_equal(text_of(x, 0), kvs_status_text(KVS_FULL));
        assert_string_equal(kvs_xfer_error(x), kvs_status_text(KVS_FULL));
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* All ios go in one call. KVS-REQ-104 */
static void test_one_submit(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, MAX_BATCH, memory, 16);
    expect_rc(run_it(x), KVS_OK);
    assert_int_equal(counts_of(&f).submits, 1);
    assert_int_equal(counts_of(&f).puts, MAX_BATCH);
    release(x);
    close_mock(&f);
}

/* A transfer that ends inside its post without a done function may say so at once. KVS-REQ-112 KVS-REQ-152 */
static void test_ended_in_post(void **state)
{
    struct fixture f;
    (void)state;
    open_mock(&f, "inline", "");
    kvs_xfer *x = prep(f.e, KVS_READ, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_NOT_FOUND);
    expect_rc(kvs_xfer_check(x), KVS_NOT_FOUND);
    release(x);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_busy),
        EACH_MODEL(test_release_running),
        EACH_ASYNC_MODEL(test_release_cancels),
        cmocka_unit_test(test_release_waits),
        cmocka_unit_test(test_release_polls_once),
        cmocka_unit_test(test_release_polls),
        EACH_MODEL(test_clean_again),
        EACH_MODEL(test_many_rounds),
        EACH_ASYNC_MODEL(test_refused),
        cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_refused_with_no_status),
        cmocka_unit_test(test_refused_and_completed),
        cmocka_unit_test(test_refused_leaves_no_result),
        cmocka_unit_test(test_refused_says_no_more),
        EACH_ASYNC_MODEL(test_one_submit),
        cmocka_unit_test(test_ended_in_post),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
