/* SPDX-License-Identifier: Apache-2.0 */
/* As many registrations as there may be, of one dev_id and of as many; and handles that are stale. */
#include "engine.h"
#include "engines.h"
#include "toy.h"

#if defined(KVS_TESTS_WRAPPED)
#define MANY 20000u
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* which make it ten times as slow */
#define MANY 100000u
#else
#define MANY 1000000u
#endif
#define SOME 8u

static struct kvs_backend plain;
static kvs_engine *e;
static kvs_mem **mems;
static char buf[SOME * 8];

static int setup(void **state)
{
    (void)state;
    toy_reset();
    e = toy_open(&plain, NULL);
    mems = calloc(MANY, sizeof *mems);
    return mems ? 0 : 1;
}

static int teardown(void **state)
{
    (void)state;
    free(mems);
    close_engine(e);
    return 0;
}

static void register_all(uint64_t first_dev, uint64_t step)
{
    struct kvs_error err = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        struct kvs_desc d = {.dev_id = first_dev + i * step, .addr = 0x1000 + i, .len = 8};
        expect_status(kvs_mem_register(e, KVS_MEM_OBJECT, &d, &mems[i], &err), KVS_OK, &err);
    }
    assert_int_equal(e->mems.count, MANY);
}

/* A READ of some of them, by handle or by dev_id. */
static void ask_some(struct ask *a, uint64_t *seed, bool by_handle, uint64_t first_dev, uint64_t step)
{
    ask_lists(a, KVS_READ, SOME, buf, 8);
    a->remote.type = KVS_MEM_OBJECT;
    for (uint32_t i = 0; i < SOME; i++) {
        uint32_t at = next_random(seed) % MANY;
        a->r[i].addr = 0x1000 + at;
        if (by_handle)
            a->r[i].mem = mems[at];
        else
            a->r[i].dev_id = first_dev + at * step;
    }
}

/* KVS-REQ-056 KVS-REQ-060 KVS-REQ-061 KVS-REQ-555: each its own dev_id; each step is counted */
static void a_million_dev_ids(void **state)
{
    (void)state;
    uint64_t seed = 11;
    struct kvs_error err = {0};
    struct ask a;
    register_all(5, 3);
    assert_true(e->mems.steps < 4 * (uint64_t)MANY); /* which is with the growing of the table */
    uint64_t before = e->mems.steps;
    for (uint32_t i = 0; i < 1000; i++) {
        ask_some(&a, &seed, i % 2, 5, 3);
        kvs_xfer *x = prepared(e, &a);
        for (uint32_t j = 0; j < SOME; j++) {
            char key[24];
            snprintf(key, sizeof key, "%llu", (unsigned long long)(5 + (a.r[j].addr - 0x1000) * 3));
            const struct kvs_io *io = &kvs_rec_at(x, j)->io;
            assert_int_equal(io->key_len, strlen(key));
            assert_memory_equal(io->key, key, io->key_len);
            assert_int_equal(io->offset, 0);
        }
        assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    }
    assert_true(e->mems.steps - before < 4 * 1000 * SOME);
    before = e->mems.steps;
    for (uint32_t i = 0; i < MANY / 2; i++)
        deregistered(e, mems[i]);
    /* The first of this set has gone: none of the others goes. */
    expect_status(kvs_mem_deregister_list(e, mems + MANY / 2 - 1, MANY / 2, &err), KVS_NOT_FOUND, &err);
    assert_int_equal(e->mems.count, MANY - MANY / 2);
    expect_status(kvs_mem_deregister_list(e, mems + MANY / 2, MANY - MANY / 2, &err), KVS_OK, &err);
    assert_int_equal(e->mems.steps, before);
    assert_int_equal(e->mems.count, 0);
    assert_int_equal(e->mems.slots.chunks, 1); /* their memory has been given back */
}

