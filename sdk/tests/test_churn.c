/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations that come and go for ever, and from many threads at once. */
#include "engine.h"
#include "engines.h"
#include "toy.h"

#define EACH 10000
#if defined(KVS_TESTS_WRAPPED)
#define ROUNDS 8
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* which make it ten times as slow */
#define ROUNDS 40
#else
#define ROUNDS 200
#endif
#define THREADS 8

static struct kvs_backend plain;

static struct kvs_desc descs[EACH];
static kvs_mem *mems[EACH];

static void one_at_a_time(kvs_engine *e)
{
    struct kvs_error err = {0};
    for (uint32_t i = 0; i < EACH; i++)
        expect_status(kvs_mem_register(e, KVS_MEM_DRAM, &descs[i], &mems[i], &err), KVS_OK, &err);
    for (uint32_t i = 0; i < EACH; i++)
        expect_status(kvs_mem_deregister(e, mems[i], &err), KVS_OK, &err);
}

static void all_at_once(kvs_engine *e)
{
    struct kvs_error err = {0};
    struct kvs_dlist list = {descs, EACH, 0, KVS_MEM_DRAM};
    expect_status(kvs_mem_register_list(e, &list, mems, &err), KVS_OK, &err);
    assert_int_equal(e->mems.count, EACH);
    expect_status(kvs_mem_deregister_list(e, mems, EACH, &err), KVS_OK, &err);
}

/* What an engine's registrations cost: looks at them, and memory. */
struct cost {
    uint64_t steps;
    size_t buckets, chunks;
};

static struct cost cost_of(const kvs_engine *e)
{
    return (struct cost){e->mems.steps, e->mems.nbuckets, e->mems.slots.chunks};
}

/* KVS-REQ-289: 200 rounds of 10,000 registrations cost the same in the last as in the first. */
static void rounds_cost_the_same(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&plain, NULL);
    uint64_t last = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < EACH; i++)
            descs[i].dev_id = round % 2 ? i : (uint64_t)round * EACH + i;
        const struct cost before = cost_of(e);
        if (round % 8 == 7)
            one_at_a_time(e);
        else
            all_at_once(e);
        const struct cost after = cost_of(e);
        assert_int_equal(e->mems.count, 0);
        assert_in_range(after.buckets, EACH, 4 * EACH);
        assert_true(round == 0 || after.buckets == before.buckets);
        assert_int_equal(after.chunks, 1); /* the others have been given back */
        assert_true(after.steps - before.steps < EACH);
        /* The same dev_ids, the same steps. */
        assert_true(round % 8 != 3 || round == 3 || after.steps - before.steps == last);
        if (round % 8 == 3)
            last = after.steps - before.steps;
    }
    close_engine(e);
}

/* KVS-REQ-056 KVS-REQ-057: one dev_id may stand for any number of registrations; taking out the oldest first,
 * which are the last of their list, has to find each without a walk. */
static void one_dev_id_for_all(void **state)
{
    enum { MANY = 200000 };
    (void)state;
    struct kvs_error err = {0};
    kvs_engine *e = toy_open(&plain, NULL);
    kvs_mem **all = calloc(MANY, sizeof *all);
    struct kvs_desc desc = {.dev_id = 7};
    assert_non_null(all);
    for (uint32_t i = 0; i < MANY; i++)
        expect_status(kvs_mem_register(e, KVS_MEM_DRAM, &desc, &all[i], &err), KVS_OK, &err);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(e->mems.count, MANY - i);
        expect_status(kvs_mem_deregister(e, all[i], &err), KVS_OK, &err);
        assert_false(kvs_memtab_has(&e->mems, all[i]));
        assert_true(i + 1 == MANY || kvs_memtab_has(&e->mems, all[i + 1]));
    }
    assert_int_equal(e->mems.steps, 0);
    assert_int_equal(e->mems.slots.chunks, 1);
    free(all);
    close_engine(e);
}

struct thread {
    pthread_t id;
    kvs_engine *e;
    uint64_t number;
    const char *failed;
};

#define NEED(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            t->failed = #condition;                                                                          \
            return NULL;                                                                                     \
        }                                                                                                    \
    } while (0)

/* Each has keys of its own under dev_id 0, which all of them share, and never sees another's. */
static void *come_and_go(void *arg)
{
    struct thread *t = arg;
    char value[8], back[8], key[8];
    snprintf(key, sizeof key, "t%u", (unsigned)t->number);
    for (uint32_t i = 0; i < 300; i++) {
        struct kvs_desc d = {.meta_info = key, .meta_len = strlen(key)};
        kvs_mem *m[2];
        struct ask a;
        kvs_xfer *x;
        memset(value, (int)(t->number * 16 + i % 16), sizeof value);
        NEED(kvs_mem_register(t->e, KVS_MEM_OBJECT, &d, &m[0], NULL) == KVS_OK);
        NEED(kvs_mem_register(t->e, KVS_MEM_OBJECT, &d, &m[1], NULL) == KVS_OK);
        ask_lists(&a, KVS_WRITE, 1, value, sizeof value);
        a.remote.type = KVS_MEM_OBJECT;
        a.r[0].mem = m[0];
        NEED(kvs_xfer_prep(t->e, &a.req, &x, NULL) == KVS_OK);
        NEED(kvs_mem_deregister(t->e, m[0], NULL) == KVS_OK);
        NEED(run_xfer(x) == KVS_OK && kvs_xfer_release(x, KVS_FOREVER) == KVS_OK);
        a.l[0].addr = (uint64_t)(uintptr_t)back;
        a.req.op = KVS_READ;
        a.r[0].mem = m[1];
        NEED(kvs_xfer_prep(t->e, &a.req, &x, NULL) == KVS_OK);
        NEED(run_xfer(x) == KVS_OK && kvs_xfer_release(x, KVS_FOREVER) == KVS_OK);
        NEED(memcmp(value, back, sizeof back) == 0);
        NEED(kvs_mem_deregister(t->e, m[1], NULL) == KVS_OK);
    }
    return NULL;
}

/* KVS-REQ-550 KVS-REQ-135 KVS-REQ-552: a key goes with its registration, not with a dev_id that others take
 */
static void many_threads(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&plain, NULL);
    struct thread t[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        t[i] = (struct thread){.e = e, .number = i};
        assert_int_equal(pthread_create(&t[i].id, NULL, come_and_go, &t[i]), 0);
    }
    for (uint64_t i = 0; i < THREADS; i++) {
        pthread_join(t[i].id, NULL);
        if (t[i].failed)
            fail_msg("thread %u: not so: %s", (unsigned)i, t[i].failed);
    }
    assert_int_equal(e->mems.count, 0);
    close_engine(e);
}

int main(void)
{
    toy_reset();
    plain = toy_table("plain");
    plain.on_register = NULL;
    plain.on_deregister = NULL;
    plain.mem_priv = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_cost_the_same),
        cmocka_unit_test(one_dev_id_for_all),
        cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
