/* SPDX-License-Identifier: Apache-2.0 */
/* What the store is: write once, queries from this engine's own writes, pools apart, full, lengths not looked
 * at. */
#include "util.h"

#include <pthread.h>
#include <unistd.h>

static const char *config;
static char file[600];

/* The second write is told apart from success, and the first value stays. */
static void test_write_once(void **state)
{
    (void)state;
    char back[4] = "";
    kvs_engine *engine = open_with(config, ""), *other = open_with(config, "");
    assert_int_equal(put_text(engine, "once", "one", 3), KVS_OK);
    assert_int_equal(put_text(engine, "once", "two", 3), KVS_EXISTS);
    assert_int_equal(put_text(other, "once", "two", 3), KVS_EXISTS);
    assert_int_equal(get_text(other, "once", back, 3), KVS_OK);
    assert_string_equal(back, "one");
    /* The same key twice in one list: one of the values, whole. */
    static const char *const keys[] = {"dup", "dup", "dup"};
    char values[] = "aaabbbccc";
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, keys, 3, values, 3);
    int rc = kvs_xfer_post(x), won = 0;
    assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_EXISTS);
    for (size_t i = 0; i < 3; i++) {
        int status = result_of(x, i, NULL);
        assert_true(status == KVS_OK || status == KVS_EXISTS);
        won += status == KVS_OK;
    }
    assert_int_equal(won, 1);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    assert_int_equal(get_text(engine, "dup", back, 3), KVS_OK);
    assert_true(back[0] == back[1] && back[1] == back[2]);
    close_engine(engine);
    close_engine(other);
}

struct racer {
    pthread_t thread;
    pthread_barrier_t *start;
    kvs_engine *engine;
    char value[4];
    int status;
};

static void *race(void *arg)
{
    struct racer *r = arg;
    pthread_barrier_wait(r->start);
    r->status = put_text(r->engine, "race", r->value, 3);
    return NULL;
}

/* Two writers of one key: one wins, the other is told that it exists. */
static void test_two_writers(void **state)
{
    (void)state;
    pthread_barrier_t start;
    struct racer r[2] = {{.value = "one"}, {.value = "two"}};
    char back[4] = "";
    kvs_engine *engine = open_with(config, "");
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) {
        r[i].start = &start;
        r[i].engine = engine;
        assert_int_equal(pthread_create(&r[i].thread, NULL, race, &r[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(r[i].thread, NULL);
    pthread_barrier_destroy(&start);
    int winner = r[0].status == KVS_OK ? 0 : 1;
    assert_int_equal(r[winner].status, KVS_OK);
    assert_int_equal(r[1 - winner].status, KVS_EXISTS);
    assert_int_equal(get_text(engine, "race", back, 3), KVS_OK);
    assert_string_equal(back, r[winner].value);
    close_engine(engine);
}

/* Only from a WRITE that has completed in this engine; never from a registration. */
static void test_query(void **state)
{
    (void)state;
    uint64_t size = 0;
    kvs_engine *engine = open_with(config, ""), *other = open_with(config, "");
    struct kvs_desc place = {.dev_id = 7, .len = 5, .meta_info = "placed", .meta_len = 6};
    kvs_mem *mem;
    assert_int_equal(kvs_mem_register(engine, KVS_MEM_DRAM, &place, &mem, NULL), KVS_OK);
    assert_int_equal(query_text(engine, "placed"), KVS_UNKNOWN);
    assert_int_equal(put_text(other, "placed", "value", 5), KVS_OK);
    assert_int_equal(query_text(engine, "placed"), KVS_UNKNOWN);
    assert_int_equal(put_text(engine, "placed", "other", 5), KVS_EXISTS); /* it is there, but not by us */
    assert_int_equal(query_text(engine, "placed"), KVS_UNKNOWN);
    assert_int_equal(kvs_query(other, "placed", 6, &size, NULL), KVS_OK);
    assert_int_equal(size, 5);
    assert_int_equal(kvs_mem_deregister(engine, mem, NULL), KVS_OK);
    close_engine(engine);
    close_engine(other);
    other = open_with(config, "");
    assert_int_equal(query_text(other, "placed"), KVS_UNKNOWN);
    close_engine(other);
}

/* As many keys as anybody writes, and as many as are remembered. */
static void test_query_keys(void **state)
{
    (void)state;
    char key[32];
    kvs_engine *engine = open_with(config, "");
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof(key), "many-%d", i);
        assert_int_equal(put_text(engine, key, key, strlen(key)), KVS_OK);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof(key), "many-%d", i);
        assert_int_equal(query_text(engine, key), KVS_OK);
    }
    assert_int_equal(query_text(engine, "many-300"), KVS_UNKNOWN);
    close_engine(engine);
}

