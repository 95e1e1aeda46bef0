/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and offsets above 4 GiB, where a length that is cut to 32 bits looks like a small one. The memory is
 * only reserved, and the store looks at nothing but lengths.
 */
#include "engines.h"
#include "toy.h"

#include <sys/mman.h>

#define GIB UINT64_C(0x40000000)
#define BIG (5 * GIB + 7)

/* A value of a size that no memory has is an answer here, not the end of the program. */
KVS_EXPORT const char *__asan_default_options(void);
KVS_EXPORT const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static struct kvs_backend store, limited;
static kvs_engine *e;
static char *memory;    /* BIG bytes that nobody may touch */
static uint64_t stored; /* what the store says that a value has; from a ranged READ's offset on */

/* What the store was asked for last. */
static struct {
    uint64_t len, offset, bytes;
    const char *base;
    uint32_t flags;
} seen;

static void look(const struct kvs_io *io)
{
    seen.len = io->len;
    seen.offset = io->offset;
    seen.flags = io->flags;
    seen.base = io->iovcnt ? io->iov[0].iov_base : NULL;
    seen.bytes = io->iovcnt ? io->iov[0].iov_len : 0;
}

static int put(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    look(io);
    return KVS_OK;
}

static int get(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    look(io);
    io->actual = stored;
    return KVS_OK;
}

static int setup(void **state)
{
    (void)state;
    toy_reset();
    memory = mmap(NULL, BIG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    e = toy_open(&store, WITH({"threads", "1"})); /* which writes to `seen` */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close_engine(e);
    munmap(memory, BIG);
    return 0;
}

/* KVS-REQ-002: whole values */
static void values(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    expect_status(kvs_put(e, "k", 1, memory, BIG, &err), KVS_OK, &err);
    assert_true(seen.len == BIG && seen.bytes == BIG && seen.base == memory);
    stored = BIG;
    expect_status(kvs_get(e, "k", 1, memory, BIG, &err), KVS_OK, &err);
    assert_true(seen.len == BIG && seen.bytes == BIG);
    struct ask a;
    ask_for(&a, KVS_READ, 1, memory, BIG);
    kvs_xfer *x = prepared(e, &a);
    assert_int_equal(run_xfer(x), KVS_OK);
    assert_true(bytes_of(x, 0) == BIG);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

/* KVS-REQ-350: lengths that differ by 4 GiB are not the same */
static void mismatches(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    static const uint64_t rows[][2] = {
        {BIG, BIG - 4 * GIB}, {7, 7 + 4 * GIB}, {0, 4 * GIB}, {BIG, BIG + 4 * GIB}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char numbers[96];
        stored = rows[i][1];
        expect_status(kvs_get(e, "k", 1, memory, rows[i][0], &err), KVS_MISMATCH, &err);
        snprintf(numbers, sizeof numbers, "has %llu bytes; %llu were expected",
                 (unsigned long long)rows[i][1], (unsigned long long)rows[i][0]);
        expect_text(err.text, numbers);
    }
}

/* KVS-REQ-068 KVS-REQ-070 KVS-REQ-355: parts, by a registration and by offsets */
static void parts(void **state)
{
    (void)state;
    uint64_t whole = UINT64_C(1) << 40, at = 9 * GIB + 1;
    kvs_mem *there = registered(e, KVS_MEM_OBJECT, 1, "k", 3 * GIB, whole);
    struct ask a;
    ask_lists(&a, KVS_READ, 1, memory, BIG);
    a.remote.type = KVS_MEM_OBJECT;
    a.r[0] = (struct kvs_desc){.mem = there, .addr = 3 * GIB + at, .len = BIG};
    stored = BIG;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    assert_true(seen.offset == at && seen.len == BIG && seen.flags == KVS_IO_RANGED);
    stored = BIG - 4 * GIB; /* the value ends inside the range */
    assert_int_equal(run_ask(e, &a), KVS_MISMATCH);
    a.r[0].addr = 3 * GIB + whole - BIG + 1;
    unprepared(e, &a, KVS_INVALID_PARAM, "past the end of its registration of 1099511627776");
    a.r[0].addr = 3 * GIB - 1;
    unprepared(e, &a, KVS_INVALID_PARAM, "below");
    deregistered(e, there);
    uint64_t offset = UINT64_MAX - BIG;
    ask_for(&a, KVS_READ, 1, memory, BIG);
    a.req.offsets = &offset;
    stored = BIG;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    assert_true(seen.offset == UINT64_MAX - BIG);
    offset++;
    unprepared(e, &a, KVS_INVALID_PARAM, "overflows");
}

/* KVS-REQ-064: local descriptors inside a registration, and beside it by 4 GiB */
static void local_memory(void **state)
{
    (void)state;
    kvs_mem *here = registered(e, KVS_MEM_DRAM, 1, NULL, (uint64_t)(uintptr_t)memory, BIG);
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, memory, 8);
    a.l[0].mem = a.l[1].mem = here;
    a.l[1].addr = (uint64_t)(uintptr_t)memory + BIG - 8;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    a.l[1].addr++;
    unprepared(e, &a, KVS_INVALID_PARAM, "descriptor 1: 8 bytes");
    a.l[1].addr = (uint64_t)(uintptr_t)memory + 4 * GIB * 2;
    unprepared(e, &a, KVS_INVALID_PARAM, "not inside");
    a.l[1].addr = (uint64_t)(uintptr_t)memory;
    a.l[1].len = BIG + 4 * GIB;
    unprepared(e, &a, KVS_INVALID_PARAM, "not inside");
    deregistered(e, here);
}

/* KVS-REQ-370 KVS-REQ-381: what QUERY finds, and what kvs_get_alloc makes of it */
static void sizes(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    static const uint64_t found[] = {BIG, 4 * GIB, UINT64_C(1) << 62, UINT64_MAX - 2};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        uint64_t size = 0;
        void *data = memory;
        toy_set("k", 'v', 1);
        toy.actual = found[i];
        expect_status(kvs_query(e, "k", 1, &size, &err), KVS_OK, &err);
        assert_true(size == found[i]);
        expect_status(kvs_get_alloc(e, "k", 1, found[i] - 1, &data, &size, &err), KVS_TOO_LARGE, &err);
        assert_null(data);
        if (found[i] < UINT64_C(1) << 62)
            continue;
        expect_status(kvs_get_alloc(e, "k", 1, UINT64_MAX, &data, &size, &err), KVS_NO_MEMORY, &err);
        assert_null(data);
    }
}

