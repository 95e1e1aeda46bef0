/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: values, keys, readers beside writers. */
#include "fresh_pages.h"
#include "util.h"

#include <pthread.h>
#include <stdatomic.h>

/* KVS-REQ-088: a cursor goes from page to page, and nothing is open while the caller looks: it may write
 * meanwhile */
struct listing {
    kvs_engine *other;
    int n;
};

static int see(void *arg, const void *key, size_t len, uint64_t size)
{
    struct listing *listing = arg;
    int number = -1;
    char text[32] = "";
    memcpy(text, key, len < sizeof(text) ? len : sizeof(text) - 1);
    assert_int_equal(sscanf(text, "p/%4d", &number), 1);
    assert_int_equal(number, listing->n++); /* LMDB's order is ours here */
    assert_int_equal(size, number % 7);
    static char value[4096];
    assert_int_equal(put_text(listing->other, "q/elsewhere", value, sizeof(value)), KVS_OK);
    return 0;
}

static void test_list(void **state)
{
    (void)state;
    enum { N = 600 };
    const char *folder = fresh_folder();
    struct listing listing = {.n = 0};
    char key[32];
    kvs_engine *engine = open_at(folder, "&map_size=64KiB");
    listing.other = open_at(folder, "");
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "p/%04d", i);
        assert_int_equal(put_text(engine, key, "abcdefg", (size_t)i % 7), KVS_OK);
    }
    assert_int_equal(put_text(engine, "o", "", 0), KVS_OK);
    assert_int_equal(put_text(engine, "p", "", 0), KVS_OK);
    assert_int_equal(kvs_list(engine, "p/", 2, see, &listing, NULL), KVS_OK);
    assert_int_equal(listing.n, N);
    char longer[600];
    memset(longer, 'p', sizeof(longer));
    assert_int_equal(kvs_list(engine, longer, sizeof(longer), see, &listing, NULL), KVS_OK);
    assert_int_equal(listing.n, N);
    close_engine(listing.other);
    close_engine(engine);
}

/* KVS-REQ-356: a part of a value */
static void test_ranged(void **state)
{
    (void)state;
    kvs_engine *engine = open_at(fresh_folder(), "");
    char value[10000], back[5000];
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (char)(i * 31 % 251);
    assert_int_equal(put_text(engine, "k", value, sizeof(value)), KVS_OK);
    struct kvs_desc desc = {.addr = (uintptr_t)back};
    struct kvs_dlist local = {.descs = &desc, .count = 1, .type = KVS_MEM_DRAM};
    struct kvs_key key = {"k", 1};
    static const struct {
        uint64_t offset, len;
        int status;
    } rows[] = {{0, 5000, KVS_OK},       {1, 4097, KVS_OK},          {5000, 5000, KVS_OK},
                {9999, 1, KVS_OK},       {5001, 5000, KVS_MISMATCH}, {10000, 1, KVS_MISMATCH},
                {20000, 1, KVS_MISMATCH}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct kvs_xfer_req req = {.size = sizeof(req),
                                   .op = KVS_READ,
                                   .local = &local,
                                   .keys = &key,
                                   .nkeys = 1,
                                   .offsets = &rows[i].offset};
        kvs_xfer *xfer;
        desc.len = rows[i].len;
        memset(back, '-', sizeof(back));
        assert_int_equal(kvs_xfer_prep(engine, &req, &xfer, NULL), KVS_OK);
        kvs_xfer_post(xfer);
        assert_int_equal(kvs_xfer_wait(xfer, WAIT), rows[i].status);
        if (rows[i].status == KVS_OK)
            assert_memory_equal(back, value + rows[i].offset, rows[i].len);
        else
            assert_int_equal(back[0], '-');
        assert_int_equal(kvs_xfer_release(xfer, WAIT), KVS_OK);
    }
    close_engine(engine);
}

/* KVS-REQ-081 KVS-REQ-106: a key that LMDB cannot have is refused before anything is written; reads and
 * queries say the same */
