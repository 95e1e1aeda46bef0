/* SPDX-License-Identifier: Apache-2.0 */
/* Completions that come twice, too late, or for nothing: caught, and nothing else happens. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[8 * 16];

static int setup(void **state)
{
    (void)state;
    kvs_set_log(no_log, NULL, -1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kvs_set_log(NULL, NULL, -1);
    return 0;
}

/* After the end: by io and by token. KVS-REQ-165 KVS-REQ-164 KVS-REQ-163 KVS-REQ-168 */
static void test_twice(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(run_it(x), KVS_OK);
    uint64_t before = kvs_engine_violations(f.e);
    expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_IO, KVS_IO), KVS_OK);
    assert_int_equal(kvs_engine_violations(f.e), before + 1);
    expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_TOKEN, KVS_FULL), KVS_OK);
    assert_int_equal(kvs_engine_violations(f.e), before + 2);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    assert_int_equal(status_of(x, 0), KVS_OK);
    assert_int_equal(status_of(x, 1), KVS_OK);
    assert_int_equal(bytes_of(x, 1), 16);
    assert_string_equal(kvs_xfer_error(x), "");
    release(x);
    /* After the release only the token may still be used: its slot is there. KVS-REQ-159 KVS-REQ-164 */
    expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_TOKEN, KVS_OK), KVS_OK);
    assert_int_equal(kvs_engine_violations(f.e), before + 3);
    kvs_xfer *y = prep(f.e, KVS_READ, 2, memory, 16); /* has x's slots now */
    expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_TOKEN, KVS_IO), KVS_OK);
    expect_rc(kvs_xfer_check(y), KVS_NOT_POSTED);
    expect_rc(run_it(y), KVS_OK);
    assert_int_equal(kvs_engine_violations(f.e), before + 4);
    release(y);
    close_mock(&f);
}

/* A token of an earlier post does nothing to the one that runs. KVS-REQ-161 KVS-REQ-164 */
static void test_old_token(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    uint64_t before = kvs_engine_violations(f.e);
    for (int i = 0; i < 10; i++) {
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        wait_held(&f, 1);
        if (i > 0) {
            expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_TOKEN, KVS_IO), KVS_OK);
            expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
            assert_int_equal(open_ios(x), 1);
            assert_int_equal(kvs_engine_violations(f.e), before + (uint64_t)i);
        }
        let_go(&f, 1);
        expect_rc(wait_end(x), KVS_OK);
    }
    release(x);
    close_mock(&f);
}

/* The same after a cancel and after a timeout: the vendor's late callback. */
static void test_after_cancel(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    uint64_t before = kvs_engine_violations(f.e);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 1);
    kvs_xfer_cancel(x);
    expect_rc(wait_end(x), KVS_CANCELED);
    expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_TOKEN, KVS_OK), KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_CANCELED);
    release(x);
    expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_TOKEN, KVS_OK), KVS_OK);
    assert_int_equal(kvs_engine_violations(f.e), before + 2);
    close_mock(&f);
    expect_rc(kvs_mock_complete_again(f.store, KVS_MOCK_BY_TOKEN, KVS_OK), KVS_OK); /* no engine is left */
}

static char logged[512];

static void keep_log(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    snprintf(logged, sizeof logged, "%s", text);
}

