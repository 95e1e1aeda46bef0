/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine counts. */
#include "engine_test.h"
#include "hand.h"
#include "stats.h"

#include <pthread.h>

static unsigned char memory[8 * 16];

static struct kvs_stats stats_of(kvs_engine *e)
{
    struct kvs_stats s = {.size = sizeof s};
    assert_int_equal(kvs_engine_stats(e, &s), KVS_OK);
    assert_int_equal(s.size, sizeof s);
    return s;
}

static uint64_t sum(const uint64_t *n, unsigned count)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++)
        all += n[i];
    return all;
}

/* What has to hold of any numbers. KVS-REQ-600 KVS-REQ-603 */
static void expect_sums(const struct kvs_stats *s)
{
    uint64_t transfers = 0;
    for (unsigned op = 0; op < 4; op++) {
        transfers += s->op[op].transfers;
        assert_int_equal(sum(s->op[op].latency, KVS_LATENCY_BUCKETS), s->op[op].transfers);
    }
    assert_int_equal(sum(s->ended, KVS_STATUS_SLOTS), transfers);
}

/* Ends the last post's ios with these statuses, and forgets the batch. */
static void end_all(const int *status, uint32_t n)
{
    struct kvs_batch *batch = hand_batch(0);
    assert_non_null(batch);
    hand.taken = 0;
    for (uint32_t i = 0; i < n; i++)
        hand_end(batch, i, status[i]);
}

/* Each operation, with descriptors that fail, and a post that is refused. KVS-REQ-600 KVS-REQ-601 KVS-REQ-602
 */
static void test_operations(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    struct kvs_stats s = stats_of(e);
    static const struct kvs_stats nothing = {.size = sizeof nothing};
    s.violations = 0; /* of all engines of the backend */
    assert_memory_equal(&s, &nothing, sizeof s);

    kvs_xfer *w = prep(e, KVS_WRITE, 3, memory, 16), *r = prep(e, KVS_READ, 4, memory, 16);
    kvs_xfer *q = prep(e, KVS_QUERY, 3, NULL, 0), *d = prep(e, KVS_REMOVE, 3, NULL, 0);
    post(w);
    end_all((const int[]){KVS_OK, KVS_OK, KVS_OK}, 3);
    expect_rc(kvs_xfer_check(w), KVS_OK);
    hand_answer(KVS_ACCESS);
    expect_rc(kvs_xfer_post(w), KVS_ACCESS); /* is no transfer that has ended */
    post(r);
    kvs_batch_io(hand_batch(0), 1)->actual = 15;
    end_all((const int[]){KVS_OK, KVS_OK, KVS_NOT_FOUND, KVS_TIMEOUT}, 4);
    expect_rc(kvs_xfer_check(r), KVS_MISMATCH);
    post(q);
    kvs_batch_io(hand_batch(0), 0)->actual = 1000; /* a size, which is not moved */
    end_all((const int[]){KVS_OK, KVS_NOT_FOUND, KVS_UNKNOWN}, 3);
    expect_rc(kvs_xfer_check(q), KVS_OK);
    post(d);
    end_all((const int[]){KVS_NOT_FOUND, KVS_IO, KVS_OK}, 3);
    expect_rc(kvs_xfer_check(d), KVS_IO);

    s = stats_of(e);
    expect_sums(&s);
    static const uint64_t ios[4] = {4, 3, 3, 3}, bytes[4] = {16, 48, 0, 0};
    for (unsigned op = 0; op < 4; op++) {
        assert_int_equal(s.op[op].transfers, 1);
        assert_int_equal(s.op[op].ios, ios[op]);
        assert_int_equal(s.op[op].bytes, bytes[op]);
    }
    assert_int_equal(s.ended[KVS_STATUS_SLOT(KVS_OK)], 2);
    assert_int_equal(s.ended[KVS_STATUS_SLOT(KVS_MISMATCH)], 1);
    assert_int_equal(s.ended[KVS_STATUS_SLOT(KVS_IO)], 1);
    assert_int_equal(s.io_errors[KVS_STATUS_SLOT(KVS_MISMATCH)], 1);
    assert_int_equal(s.io_errors[KVS_STATUS_SLOT(KVS_NOT_FOUND)], 1);
    assert_int_equal(s.io_errors[KVS_STATUS_SLOT(KVS_TIMEOUT)], 1);
    assert_int_equal(s.io_errors[KVS_STATUS_SLOT(KVS_IO)], 1);
    assert_int_equal(sum(s.io_errors, KVS_STATUS_SLOTS), 4);
    kvs_xfer *all[] = {w, r, q, d};
    for (unsigned i = 0; i < 4; i++)
        release(all[i]);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Every status has a place of its own. KVS-REQ-600 KVS-REQ-601 */
static void test_slots(void **state)
{
    static const int all[] = {
#define NUMBER(name, number, text) number,
        KVS_STATUS_MAP(NUMBER)};
    bool taken[KVS_STATUS_SLOTS] = {false};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] > 0)
            continue;
        assert_in_range(KVS_STATUS_SLOT(all[i]), 0, KVS_STATUS_SLOTS - 1);
        assert_false(taken[KVS_STATUS_SLOT(all[i])]);
        taken[KVS_STATUS_SLOT(all[i])] = true;
    }
}

