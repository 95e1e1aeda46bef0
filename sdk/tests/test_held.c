/* SPDX-License-Identifier: Apache-2.0 */
/* The list of memory that held and abandoned transfers keep in use, and what an abandoned engine leaks. */
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[8 * 16];

#define MOST 8

struct list {
    kvs_engine *e;
    struct kvs_held held[MOST];
    unsigned n;
    int answer;
};

static int keep(void *arg, const struct kvs_held *held)
{
    struct list *l = arg;
    struct kvs_stats s = {.size = sizeof s};
    assert_int_equal(kvs_engine_stats(l->e, &s), KVS_OK); /* it may call the SDK */
    assert_true(l->n < MOST);
    l->held[l->n++] = *held;
    return l->answer;
}

static struct list list_of(kvs_engine *e)
{
    struct list l = {.e = e};
    assert_int_equal(kvs_engine_held(e, keep, &l), KVS_OK);
    return l;
}

static void expect_piece(const struct kvs_held *h, unsigned i, uint32_t op, uint32_t flags, uint64_t posted)
{
    assert_int_equal(h->addr, (uint64_t)(uintptr_t)memory + i * 16);
    assert_int_equal(h->len, 16);
    assert_int_equal(h->op, op);
    assert_int_equal(h->flags, flags);
    assert_in_range(h->age_ns, 1, now_ns() - posted);
}

