/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that come with the transfer: arrays, newline lists, any bytes, limits. */
#include "engine.h"
#include "engines.h"
#include "toy.h"

#include <kvslot/mock.h>

static struct kvs_backend store, tight;
static char buf[64];

static int setup(void **state)
{
    (void)state;
    toy_reset();
    return 0;
}

/* A newline list in memory that ends where it ends, so that a byte too many is seen. */
static void ask_custom(struct ask *a, uint32_t n, const char *list, size_t len, char **copy)
{
    ask_for(a, KVS_WRITE, n, buf, 8);
    a->req.keys = NULL;
    a->req.nkeys = 0;
    *copy = malloc(len ? len : 1);
    assert_non_null(*copy);
    memcpy(*copy, list, len);
    a->req.custom = *copy;
    a->req.custom_len = len;
}

/* KVS-REQ-075 KVS-REQ-076 KVS-REQ-082 */
static void newline_lists(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&store, NULL);
#define LIST(text) text, sizeof(text) - 1
    static const struct {
        const char *list;
        size_t len;
        uint32_t n;
        const char *refused;
    } rows[] = {
        {LIST("a"), 1, NULL},
        {LIST("a\nbb\nccc"), 3, NULL},
        {LIST("a\0b\n\0"), 2, NULL},
        {LIST("a\r\n b "), 2, NULL},
        {LIST("a\n"), 2, "descriptor 1: the key is empty"},
        {LIST("a\n"), 1, "1 local descriptors, but 2 keys in custom"},
        {LIST("\na"), 2, "descriptor 0: the key is empty"},
        {LIST("a\n\nb"), 3, "descriptor 1: the key is empty"},
        {LIST("\n"), 2, "descriptor 0: the key is empty"},
        {LIST(""), 1, "descriptor 0: the key is empty"},
        {LIST("a\nb"), 1, "1 local descriptors, but 2 keys in custom"},
        {LIST("a\nb"), 3, "3 local descriptors, but 2 keys in custom"},
        {LIST("a b"), 2, "2 local descriptors, but 1 keys in custom"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ask a;
        char *copy;
        ask_custom(&a, rows[i].n, rows[i].list, rows[i].len, &copy);
        a.req.remote = &(struct kvs_dlist){NULL, 9, 1, 77}; /* KVS-REQ-078 */
        if (rows[i].refused)
            unprepared(e, &a, KVS_INVALID_PARAM, rows[i].refused);
        else
            assert_int_equal(run_ask(e, &a), KVS_OK);
        free(copy);
    }
    assert_int_equal(toy_count(), 7); /* the sum of those that went, one of them twice */
    assert_true(toy_has("a\0b", 3));
    assert_true(toy_has("\0", 1));
    assert_true(toy_has("a\r", 2));
    assert_true(toy_has(" b ", 3));
    assert_true(toy_has("ccc", 3));
    close_engine(e);
}

/* KVS-REQ-076 KVS-REQ-078 KVS-REQ-082: an array, beside a remote list that nobody looks at */
static void key_arrays(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&store, NULL);
    struct ask a;
    ask_for(&a, KVS_WRITE, 3, buf, 8);
    a.req.remote = &(struct kvs_dlist){NULL, 9, 1, 77};
    a.keys[2] = (struct kvs_key){"k", 0};
    unprepared(e, &a, KVS_INVALID_PARAM, "descriptor 2: the key is empty");
    a.keys[2] = (struct kvs_key){NULL, 0};
    unprepared(e, &a, KVS_INVALID_PARAM, "descriptor 2: the key is empty");
    a.keys[2] = (struct kvs_key){NULL, 4};
    unprepared(e, &a, KVS_INVALID_PARAM, "descriptor 2: a key of 4 bytes at NULL");
    a.keys[2] = (struct kvs_key){"k", SIZE_MAX};
    unprepared(e, &a, KVS_TOO_LARGE, "descriptor 2");
    assert_int_equal(atomic_load(&toy.calls), 0);
    /* KVS-REQ-551 KVS-REQ-444: keys are copied; the caller's may go at once */
    char name[] = "mine";
    a.keys[2] = (struct kvs_key){name, 4};
    kvs_xfer *x = prepared(e, &a);
    memset(name, 'x', 4);
    assert_int_equal(run_xfer(x), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    assert_true(toy_has("mine", 4));
    close_engine(e);
}

