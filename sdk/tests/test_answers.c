/* SPDX-License-Identifier: Apache-2.0 */
/* What ops come to: statuses and bytes of each descriptor, whatever the store reports. */
#include "engine.h"
#include "engines.h"
#include "one_store.h"
#include "toy.h"

#include <kvslot/mock.h>
#include <sys/mman.h>
#include <unistd.h>

static char buf[64];

/* KVS-REQ-350 KVS-REQ-355: a READ is OK only if the store says that it had just as many bytes */
static void what_a_read_reports(void **state)
{
    (void)state;
    static const struct {
        uint64_t actual;
        int status;
        const char *text;
    } rows[] = {{KVS_ACTUAL_UNSET, KVS_OK, ""},
                {8, KVS_OK, ""},
                {0, KVS_MISMATCH, "0"},
                {7, KVS_MISMATCH, "7"},
                {9, KVS_MISMATCH, "9"},
                {4096, KVS_MISMATCH, "4096"},
                {KVS_SIZE_UNKNOWN, KVS_MISMATCH, "has"}};
    toy_set("k0", 'v', 8);
    uint64_t offset = 0;
    for (int ranged = 0; ranged < 2; ranged++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct ask a;
            ask_for(&a, KVS_READ, 1, buf, 8);
            a.req.offsets = ranged ? &offset : NULL;
            toy.actual = rows[i].actual;
            kvs_xfer *x = prepared(e, &a);
            assert_int_equal(run_xfer(x), rows[i].status);
            assert_int_equal(result_of(x, 0), rows[i].status);
            assert_int_equal(bytes_of(x, 0), rows[i].status == KVS_OK ? 8 : 0);
            expect_text(text_of(x, 0), rows[i].text);
            assert_string_equal(kvs_xfer_error(x), text_of(x, 0));
            toy.actual = TOY_TRUE; /* KVS-REQ-116: the next post starts clean */
            assert_int_equal(run_xfer(x), KVS_OK);
            assert_int_equal(bytes_of(x, 0), 8);
            assert_string_equal(text_of(x, 0), "");
            assert_string_equal(kvs_xfer_error(x), "");
            assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
        }
}