struct seen {
    atomic_uint runs, wrong;
};

/* Posts once more each time, and sees its own end counted. */
static void look_and_post(kvs_xfer *x, int status, void *arg)
{
    struct seen *seen = arg;
    kvs_engine *e = ((struct fixture *)((char *)seen - sizeof(struct fixture)))->e;
    struct kvs_stats s = {.size = sizeof s};
    unsigned run = atomic_fetch_add(&seen->runs, 1) + 1;
    if (status != KVS_OK || kvs_engine_stats(e, &s) != KVS_OK || s.op[KVS_WRITE].transfers != run)
        atomic_fetch_add(&seen->wrong, 1);
    if (run < 50 && kvs_xfer_post(x) != KVS_IN_PROG)
        atomic_fetch_add(&seen->wrong, 1);
}

/* The end is counted when its done function, or a caller, sees it. KVS-REQ-605 */
static void test_counted_before_seen(void **state)
{
    struct {
        struct fixture f;
        struct seen seen;
    } t = {.seen = {0}};
    open_mock(&t.f, *state, "");
    kvs_xfer *x = prep_done(t.f.e, KVS_WRITE, 3, memory, 16, look_and_post, &t.seen);
    post(x);
    expect_rc(wait_end(x), KVS_OK);
    assert_int_equal(atomic_load(&t.seen.runs), 50);
    assert_int_equal(atomic_load(&t.seen.wrong), 0);
    release(x);
    x = prep(t.f.e, KVS_READ, 3, memory, 16);
    for (unsigned i = 1; i <= 50; i++) {
        int rc = kvs_xfer_post(x);
        while (rc == KVS_IN_PROG)
            rc = kvs_xfer_check(x);
        expect_rc(rc, KVS_OK);
        assert_int_equal(stats_of(t.f.e).op[KVS_READ].transfers, i);
    }
    release(x);
    close_mock(&t.f);
}

/* A held end counts as it stands, with what is open as TIMEOUT, and late completions count nothing.
 * KVS-REQ-600 KVS-REQ-601 KVS-REQ-604 KVS-REQ-605 */
static void test_held(void **state)
{
    (void)state;
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    kvs_engine *e = open_engine("hand-stiff:?timeout=20ms&cancel_grace=1ms");
    kvs_xfer *x = prep(e, KVS_WRITE, 3, memory, 16);
    post_short(x);
    struct kvs_batch *batch = hand_batch(0);
    hand_end(batch, 1, KVS_OK);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    struct kvs_stats s = stats_of(e);
    expect_sums(&s);
    uint64_t ok = status_of(x, 1) == KVS_OK; /* unless the machine was too busy */
    assert_int_equal(s.op[KVS_WRITE].transfers, 1);
    assert_int_equal(s.op[KVS_WRITE].bytes, 16 * ok);
    assert_int_equal(s.ended[KVS_STATUS_SLOT(KVS_TIMEOUT)], 1);
    assert_int_equal(s.io_errors[KVS_STATUS_SLOT(KVS_TIMEOUT)], 3 - ok);
    assert_int_equal(s.held_transfers, 1);
    assert_int_equal(s.held_bytes, 48);
    hand_end(batch, 0, KVS_OK);
    assert_int_equal(stats_of(e).held_transfers, 1);
    hand_end(batch, 2, KVS_OK);
    s.held_transfers = s.held_bytes = 0;
    struct kvs_stats after = stats_of(e);
    assert_memory_equal(&after, &s, sizeof s);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    kvs_set_log(NULL, NULL, -1);
}