/* KVS-REQ-077 KVS-REQ-079 KVS-REQ-355: offsets make parts of values */
static void offsets_of_parts(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&store, NULL);
    assert_int_equal(kvs_put(e, "k", 1, "0123456789", 10, NULL), KVS_OK);
    struct ask a;
    uint64_t offsets[3] = {0, 6, 3};
    ask_for(&a, KVS_READ, 3, buf, 4);
    for (uint32_t i = 0; i < 3; i++)
        a.keys[i] = (struct kvs_key){"k", 1};
    a.req.offsets = offsets;
    memset(buf, '-', sizeof buf);
    assert_int_equal(run_ask(e, &a), KVS_OK);
    assert_memory_equal(buf, "012367893456----", 16);
    offsets[1] = 7; /* one byte past the end */
    kvs_xfer *x = prepared(e, &a);
    offsets[1] = 0; /* copied */
    assert_int_equal(run_xfer(x), KVS_MISMATCH);
    assert_int_equal(result_of(x, 0), KVS_OK);
    assert_int_equal(result_of(x, 1), KVS_MISMATCH);
    assert_int_equal(result_of(x, 2), KVS_OK);
    expect_text(text_of(x, 1), "4 bytes at offset 7, the value has 3");
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    a.req.offsets = NULL; /* without them each is the whole value */
    x = prepared(e, &a);
    assert_int_equal(run_xfer(x), KVS_MISMATCH);
    expect_text(text_of(x, 0), "the value has 10 bytes; 4 were expected");
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    a.req.offsets = offsets;
    offsets[2] = UINT64_MAX - 3;
    unprepared(e, &a, KVS_INVALID_PARAM, "descriptor 2: offset 18446744073709551612 plus length 4 overflows");
    a.req.op = KVS_WRITE;
    unprepared(e, &a, KVS_NOT_SUPPORTED, "descriptor 0: a WRITE of 4 bytes at offset 0");
    close_engine(e);
}

static const struct {
    const char *data;
    size_t len;
} odd[] = {
    {LIST("a/b")},       {LIST("a-SEP-b")},  {LIST("@@x")},  {LIST("a@b")},     {LIST("%2F")},
    {LIST("/")},         {LIST("a\0b")},     {LIST("a\0c")}, {LIST("a\0")},     {LIST("a")},
    {LIST("\r\n")},      {LIST("\n")},       {LIST(" ")},    {LIST("  ")},      {LIST("{a}b")},
    {LIST("}{")},        {LIST("\xff\xfe")}, {LIST("..")},   {LIST("$3\r\nk")}, {LIST("\xc3\xa4")},
    {LIST("a\xcc\x88")}, {LIST("%s%n")},     {LIST("\0")},   {LIST("\0\0")},
};
#define ODD  (sizeof odd / sizeof odd[0])
#define KEYS (ODD + 256 + 1)

struct seen {
    bool key[KEYS];
    const struct kvs_key *keys;
    size_t n;
};

static int each_key(void *arg, const void *key, size_t len, uint64_t size)
{
    struct seen *s = arg;
    for (size_t i = 0; i < KEYS; i++)
        if (s->keys[i].len == len && memcmp(s->keys[i].data, key, len) == 0) {
            s->n += s->key[i] ? 0 : 1;
            s->key[i] = true;
            return size == sizeof(uint32_t) ? 0 : 99;
        }
    return 98;
}

