/* SPDX-License-Identifier: Apache-2.0 */
/* Giving transfers up: whatever they do, and what happens to them later. */
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[8 * 16];

static int end_first(void)
{
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    return 1;
}

/* Ended inside the backend's poll, it is freed when that has returned: unprep is a call into the backend too.
 * KVS-REQ-282 KVS-REQ-433 KVS-REQ-173 */
static void test_ends_in_poll(void **state)
{
    (void)state;
    hand_reset();
    hand.on_poll = end_first;
    kvs_engine *e = open_engine("hand-serial");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    kvs_xfer_abandon(x);
    assert_int_equal(atomic_load(&hand.cancels), 1); /* KVS-REQ-279 */
    assert_int_equal(atomic_load(&hand.unpreps), 0);
    hand_ring();
    eventually(kvs_engine_progress(e) == KVS_OK && atomic_load(&hand.unpreps) == 1);
    assert_int_equal(atomic_load(&hand.together), 1);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_in_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