/* KVS-REQ-056 KVS-REQ-057: all under one, with one key */
static void a_million_of_one_dev_id(void **state)
{
    (void)state;
    uint64_t seed = 12;
    struct ask a;
    register_all(7, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        ask_some(&a, &seed, i % 2, 7, 0);
        kvs_xfer *x = prepared(e, &a);
        for (uint32_t j = 0; j < SOME; j++)
            assert_int_equal(kvs_rec_at(x, j)->io.offset, 0); /* the one that begins there */
        assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    }
    assert_true(e->mems.steps < 100 * (uint64_t)MANY);
    uint64_t before = e->mems.steps;
    for (uint32_t i = 0; i < MANY; i++) /* from both ends to the middle */
        deregistered(e, mems[i % 2 ? MANY - 1 - i / 2 : i / 2]);
    assert_int_equal(e->mems.steps, before);
    assert_int_equal(e->mems.slots.chunks, 1);
}

static void refused_everywhere(const kvs_mem *stale)
{
    struct ask a;
    struct kvs_error err = {0};
    kvs_mem *m = (kvs_mem *)(uintptr_t)stale;
    ask_lists(&a, KVS_READ, 1, buf, 8);
    a.r[0].mem = m;
    unprepared(e, &a, KVS_INVALID_PARAM, "its remote mem is no registration of this engine");
    ask_for(&a, KVS_WRITE, 1, buf, 8);
    a.l[0].mem = m;
    unprepared(e, &a, KVS_INVALID_PARAM, "its local mem is no registration of this engine");
    expect_status(kvs_mem_deregister(e, m, &err), KVS_NOT_FOUND, &err);
}

/* KVS-REQ-555 KVS-REQ-560: handles that went, with their slot there, in use by a neighbour, or with its
 * memory given back; and pointers into the table that are no handles. */
static void stale_handles(void **state)
{
    enum { EACH = 20000 };
    (void)state;
    const kvs_mem *first = registered(e, KVS_MEM_DRAM, 1, "k", 0, 8), *second;
    second = registered(e, KVS_MEM_DRAM, 1, "k", 0, 8);
    deregistered(e, (kvs_mem *)(uintptr_t)first);
    refused_everywhere(first);
    for (uintptr_t off = 8; off < sizeof *second; off += 8)
        refused_everywhere((const kvs_mem *)((uintptr_t)second + off));
    refused_everywhere(second + 1); /* a slot that was never taken */
    refused_everywhere((const kvs_mem *)((uintptr_t)second & ~(uintptr_t)(KVS_MEM_CHUNK - 1)));
    struct kvs_mem copy = *second;
    refused_everywhere(&copy);
    for (uint32_t i = 0; i < EACH; i++)
        mems[i] = registered(e, KVS_MEM_DRAM, i, NULL, 0, 8);
    for (uint32_t i = 0; i < EACH; i++)
        deregistered(e, mems[i]);
    for (uint32_t i = 0; i < EACH; i += 501) /* of most the memory is no more */
        refused_everywhere(mems[i]);
    deregistered(e, (kvs_mem *)(uintptr_t)second);
    assert_int_equal(e->mems.count, 0);
}

/* Keys of every length, in the registration and outside of it. KVS-REQ-551 KVS-REQ-552 */
static void keys_of_every_length(void **state)
{
    enum { LONGEST = 200 };
    (void)state;
    char key[LONGEST + 1] = "";
    for (size_t len = 1; len <= LONGEST; len++) {
        key[len - 1] = (char)(len % 251 + 1);
        kvs_mem *m = registered(e, KVS_MEM_DRAM, 9, key, 0, 8);
        struct ask a;
        ask_lists(&a, KVS_READ, 2, buf, 8);
        a.r[0].mem = m;
        a.r[1].dev_id = 9;
        kvs_xfer *x = prepared(e, &a);
        deregistered(e, m);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(kvs_rec_at(x, i)->io.key_len, len);
            assert_memory_equal(kvs_rec_at(x, i)->io.key, key, len);
        }
        assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    }
}

int main(void)
{
    toy_reset();
    plain = toy_table("plain");
    plain.on_register = NULL;
    plain.on_deregister = NULL;
    plain.mem_priv = 0;
    plain.prep = NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_million_dev_ids, setup, teardown),
        cmocka_unit_test_setup_teardown(a_million_of_one_dev_id, setup, teardown),
        cmocka_unit_test_setup_teardown(stale_handles, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_of_every_length, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
