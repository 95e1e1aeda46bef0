/* SPDX-License-Identifier: Apache-2.0 */
/* The table of registrations, against a list. KVS-REQ-056 KVS-REQ-057 KVS-REQ-061 */
#include "engine.h"
#include "expect.h"

#define TYPES      5
#define DEVS       48
#define MOST       700
#define OPERATIONS 100000

struct model {
    struct kvs_memtab table;
    struct kvs_mem *live[MOST];
    size_t n;
    size_t same[TYPES][DEVS]; /* how many of each (type, dev_id) */
    uint64_t seed;
};

/* Mixes small and far dev_ids, so that both full chains and long ways are there. */
static uint64_t dev_of(uint32_t i)
{
    return i % 3 == 0 ? i : i % 3 == 1 ? UINT64_MAX - i : (uint64_t)i << 40;
}

static void add(struct model *m)
{
    struct kvs_mem *mem = calloc(1, sizeof *mem);
    assert_non_null(mem);
    uint32_t dev = next_random(&m->seed) % DEVS;
    mem->type = next_random(&m->seed) % TYPES;
    mem->dev_id = dev_of(dev);
    mem->mark = dev; /* the model's own note */
    assert_true(kvs_memtab_reserve(&m->table, 1));
    kvs_memtab_add(&m->table, mem);
    m->live[m->n++] = mem;
    m->same[mem->type][dev]++;
}

/* Frees what it takes out: to look at a stale handle would be seen by the sanitizers. */
static uintptr_t take_out(struct model *m)
{
    size_t i = next_random(&m->seed) % m->n;
    struct kvs_mem *mem = m->live[i];
    m->live[i] = m->live[--m->n];
    m->same[mem->type][mem->mark]--;
    kvs_memtab_remove(&m->table, mem);
    uintptr_t was = (uintptr_t)mem;
    free(mem);
    return was;
}

static bool in_model(const struct model *m, const struct kvs_mem *mem)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->live[i] == mem)
            return true;
    return false;
}

static void check_chain(const struct model *m, uint32_t type, uint32_t dev)
{
    size_t n = 0;
    for (struct kvs_mem *mem = kvs_memtab_first(&m->table, type, dev_of(dev)); mem;
         mem = kvs_memtab_next(mem)) {
        assert_true(in_model(m, mem));
        assert_int_equal(mem->type, type);
        assert_true(mem->dev_id == dev_of(dev));
        n++;
    }
    assert_int_equal(n, m->same[type][dev]);
}

static void operate(struct model *m, bool growing, const struct kvs_mem **gone)
{
    uint32_t what = next_random(&m->seed) % 16;
    if (m->n < MOST && (m->n == 0 || what < (growing ? 8 : 5))) {
        add(m);
    } else if (what < 13) {
        *gone = (const struct kvs_mem *)take_out(m);
    } else if (what == 13) {
        assert_true(kvs_memtab_has(&m->table, m->live[next_random(&m->seed) % m->n]));
    } else if (what == 14) {
        assert_int_equal(kvs_memtab_has(&m->table, *gone), in_model(m, *gone));
    } else {
        check_chain(m, next_random(&m->seed) % TYPES, next_random(&m->seed) % DEVS);
    }
    assert_int_equal(m->table.count, m->n);
}

static void random_operations(void **state)
{
    (void)state;
    static struct model m;
    m = (struct model){.seed = 20};
    const struct kvs_mem *gone = (const struct kvs_mem *)&m;
    for (uint32_t i = 0; i < OPERATIONS; i++)
        operate(&m, i / 5000 % 2 == 0, &gone);
    for (uint32_t type = 0; type < TYPES; type++)
        for (uint32_t dev = 0; dev < DEVS; dev++)
            check_chain(&m, type, dev);
    assert_true(m.table.set_room <= 4096);
    while (m.n > 0)
        take_out(&m);
    assert_int_equal(m.table.count, 0);
    kvs_memtab_destroy(&m.table);
    assert_null(m.table.set);
}