/* Each key has a value of its own, and is found as it was given. */
static void all_keys(kvs_engine *e, const struct kvs_key *keys, size_t doubles)
{
    uint32_t back;
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(kvs_put(e, keys[i].data, keys[i].len, &i, sizeof i, NULL), KVS_OK);
    struct seen seen = {.keys = keys};
    assert_int_equal(kvs_list(e, NULL, 0, each_key, &seen, NULL), KVS_OK);
    assert_int_equal(seen.n, KEYS - doubles);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_equal(kvs_get(e, keys[i].data, keys[i].len, &back, sizeof back, NULL), KVS_OK);
        if (back != i) /* one of the odd keys has one byte */
            assert_true(keys[i].len == 1 && keys[back].len == 1 &&
                        memcmp(keys[i].data, keys[back].data, 1) == 0);
        assert_int_equal(kvs_query(e, keys[i].data, keys[i].len, NULL, NULL), KVS_OK);
    }
    for (uint32_t i = 0; i < KEYS; i++)
        kvs_remove(e, keys[i].data, keys[i].len, NULL);
    seen = (struct seen){.keys = keys};
    assert_int_equal(kvs_list(e, NULL, 0, each_key, &seen, NULL), KVS_OK);
    assert_int_equal(seen.n, 0);
}

/* KVS-REQ-080 */
static void any_bytes(void **state)
{
    (void)state;
    static unsigned char bytes[256];
    static struct kvs_key keys[KEYS];
    size_t doubles = 0;
    for (size_t i = 0; i < ODD; i++) {
        keys[i] = (struct kvs_key){odd[i].data, odd[i].len};
        doubles += odd[i].len == 1;
    }
    for (size_t i = 0; i < 256; i++) {
        bytes[i] = (unsigned char)i;
        keys[ODD + i] = (struct kvs_key){&bytes[i], 1};
    }
    keys[ODD + 256] = (struct kvs_key){bytes, 256};
    kvs_engine *e = toy_open(&store, NULL);
    all_keys(e, keys, doubles);
    close_engine(e);
    e = open_with("store", WITH({"prefix", "p:%s\\"}));
    all_keys(e, keys, doubles);
    close_engine(e);
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    static const char *const models[] = {"inline", "thread", "poll", "blocking"};
    for (size_t i = 0; i < 4; i++) {
        e = open_with("mock:keys", WITH({"model", models[i]}));
        all_keys(e, keys, doubles);
        close_engine(e);
    }
}

/* KVS-REQ-011: the same answer from every call that names the key, and nothing is cut */
static void limits_of_keys(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&tight, NULL);
    struct kvs_error err = {0};
    static const struct {
        const char *key;
        int status;
        const char *text;
    } rows[] = {{"12345678", KVS_OK, ""},
                {"123456789", KVS_TOO_LARGE, "9 bytes with its prefix; backend 'tight' takes at most 8"},
                {"12345678x", KVS_TOO_LARGE, "at most 8"},
                {"123", KVS_OK, ""},
                {"12", KVS_INVALID_PARAM, "2 bytes; backend 'tight' takes at least 3"},
                {"", KVS_INVALID_PARAM, "the key is empty"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *key = rows[i].key;
        size_t len = strlen(key);
        void *data;
        uint64_t size;
        expect_status(kvs_put(e, key, len, buf, 8, &err), rows[i].status, &err);
        expect_text(rows[i].status == KVS_OK ? "" : err.text, rows[i].text);
        expect_status(kvs_get(e, key, len, buf, 8, &err), rows[i].status, &err);
        expect_status(kvs_query(e, key, len, &size, &err), rows[i].status, &err);
        expect_status(kvs_get_alloc(e, key, len, 8, &data, &size, &err), rows[i].status, &err);
        kvs_free(data);
        expect_status(kvs_remove(e, key, len, &err), rows[i].status, &err);
        if (rows[i].status == KVS_TOO_LARGE) {
            struct kvs_desc d = {.meta_info = key, .meta_len = len};
            kvs_mem *m;
            expect_status(kvs_mem_register(e, KVS_MEM_OBJECT, &d, &m, &err), KVS_TOO_LARGE, &err);
        }
    }
    assert_int_equal(atomic_load(&toy.calls), 2 * 6);
    close_engine(e);
}

int main(void)
{
    store = toy_table("store");
    tight = toy_table("tight");
    tight.min_key = 3;
    tight.max_key = 8;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(newline_lists, setup),    cmocka_unit_test_setup(key_arrays, setup),
        cmocka_unit_test_setup(offsets_of_parts, setup), cmocka_unit_test_setup(any_bytes, setup),
        cmocka_unit_test_setup(limits_of_keys, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
