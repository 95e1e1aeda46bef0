/* SPDX-License-Identifier: Apache-2.0 */
/* What a transfer says of itself: before the first post, while it runs, at its end, and for each descriptor.
 */
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[MAX_BATCH * 16];

static void test_states(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    assert_int_equal(kvs_xfer_count(x), 3);
    for (int i = 0; i < 3; i++)
        expect_rc(kvs_xfer_check(x), KVS_NOT_POSTED); /* KVS-REQ-130 */
    assert_int_equal(status_of(x, 0), KVS_NOT_POSTED);
    assert_string_equal(kvs_xfer_error(x), kvs_status_text(KVS_NOT_POSTED));

    expect_rc(kvs_xfer_post(x), KVS_IN_PROG); /* KVS-REQ-112 */
    wait_held(&f, 3);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    assert_int_equal(status_of(x, 2), KVS_IN_PROG);
    assert_string_equal(text_of(x, 2), "");
    assert_string_equal(kvs_xfer_error(x), "");

    let_go(&f, 3);
    expect_rc(wait_end(x), KVS_OK);
    for (int i = 0; i < 10; i++) /* KVS-REQ-132 */
        expect_rc(kvs_xfer_check(x), KVS_OK);
    expect_rc(kvs_xfer_wait(x, 0), KVS_OK);
    for (uint32_t i = 0; i < 3; i++) { /* KVS-REQ-001 KVS-REQ-002 KVS-REQ-003 */
        assert_int_equal(status_of(x, i), KVS_OK);
        assert_int_equal(bytes_of(x, i), 16);
        assert_string_equal(text_of(x, i), "");
    }
    release(x);
    close_mock(&f);
}

/* An early failure does not end the transfer, and is its result once all has ended. KVS-REQ-131 */
static void test_early_failure(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, 1, KVS_IO);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 3);
    for (uint32_t left = 3; left-- > 0;) {
        expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        expect_rc(kvs_xfer_wait(x, KVS_MS(1)), KVS_IN_PROG);
        let_go(&f, 1);
        eventually(open_ios(x) == left);
    }
    expect_rc(wait_end(x), KVS_IO); /* the last io has its status a moment before the transfer has ended */
    for (int i = 0; i < 10; i++)
        expect_rc(kvs_xfer_check(x), KVS_IO);
    assert_string_equal(kvs_xfer_error(x), "the mock ends this io with status -103 because it was told to");
    release(x);
    close_mock(&f);
}

/* A READ of a key that is there, of one that is not, and of one that is. KVS-REQ-001 */
static void test_each_descriptor(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    memset(memory, 'v', sizeof memory);
    struct kvs_error err;
    expect_status(kvs_put(f.e, "k0", 2, memory, 16, &err), KVS_OK, &err);
    expect_status(kvs_put(f.e, "k2", 2, memory, 16, &err), KVS_OK, &err);
    memset(memory, '.', sizeof memory);
    kvs_xfer *x = prep(f.e, KVS_READ, 3, memory, 16);
    expect_rc(run_it(x), KVS_NOT_FOUND);
    assert_int_equal(status_of(x, 0), KVS_OK);
    assert_int_equal(status_of(x, 1), KVS_NOT_FOUND);
    assert_int_equal(status_of(x, 2), KVS_OK);
    assert_int_equal(bytes_of(x, 1), 0);
    assert_string_equal(text_of(x, 0), "");
    assert_string_not_equal(text_of(x, 1), "");
    assert_string_equal(kvs_xfer_error(x), text_of(x, 1));
    for (int i = 0; i < 48; i++)
        assert_int_equal(memory[i], i / 16 == 1 ? '.' : 'v');
    release(x);
    close_mock(&f);
}

/* Each status that an io may end with reaches the caller as it is, with its name. KVS-REQ-006 KVS-REQ-005
 */
static void test_every_status(void **state)
{
    static const struct {
        int status, number;
        const char *name;
    } all[] = {{KVS_INVALID_PARAM, -2, "INVALID_PARAM"},
               {KVS_BACKEND, -3, "BACKEND"},
               {KVS_NOT_FOUND, -4, "NOT_FOUND"},
               {KVS_MISMATCH, -5, "MISMATCH"},
               {KVS_NOT_ALLOWED, -6, "NOT_ALLOWED"},
               {KVS_BUSY, -7, "BUSY"},
               {KVS_UNKNOWN, -8, "UNKNOWN"},
               {KVS_NOT_SUPPORTED, -9, "NOT_SUPPORTED"},
               {KVS_DISCONNECTED, -10, "DISCONNECTED"},
               {KVS_CANCELED, -11, "CANCELED"},
               {KVS_TIMEOUT, -100, "TIMEOUT"},
               {KVS_FULL, -101, "FULL"},
               {KVS_NO_MEMORY, -102, "NO_MEMORY"},
               {KVS_IO, -103, "IO"},
               {KVS_EXISTS, -104, "EXISTS"},
               {KVS_ACCESS, -105, "ACCESS"},
               {KVS_TOO_LARGE, -106, "TOO_LARGE"}};
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_int_equal(all[i].status, all[i].number);
        assert_string_equal(kvs_status_name(all[i].status), all[i].name);
        kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, UINT64_MAX, all[i].status);
        expect_rc(run_it(x), all[i].status);
        expect_rc(kvs_xfer_check(x), all[i].status);
        assert_int_equal(status_of(x, 0), all[i].status);
        assert_int_equal(bytes_of(x, 0), 0);
        assert_string_not_equal(text_of(x, 0), "");
        struct kvs_error err = {0, ""};
        expect_status(kvs_put(f.e, "k", 1, "v", 1, &err), all[i].status, &err);
        assert_string_not_equal(err.text, "");
    }
    release(x);
    close_mock(&f);
}