static void test_long_keys(void **state)
{
    (void)state;
    kvs_engine *engine = open_at(fresh_folder(), "");
    static char key[600], other[600];
    char value[4] = "abc", back[4];
    memset(key, 'k', sizeof(key));
    struct kvs_limits limits = {.size = sizeof(limits)};
    assert_int_equal(kvs_engine_limits(engine, &limits), KVS_OK);
    assert_int_equal(limits.max_key, 511);
    assert_int_equal(kvs_put(engine, key, 511, value, 4, NULL), KVS_OK);
    assert_int_equal(kvs_get(engine, key, 511, back, 4, NULL), KVS_OK);
    assert_memory_equal(back, value, 4);
    struct kvs_desc descs[3];
    for (int i = 0; i < 3; i++)
        descs[i] = (struct kvs_desc){.addr = (uintptr_t)value, .len = 4};
    struct kvs_dlist local = {.descs = descs, .count = 3, .type = KVS_MEM_DRAM};
    struct kvs_key keys[] = {{"good", 4}, {key, 512}, {"fine", 4}};
    struct kvs_xfer_req req = {
        .size = sizeof(req), .op = KVS_WRITE, .local = &local, .keys = keys, .nkeys = 3};
    kvs_xfer *xfer;
    assert_int_equal(kvs_xfer_prep(engine, &req, &xfer, NULL), KVS_TOO_LARGE);
    assert_null(xfer);
    assert_int_equal(kvs_query(engine, "good", 4, NULL, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_put(engine, key, 512, value, 4, NULL), KVS_TOO_LARGE);
    assert_int_equal(kvs_get(engine, key, 512, value, 4, NULL), KVS_TOO_LARGE);
    assert_int_equal(kvs_query(engine, key, 512, NULL, NULL), KVS_TOO_LARGE);
    assert_int_equal(kvs_remove(engine, key, 512, NULL), KVS_TOO_LARGE);
    /* Two that are one in what LMDB could have of them: neither is cut, or hashed, to fit. */
    memcpy(other, key, sizeof(other));
    other[511] = 'x';
    const char *const both[] = {key, other};
    for (int i = 0; i < 2; i++) {
        struct kvs_desc place = {.meta_info = both[i], .meta_len = 600};
        kvs_mem *mem = NULL;
        assert_int_equal(kvs_mem_register(engine, KVS_MEM_DRAM, &place, &mem, NULL), KVS_TOO_LARGE);
        assert_int_equal(kvs_put(engine, both[i], 600, value, 4, NULL), KVS_TOO_LARGE);
        assert_int_equal(kvs_get(engine, both[i], 600, value, 4, NULL), KVS_TOO_LARGE);
        assert_int_equal(kvs_query(engine, both[i], 600, NULL, NULL), KVS_TOO_LARGE);
    }
    close_engine(engine);
}

/* KVS-REQ-359 and large ones */
static void test_large_values(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4080, 4081, 1000003, 16u << 20};
    kvs_engine *engine = open_at(fresh_folder(), "&map_size=1MiB");
    char *value = malloc(16u << 20), *back = malloc(16u << 20);
    for (size_t i = 0; i < 16u << 20; i++)
        value[i] = (char)((i >> 12) ^ i);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t size = 1;
        assert_int_equal(put_text(engine, "k", value, sizes[i]), KVS_OK);
        assert_int_equal(kvs_query(engine, "k", 1, &size, NULL), KVS_OK);
        assert_int_equal(size, sizes[i]);
        memset(back, 0, 16u << 20);
        assert_int_equal(get_text(engine, "k", back, sizes[i]), KVS_OK);
        assert_memory_equal(back, value, sizes[i]);
    }
    free(value);
    free(back);
    close_engine(engine);
}

struct hammer {
    kvs_engine *engine;
    size_t len;
    atomic_int stop;
};

static void *write_on(void *arg)
{
    struct hammer *hammer = arg;
    char *value = malloc(hammer->len);
    for (int i = 0; !atomic_load(&hammer->stop); i++) {
        memset(value, i % 2 ? 'A' : 'B', hammer->len);
        if (put_text(hammer->engine, "k", value, hammer->len) != KVS_OK)
            abort();
    }
    free(value);
    return NULL;
}

/* KVS-REQ-366: bytes are copied before the transaction ends: all of one value, whatever a writer does
 * meanwhile */