/* Nothing that is no registration is found, nor looked at. */
static void strangers(void **state)
{
    (void)state;
    struct kvs_memtab t = {0};
    struct kvs_mem here = {.type = 3, .dev_id = 7};
    assert_false(kvs_memtab_has(&t, &here));
    assert_null(kvs_memtab_first(&t, 3, 7));
    assert_true(kvs_memtab_reserve(&t, 1));
    assert_false(kvs_memtab_has(&t, &here));
    kvs_memtab_add(&t, &here);
    assert_true(kvs_memtab_has(&t, &here));
    assert_false(kvs_memtab_has(&t, NULL));
    for (uintptr_t at = 1; at < 64; at++) /* among them the mark of what has gone */
        assert_false(kvs_memtab_has(&t, (const struct kvs_mem *)at));
    assert_null(kvs_memtab_first(&t, 4, 7));
    assert_null(kvs_memtab_first(&t, 3, 8));
    assert_ptr_equal(kvs_memtab_first(&t, 3, 7), &here);
    kvs_memtab_remove(&t, &here);
    assert_false(kvs_memtab_has(&t, (const struct kvs_mem *)(uintptr_t)1));
    assert_false(kvs_memtab_has(&t, &here));
    kvs_memtab_destroy(&t);
}

/* One bucket may hold several types of one dev_id, and several dev_ids of one type. */
static void shared_buckets(void **state)
{
    (void)state;
    struct kvs_memtab t = {0};
    assert_true(kvs_memtab_reserve(&t, 1));
    for (uint64_t dev = 0; dev < 2000; dev++) { /* of 64 buckets, so that some of these share one */
        struct kvs_mem here = {.type = 3, .dev_id = dev};
        kvs_memtab_add(&t, &here);
        assert_ptr_equal(kvs_memtab_first(&t, 3, dev), &here);
        assert_null(kvs_memtab_first(&t, 0, dev));
        assert_null(kvs_memtab_first(&t, 4, dev));
        assert_null(kvs_memtab_first(&t, 3, dev + 1));
        assert_null(kvs_memtab_first(&t, 3, dev + (UINT64_C(1) << 61)));
        assert_null(kvs_memtab_next(&here));
        kvs_memtab_remove(&t, &here);
        assert_true(kvs_memtab_reserve(&t, 1));
    }
    assert_int_equal(t.nbuckets, 64);
    assert_int_equal(t.set_room, 64);
    kvs_memtab_destroy(&t);
}

/* What comes and goes for ever does not make the table larger: neither many at once nor one at a time. */
static void no_growth(void **state)
{
    (void)state;
    enum { EACH = 1000 };
    static struct kvs_mem mems[EACH];
    struct kvs_memtab t = {0};
    size_t room = 0, buckets = 0;
    for (uint32_t round = 0; round < 500; round++) {
        if (round % 2 == 0)
            assert_true(kvs_memtab_reserve(&t, EACH));
        for (uint32_t i = 0; i < EACH; i++) {
            mems[i] = (struct kvs_mem){.dev_id = round + i};
            assert_true(round % 2 == 0 || kvs_memtab_reserve(&t, 1));
            kvs_memtab_add(&t, &mems[i]);
        }
        assert_true(t.set_filled <= t.set_room / 4 * 3);
        if (round == 0) {
            room = t.set_room;
            buckets = t.nbuckets;
        }
        assert_int_equal(t.set_room, room);
        assert_int_equal(t.nbuckets, buckets);
        for (uint32_t i = 0; i < EACH; i++)
            kvs_memtab_remove(&t, &mems[round % 3 ? i : EACH - 1 - i]);
    }
    kvs_memtab_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations),
        cmocka_unit_test(strangers),
        cmocka_unit_test(shared_buckets),
        cmocka_unit_test(no_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
