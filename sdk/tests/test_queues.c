/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of transfers that wait: for a worker, and for a backend that said AGAIN. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

#define N 60

/* Whoever follows this link crashes. */
#define POISON ((struct kvs_xfer *)(uintptr_t)8)

static unsigned char memory[16];

/* A queue of which only the links of [from, to] may be followed. */
static void make_queue(struct kvs_engine *e, struct kvs_list *list, enum kvs_list_kind kind,
                       struct kvs_xfer *x, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < N; i++) {
        x[i] = (struct kvs_xfer){.engine = e, .count = 1};
        kvs_list_add(list, kind, &x[i], false);
    }
    for (uint32_t i = 0; i < N; i++)
        if (i < from || i > to)
            x[i].link[kind].prev = x[i].link[kind].next = POISON;
}

/* A transfer leaves its queue without a look at any but its neighbours, so that to cancel n of them takes n
 * steps, wherever they stand. KVS-REQ-125 KVS-REQ-254 */
static void test_leaving_takes_one_step(void **state)
{
    struct kvs_engine *e = calloc(1, sizeof *e);
    struct kvs_xfer *x = calloc(N, sizeof *x);
    (void)state;
    assert_true(e && x);
    for (uint32_t at = 0; at < N; at++) {
        uint32_t from = at > 0 ? at - 1 : 0, to = at + 1 < N ? at + 1 : at;
        e->again = (struct kvs_list){NULL, NULL};
        kvs_a64_store(&e->again_count, N);
        make_queue(e, &e->again, KVS_IN_AGAIN, x, from, to);
        assert_true(kvs_again_take(&x[at]));
        assert_false(kvs_again_take(&x[at]));
        assert_int_equal(kvs_a64_load(&e->again_count), N - 1);
        assert_ptr_equal(e->again.head, &x[at == 0]);
        assert_ptr_equal(e->again.tail, &x[N - 1 - (at == N - 1)]);
        if (at > 0 && at + 1 < N) {
            assert_ptr_equal(x[from].link[KVS_IN_AGAIN].next, &x[to]);
            assert_ptr_equal(x[to].link[KVS_IN_AGAIN].prev, &x[from]);
        }
    }
    kvs_mutex_init(&e->pool.lock);
    for (uint32_t at = 0; at < N; at++) {
        uint32_t left = 77;
        e->pool.list = (struct kvs_list){NULL, NULL};
        e->pool.queued = N;
        make_queue(e, &e->pool.list, KVS_IN_POOL, x, at > 0 ? at - 1 : 0, at + 1 < N ? at + 1 : at);
        kvs_pool_take(&x[at], &left);
        assert_int_equal(left, 0);
        assert_int_equal(e->pool.queued, N - 1);
        kvs_pool_take(&x[at], &left);
        assert_int_equal(left, 1); /* nothing was left to be taken */
    }
    kvs_mutex_destroy(&e->pool.lock);
    free(x);
    free(e);
}

/* ---- Those that stay keep their order ---- */

static atomic_bool open_now;
static struct kvs_batch *came[N]; /* written by submit only, which is called by one thread at a time */
static atomic_uint arrivals;

static int when_open(struct kvs_batch *batch)
{
    if (!atomic_load(&open_now))
        return KVS_AGAIN;
    unsigned n = atomic_load(&arrivals);
    if (n < N)
        came[n] = batch;
    atomic_store(&arrivals, n + 1); /* who sees it sees the batch */
    return KVS_OK;
}

/* Cancels about half of the transfers, in any order; gone[i]: it was. */
static void cancel_some(kvs_xfer **x, bool *gone, uint64_t *seed)
{
    for (int i = 0; i < N; i++) {
        uint32_t at = next_random(seed) % N;
        expect_rc(kvs_xfer_cancel(x[at]), KVS_OK);
        gone[at] = true;
    }
}

/* KVS-REQ-121 KVS-REQ-125 */
static void test_again_order(void **state)
{
    (void)state;
    uint64_t seed = 1;
    hand_reset();
    hand.on_submit = when_open;
    atomic_store(&open_now, false);
    atomic_store(&arrivals, 0);
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x[N];
    bool gone[N] = {false};
    for (int i = 0; i < N; i++) {
        x[i] = prep(e, KVS_WRITE, 1, memory, 16);
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
    }
    cancel_some(x, gone, &seed);
    uint32_t left = 0;
    for (int i = 0; i < N; i++) {
        if (!gone[i]) {
            left++;
            continue;
        }
        expect_rc(wait_end(x[i]), KVS_CANCELED);
        release(x[i]);
    }
    atomic_store(&open_now, true);
    eventually(kvs_engine_progress(e) == KVS_OK && atomic_load(&arrivals) == left);
    left = 0;
    for (int i = 0; i < N; i++) {
        if (gone[i])
            continue;
        assert_ptr_equal(came[left], &x[i]->batch);
        hand_end(came[left++], 0, KVS_OK);
        expect_rc(wait_end(x[i]), KVS_OK);
        release(x[i]);
    }
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* What waits for a worker goes at once, and the others are all done. KVS-REQ-254 KVS-REQ-420 */
static void test_pool_queue(void **state)
{
    struct fixture f;
    (void)state;
    uint64_t seed = 1;
    open_mock(&f, "blocking", "hold=yes&threads=1");
    kvs_xfer *first = prep(f.e, KVS_WRITE, 1, memory, 16), *x[N];
    bool gone[N] = {false};
    expect_rc(kvs_xfer_post(first), KVS_IN_PROG);
    wait_held(&f, 1);
    for (int i = 0; i < N; i++) {
        x[i] = prep(f.e, KVS_WRITE, 1 + (uint32_t)i % 3, memory, i % 3 ? 0 : 16);
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
    }
    cancel_some(x, gone, &seed);
    for (int i = 0; i < N; i++)
        expect_rc(kvs_xfer_check(x[i]), gone[i] ? KVS_CANCELED : KVS_IN_PROG);
    for (int i = 0; i < N; i++) {
        eventually(kvs_mock_let_go(f.store, SIZE_MAX) <= 1 && kvs_xfer_check(x[i]) != KVS_IN_PROG);
        expect_rc(kvs_xfer_check(x[i]), gone[i] ? KVS_CANCELED : KVS_OK);
        release(x[i]);
    }
    expect_rc(wait_end(first), KVS_OK);
    release(first);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaving_takes_one_step),
        cmocka_unit_test(test_again_order),
        cmocka_unit_test(test_pool_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
