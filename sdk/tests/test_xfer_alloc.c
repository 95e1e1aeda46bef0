/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Post, check and wait allocate nothing once a transfer was posted, and read the clock seldom. The linker
 * puts the counting functions below in front of the allocator and the clock, for the objects of this program,
 * the SDK's among them: so it works beside sanitizers.
 */
#include "engine_test.h"
#include "hand.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

static atomic_uint allocations; /* by any thread */
static _Thread_local unsigned clock_reads;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    clock_reads++;
    return __real_clock_gettime(clock, t);
}

void *__wrap_malloc(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_aligned_alloc(align, size);
}

static unsigned char memory[8 * 16];

/* Else all the other tests would pass for nothing. */
static void test_counting(void **state)
{
    (void)state;
    unsigned before = atomic_load(&allocations);
    hand_reset();
    kvs_engine *e = open_engine("hand");
    assert_true(atomic_load(&allocations) > before);
    before = atomic_load(&allocations);
    kvs_xfer *x = prep(e, KVS_READ, 8, memory, 16);
    assert_true(atomic_load(&allocations) > before);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A READ of the mock copies into our memory and needs none of its own. KVS-REQ-115 */
static void test_no_allocation(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *w = prep(f.e, KVS_WRITE, 8, memory, 16), *r = prep(f.e, KVS_READ, 8, memory, 16);
    expect_rc(run_it(w), KVS_OK);
    for (int i = 0; i < 20; i++) /* every worker has started */
        expect_rc(run_it(r), KVS_OK);
    unsigned before = atomic_load(&allocations);
    for (int i = 0; i < 1000; i++) {
        int rc = kvs_xfer_post(r);
        while (i % 2 == 0 && rc == KVS_IN_PROG)
            rc = kvs_xfer_check(r);
        if (rc == KVS_IN_PROG)
            rc = kvs_xfer_wait(r, LONG);
        if (rc != KVS_OK)
            expect_rc(rc, KVS_OK);
    }
    assert_int_equal(atomic_load(&allocations), before);
    release(w);
    release(r);
    close_mock(&f);
}

static int end_all(struct kvs_batch *batch)
{
    hand.host->complete_rest(batch, KVS_OK);
    return KVS_OK;
}

/* One for its deadline and one for how long it took, however many descriptors it has. KVS-REQ-177 */
static void test_clock_reads(void **state)
{
    (void)state;
    hand_reset();
    hand.on_submit = end_all;
    kvs_engine *e = open_engine("hand");
    for (uint32_t n = 1; n <= 8; n += 7) {
        kvs_xfer *x = prep(e, KVS_WRITE, n, memory, 16);
        unsigned before = clock_reads;
        for (int i = 0; i < 100; i++)
            expect_rc(kvs_xfer_post(x), KVS_OK);
        assert_in_range(clock_reads - before, 1, 200);
        release(x);
    }
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static atomic_uint ends;

static void count_end(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)arg;
    atomic_fetch_add(&ends, status == KVS_OK);
}

/* Nor with a done function, nor with a cancel, nor with buffers of the SDK's. KVS-REQ-115 */
static void test_no_allocation_with_done(void **state)
{
    hand_reset();
    atomic_store(&ends, 0);
    kvs_engine *e = open_engine(*state);
    kvs_xfer *x = prep_done(e, KVS_WRITE, 8, memory, 16, count_end, NULL);
    unsigned before = 0;
    for (unsigned i = 0; i < 1000; i++) {
        if (i == 1)
            before = atomic_load(&allocations);
        post(x);
        struct kvs_batch *batch = hand_batch(0);
        hand.taken = 0;
        kvs_xfer_cancel(x);
        for (uint32_t k = 0; k < 8; k++)
            hand_end(batch, k, KVS_OK);
        if (kvs_xfer_check(x) != KVS_OK)
            fail();
    }
    assert_int_equal(atomic_load(&allocations), before);
    assert_int_equal(atomic_load(&ends), 1000);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A post itself takes none either where the round before had failed, and where it is refused. KVS-REQ-115 */
static void test_no_allocation_after_failure(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 8, memory, 16);
    for (int i = 0; i < 20; i++) {
        unsigned before = atomic_load(&allocations);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        if (i > 0)
            assert_int_equal(atomic_load(&allocations), before);
        hand.host->io_error(hand_batch(0)->ios, "io %d has failed", i);
        hand.host->complete_rest(hand_batch(0), KVS_IO);
        hand.taken = 0;
        expect_rc(kvs_xfer_check(x), KVS_IO);
        before = atomic_load(&allocations);
        hand_answer(KVS_FULL);
        expect_rc(kvs_xfer_post(x), KVS_FULL);
        assert_int_equal(atomic_load(&allocations), before);
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    static char plain[] = "hand", bounce[] = "hand:?bounce=yes";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_clock_reads),
        EACH_MODEL(test_no_allocation),
        {"test_no_allocation_with_done", test_no_allocation_with_done, NULL, NULL, plain},
        {"test_no_allocation_with_done (bounce)", test_no_allocation_with_done, NULL, NULL, bounce},
        cmocka_unit_test(test_no_allocation_after_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