/* KVS-REQ-167 KVS-REQ-168 */
static void test_logged(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    post(x);
    hand_end(hand_batch(0), 0, KVS_OK);
    kvs_set_log(keep_log, NULL, -1);
    hand_end(hand_batch(0), 0, KVS_OK);
    expect_text(logged, "hand");
    kvs_set_log(no_log, NULL, -1);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A text that comes after the end: what the caller has of the first one stays. KVS-REQ-181 */
static void test_late_text(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    uint64_t before = kvs_engine_violations(e);
    post(x);
    struct kvs_batch *batch = hand_batch(0);
    struct kvs_io *first = kvs_batch_io(batch, 0), *second = kvs_batch_io(batch, 1);
    hand.host->io_error(first, "disk 3 has failed");
    hand_end(batch, 0, KVS_IO);
    const char *given = text_of(x, 0);
    hand.host->io_error(first, "the second reason");
    assert_int_equal(kvs_engine_violations(e), before + 1);
    hand.host->io_error(second, "disk 4 has failed");
    hand_end(batch, 1, KVS_IO);
    hand.host->io_error(first, "the third reason");
    hand.host->io_error(second, "the third reason");
    assert_int_equal(kvs_engine_violations(e), before + 3);
    expect_rc(wait_end(x), KVS_IO);
    assert_ptr_equal(text_of(x, 0), given);
    assert_string_equal(given, "disk 3 has failed");
    assert_string_equal(text_of(x, 1), "disk 4 has failed");
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A copy of a batch is none that submit got. KVS-REQ-181 */
static void test_rest_of_a_copy(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    uint64_t before = kvs_engine_violations(e);
    post(x);
    struct kvs_batch copy = *hand_batch(0);
    hand.host->complete_rest(&copy, KVS_OK);
    assert_int_equal(kvs_engine_violations(e), before + 1);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    assert_int_equal(kvs_engine_violations(e), before + 1);
    expect_rc(wait_end(x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Arguments that never were a token or an io. KVS-REQ-162 */
static void test_garbage(void **state)
{
    static const uint64_t tokens[] = {
        0, 1, 12345, UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 28) - 1, UINT64_C(0xfffffff0000fff)};
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    post(x);
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++)
        hand.host->complete_cb(0, (void *)(uintptr_t)tokens[i]);
    hand.host->complete(NULL, KVS_OK);
    hand.host->complete_rest(NULL, KVS_OK);
    hand.host->io_error(NULL, "nothing");
    assert_int_equal(open_ios(x), 2);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A token that no post ever gave, of NULL, a number of the vendor's, or from before the post: nobody can tell
 * whose it is. KVS-REQ-179 KVS-REQ-168 */
static void test_stray(void **state)
{
    struct fixture f;
    (void)state;
    hand_reset();
    open_mock(&f, model_thread, "");
    kvs_engine *e = open_engine("hand");
    uint64_t before = kvs_engine_violations(e), before_mock = kvs_engine_violations(f.e);
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    const uintptr_t tokens[] = {UINTPTR_MAX, 0, 7, 0x30, (uintptr_t)kvs_rec_at(x, 0)->io.token};
    for (unsigned i = 1; i <= 5; i++) {
        hand.host->complete_cb(0, (void *)tokens[i - 1]);
        assert_int_equal(kvs_engine_violations(e), before + i);
        assert_int_equal(kvs_engine_violations(f.e), before_mock + i);
    }
    struct kvs_stats s = {.size = sizeof s};
    assert_int_equal(kvs_engine_stats(e, &s), KVS_OK);
    assert_int_equal(s.violations, before + 5);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    close_mock(&f);
}

static int twice_in_submit(struct kvs_batch *batch)
{
    hand_end(batch, 0, KVS_OK);
    hand_end(batch, 0, KVS_IO);
    hand.host->complete_cb(0, (void *)(uintptr_t)kvs_batch_io(batch, 0)->token);
    hand_end(batch, 1, KVS_OK);
    return KVS_OK;
}

/* Inside submit, where the transfer cannot have gone. KVS-REQ-152 KVS-REQ-165 KVS-REQ-171 */
static void test_twice_in_submit(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    hand.on_submit = twice_in_submit;
    uint64_t before = kvs_engine_violations(e);
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    for (unsigned i = 1; i <= 5; i++) {
        expect_rc(kvs_xfer_post(x), KVS_OK);
        assert_int_equal(status_of(x, 0), KVS_OK);
        assert_int_equal(kvs_engine_violations(e), before + 2 * i);
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

struct one_io {
    struct kvs_batch *batch;
    uint32_t i;
};

static void *end_one(void *arg)
{
    const struct one_io *one = arg;
    hand_end(one->batch, one->i, one->i == 1 ? KVS_NOT_FOUND : KVS_OK);
    return NULL;
}

static void *end_rest(void *arg)
{
    hand.host->complete_rest(arg, KVS_OK);
    return NULL;
}

/* Each io of a batch on a thread of its own, which the SDK has never seen, and all of the next post on one.
 * KVS-REQ-151 */
static void test_any_thread(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 3, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    for (uint32_t i = 0; i < 3; i++) {
        pthread_t thread;
        struct one_io one = {hand_batch(0), i};
        assert_int_equal(pthread_create(&thread, NULL, end_one, &one), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(status_of(x, i), i == 1 ? KVS_NOT_FOUND : KVS_OK);
    }
    expect_rc(kvs_xfer_check(x), KVS_NOT_FOUND);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_rest, hand_batch(0)), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

#define TOKENS 512

struct late {
    _Atomic uint64_t token[TOKENS]; /* of posts that have ended; 0: none yet */
    atomic_bool stop;
    atomic_uint calls;
};

static void *late_main(void *arg)
{
    struct late *late = arg;
    for (unsigned i = 0; !atomic_load(&late->stop); i++) {
        uint64_t token = atomic_load(&late->token[i % TOKENS]);
        if (token) {
            hand.host->complete_cb(KVS_IO, (void *)(uintptr_t)token);
            atomic_fetch_add(&late->calls, 1);
        }
    }
    return NULL;
}

static int end_all(struct kvs_batch *batch)
{
    pthread_mutex_lock(&hand.lock);
    hand.batch[0] = batch;
    hand.taken = 1;
    pthread_mutex_unlock(&hand.lock);
    return KVS_OK;
}

/* A storm of late callbacks on another thread, while their slots serve other transfers: none of them counts
 * for one of these. KVS-REQ-162 KVS-REQ-163 KVS-REQ-164 */
static void test_storm(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    hand.on_submit = end_all;
    static struct late late;
    pthread_t t;
    uint64_t before = kvs_engine_violations(e);
    assert_int_equal(pthread_create(&t, NULL, late_main, &late), 0);
    kvs_xfer *x = NULL;
    for (unsigned i = 0; i < ROUNDS(20000); i++) {
        if (!x)
            x = prep(e, KVS_WRITE, 2, memory, 16);
        if (kvs_xfer_post(x) != KVS_IN_PROG)
            fail();
        struct kvs_batch *batch = hand_batch(0);
        uint64_t token = kvs_batch_io(batch, i % 2)->token;
        hand_end(batch, 0, KVS_OK);
        if (open_ios(x) != 1 || kvs_xfer_check(x) != KVS_IN_PROG)
            fail();
        hand_end(batch, 1, KVS_OK);
        if (kvs_xfer_check(x) != KVS_OK)
            fail();
        atomic_store(&late.token[i % TOKENS], token);
        if (i % 3 == 0) {
            release(x);
            x = NULL;
        }
    }
    eventually(atomic_load(&late.calls) > TOKENS);
    atomic_store(&late.stop, true);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(kvs_engine_violations(e) - before, atomic_load(&late.calls));
    if (x)
        release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_twice),
        EACH_MODEL(test_old_token),
        EACH_ASYNC_MODEL(test_after_cancel),
        cmocka_unit_test(test_logged),
        cmocka_unit_test(test_late_text),
        cmocka_unit_test(test_rest_of_a_copy),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_stray),
        cmocka_unit_test(test_twice_in_submit),
        cmocka_unit_test(test_storm),
        cmocka_unit_test(test_any_thread),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