static void test_whole_values(void **state)
{
    (void)state;
    static const size_t lens[] = {200, 100000};
    for (size_t row = 0; row < 2; row++) {
        struct hammer hammer = {.engine = open_at(fresh_folder(), "&threads=3"), .len = lens[row]};
        char *back = malloc(hammer.len), *value = malloc(hammer.len);
        int seen[2] = {0, 0};
        pthread_t thread;
        memset(value, 'A', hammer.len);
        assert_int_equal(put_text(hammer.engine, "k", value, hammer.len), KVS_OK);
        pthread_create(&thread, NULL, write_on, &hammer);
        for (int i = 0; i < 500 || seen[0] == 0 || seen[1] == 0; i++) {
            assert_int_equal(get_text(hammer.engine, "k", back, hammer.len), KVS_OK);
            memset(value, back[0], hammer.len);
            assert_memory_equal(back, value, hammer.len);
            seen[back[0] == 'B']++;
        }
        atomic_store(&hammer.stop, 1);
        pthread_join(thread, NULL);
        free(back);
        free(value);
        close_engine(hammer.engine);
    }
}

/* KVS-REQ-351 KVS-REQ-353: what several threads read of one batch, and what is read inside post: each io is
 * told about its own, and of one that failed the buffer is as it was */
static void test_large_reads(void **state)
{
    (void)state;
    enum { N = 200, LEN = 30000, ABSENT = 77, OTHER = 150 };
    static const char *const params[] = {"&threads=4", "&threads=1", "&inline_bytes=0", "&inline_bytes=1GiB",
                                         "&connect=lazy"};
    char *space = malloc((size_t)N * LEN), names[N][8];
    struct kvs_key keys[N];
    const char *folder = fresh_folder();
    kvs_engine *engine = open_at(folder, "");
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof(names[i]), "k%zu", i);
        keys[i] = (struct kvs_key){names[i], strlen(names[i])};
        memset(space + i * LEN, (int)i, LEN);
    }
    kvs_xfer *xfer = prep_batch(engine, KVS_WRITE, keys, N, space, LEN, NULL, NULL);
    kvs_xfer_post(xfer);
    assert_int_equal(kvs_xfer_wait(xfer, WAIT), KVS_OK);
    assert_int_equal(kvs_xfer_release(xfer, WAIT), KVS_OK);
    assert_int_equal(kvs_remove(engine, "k77", 3, NULL), KVS_OK);
    assert_int_equal(put_text(engine, "k150", "short", 5), KVS_OK);
    close_engine(engine);
    for (size_t row = 0; row < sizeof(params) / sizeof(params[0]); row++) {
        engine = open_at(folder, params[row]);
        xfer = prep_batch(engine, KVS_READ, keys, N, space, LEN, NULL, NULL);
        for (int again = 0; again < 3; again++) {
            memset(space, '-', (size_t)N * LEN);
            kvs_xfer_post(xfer);
            assert_int_not_equal(kvs_xfer_wait(xfer, WAIT), KVS_OK);
            for (size_t i = 0; i < N; i++) {
                int status;
                assert_int_equal(kvs_xfer_result(xfer, i, &status, NULL, NULL), KVS_OK);
                assert_int_equal(status, i == ABSENT ? KVS_NOT_FOUND : i == OTHER ? KVS_MISMATCH : KVS_OK);
                char expected = status == KVS_OK ? (char)i : '-';
                assert_int_equal(space[i * LEN], expected);
                assert_int_equal(space[i * LEN + LEN - 1], expected);
            }
        }
        assert_int_equal(kvs_xfer_release(xfer, WAIT), KVS_OK);
        close_engine(engine);
    }
    free(space);
}

/* Page faults of this thread in the post of one READ or WRITE of fresh memory. */
static long faults_of_post(kvs_engine *engine, uint32_t op, char *memory)
{
    kvs_xfer *xfer = prep_batch(engine, op, &(struct kvs_key){"k", 1}, 1, memory, fresh_size(), NULL, NULL);
    fresh_again(memory);
    long before = faults_here();
    kvs_xfer_post(xfer);
    long faults = faults_here() - before;
    assert_int_equal(kvs_xfer_wait(xfer, WAIT), KVS_OK);
    assert_int_equal(kvs_xfer_release(xfer, WAIT), KVS_OK);
    return faults;
}