static void abandon_it(kvs_xfer *x, int status, void *arg)
{
    (void)status;
    (void)arg;
    kvs_xfer_abandon(x);
}

/* KVS-REQ-604 */
static void test_abandoned(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 2, memory, 16);
    kvs_xfer_abandon(x); /* it did not run: it is gone */
    assert_int_equal(stats_of(e).abandoned, 0);
    x = prep_done(e, KVS_READ, 1, memory, 16, abandon_it, NULL);
    post(x); /* it has ended when it abandons itself */
    end_all((const int[]){KVS_OK}, 1);
    assert_int_equal(stats_of(e).abandoned, 0);
    x = prep_done(e, KVS_READ, 2, memory, 16, abandon_it, NULL);
    post(x);
    kvs_xfer_abandon(x);
    struct kvs_stats s = stats_of(e);
    assert_int_equal(s.abandoned, 1);
    assert_int_equal(s.held_transfers, 1);
    assert_int_equal(s.held_bytes, 32);
    assert_int_equal(s.op[KVS_READ].transfers, 1);
    end_all((const int[]){KVS_CANCELED, KVS_CANCELED}, 2);
    s = stats_of(e);
    expect_sums(&s);
    assert_int_equal(s.abandoned, 1);
    assert_int_equal(s.held_transfers, 0);
    assert_int_equal(s.held_bytes, 0);
    assert_int_equal(s.ended[KVS_STATUS_SLOT(KVS_CANCELED)], 1);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* From post to the last completion, and no longer. KVS-REQ-602 KVS-REQ-603 */
static void test_latency(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 1, memory, 16);
    uint64_t least = 0, most = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t t0 = now_ns();
        post(x);
        uint64_t t1 = now_ns();
        pause_briefly();
        uint64_t t2 = now_ns();
        end_all((const int[]){KVS_OK}, 1);
        uint64_t t3 = now_ns();
        least += t2 - t1;
        most += t3 - t0;
    }
    struct kvs_stats s = stats_of(e);
    assert_in_range(s.op[KVS_READ].ns, least, most);
    assert_in_range(kvs_latency_quantile(s.op[KVS_READ].latency, 1), least / 3, 2 * most);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* KVS-REQ-603 */
static void test_quantiles(void **state)
{
    static const uint64_t floors[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32};
    uint64_t latency[KVS_LATENCY_BUCKETS] = {0};
    (void)state;
    for (unsigned i = 0; i < sizeof floors / sizeof floors[0]; i++)
        assert_int_equal(kvs_latency_floor(i), floors[i]);
    for (unsigned i = 0; i + 2 < KVS_LATENCY_BUCKETS; i++) { /* where a time is counted */
        assert_int_equal(kvs_latency_bucket(kvs_latency_floor(i)), i);
        assert_int_equal(kvs_latency_bucket(kvs_latency_floor(i + 1) - 1), i);
    }
    for (unsigned i = 4; i < KVS_LATENCY_BUCKETS; i++) /* four to each power of two */
        assert_int_equal(kvs_latency_floor(i), (UINT64_C(4) + i % 4) << (i / 4 - 1));
    assert_true(kvs_latency_floor(KVS_LATENCY_BUCKETS - 1) > KVS_SEC(1800));
    assert_int_equal(kvs_latency_floor(KVS_LATENCY_BUCKETS), UINT64_MAX);

    assert_int_equal(kvs_latency_quantile(NULL, 0.5), 0);
    assert_int_equal(kvs_latency_quantile(latency, 0.5), 0);
    latency[5] = 90; /* 5 ns */
    latency[12] = 9; /* 16 to 19 ns */
    latency[20] = 1; /* 64 to 79 ns */
    assert_int_equal(kvs_latency_quantile(latency, -1), 5);
    assert_int_equal(kvs_latency_quantile(latency, 0), 5);
    assert_int_equal(kvs_latency_quantile(latency, 0.5), 5);
    assert_int_equal(kvs_latency_quantile(latency, 0.9), 5);
    assert_int_equal(kvs_latency_quantile(latency, 0.91), 19);
    assert_int_equal(kvs_latency_quantile(latency, 0.98), 19);
    assert_int_equal(kvs_latency_quantile(latency, 1), 79);
    assert_int_equal(kvs_latency_quantile(latency, 2), 79);
    latency[KVS_LATENCY_BUCKETS - 1] = 1000;
    assert_int_equal(kvs_latency_quantile(latency, 0.5), UINT64_MAX);
}