/* A store that answers MISMATCH by itself: its status, with the lengths where it gave one. */
static void mismatch_of_the_store(void **state)
{
    (void)state;
    struct ask a;
    toy.get_rc = KVS_MISMATCH;
    ask_for(&a, KVS_READ, 1, buf, 8);
    kvs_xfer *x = prepared(e, &a);
    assert_int_equal(run_xfer(x), KVS_MISMATCH);
    assert_int_equal(bytes_of(x, 0), 0);
    assert_string_equal(text_of(x, 0), kvs_status_text(KVS_MISMATCH));
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

/* KVS-REQ-001 KVS-REQ-002 KVS-REQ-003 KVS-REQ-004: {present, missing, present} */
static void each_has_its_own(void **state)
{
    (void)state;
    static const char *const targets[] = {"store", "mock:each?model=inline", "mock:each?model=thread",
                                          "mock:each?model=poll", "mock:each?model=blocking"};
    for (size_t i = 0; i < 5; i++) {
        kvs_engine *m = open_with(targets[i], NULL);
        assert_int_equal(kvs_put(m, "k0", 2, "00000000", 8, NULL), KVS_OK);
        assert_int_equal(kvs_put(m, "k2", 2, "22222222", 8, NULL), KVS_OK);
        struct ask a;
        ask_for(&a, KVS_READ, 3, buf, 8);
        memset(buf, '-', sizeof buf);
        kvs_xfer *x = prepared(m, &a);
        assert_int_equal(kvs_xfer_count(x), 3);
        assert_int_equal(run_xfer(x), KVS_NOT_FOUND);
        assert_int_equal(result_of(x, 0), KVS_OK);
        assert_int_equal(result_of(x, 1), KVS_NOT_FOUND);
        assert_int_equal(result_of(x, 2), KVS_OK);
        assert_int_equal(bytes_of(x, 0), 8);
        assert_int_equal(bytes_of(x, 1), 0);
        assert_string_equal(text_of(x, 0), "");
        assert_string_equal(text_of(x, 1), "not found");
        assert_memory_equal(buf, "00000000--------22222222-", 25);
        assert_int_equal(kvs_xfer_result(x, 3, NULL, NULL, NULL), KVS_INVALID_PARAM);
        assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
        close_engine(m);
    }
}

/* Writes or reads 8 bytes at `data` by way of a registration, or of a dev_id where that is NULL. */
static int by_way_of(uint32_t op, uint32_t type, kvs_mem *m, uint64_t dev_id, const char *data)
{
    struct ask a;
    ask_lists(&a, op, 1, (void *)(uintptr_t)data, 8);
    a.remote.type = type;
    a.r[0] = (struct kvs_desc){.mem = m, .dev_id = dev_id, .len = 8};
    return run_ask(e, &a);
}

/* KVS-REQ-056 KVS-REQ-057 KVS-REQ-060: two registrations that differ in nothing but the key are two, and the
 * end of one leaves the other as it was, of whatever memory type */
static void each_registration_has_its_key(void **state)
{
    (void)state;
    kvs_mem *k1 = registered(e, KVS_MEM_OBJECT, 7, "k1", 0, 8),
            *k2 = registered(e, KVS_MEM_OBJECT, 7, "k2", 0, 8);
    assert_int_equal(by_way_of(KVS_WRITE, KVS_MEM_OBJECT, k1, 7, "11111111"), KVS_OK);
    assert_int_equal(toy_count(), 1);
    assert_int_equal(by_way_of(KVS_WRITE, KVS_MEM_OBJECT, k2, 7, "22222222"), KVS_OK);
    assert_int_equal(kvs_get(e, "k1", 2, buf, 8, NULL), KVS_OK);
    assert_memory_equal(buf, "11111111", 8);
    assert_int_equal(by_way_of(KVS_READ, KVS_MEM_OBJECT, k2, 7, buf), KVS_OK);
    assert_memory_equal(buf, "22222222", 8);
    deregistered(e, k2);
    assert_int_equal(by_way_of(KVS_WRITE, KVS_MEM_OBJECT, NULL, 7, "33333333"), KVS_OK);
    assert_int_equal(kvs_get(e, "k1", 2, buf, 8, NULL), KVS_OK);
    assert_memory_equal(buf, "33333333", 8);
    kvs_mem *dram = registered(e, KVS_MEM_DRAM, 7, "other", 0, 8);
    deregistered(e, dram);
    assert_int_equal(by_way_of(KVS_READ, KVS_MEM_OBJECT, NULL, 7, buf), KVS_OK);
    assert_memory_equal(buf, "33333333", 8);
    deregistered(e, k1);
    /* The number is free again, for another key. */
    k2 = registered(e, KVS_MEM_OBJECT, 7, "k2", 0, 8);
    assert_int_equal(by_way_of(KVS_READ, KVS_MEM_OBJECT, NULL, 7, buf), KVS_OK);
    assert_memory_equal(buf, "22222222", 8);
    deregistered(e, k2);
}

/* KVS-REQ-376: presence is an answer for each key, and the transfer is OK */
static void presence(void **state)
{
    (void)state;
    static const char *const vectors[] = {"0011", "1101", "1111", "0000"};
    static const char *const keys[] = {"k0", "k1", "k2", "k3"};
    for (size_t v = 0; v < 4; v++) {
        for (size_t i = 0; i < 4; i++) {
            kvs_remove(e, keys[i], 2, NULL);
            if (vectors[v][i] == '1')
                toy_set(keys[i], 'v', i);
        }
        for (uint32_t op = KVS_QUERY; op <= KVS_REMOVE; op++) {
            struct ask a;
            ask_for(&a, op, 4, NULL, 0);
            kvs_xfer *x = prepared(e, &a);
            assert_int_equal(run_xfer(x), KVS_OK);
            for (size_t i = 0; i < 4; i++) {
                int there = vectors[v][i] == '1';
                assert_int_equal(result_of(x, i), there ? KVS_OK : KVS_NOT_FOUND);
                assert_int_equal(bytes_of(x, i), there && op == KVS_QUERY ? i : 0);
            }
            assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
        }
    }
}

/* KVS-REQ-373: but a store that cannot be asked is an error of the transfer, and UNKNOWN is none */
static void failed_queries(void **state)
{
    (void)state;
    static const int rows[][2] = {{KVS_DISCONNECTED, KVS_DISCONNECTED},
                                  {KVS_ACCESS, KVS_ACCESS},
                                  {KVS_UNKNOWN, KVS_OK},
                                  {KVS_NOT_FOUND, KVS_OK},
                                  {KVS_NOT_SUPPORTED, KVS_NOT_SUPPORTED},
                                  {-9999, KVS_BACKEND}};
    for (uint32_t op = KVS_QUERY; op <= KVS_REMOVE; op++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct ask a;
            ask_for(&a, op, 2, NULL, 0);
            toy.query_rc = toy.remove_rc = rows[i][0];
            kvs_xfer *x = prepared(e, &a);
            assert_int_equal(run_xfer(x), rows[i][1]);
            assert_int_equal(result_of(x, 1), rows[i][0] == -9999 ? KVS_BACKEND : rows[i][0]);
            assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
        }
}

/* 256 keys in one question */
static void one_submit_for_many_keys(void **state)
{
    (void)state;
    enum { N = 256 };
    kvs_engine *m = open_with("mock:many", NULL);
    static struct kvs_key keys[N];
    static uint16_t names[N];
    for (uint16_t i = 0; i < N; i++) {
        names[i] = i;
        keys[i] = (struct kvs_key){&names[i], sizeof names[i]};
        if (i % 2)
            assert_int_equal(kvs_put(m, &i, sizeof i, "x", 1, NULL), KVS_OK);
    }
    kvs_mock_set_fault("many", KVS_MOCK_IO, 100, 1, KVS_DISCONNECTED); /* in the middle of it */
    struct ask a;
    ask_for(&a, KVS_QUERY, 0, NULL, 0);
    a.req.keys = keys;
    a.req.nkeys = N;
    struct kvs_mock_counts before = {.size = sizeof before}, after = before;
    kvs_mock_get_counts("many", &before);
    kvs_xfer *x = prepared(m, &a);
    assert_int_equal(run_xfer(x), KVS_DISCONNECTED);
    kvs_mock_get_counts("many", &after);
    assert_int_equal(after.submits - before.submits, 1);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(result_of(x, i), i == 100 ? KVS_DISCONNECTED : i % 2 ? KVS_OK : KVS_NOT_FOUND);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(m);
}

/* A QUERY asks the store: what is only on its way is not there yet, and what it is to replace is. KVS-REQ-361
 * KVS-REQ-366 */
static void not_there_before_it_is(void **state)
{
    (void)state;
    kvs_engine *slow = open_with("mock:way?hold=yes", NULL), *m = open_with("mock:way", NULL);
    struct ask a;
    memset(buf, 'n', 8);
    ask_for(&a, KVS_WRITE, 1, buf, 8);
    kvs_xfer *x = prepared(slow, &a);
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_mock_wait_held("way", 1, KVS_SEC(30)), KVS_OK);
    char back[8];
    uint64_t size;
    assert_int_equal(kvs_query(m, "k0", 2, &size, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_get(m, "k0", 2, back, 8, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_mock_let_go("way", 1), 1);
    assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), KVS_OK);
    assert_int_equal(kvs_query(m, "k0", 2, &size, NULL), KVS_OK);
    assert_int_equal(kvs_get(m, "k0", 2, back, 8, NULL), KVS_OK);
    memset(buf, 'm', 8);
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_mock_wait_held("way", 1, KVS_SEC(30)), KVS_OK);
    assert_int_equal(kvs_get(m, "k0", 2, back, 8, NULL), KVS_OK);
    assert_memory_equal(back, "nnnnnnnn", 8);
    assert_int_equal(kvs_mock_let_go("way", 1), 1);
    assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), KVS_OK);
    assert_int_equal(kvs_get(m, "k0", 2, back, 8, NULL), KVS_OK);
    assert_memory_equal(back, "mmmmmmmm", 8);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(slow);
    close_engine(m);
}

