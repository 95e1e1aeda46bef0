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
    hand_await(1);
    kvs_xfer_abandon(x);
    eventually(atomic_load(&hand.cancels) == 1); /* KVS-REQ-279; on a busy machine by the service thread */
    assert_int_equal(atomic_load(&hand.unpreps), 0);
    hand_ring();
    eventually(kvs_engine_progress(e) == KVS_OK && atomic_load(&hand.unpreps) == 1);
    assert_int_equal(atomic_load(&hand.together), 1);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Never posted, or ended: gone at once. NULL is fine. KVS-REQ-278 KVS-REQ-282 */
static void test_at_rest(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer_abandon(NULL);
    kvs_xfer_abandon(prep(f.e, KVS_WRITE, 2, memory, 16));
    assert_int_equal(counts_of(&f).unpreps, 1);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(run_it(x), KVS_OK);
    kvs_xfer_abandon(x);
    assert_int_equal(counts_of(&f).unpreps, 2);
    kvs_mock_set_fault(f.store, KVS_MOCK_IO, 0, UINT64_MAX, KVS_IO);
    x = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(run_it(x), KVS_IO);
    kvs_xfer_abandon(x);
    assert_int_equal(counts_of(&f).unpreps, 3);
    close_mock(&f);
}

/* While it runs it is asked to end, and freed when it has. KVS-REQ-279 KVS-REQ-282 */
static void test_native_cancel(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 3);
    kvs_xfer_abandon(x);
    eventually(kvs_engine_progress(f.e) == KVS_OK && counts_of(&f).unpreps == 1);
    assert_int_equal(counts_of(&f).cancels, 1);
    assert_int_equal(counts_of(&f).puts, 0);
    close_mock(&f);
}

/* Where the store cannot be stopped it stays, with its registration counted and close kept waiting, until the
 * last completion. KVS-REQ-282 KVS-REQ-283 KVS-REQ-287 KVS-REQ-171 */
static void test_no_cancel(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=5");
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = sizeof memory, .dev_id = 3};
    kvs_mem *mem;
    expect_status(kvs_mem_register(f.e, KVS_MEM_DRAM, &d, &mem, &err), KVS_OK, &err);
    struct kvs_desc descs[2] = {{.mem = mem, .addr = d.addr, .len = 16},
                                {.mem = mem, .addr = d.addr, .len = 16}};
    struct kvs_key keys[2] = {{"a", 1}, {"b", 1}};
    struct kvs_dlist local = {descs, 2, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = KVS_WRITE, .local = &local, .keys = keys, .nkeys = 2};
    for (int i = 0; i < 2; i++) {
        kvs_xfer *x;
        expect_status(kvs_xfer_prep(f.e, &req, &x, &err), KVS_OK, &err);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        wait_held(&f, 2 * (size_t)(i + 1));
        kvs_xfer_abandon(x);
    }
    expect_status(kvs_mem_deregister(f.e, mem, &err), KVS_BUSY, &err);
    expect_text(err.text, "2 ");
    assert_int_equal(counts_of(&f).unpreps, 0);
    let_go(&f, 3);
    eventually(kvs_engine_progress(f.e) == KVS_OK && counts_of(&f).unpreps == 1);
    /* Its counts go after its unprep, the engine's last. */
    eventually(kvs_mem_deregister(f.e, mem, &err) == KVS_BUSY && strstr(err.text, "of 1 prepared"));
    eventually(kvs_engine_close(f.e, KVS_MS(1), &err) == KVS_BUSY && strncmp(err.text, "1 ", 2) == 0);
    let_go(&f, 1);
    close_mock(&f);
    assert_int_equal(counts_of(&f).puts, 4);
    assert_int_equal(counts_of(&f).deregisters, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_in_poll),
        EACH_MODEL(test_at_rest),
        EACH_ASYNC_MODEL(test_native_cancel),
        EACH_MODEL(test_no_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
