/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of completion: F fails, C completes, P stays open. The result never depends on them. */
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[64];

/* `order`: what happens to io 0 and io 1, `first`: which of them first. */
static void run_order(const char *order, uint32_t first)
{
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    post(x);
    struct kvs_batch *batch = hand_batch(0);
    int want = KVS_OK;
    for (uint32_t step = 0; step < 2; step++) {
        uint32_t i = step == 0 ? first : 1 - first;
        if (order[i] == 'P')
            continue;
        if (order[i] == 'F')
            want = KVS_FULL;
        hand_end(batch, i, order[i] == 'F' ? KVS_FULL : KVS_OK);
    }
    bool pending = strchr(order, 'P') != NULL;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(status_of(x, i), order[i] == 'P'   ? KVS_IN_PROG
                                          : order[i] == 'F' ? KVS_FULL
                                                            : KVS_OK);
    expect_rc(kvs_xfer_check(x), pending ? KVS_IN_PROG : want);
    for (uint32_t i = 0; i < 2; i++)
        if (order[i] == 'P') {
            expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
            hand_end(batch, i, KVS_OK);
        }
    expect_rc(kvs_xfer_check(x), want);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* KVS-REQ-131 KVS-REQ-004 KVS-REQ-265 */
static void test_orders(void **state)
{
    static const char *const orders[] = {"FP", "PF", "FC", "CF", "CC", "PP", "FF", "CP", "PC"};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        for (uint32_t first = 0; first < 2; first++)
            run_order(orders[i], first);
}

/* Each order in which three ios can fail differently: the first by time is the result. KVS-REQ-004 */
static void test_first_by_time(void **state)
{
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int ends[] = {KVS_NOT_FOUND, KVS_IO, KVS_ACCESS};
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 3, memory, 16);
    for (uint32_t i = 0; i < 6; i++) {
        post(x);
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t io = orders[i][k];
            hand.host->io_error(kvs_batch_io(hand_batch(i), io), "this was io %u", io);
            hand_end(hand_batch(i), io, ends[io]);
        }
        expect_rc(kvs_xfer_check(x), ends[orders[i][0]]);
        char text[16];
        snprintf(text, sizeof text, "this was io %u", orders[i][0]);
        assert_string_equal(kvs_xfer_error(x), text); /* KVS-REQ-445 */
        for (uint32_t io = 0; io < 3; io++)           /* KVS-REQ-001 */
            assert_int_equal(status_of(x, io), ends[io]);
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Failure at each place of a batch, over the mock's own ways of completing. KVS-REQ-004 */
static void test_places(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 4, memory, 16);
    for (uint32_t i = 0; i < 4; i++) {
        kvs_mock_set_fault(f.store, KVS_MOCK_IO, i, 1, KVS_FULL);
        expect_rc(run_it(x), KVS_FULL);
        uint32_t failed = 0, good = 0;
        for (uint32_t k = 0; k < 4; k++) {
            failed += status_of(x, k) == KVS_FULL;
            good += status_of(x, k) == KVS_OK;
        }
        assert_int_equal(failed, 1);
        assert_int_equal(good, 3);
        if (!is_model(state, "blocking")) /* there the order in which ios come is the workers' */
            assert_int_equal(status_of(x, i), KVS_FULL);
    }
    release(x);
    close_mock(&f);
}

/* complete_rest ends what is open, and leaves alone what has ended. KVS-REQ-156 */
static void test_rest(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 3, memory, 16);
    post(x);
    hand_end(hand_batch(0), 1, KVS_OK);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    hand.host->complete_rest(hand_batch(0), KVS_DISCONNECTED);
    expect_rc(kvs_xfer_check(x), KVS_DISCONNECTED);
    assert_int_equal(status_of(x, 0), KVS_DISCONNECTED);
    assert_int_equal(status_of(x, 1), KVS_OK);
    assert_int_equal(status_of(x, 2), KVS_DISCONNECTED);
    release(x);
    assert_int_equal(kvs_engine_violations(e), 0);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* What the backend set before complete_rest counts as before complete. KVS-REQ-153 KVS-REQ-370 KVS-REQ-350 */
static void test_rest_with_sizes(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *q = prep(e, KVS_QUERY, 2, NULL, 0);
    post(q);
    kvs_batch_io(hand_batch(0), 0)->actual = 100;
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    expect_rc(kvs_xfer_check(q), KVS_OK);
    assert_int_equal(bytes_of(q, 0), 100);
    assert_true(bytes_of(q, 1) == KVS_SIZE_UNKNOWN);
    release(q);
    kvs_xfer *r = prep(e, KVS_READ, 2, memory, 16);
    post(r);
    kvs_batch_io(hand_batch(1), 1)->actual = 3;
    hand.host->complete_rest(hand_batch(1), KVS_OK);
    expect_rc(kvs_xfer_check(r), KVS_MISMATCH);
    assert_int_equal(status_of(r, 0), KVS_OK);
    assert_int_equal(status_of(r, 1), KVS_MISMATCH);
    release(r);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders), cmocka_unit_test(test_first_by_time),   EACH_MODEL(test_places),
        cmocka_unit_test(test_rest),   cmocka_unit_test(test_rest_with_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
