/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch tells the backend of its transfer. */
#include "engines.h"
#include "sync.h"
#include "toy.h"

static struct kvs_backend store;
static char buf[64];
static uint64_t deadline, ttl; /* of the last batch that a worker has had; it has ended when they are read */

static void note(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)io;
    deadline = batch->deadline_ns;
    ttl = batch->ttl_ms;
}

static void expect_carried(kvs_engine *e, uint32_t op, uint64_t timeout, uint64_t want_ttl)
{
    struct ask a;
    ask_for(&a, op, 1, buf, 8);
    kvs_xfer *x = prepared(e, &a);
    for (int i = 0; i < 3; i++) {
        uint64_t before = kvs_now_ns();
        (void)run_xfer(x);
        if (timeout == 0)
            assert_int_equal(deadline, 0);
        else
            assert_in_range(deadline, before + timeout, kvs_now_ns() + timeout);
        assert_int_equal(ttl, want_ttl);
    }
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

/* KVS-REQ-258 KVS-REQ-422: each post's own deadline, on the clock of now_ns; a ttl only where something is
 * written */
static void deadline_and_ttl(void **state)
{
    (void)state;
    toy_reset();
    toy.before = note;
    kvs_engine *e = toy_open(&store, WITH({"timeout", "35s"}, {"ttl", "5s"}));
    expect_carried(e, KVS_WRITE, KVS_SEC(35), 5000);
    expect_carried(e, KVS_READ, KVS_SEC(35), 0);
    expect_carried(e, KVS_REMOVE, KVS_SEC(35), 0);
    close_engine(e);
    e = open_with("store", WITH({"timeout", "0"}));
    expect_carried(e, KVS_WRITE, 0, 0);
    close_engine(e);
}

int main(void)
{
    store = toy_table("store");
    store.caps_native |= KVS_CAP_TTL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadline_and_ttl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