/* KVS-REQ-358: the source may be where nobody can write */
static void a_source_that_cannot_be_written(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *source = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(source, MAP_FAILED);
    memset(source, 'r', page);
    assert_int_equal(mprotect(source, page, PROT_READ), 0);
    static const char *const targets[] = {"store", "mock:ro?model=inline", "mock:ro?model=thread",
                                          "mock:ro?model=poll", "mock:ro?model=blocking"};
    for (size_t i = 0; i < 5; i++) {
        kvs_engine *m = open_with(targets[i], NULL);
        kvs_mem *mem = registered(m, KVS_MEM_DRAM, 1, NULL, (uint64_t)(uintptr_t)source, page);
        struct ask a;
        ask_for(&a, KVS_WRITE, 1, source, page);
        a.l[0].mem = mem;
        assert_int_equal(run_ask(m, &a), KVS_OK);
        void *data;
        uint64_t len;
        assert_int_equal(kvs_get_alloc(m, "k0", 2, page, &data, &len, NULL), KVS_OK);
        assert_int_equal(len, page);
        assert_memory_equal(data, source, page);
        kvs_free(data);
        close_engine(m);
    }
    munmap(source, page);
}

/* KVS-REQ-378 KVS-REQ-391: nothing beside the buffer is written, and nothing at all before it fits */
static void red_zones(void **state)
{
    (void)state;
    toy_set("k0", 'v', 16);
    for (uint64_t len = 0; len <= 32; len++) {
        memset(buf, '#', sizeof buf);
        int rc = kvs_get(e, "k0", 2, buf + 16, len, NULL);
        assert_int_equal(rc, len == 16 ? KVS_OK : KVS_MISMATCH);
        for (size_t i = 0; i < sizeof buf; i++)
            assert_int_equal(buf[i], rc == KVS_OK && i >= 16 && i < 32 ? 'v' : '#');
    }
    memset(buf, '#', sizeof buf); /* nor is the source of a WRITE */
    assert_int_equal(kvs_put(e, "k1", 2, buf + 16, 16, NULL), KVS_OK);
    for (size_t i = 0; i < sizeof buf; i++)
        assert_int_equal(buf[i], '#');
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    store = toy_table("store");
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    const struct CMUnitTest tests[] = {
        WITH_ENGINE(what_a_read_reports),
        WITH_ENGINE(mismatch_of_the_store),
        WITH_ENGINE(each_has_its_own),
        WITH_ENGINE(each_registration_has_its_key),
        WITH_ENGINE(presence),
        WITH_ENGINE(failed_queries),
        WITH_ENGINE(one_submit_for_many_keys),
        WITH_ENGINE(not_there_before_it_is),
        WITH_ENGINE(a_source_that_cannot_be_written),
        WITH_ENGINE(red_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
