/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's prefix: before every key, in every operation, and counted in every limit; and what list makes
 * of it. */
#include "engines.h"
#include "toy.h"

#include <kvslot/mock.h>

static struct kvs_backend store, tight;
static char buf[16];

static int setup(void **state)
{
    (void)state;
    toy_reset();
    return 0;
}

/* KVS-REQ-085: seen from the side, through an engine without prefix */
static void before_every_key(void **state)
{
    (void)state;
    kvs_engine *bare = toy_open(&store, NULL), *e = open_with("store", WITH({"prefix", "t1:"}));
    kvs_mem *place = registered(e, KVS_MEM_OBJECT, 5, NULL, 0, 0);
    struct ask a;
    assert_int_equal(kvs_put(e, "a", 1, "1234", 4, NULL), KVS_OK);
    ask_lists(&a, KVS_WRITE, 1, buf, 4);
    a.remote.type = KVS_MEM_OBJECT;
    a.r[0].mem = place;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    a.r[0] = (struct kvs_desc){.dev_id = 5, .len = 4};
    assert_int_equal(run_ask(e, &a), KVS_OK);
    ask_for(&a, KVS_WRITE, 1, buf, 4);
    a.req.keys = NULL;
    a.req.nkeys = 0;
    a.req.custom = "c";
    a.req.custom_len = 1;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    static const char *const keys[] = {"t1:a", "t1:5", "t1:c"};
    assert_int_equal(toy_count(), 3);
    for (size_t i = 0; i < 3; i++) {
        uint64_t size;
        assert_true(toy_has(keys[i], 4));
        assert_int_equal(kvs_query(bare, keys[i], 4, &size, NULL), KVS_OK);
        assert_int_equal(kvs_query(bare, keys[i] + 3, 1, &size, NULL), KVS_NOT_FOUND);
        assert_int_equal(kvs_query(e, keys[i], 4, &size, NULL), KVS_NOT_FOUND);
        assert_int_equal(kvs_query(e, keys[i] + 3, 1, &size, NULL), KVS_OK);
        assert_int_equal(size, 4);
    }
    assert_int_equal(kvs_get(bare, "t1:a", 4, buf, 4, NULL), KVS_OK);
    assert_memory_equal(buf, "1234", 4);
    assert_int_equal(kvs_remove(bare, "t1:a", 4, NULL), KVS_OK);
    assert_int_equal(kvs_get(e, "a", 1, buf, 4, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_remove(e, "5", 1, NULL), KVS_OK);
    assert_int_equal(kvs_remove(e, "c", 1, NULL), KVS_OK);
    assert_int_equal(toy_count(), 0);
    close_engine(e);
    close_engine(bare);
}

/* KVS-REQ-083: there is nothing to a key that is only the prefix */
static void no_empty_key(void **state)
{
    (void)state;
    kvs_engine *e = open_with("store", WITH({"prefix", "t1:"}));
    struct kvs_error err = {0};
    expect_status(kvs_put(e, "", 0, buf, 1, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "the key is empty");
    expect_status(kvs_query(e, NULL, 0, NULL, &err), KVS_INVALID_PARAM, &err);
    assert_int_equal(atomic_load(&toy.calls), 0);
    close_engine(e);
}

/* KVS-REQ-084 */
static void limits_count_the_prefix(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    static const struct {
        const char *prefix, *key;
        int status;
        const char *text;
    } rows[] = {{"pre:", "1234", KVS_OK, ""},
                {"pre:", "12345", KVS_TOO_LARGE, "9 bytes with its prefix"},
                {"pp", "1", KVS_OK, ""},
                {"p", "1", KVS_INVALID_PARAM, "the key has 2 bytes"},
                {"12345678", "1", KVS_TOO_LARGE, "9 bytes"},
                {"1234567890", "1", KVS_TOO_LARGE, "11 bytes"},
                {"pre:", "", KVS_INVALID_PARAM, "empty"}};
    kvs_engine *e = toy_open(&tight, NULL);
    close_engine(e);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        e = open_with("tight", WITH({"prefix", rows[i].prefix}));
        size_t len = strlen(rows[i].key);
        expect_status(kvs_put(e, rows[i].key, len, buf, 1, &err), rows[i].status, &err);
        expect_text(rows[i].status ? err.text : "", rows[i].text);
        struct kvs_desc d = {.meta_info = rows[i].key, .meta_len = len};
        kvs_mem *m;
        if (rows[i].status == KVS_TOO_LARGE)
            expect_status(kvs_mem_register(e, KVS_MEM_OBJECT, &d, &m, &err), KVS_TOO_LARGE, &err);
        close_engine(e);
    }
}

struct found {
    char text[256];
    int answer;
    int calls;
};

static int each(void *arg, const void *key, size_t len, uint64_t size)
{
    struct found *f = arg;
    size_t at = strlen(f->text);
    f->calls++;
    snprintf(f->text + at, sizeof f->text - at, "%.*s=%u ", (int)len, (const char *)key, (unsigned)size);
    return f->answer;
}

static void expect_list(kvs_engine *e, const char *prefix, const char *want, int calls)
{
    struct found f = {.answer = 0};
    struct kvs_error err = {0};
    expect_status(kvs_list(e, prefix, strlen(prefix), each, &f, &err), KVS_OK, &err);
    for (const char *at = want; *at;) {
        char one[32];
        size_t len = strcspn(at, " ") + 1;
        snprintf(one, sizeof one, "%.*s", (int)len, at);
        expect_text(f.text, one);
        at += len;
    }
    assert_int_equal(f.calls, calls);
    assert_int_equal(strlen(f.text), strlen(want)); /* nothing stands before or behind a key */
}

static void list_all_ways(kvs_engine *bare, kvs_engine *e)
{
    static const char *const keys[] = {"t1:a", "t1:ab", "t1:b", "t1:", "t1", "t2:a", "a", "xt1:a"};
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(kvs_put(bare, keys[i], strlen(keys[i]), buf, i, NULL), KVS_OK);
    expect_list(e, "", "a=0 ab=1 b=2 ", 3);
    expect_list(e, "a", "a=0 ab=1 ", 2);
    expect_list(e, "ab", "ab=1 ", 1);
    expect_list(e, "c", "", 0);
    expect_list(e, "t1:", "", 0);
    expect_list(bare, "", "t1:a=0 t1:ab=1 t1:b=2 t1:=3 t1=4 t2:a=5 a=6 xt1:a=7 ", 8);
    expect_list(bare, "t1:a", "t1:a=0 t1:ab=1 ", 2);
}

/* KVS-REQ-086 KVS-REQ-087 */
static void lists_under_it(void **state)
{
    (void)state;
    kvs_engine *bare = toy_open(&store, NULL), *e = open_with("store", WITH({"prefix", "t1:"}));
    list_all_ways(bare, e);
    /* Also of a backend that gives more than it was asked for. */
    toy.blind = true;
    uint64_t before = kvs_engine_violations(e);
    list_all_ways(bare, e);
    assert_true(kvs_engine_violations(e) > before); /* KVS-REQ-088 */
    close_engine(e);
    close_engine(bare);
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    bare = open_with("mock:list", NULL);
    e = open_with("mock:list", WITH({"prefix", "t1:"}));
    list_all_ways(bare, e);
    close_engine(e);
    close_engine(bare);
}

/* What each answers is list's answer, any number; and it is not called again. */
static void list_stops(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&store, NULL);
    toy_set("a", 'x', 1);
    toy_set("b", 'x', 1);
    static const int answers[] = {1, -1, 7, -9999, KVS_AGAIN, KVS_NOT_FOUND, INT32_MAX};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct found f = {.answer = answers[i]};
        assert_int_equal(kvs_list(e, NULL, 0, each, &f, NULL), answers[i]);
        assert_int_equal(f.calls, 1);
    }
    struct kvs_error err = {0};
    struct found f = {.answer = 0};
    expect_status(kvs_list(e, NULL, 1, each, &f, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_list(e, NULL, 0, NULL, &f, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_list(NULL, NULL, 0, each, &f, &err), KVS_INVALID_PARAM, &err);
    close_engine(e);
}

/* KVS-REQ-089: the help says what it is not */
static void what_it_is_not(void **state)
{
    (void)state;
    size_t n = 0;
    const struct kvs_param *p = kvs_sdk_params(&n);
    while (n > 0 && strcmp(p->name, "prefix") != 0) {
        p++;
        n--;
    }
    assert_int_not_equal(n, 0);
    expect_text(p->help, "no security boundary");
}

int main(void)
{
    store = toy_table("store");
    tight = toy_table("tight");
    tight.min_key = 3;
    tight.max_key = 8;
    assert_int_equal(kvs_backend_register(&store, NULL), KVS_OK);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(before_every_key, setup),
        cmocka_unit_test_setup(no_empty_key, setup),
        cmocka_unit_test_setup(limits_count_the_prefix, setup),
        cmocka_unit_test_setup(lists_under_it, setup),
        cmocka_unit_test_setup(list_stops, setup),
        cmocka_unit_test(what_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