/* All the memory of a held transfer, until its last late completion. KVS-REQ-284 */
static void test_of_held(void **state)
{
    (void)state;
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    kvs_engine *e = open_engine("hand-stiff:?timeout=20ms&cancel_grace=1ms");
    kvs_xfer *idle = prep(e, KVS_READ, 2, memory, 16), *x = prep(e, KVS_READ, 3, memory, 16);
    kvs_xfer *empty = prep(e, KVS_WRITE, 2, memory, 0), *query = prep(e, KVS_QUERY, 1, NULL, 0);
    uint64_t posted = now_ns();
    post_short(x);
    struct kvs_batch *batch = hand_batch(0);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    post_short(empty);
    post_short(query);
    expect_rc(wait_end(empty), KVS_TIMEOUT);
    expect_rc(wait_end(query), KVS_TIMEOUT);
    struct list l = list_of(e);
    assert_int_equal(l.n, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_piece(&l.held[i], i, KVS_READ, KVS_HELD_OPEN, posted);
    assert_true(l.held[0].age_ns >= KVS_MS(20));
    hand_end(batch, 1, KVS_OK);
    l = list_of(e);
    assert_int_equal(l.n, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_piece(&l.held[i], i, KVS_READ, i == 1 ? 0 : KVS_HELD_OPEN, posted);
    l = (struct list){.e = e, .answer = 17};
    assert_int_equal(kvs_engine_held(e, keep, &l), 17);
    assert_int_equal(l.n, 1);
    hand_end(batch, 0, KVS_OK);
    hand_end(batch, 2, KVS_OK);
    assert_int_equal(list_of(e).n, 0);
    hand.host->complete_rest(hand_batch(1), KVS_OK);
    hand.host->complete_rest(hand_batch(2), KVS_OK);
    kvs_xfer *all[] = {idle, x, empty, query};
    for (unsigned i = 0; i < 4; i++)
        release(all[i]);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    kvs_set_log(NULL, NULL, -1);
}

/* KVS-REQ-284 */
static void test_of_abandoned(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16), *runs = prep(e, KVS_READ, 2, memory, 16);
    uint64_t posted = now_ns();
    post(x);
    post(runs);
    assert_int_equal(list_of(e).n, 0); /* they run, and somebody waits for them */
    kvs_xfer_abandon(x);
    struct list l = list_of(e);
    assert_int_equal(l.n, 2);
    for (unsigned i = 0; i < 2; i++)
        expect_piece(&l.held[i], i, KVS_WRITE, KVS_HELD_OPEN | KVS_HELD_ABANDONED, posted);
    for (unsigned i = 0; i < 2; i++)
        hand.host->complete_rest(hand_batch(i), KVS_OK);
    assert_int_equal(list_of(e).n, 0);
    release(runs);
    expect_rc(kvs_engine_held(e, NULL, NULL), KVS_INVALID_PARAM);
    expect_rc(kvs_engine_held(NULL, keep, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* KVS-REQ-288 KVS-REQ-293 */
static void test_leaks(void **state)
{
    (void)state;
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    struct kvs_leaks before = {.size = sizeof before}, after = before;
    expect_rc(kvs_engine_leaks(&before), KVS_OK);
    kvs_engine *e = open_engine("hand");
    kvs_engine_abandon(e); /* nothing runs: closed */
    expect_rc(kvs_engine_leaks(&after), KVS_OK);
    assert_memory_equal(&after, &before, sizeof after);
    e = open_engine("hand");
    kvs_xfer *idle = prep(e, KVS_READ, 8, memory, 16), *x = prep(e, KVS_WRITE, 3, memory, 16);
    post(x);
    kvs_engine_abandon(e);
    expect_rc(kvs_engine_leaks(&after), KVS_OK);
    assert_int_equal(after.engines, before.engines + 1);
    assert_int_equal(after.transfers, before.transfers + 1);
    assert_int_equal(after.bytes, before.bytes + 48);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    release(x);
    release(idle);
    after = (struct kvs_leaks){.size = offsetof(struct kvs_leaks, transfers), .bytes = 77};
    expect_rc(kvs_engine_leaks(&after), KVS_OK);
    assert_int_equal(after.size, offsetof(struct kvs_leaks, transfers));
    assert_int_equal(after.engines, before.engines + 1);
    assert_int_equal(after.bytes, 77);
    after.size = 0;
    expect_rc(kvs_engine_leaks(&after), KVS_INVALID_PARAM);
    expect_rc(kvs_engine_leaks(NULL), KVS_INVALID_PARAM);
    kvs_set_log(NULL, NULL, -1);
}

static unsigned dones;

static void count_done(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    (void)arg;
    dones++;
}

/* The transfers of an engine that was abandoned come to their ends. KVS-REQ-299 */
static void test_done_after_abandon(void **state)
{
    (void)state;
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    dones = 0;
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, count_done, NULL);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    kvs_engine_abandon(e);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    assert_int_equal(dones, 1);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    release(x);
    kvs_set_log(NULL, NULL, -1);
}

static uint64_t leaked_with(kvs_engine *e)
{
    struct kvs_leaks before = {.size = sizeof before}, after = before;
    expect_rc(kvs_engine_leaks(&before), KVS_OK);
    kvs_engine_abandon(e);
    expect_rc(kvs_engine_leaks(&after), KVS_OK);
    assert_int_equal(after.engines, before.engines + 1);
    return after.bytes - before.bytes;
}

/* What is the callers' is counted in one way: of what is held, and of what is leaked. KVS-REQ-293 KVS-REQ-604
 */
static void test_bytes(void **state)
{
    (void)state;
    kvs_set_log(no_log, NULL, -1);
    for (int bounce = 0; bounce < 2; bounce++) {
        hand_reset();
        kvs_engine *e = open_engine(bounce ? "hand-stiff:?timeout=20ms&cancel_grace=1ms&bounce=yes"
                                           : "hand-stiff:?timeout=20ms&cancel_grace=1ms");
        kvs_xfer *held[] = {prep(e, KVS_READ, 2, memory, 16), prep(e, KVS_WRITE, 3, memory, 16)};
        for (int i = 0; i < 2; i++) {
            post_short(held[i]);
            expect_rc(wait_end(held[i]), KVS_TIMEOUT);
        }
        struct kvs_stats s = {.size = sizeof s};
        assert_int_equal(kvs_engine_stats(e, &s), KVS_OK);
        assert_int_equal(s.held_transfers, 2);
        assert_int_equal(s.held_bytes, bounce ? 0 : 5 * 16);
        assert_int_equal(leaked_with(e), s.held_bytes);
        for (uint32_t i = 0; i < 2; i++) {
            hand.host->complete_rest(hand_batch(i), KVS_OK);
            release(held[i]);
        }
    }
    hand_reset(); /* of what runs, a READ may yet be copied to its caller */
    kvs_engine *e = open_engine("hand:?bounce=yes");
    kvs_xfer *runs[] = {prep(e, KVS_READ, 2, memory, 16), prep(e, KVS_WRITE, 3, memory, 16)};
    for (int i = 0; i < 2; i++)
        expect_rc(kvs_xfer_post(runs[i]), KVS_IN_PROG);
    assert_int_equal(leaked_with(e), 2 * 16);
    for (uint32_t i = 0; i < 2; i++) {
        hand.host->complete_rest(hand_batch(i), KVS_OK);
        release(runs[i]);
    }
    kvs_set_log(NULL, NULL, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_held), cmocka_unit_test(test_of_abandoned),
        cmocka_unit_test(test_leaks),   cmocka_unit_test(test_done_after_abandon),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