/* Another configuration of ours: in a process of its own. */
static int few_keys(void)
{
    kvs_engine *engine = open_with(config, "query_keys=2");
    int bad = put_text(engine, "few-1", "1", 1) || put_text(engine, "few-2", "2", 1) ||
              put_text(engine, "few-3", "3", 1);
    bad |= query_text(engine, "few-1") != KVS_UNKNOWN || query_text(engine, "few-2") != KVS_OK ||
           query_text(engine, "few-3") != KVS_OK;
    close_engine(engine);
    return bad;
}

static int no_keys(void)
{
    kvs_engine *engine = open_with(config, "query_keys=0");
    int bad = put_text(engine, "zero", "1", 1) || query_text(engine, "zero") != KVS_UNKNOWN;
    close_engine(engine);
    return bad;
}

static void test_few_keys(void **state)
{
    (void)state;
    assert_int_equal(run_self("few_keys", ""), 0);
    assert_int_equal(run_self("no_keys", ""), 0);
}

/* Keys are bytes, and long ones are not cut. */
static void test_keys(void **state)
{
    (void)state;
    char a[600], b[600], back[2] = "";
    memset(a, 'k', sizeof(a));
    memset(b, 'k', sizeof(b));
    a[599] = 'a';
    b[599] = 'b';
    kvs_engine *engine = open_with(config, "prefix=p%3A");
    assert_int_equal(kvs_put(engine, a, sizeof(a), "a", 1, NULL), KVS_OK);
    assert_int_equal(kvs_put(engine, b, sizeof(b), "b", 1, NULL), KVS_OK);
    assert_int_equal(kvs_put(engine, "n\0a", 3, "n", 1, NULL), KVS_OK);
    assert_int_equal(kvs_get(engine, "n\0b", 3, back, 1, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_get(engine, a, sizeof(a), back, 1, NULL), KVS_OK);
    assert_string_equal(back, "a");
    assert_int_equal(kvs_get(engine, b, sizeof(b), back, 1, NULL), KVS_OK);
    assert_string_equal(back, "b");
    assert_int_equal(kvs_put(engine, "", 0, "x", 1, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_put(engine, "empty", 5, NULL, 0, NULL), KVS_OK);
    assert_int_equal(kvs_get(engine, "empty", 5, NULL, 0, NULL), KVS_OK);
    close_engine(engine);
}

/* The library does not tell that a value was longer or shorter: why size_check is none, and nothing behind
 * the buffer is written all the same. */
static void test_lengths(void **state)
{
    (void)state;
    char back[8] = "-------";
    kvs_engine *engine = open_with(config, "");
    struct kvs_limits limits = {.size = sizeof(limits)};
    assert_int_equal(kvs_engine_limits(engine, &limits), KVS_OK);
    assert_true(limits.caps_none & KVS_CAP_SIZE_CHECK);
    assert_true(limits.caps_none & KVS_CAP_CANCEL);
    assert_int_equal(put_text(engine, "length", "abcd", 4), KVS_OK);
    assert_int_equal(get_text(engine, "length", back, 2), KVS_OK);
    assert_string_equal(back, "ab-----");
    assert_int_equal(get_text(engine, "length", back, 6), KVS_OK);
    assert_string_equal(back, "abcd---");
    close_engine(engine);
}

/* A list of keys that does not have one for each descriptor is refused, and a newline at the end begins one
 * more. */
static void test_key_lists(void **state)
{
    (void)state;
    char space[4] = "abc";
    struct kvs_desc descs[2] = {{.addr = (uintptr_t)space, .len = 1},
                                {.addr = (uintptr_t)space + 1, .len = 1}};
    struct kvs_dlist local = {.descs = descs, .count = 2, .type = KVS_MEM_DRAM};
    kvs_engine *engine = open_with(config, "");
    static const char *const lists[] = {"a", "a\nb\nc", "a\n", ""};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct kvs_xfer_req req = {.size = sizeof(req),
                                   .op = KVS_WRITE,
                                   .local = &local,
                                   .custom = lists[i],
                                   .custom_len = strlen(lists[i])};
        kvs_xfer *x;
        assert_int_equal(kvs_xfer_prep(engine, &req, &x, NULL), KVS_INVALID_PARAM);
    }
    close_engine(engine);
}

/* ---- Processes with a store in a file ---- */

static int open_pool(const char *pool, kvs_engine **engine)
{
    char members[64];
    snprintf(members, sizeof(members), "\"poolid\": %s, \"mem_size\": 1", pool);
    *engine = open_with(write_config("pool", members), "");
    return 0;
}

static int writes(const char *pool)
{
    kvs_engine *engine;
    open_pool(pool, &engine);
    int bad =
        put_text(engine, "shared", pool, 1) != KVS_OK || put_text(engine, "shared", pool, 1) != KVS_EXISTS;
    close_engine(engine);
    return bad;
}

static int reads(const char *pool)
{
    kvs_engine *engine;
    char back[2] = "";
    open_pool(pool, &engine);
    int bad = get_text(engine, "shared", back, 1) != KVS_OK || back[0] != pool[0] ||
              query_text(engine, "shared") != KVS_UNKNOWN;
    close_engine(engine);
    return bad;
}

static int finds_nothing(const char *pool)
{
    kvs_engine *engine;
    char back[2] = "";
    open_pool(pool, &engine);
    int bad = get_text(engine, "shared", back, 1) != KVS_NOT_FOUND;
    close_engine(engine);
    return bad;
}

/* mem_size is the limit: FULL, what was written stays, and what fits still goes. */
static int fills(const char *pool)
{
    static char value[400000], back[400000];
    kvs_engine *engine;
    open_pool(pool, &engine);
    int bad =
        put_text(engine, "full-1", value, sizeof(value)) || put_text(engine, "full-2", value, sizeof(value));
    bad |= put_text(engine, "full-3", value, sizeof(value)) != KVS_FULL;
    bad |= get_text(engine, "full-3", back, sizeof(back)) != KVS_NOT_FOUND;
    bad |= get_text(engine, "full-1", back, sizeof(back)) != KVS_OK ||
           put_text(engine, "full-3", "x", 1) != KVS_OK;
    close_engine(engine);
    return bad;
}

static void test_pools(void **state)
{
    (void)state;
    char rule[700];
    snprintf(rule, sizeof(rule), "file=%s", file);
    setenv("WQSKV_EMULATOR", rule, 1);
    assert_int_equal(run_self("writes", "1"), 0);
    assert_int_equal(run_self("finds_nothing", "2"), 0);
    assert_int_equal(run_self("writes", "2"), 0);
    assert_int_equal(run_self("reads", "1"), 0);
    assert_int_equal(run_self("reads", "2"), 0);
    assert_int_equal(run_self("fills", "3"), 0);
    unsetenv("WQSKV_EMULATOR");
    assert_int_equal(run_self("fills", "4"), 0); /* and in memory */
}

int main(int argc, char **argv)
{
    static char path[600];
    self = argv[0];
    snprintf(path, sizeof(path), "%s", write_config("config", NULL));
    config = path;
    snprintf(file, sizeof(file), "%.590s.store", path);
    if (argc > 2) {
        const char *what = argv[1];
        return strcmp(what, "few_keys") == 0        ? few_keys()
               : strcmp(what, "no_keys") == 0       ? no_keys()
               : strcmp(what, "writes") == 0        ? writes(argv[2])
               : strcmp(what, "reads") == 0         ? reads(argv[2])
               : strcmp(what, "finds_nothing") == 0 ? finds_nothing(argv[2])
               : strcmp(what, "fills") == 0         ? fills(argv[2])
                                                    : 99;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_once), cmocka_unit_test(test_two_writers), cmocka_unit_test(test_query),
        cmocka_unit_test(test_query_keys), cmocka_unit_test(test_few_keys),    cmocka_unit_test(test_keys),
        cmocka_unit_test(test_lengths),    cmocka_unit_test(test_key_lists),   cmocka_unit_test(test_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