/* KVS-REQ-110: post copies up to inline_bytes, of what is written with sync=none only */
static void test_inline_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        bool reads, writes;
    } rows[] = {{"?sync=none", false, false},
                {"?sync=none&inline_bytes=1MiB", false, false},
                {"?sync=none&inline_bytes=1GiB", true, true},
                {"?sync=meta&inline_bytes=1GiB", true, false},
                {"?inline_bytes=1GiB", true, false}};
    char target[700];
    const char *folder = fresh_folder();
    char *memory = fresh_map();
    assert_non_null(memory);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        kvs_engine *engine;
        snprintf(target, sizeof(target), "lmdb:%s%s", folder, rows[i].params);
        assert_int_equal(kvs_engine_open(target, NULL, 0, &engine, NULL), KVS_OK);
        faults_of_post(engine, KVS_WRITE, memory); /* what the program itself touches for the first time */
        faults_of_post(engine, KVS_READ, memory);
        assert_true((faults_of_post(engine, KVS_WRITE, memory) >= FRESH_PAGES / 4) == rows[i].writes);
        assert_true((faults_of_post(engine, KVS_READ, memory) >= FRESH_PAGES / 4) == rows[i].reads);
        close_engine(engine);
    }
    fresh_unmap(memory);
}

#define CHAINED 400

struct chain {
    kvs_engine *engine;
    atomic_int reads, bad;
};

/* Asks again from where a read has just ended. */
static void read_more(kvs_xfer *xfer, int status, void *arg)
{
    struct chain *chain = arg;
    if (status != KVS_OK)
        atomic_fetch_add(&chain->bad, 1);
    if (atomic_fetch_add(&chain->reads, 1) < CHAINED)
        kvs_xfer_post(xfer);
}

/* KVS-REQ-434: reads in flight on few and many threads, more than there are places for readers (BAD_RSLOT,
 * READERS_FULL) */
static void test_readers(void **state)
{
    (void)state;
    static const char *const params[] = {"&threads=1", "&threads=4", "&threads=16&max_readers=2"};
    for (size_t row = 0; row < sizeof(params) / sizeof(params[0]); row++) {
        enum { XFERS = 4, EACH = 8 };
        struct chain chain = {.engine = open_at(fresh_folder(), params[row])};
        static char space[XFERS][EACH * 16];
        struct kvs_key keys[EACH];
        char names[EACH][4];
        kvs_xfer *xfers[XFERS];
        for (size_t i = 0; i < EACH; i++) {
            snprintf(names[i], sizeof(names[i]), "k%zu", i);
            keys[i] = (struct kvs_key){names[i], 2};
            assert_int_equal(put_text(chain.engine, names[i], "0123456789abcdef", 16), KVS_OK);
        }
        for (size_t i = 0; i < XFERS; i++) {
            xfers[i] = prep_batch(chain.engine, KVS_READ, keys, EACH, space[i], 16, read_more, &chain);
            assert_int_equal(kvs_xfer_post(xfers[i]), KVS_IN_PROG);
        }
        while (atomic_load(&chain.reads) < CHAINED + XFERS) /* until then the handles belong to read_more */
            usleep(100);
        for (size_t i = 0; i < XFERS; i++)
            assert_int_equal(kvs_xfer_release(xfers[i], WAIT), KVS_OK);
        assert_int_equal(atomic_load(&chain.bad), 0);
        close_engine(chain.engine);
    }
}

/* KVS-REQ-374 KVS-REQ-375 */
static void test_remove(void **state)
{
    (void)state;
    kvs_engine *engine = open_at(fresh_folder(), "");
    assert_int_equal(kvs_remove(engine, "k", 1, NULL), KVS_NOT_FOUND);
    assert_int_equal(put_text(engine, "k", "v", 1), KVS_OK);
    assert_int_equal(kvs_remove(engine, "k", 1, NULL), KVS_OK);
    assert_int_equal(kvs_query(engine, "k", 1, NULL, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_remove(engine, "k", 1, NULL), KVS_NOT_FOUND);
    close_engine(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),         cmocka_unit_test(test_ranged),
        cmocka_unit_test(test_long_keys),    cmocka_unit_test(test_large_values),
        cmocka_unit_test(test_whole_values), cmocka_unit_test(test_readers),
        cmocka_unit_test(test_remove),       cmocka_unit_test(test_large_reads),
        cmocka_unit_test(test_inline_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