/* The smaller of both sizes is set, and no more. */
static void test_sizes(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 2, memory, 16);
    post(x);
    end_all((const int[]){KVS_OK, KVS_OK}, 2);
    release(x);
    struct kvs_stats s;
    memset(&s, 0xee, sizeof s);
    s.size = offsetof(struct kvs_stats, op[1]);
    expect_rc(kvs_engine_stats(e, &s), KVS_OK);
    assert_int_equal(s.size, offsetof(struct kvs_stats, op[1]));
    assert_int_equal(s.op[KVS_READ].ios, 2);
    for (const unsigned char *p = (const unsigned char *)&s.op[1]; p < (const unsigned char *)(&s + 1); p++)
        assert_int_equal(*p, 0xee);
    struct {
        struct kvs_stats s;
        char more[64];
    } later;
    memset(&later, 0xee, sizeof later);
    later.s.size = sizeof later;
    expect_rc(kvs_engine_stats(e, &later.s), KVS_OK);
    assert_int_equal(later.s.size, sizeof s);
    assert_int_equal((unsigned char)later.more[0], 0xee);
    s.size = 0;
    expect_rc(kvs_engine_stats(e, &s), KVS_INVALID_PARAM);
    expect_rc(kvs_engine_stats(e, NULL), KVS_INVALID_PARAM);
    expect_rc(kvs_engine_stats(NULL, &s), KVS_INVALID_PARAM);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

#define THREADS 6

struct many {
    kvs_engine *e;
    unsigned rounds;
    atomic_uint over, wrong;
};

static void *post_many(void *arg)
{
    struct many *m = arg;
    static unsigned char sources[64];
    kvs_xfer *x = NULL;
    struct kvs_error err;
    if (prep_rc(m->e, KVS_WRITE, 4, sources, 16, NULL, NULL, &x, &err) != KVS_OK)
        atomic_fetch_add(&m->wrong, 1);
    for (unsigned i = 0; x && i < m->rounds; i++) {
        int rc = kvs_xfer_post(x);
        if (rc == KVS_IN_PROG)
            rc = kvs_xfer_wait(x, LONG);
        if (rc != KVS_OK)
            atomic_fetch_add(&m->wrong, 1);
    }
    if (kvs_xfer_release(x, LONG) != KVS_OK)
        atomic_fetch_add(&m->wrong, 1);
    atomic_fetch_add(&m->over, 1);
    return NULL;
}

/* Nothing is lost where many threads count at once, while others look. KVS-REQ-600 KVS-REQ-602 */
static void test_threads(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct many m = {.e = f.e, .rounds = ROUNDS(2000)};
    pthread_t t[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, post_many, &m), 0);
    while (atomic_load(&m.over) < THREADS) {
        struct kvs_stats s = stats_of(f.e);
        expect_sums(&s);
        assert_int_equal(s.op[KVS_WRITE].ios, 4 * s.op[KVS_WRITE].transfers);
        pause_briefly();
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(t[i], NULL), 0);
    assert_int_equal(atomic_load(&m.wrong), 0);
    struct kvs_stats s = stats_of(f.e);
    expect_sums(&s);
    assert_int_equal(s.op[KVS_WRITE].transfers, THREADS * m.rounds);
    assert_int_equal(s.op[KVS_WRITE].bytes, UINT64_C(64) * THREADS * m.rounds);
    assert_int_equal(s.ended[0], THREADS * m.rounds);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_slots),
        EACH_MODEL(test_counted_before_seen),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_sizes),
        EACH_MODEL(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
