/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: memory on the local side, places on the remote side. Each refusal names its descriptor. */
#include "engine.h"
#include "engines.h"
#include "toy.h"

static struct kvs_backend store, norange, strict;
static char buf[64];
static kvs_engine *e;

#define ADDR(p) ((uint64_t)(uintptr_t)(p))

static int setup(void **state)
{
    (void)state;
    toy_reset();
    e = toy_open(&store, NULL);
    toy.log[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close_engine(e);
    return 0;
}

/* The third of three has this local side; prep says so. */
static void bad_local(kvs_engine *engine, struct kvs_desc d, int status, const char *text)
{
    struct ask a;
    char whole[200];
    snprintf(whole, sizeof whole, "descriptor 2: %s", text);
    ask_for(&a, KVS_WRITE, 3, buf, 8);
    a.l[2] = d;
    a.l[0].mem = a.l[1].mem = engine == e ? NULL : d.mem;
    unprepared(engine, &a, status, whole);
    a.req.op = KVS_READ;
    unprepared(engine, &a, status, whole);
    assert_int_equal(atomic_load(&toy.calls), 0);
}

/* KVS-REQ-050 KVS-REQ-100 */
static void local_memory(void **state)
{
    (void)state;
    bad_local(e, (struct kvs_desc){.addr = UINT64_MAX - 3, .len = 8}, KVS_INVALID_PARAM,
              "address 0xfffffffffffffffc plus length 8");
    bad_local(e, (struct kvs_desc){.addr = ADDR(buf), .len = UINT64_MAX}, KVS_INVALID_PARAM, "address");
    bad_local(e, (struct kvs_desc){.addr = 1, .len = (uint64_t)INT64_MAX + 1}, KVS_INVALID_PARAM, "address");
    bad_local(e, (struct kvs_desc){.addr = 0, .len = 1}, KVS_INVALID_PARAM, "local address is NULL");
    struct ask a;
    ask_for(&a, KVS_WRITE, 1, NULL, 0); /* KVS-REQ-360: nothing at NULL is an empty value */
    assert_int_equal(run_ask(e, &a), KVS_OK);
    assert_true(toy_has("k0", 2));
    /* The piece that is named, and not the start of its registration. */
    kvs_mem *m = registered(e, KVS_MEM_DRAM, 1, NULL, ADDR(buf), 16);
    char back[4];
    memcpy(buf, "0123456789abcdef", 16);
    ask_for(&a, KVS_WRITE, 1, buf, 4);
    a.l[0] = (struct kvs_desc){.mem = m, .addr = ADDR(buf) + 8, .len = 4};
    assert_int_equal(run_ask(e, &a), KVS_OK);
    assert_int_equal(kvs_get(e, "k0", 2, back, 4, NULL), KVS_OK);
    assert_memory_equal(back, "89ab", 4);
    deregistered(e, m);
}

/* KVS-REQ-064 KVS-REQ-560 */
static void inside_the_registration(void **state)
{
    (void)state;
    kvs_mem *m = registered(e, KVS_MEM_DRAM, 1, NULL, ADDR(buf) + 8, 16);
    static const struct {
        int at;
        uint64_t len;
        bool inside;
    } rows[] = {{8, 16, true},  {8, 0, true},   {24, 0, true},  {23, 1, true},  {7, 1, false},
                {7, 17, false}, {8, 17, false}, {24, 1, false}, {25, 0, false}, {0, 64, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kvs_desc d = {.mem = m, .addr = ADDR(buf) + (uint64_t)rows[i].at, .len = rows[i].len};
        struct ask a;
        ask_for(&a, KVS_READ, 1, buf, 8);
        a.l[0] = d;
        if (rows[i].inside)
            assert_int_equal(kvs_xfer_release(prepared(e, &a), 0), KVS_OK);
        else
            bad_local(e, d, KVS_INVALID_PARAM, "");
    }
    bad_local(e, (struct kvs_desc){.mem = m, .addr = ADDR(buf), .len = 8}, KVS_INVALID_PARAM, "8 bytes at");
    deregistered(e, m);
    /* One that has gone, one of another engine, and what was none ever. */
    bad_local(e, (struct kvs_desc){.mem = m, .addr = ADDR(buf), .len = 8}, KVS_INVALID_PARAM,
              "its local mem is no registration of this engine");
    kvs_engine *other = toy_open(&store, NULL);
    m = registered(other, KVS_MEM_DRAM, 1, NULL, ADDR(buf), sizeof buf);
    bad_local(e, (struct kvs_desc){.mem = m, .addr = ADDR(buf), .len = 8}, KVS_INVALID_PARAM,
              "its local mem is no registration");
    close_engine(other);
    bad_local(e, (struct kvs_desc){.mem = (kvs_mem *)(uintptr_t)1, .addr = ADDR(buf), .len = 8},
              KVS_INVALID_PARAM, "its local mem is no registration");
    m = registered(e, KVS_MEM_VRAM, 1, NULL, ADDR(buf), sizeof buf);
    bad_local(e, (struct kvs_desc){.mem = m, .addr = ADDR(buf), .len = 8}, KVS_INVALID_PARAM,
              "local list of memory type 0, registration of type 1");
}

/* KVS-REQ-065 KVS-REQ-066 KVS-REQ-067: memory without mem is unregistered, even where its address is
 * registered */
static void where_registration_is_needed(void **state)
{
    (void)state;
    kvs_engine *s = toy_open(&strict, NULL);
    kvs_mem *m = registered(s, KVS_MEM_DRAM, 1, NULL, ADDR(buf), sizeof buf);
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.l[0].mem = m;
    unprepared(s, &a, KVS_INVALID_PARAM, "descriptor 1: backend 'strict' needs registered local memory");
    a.l[1].mem = m;
    assert_int_equal(run_ask(s, &a), KVS_OK);
    ask_for(&a, KVS_QUERY, 2, NULL, 0); /* which has no local memory */
    assert_int_equal(run_ask(s, &a), KVS_OK);
    close_engine(s);
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    assert_int_equal(run_ask(e, &a), KVS_OK);
    m = registered(e, KVS_MEM_DRAM, 1, NULL, ADDR(buf), sizeof buf);
    kvs_xfer *x = prepared(e, &a);
    deregistered(e, m); /* which no transfer counts */
    assert_int_equal(run_xfer(x), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

/* The third of three has this remote side. */
static void bad_remote(uint32_t op, struct kvs_desc d, uint64_t local_len, int status, const char *text)
{
    struct ask a;
    char whole[200];
    snprintf(whole, sizeof whole, "descriptor 2: %s", text);
    kvs_mem *any = registered(e, KVS_MEM_OBJECT, 99, "any", 0, 0);
    ask_lists(&a, op, 3, buf, 8);
    a.remote.type = KVS_MEM_OBJECT;
    a.r[0].mem = a.r[1].mem = any;
    a.r[2] = d;
    a.l[2].len = local_len;
    unprepared(e, &a, status, whole);
    deregistered(e, any);
    assert_int_equal(atomic_load(&toy.calls), 0);
}

/* KVS-REQ-060 KVS-REQ-061 KVS-REQ-062 KVS-REQ-063 */
static void places(void **state)
{
    (void)state;
    kvs_mem *m = registered(e, KVS_MEM_OBJECT, 7, "a", 0, 8),
            *dram = registered(e, KVS_MEM_DRAM, 7, "d", 0, 8);
    bad_remote(KVS_READ, (struct kvs_desc){.dev_id = 8, .len = 8}, 8, KVS_NOT_FOUND,
               "dev_id 8 is not registered as memory type 3");
    bad_remote(KVS_READ, (struct kvs_desc){.mem = dram, .len = 8}, 8, KVS_INVALID_PARAM,
               "remote list of memory type 3, registration of type 0");
    bad_remote(KVS_READ, (struct kvs_desc){.mem = (kvs_mem *)(uintptr_t)16, .len = 8}, 8, KVS_INVALID_PARAM,
               "its remote mem is no registration of this engine");
    kvs_mem *same = registered(e, KVS_MEM_OBJECT, 7, "a", 100, 8);
    for (uint32_t op = KVS_READ; op <= KVS_REMOVE; op++) {
        struct ask a; /* two registrations, one key: it is clear what is meant */
        ask_lists(&a, op, 2, buf, 8);
        a.remote.type = KVS_MEM_OBJECT;
        a.r[0] = (struct kvs_desc){.dev_id = 7, .len = 8};
        a.r[1] = (struct kvs_desc){.dev_id = 7, .addr = 100, .len = 8}; /* framed by the second */
        kvs_xfer *x = prepared(e, &a);
        assert_int_equal(x->recs[1].io.key_len, 1);
        assert_memory_equal(x->recs[1].io.key, "a", 1);
        assert_int_equal(x->recs[1].io.flags, 0);
        assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    }
    kvs_mem *another = registered(e, KVS_MEM_OBJECT, 7, "b", 0, 8);
    for (uint32_t op = KVS_READ; op <= KVS_WRITE; op++)
        bad_remote(op, (struct kvs_desc){.dev_id = 7, .len = 8}, 8, KVS_INVALID_PARAM,
                   "dev_id 7 stands for two keys");
    struct ask a;
    ask_lists(&a, KVS_QUERY, 1, NULL, 0);
    a.remote.type = KVS_MEM_OBJECT;
    a.r[0].dev_id = 7;
    unprepared(e, &a, KVS_INVALID_PARAM, "descriptor 0: dev_id 7 stands for two keys");
    a.r[0].mem = another; /* named, it is clear again; nothing else of the descriptor counts for a QUERY */
    a.r[0].addr = 5;
    a.r[0].len = UINT64_MAX;
    assert_int_equal(kvs_xfer_release(prepared(e, &a), 0), KVS_OK);
    deregistered(e, another);
    a.r[0] = (struct kvs_desc){.dev_id = 7};
    assert_int_equal(kvs_xfer_release(prepared(e, &a), 0), KVS_OK);
    deregistered(e, same);
    deregistered(e, m);
    deregistered(e, dram);
}

enum fit { EXACT, RANGED, REFUSED };

/* KVS-REQ-068 KVS-REQ-069 KVS-REQ-070 KVS-REQ-071 KVS-REQ-072 */
static void offsets(void **state)
{
    (void)state;
    static const struct {
        uint64_t start, size, addr, len;
        enum fit fit;
        const char *text;
    } rows[] = {
        {100, 32, 100, 32, EXACT, ""},
        {100, 32, 100, 31, RANGED, ""},
        {100, 32, 131, 1, RANGED, ""},
        {100, 32, 132, 0, RANGED, ""},
        {100, 32, 100, 0, RANGED, ""},
        {100, 32, 99, 1, REFUSED, "remote address 0x63 is below"},
        {100, 32, 0, 32, REFUSED, "remote address 0 is below"},
        {100, 32, 132, 1, REFUSED, "1 bytes at offset 32 are past the end of its registration of 32"},
        {100, 32, 133, 0, REFUSED, "0 bytes at offset 33"},
        {100, 32, 101, 32, REFUSED, "32 bytes at offset 1"},
        {100, 32, 100, 33, REFUSED, "33 bytes at offset 0"},
        {100, 32, UINT64_MAX, 8, REFUSED, "8 bytes at offset 18446744073709551515"},
        {100, 0, 100, 0, EXACT, ""},
        {100, 0, 100, 48, EXACT, ""},
        {100, 0, 101, 48, REFUSED, "48 bytes at offset 1 are past the end of its registration of 0"},
        {100, 0, 101, 0, REFUSED, "0 bytes at offset 1"},
        {100, 0, 99, 8, REFUSED, "remote address 0x63 is below"},
        {0, 0, 0, 8, EXACT, ""},
        {UINT64_MAX - 8, 8, UINT64_MAX - 8, 8, EXACT, ""},
        {UINT64_MAX - 8, 8, UINT64_MAX - 1, 2, REFUSED, "2 bytes at offset 7"},
        {UINT64_MAX - 8, 8, UINT64_MAX, 1, REFUSED, "1 bytes at offset 8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kvs_mem *m = registered(e, KVS_MEM_OBJECT, 1, "k", rows[i].start, rows[i].size);
        struct kvs_desc d = {.mem = i % 2 ? m : NULL, .dev_id = 1, .addr = rows[i].addr, .len = rows[i].len};
        struct ask a;
        ask_lists(&a, KVS_READ, 1, buf, rows[i].len);
        a.remote.type = KVS_MEM_OBJECT;
        a.r[0] = d;
        if (rows[i].fit == REFUSED) {
            bad_remote(KVS_READ, d, rows[i].len, KVS_INVALID_PARAM, rows[i].text);
            bad_remote(KVS_WRITE, d, rows[i].len, KVS_INVALID_PARAM, rows[i].text);
        } else {
            kvs_xfer *x = prepared(e, &a);
            assert_int_equal(x->recs[0].io.flags, rows[i].fit == RANGED ? KVS_IO_RANGED : 0);
            assert_int_equal(x->recs[0].io.offset, rows[i].fit == RANGED ? rows[i].addr - rows[i].start : 0);
            assert_int_equal(x->recs[0].io.len, rows[i].len);
            assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
            if (rows[i].fit == RANGED) /* KVS-REQ-074 */
                bad_remote(KVS_WRITE, d, rows[i].len, KVS_NOT_SUPPORTED, "a WRITE of");
        }
        deregistered(e, m);
    }
}

/* KVS-REQ-101, and buffers that no READ may touch */
static void lengths_have_to_be_one(void **state)
{
    (void)state;
    kvs_mem *m = registered(e, KVS_MEM_OBJECT, 1, "k", 0, 0);
    static const uint64_t rows[][2] = {{64, 4096}, {4096, 64}, {0, 1}, {1, 0}, {8, UINT64_MAX}};
    memset(buf, '#', sizeof buf);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t op = KVS_READ; op <= KVS_WRITE; op++)
            bad_remote(op, (struct kvs_desc){.mem = m, .len = rows[i][1]}, rows[i][0], KVS_INVALID_PARAM, "");
    bad_remote(KVS_READ, (struct kvs_desc){.mem = m, .len = 4096}, 64, KVS_INVALID_PARAM,
               "64 bytes on the local side, 4096 on the remote side");
    for (size_t i = 0; i < sizeof buf; i++)
        assert_int_equal(buf[i], '#');
    /* An empty one among others is fine. */
    struct ask a;
    ask_lists(&a, KVS_WRITE, 3, buf, 8);
    a.remote.type = KVS_MEM_OBJECT;
    for (uint32_t i = 0; i < 3; i++)
        a.r[i].mem = m;
    a.l[1].len = a.r[1].len = 0;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    deregistered(e, m);
}

/* KVS-REQ-073 */
static void without_range(void **state)
{
    (void)state;
    kvs_engine *n = toy_open(&norange, NULL);
    kvs_mem *m = registered(n, KVS_MEM_DRAM, 1, "k", 0, 16);
    struct ask a;
    ask_lists(&a, KVS_READ, 2, buf, 16);
    a.r[0].mem = a.r[1].mem = m;
    a.l[1].len = a.r[1].len = 8;
    unprepared(n, &a, KVS_NOT_SUPPORTED, "descriptor 1: backend 'norange' cannot READ a part of a value");
    ask_for(&a, KVS_READ, 1, buf, 8);
    a.req.offsets = (const uint64_t[]){0};
    unprepared(n, &a, KVS_NOT_SUPPORTED, "descriptor 0");
    close_engine(n);
}

struct wide {
    struct kvs_desc d;
    char more[24];
};

/* KVS-REQ-052: both lists have strides of their own */
static void strides(void **state)
{
    (void)state;
    struct wide l[3], r[3];
    memset(l, 0xff, sizeof l);
    memset(r, 0xff, sizeof r);
    kvs_mem *m[3];
    for (uint32_t i = 0; i < 3; i++) {
        const char *names[] = {"s0", "s1", "s2"};
        m[i] = registered(e, KVS_MEM_OBJECT, i, names[i], 0, 0);
        l[i].d = (struct kvs_desc){.addr = ADDR(buf) + 8 * i, .len = 8};
        r[i].d = (struct kvs_desc){.mem = m[i], .len = 8};
        memset(buf + 8 * i, '0' + (int)i, 8);
    }
    struct ask a;
    ask_lists(&a, KVS_WRITE, 3, buf, 8);
    a.local = (struct kvs_dlist){&l[0].d, 3, sizeof l[0], KVS_MEM_DRAM};
    a.remote = (struct kvs_dlist){&r[0].d, 3, sizeof r[0], KVS_MEM_OBJECT};
    assert_int_equal(run_ask(e, &a), KVS_OK);
    char back[8];
    for (uint32_t i = 0; i < 3; i++) {
        char key[3] = {'s', (char)('0' + i), 0};
        assert_int_equal(kvs_get(e, key, 2, back, 8, NULL), KVS_OK);
        assert_memory_equal(back, buf + 8 * i, 8);
        deregistered(e, m[i]);
    }
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    store = toy_table("store");
    norange = toy_table("norange");
    norange.caps_native &= ~(uint64_t)KVS_CAP_RANGE;
    strict = toy_table("strict");
    strict.flags = KVS_F_NEEDS_REGISTRATION;
    const struct CMUnitTest tests[] = {
        WITH_ENGINE(local_memory),
        WITH_ENGINE(inside_the_registration),
        WITH_ENGINE(where_registration_is_needed),
        WITH_ENGINE(places),
        WITH_ENGINE(offsets),
        WITH_ENGINE(lengths_have_to_be_one),
        WITH_ENGINE(without_range),
        WITH_ENGINE(strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