/* KVS-REQ-430: a limit above 4 GiB, at its edge */
static void limit(void **state)
{
    (void)state;
    kvs_engine *l = toy_open(&limited, NULL);
    struct kvs_error err = {0};
    expect_status(kvs_put(l, "k", 1, memory, 5 * GIB, &err), KVS_OK, &err);
    expect_status(kvs_put(l, "k", 1, memory, 5 * GIB + 1, &err), KVS_TOO_LARGE, &err);
    expect_text(err.text, "5368709121 bytes");
    close_engine(l);
}

/* KVS-REQ-600: sums of many */
static void sums(void **state)
{
    (void)state;
    enum { N = 65536 };
    struct kvs_desc *d = calloc(N, sizeof *d);
    struct kvs_key *keys = calloc(N, sizeof *keys);
    assert_true(d && keys);
    for (size_t i = 0; i < N; i++) {
        d[i] = (struct kvs_desc){.addr = (uint64_t)(uintptr_t)memory, .len = BIG};
        keys[i] = (struct kvs_key){"k", 1};
    }
    struct ask a;
    ask_for(&a, KVS_WRITE, 0, NULL, 0);
    a.local = (struct kvs_dlist){d, N, 0, KVS_MEM_DRAM};
    a.req.keys = keys;
    a.req.nkeys = N;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    struct kvs_stats s = {.size = sizeof s};
    assert_int_equal(kvs_engine_stats(e, &s), KVS_OK);
    assert_true(s.op[KVS_WRITE].ios == N && s.op[KVS_WRITE].bytes == N * BIG);
    free(d);
    free(keys);
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    store = toy_table("large");
    store.put = put;
    store.get = get;
    limited = store;
    limited.name = "limited";
    limited.max_value = 5 * GIB;
    const struct CMUnitTest tests[] = {
        WITH_ENGINE(values), WITH_ENGINE(mismatches), WITH_ENGINE(parts), WITH_ENGINE(local_memory),
        WITH_ENGINE(sizes),  WITH_ENGINE(limit),      WITH_ENGINE(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