/* What is no final status is a failure of the backend, with the number. KVS-REQ-178 KVS-REQ-013 KVS-REQ-170
 */
static void test_no_status(void **state)
{
    static const int numbers[] = {1, 2, 77, INT32_MAX, -1, -12, -99, -107, -108, -5000, INT32_MIN};
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_READ, 1, memory, 16);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", numbers[i]);
        kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, UINT64_MAX, numbers[i]);
        expect_rc(run_it(x), KVS_BACKEND);
        assert_int_equal(status_of(x, 0), KVS_BACKEND);
        expect_text(text_of(x, 0), number);
        expect_text(kvs_xfer_error(x), number);
    }
    release(x);
    close_mock(&f);
}

/* {OK, CANCELED} and {OK, TIMEOUT} are failures. KVS-REQ-265 */
static void test_ok_with_unlisted(void **state)
{
    static const int ends[] = {KVS_CANCELED, KVS_TIMEOUT, 5};
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        kvs_mock_set_fault(f.store, KVS_MOCK_IO, 1, 1, ends[i]);
        expect_rc(run_it(x), ends[i] == 5 ? KVS_BACKEND : ends[i]);
    }
    expect_rc(run_it(x), KVS_OK); /* KVS-REQ-114 */
    release(x);
    close_mock(&f);
}

/* A vendor's number goes through the backend's translation, and is no status by itself. KVS-REQ-169
 * KVS-REQ-170 */
static void test_vendor_numbers(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand"); /* it has no map_rc: 0 is OK, all else BACKEND */
    kvs_xfer *x = prep(e, KVS_WRITE, 3, memory, 16);
    post(x);
    static const int numbers[] = {0, KVS_NOT_FOUND, 4711};
    for (uint32_t i = 0; i < 3; i++)
        hand.host->complete_cb(numbers[i], (void *)(uintptr_t)kvs_batch_io(hand_batch(0), i)->token);
    expect_rc(kvs_xfer_check(x), KVS_BACKEND);
    assert_int_equal(status_of(x, 0), KVS_OK);
    assert_int_equal(status_of(x, 1), KVS_BACKEND);
    assert_int_equal(status_of(x, 2), KVS_BACKEND);
    expect_text(text_of(x, 1), "-4");
    expect_text(text_of(x, 2), "4711");
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* The answers of QUERY and REMOVE are no errors of the transfer; a failure is. KVS-REQ-376 KVS-REQ-377 */
static void test_answers(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct kvs_error err = {0, ""};
    expect_status(kvs_put(f.e, "k1", 2, "value", 5, &err), KVS_OK, &err);
    kvs_xfer *q = prep(f.e, KVS_QUERY, 2, NULL, 0);
    expect_rc(run_it(q), KVS_OK);
    assert_int_equal(status_of(q, 0), KVS_NOT_FOUND);
    assert_int_equal(status_of(q, 1), KVS_OK);
    assert_int_equal(bytes_of(q, 1), 5);
    kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, 1, KVS_UNKNOWN);
    expect_rc(run_it(q), KVS_OK);
    kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, 2, KVS_DISCONNECTED);
    expect_rc(run_it(q), KVS_DISCONNECTED); /* KVS-REQ-006 */
    release(q);
    kvs_xfer *r = prep(f.e, KVS_REMOVE, 2, NULL, 0);
    expect_rc(run_it(r), KVS_OK);
    assert_int_equal(status_of(r, 0), KVS_NOT_FOUND);
    assert_int_equal(status_of(r, 1), KVS_OK);
    release(r);
    expect_status(kvs_query(f.e, "k1", 2, NULL, &err), KVS_NOT_FOUND, &err);
    expect_status(kvs_remove(f.e, "k1", 2, NULL), KVS_NOT_FOUND, &err);
    close_mock(&f);
}

/* A length of 7 and a value of 5: both are in the text, and the buffer is as it was. KVS-REQ-350 */
static void test_mismatch(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct kvs_error err = {0, ""};
    char buf[8] = "....---";
    expect_status(kvs_put(f.e, "k", 1, "value", 5, &err), KVS_OK, &err);
    expect_status(kvs_get(f.e, "k", 1, buf, 7, &err), KVS_MISMATCH, &err);
    expect_text(err.text, "5");
    expect_text(err.text, "7");
    expect_status(kvs_get(f.e, "k", 1, buf, 3, &err), KVS_MISMATCH, &err);
    assert_memory_equal(buf, "....---", 8);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_states),
        EACH_MODEL(test_early_failure),
        EACH_MODEL(test_each_descriptor),
        EACH_MODEL(test_every_status),
        EACH_MODEL(test_no_status),
        EACH_MODEL(test_ok_with_unlisted),
        cmocka_unit_test(test_vendor_numbers),
        EACH_MODEL(test_answers),
        EACH_MODEL(test_mismatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
