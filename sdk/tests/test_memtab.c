/* SPDX-License-Identifier: Apache-2.0 */
/* The table of registrations, against a list. KVS-REQ-056 KVS-REQ-057 KVS-REQ-061 */
#include "engine.h"
#include "expect.h"

#define TYPES      5
#define DEVS       48
#define MOST       700
#define OPERATIONS 100000
#define KEYS       2    /* different ones */
#define SPACE      4096 /* of addresses */

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

static struct kvs_mem *put(struct kvs_memtab *t, uint32_t type, uint64_t dev_id, const char *key,
                           uint64_t addr, uint64_t len)
{
    struct kvs_mem *mem = kvs_memslots_take(&t->slots);
    assert_non_null(mem);
    assert_false(mem->live);
    assert_false(kvs_memtab_has(t, mem));
    mem->type = (uint8_t)type;
    mem->dev_id = dev_id;
    mem->addr = addr;
    mem->len = len;
    mem->priv = NULL;
    mem->key_len = (uint32_t)strlen(key);
    memcpy(mem->key.here, key, mem->key_len);
    assert_true(kvs_memtab_reserve(t, 1));
    assert_true(kvs_memtab_add(t, mem));
    assert_true(kvs_memtab_has(t, mem));
    return mem;
}

static void drop(struct kvs_memtab *t, struct kvs_mem *mem)
{
    kvs_memtab_remove(t, mem);
    assert_false(kvs_memtab_has(t, mem));
    kvs_memslots_give(&t->slots, mem);
    assert_false(kvs_memtab_has(t, mem));
}

static void add(struct model *m)
{
    uint32_t dev = next_random(&m->seed) % DEVS, type = next_random(&m->seed) % TYPES;
    char key[2] = {(char)('a' + next_random(&m->seed) % KEYS), '\0'};
    struct kvs_mem *mem = put(&m->table, type, dev_of(dev), key, next_random(&m->seed) % SPACE,
                              next_random(&m->seed) % SPACE / 8);
    mem->uses = dev; /* the model's own note */
    m->live[m->n++] = mem;
    m->same[type][dev]++;
}

static const struct kvs_mem *take_out(struct model *m)
{
    size_t i = next_random(&m->seed) % m->n;
    struct kvs_mem *mem = m->live[i];
    for (size_t j = i; j + 1 < m->n; j++) /* which keeps their order */
        m->live[j] = m->live[j + 1];
    m->n--;
    m->same[mem->type][mem->uses]--;
    drop(&m->table, mem);
    return mem;
}

static bool in_model(const struct model *m, const struct kvs_mem *mem)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->live[i] == mem)
            return true;
    return false;
}

/* What the list says of a type and dev_id, and what the table says. */
static void check_found(struct model *m, uint32_t type, uint32_t dev)
{
    struct kvs_memtab *t = &m->table;
    struct kvs_mem *found = kvs_memtab_find(t, type, dev_of(dev)), *best = NULL;
    uint64_t addr = next_random(&m->seed) % SPACE;
    bool one_key = true;
    assert_int_equal(found != NULL, m->same[type][dev] != 0);
    if (!found)
        return;
    assert_true(in_model(m, found) && found->type == type && found->dev_id == dev_of(dev));
    for (size_t i = 0; i < m->n; i++) {
        struct kvs_mem *mem = m->live[i];
        if (mem->type != type || mem->dev_id != dev_of(dev))
            continue;
        one_key &= mem->key.here[0] == found->key.here[0];
        if (mem->addr <= addr && addr <= mem->addr + mem->len && (!best || mem->addr >= best->addr))
            best = mem; /* also the newest of several */
    }
    assert_int_equal(kvs_memtab_one_key(t, found), one_key);
    if (one_key)
        assert_ptr_equal(kvs_memtab_framing(t, found, addr), best);
}

static void operate(struct model *m, bool growing, const struct kvs_mem **gone)
{
    uint32_t what = next_random(&m->seed) % 16;
    if (m->n < MOST && (m->n == 0 || what < (growing ? 8 : 4))) {
        add(m);
    } else if (what < 12) {
        *gone = take_out(m);
    } else if (what == 12) {
        assert_true(kvs_memtab_has(&m->table, m->live[next_random(&m->seed) % m->n]));
    } else if (what == 13) {
        assert_int_equal(kvs_memtab_has(&m->table, *gone), in_model(m, *gone));
    } else {
        check_found(m, next_random(&m->seed) % TYPES, next_random(&m->seed) % DEVS);
    }
    assert_int_equal(m->table.count, m->n);
}

/* With one key for all, then with few; what is stale is looked at as any other pointer. */
static void random_operations(void **state)
{
    (void)state;
    static struct model m;
    m = (struct model){.seed = 20};
    const struct kvs_mem *gone = (const struct kvs_mem *)&m;
    print_message("seed %u; reproduce: it is always the same\n", (unsigned)m.seed);
    for (uint32_t i = 0; i < OPERATIONS; i++)
        operate(&m, i / 5000 % 2 == 0, &gone);
    for (uint32_t type = 0; type < TYPES; type++)
        for (uint32_t dev = 0; dev < DEVS; dev++)
            check_found(&m, type, dev);
    assert_int_equal(m.table.slots.chunks, 1);
    while (m.n > 0)
        take_out(&m);
    assert_int_equal(m.table.count, 0);
    kvs_memtab_destroy(&m.table);
    assert_null(m.table.buckets);
    assert_null(m.table.slots.set);
}

/* Nothing that is no registration is found, nor looked at: that would be seen, or crash. */
static void strangers(void **state)
{
    (void)state;
    struct kvs_memtab t = {0};
    struct kvs_mem *page = aligned_alloc(KVS_MEM_CHUNK, KVS_MEM_CHUNK); /* as it might be a chunk */
    assert_non_null(page);
    memset(page, 0xff, KVS_MEM_CHUNK);
    assert_false(kvs_memtab_has(&t, page));
    assert_null(kvs_memtab_find(&t, 3, 7));
    struct kvs_mem *here = put(&t, 3, 7, "k", 0, 0);
    const char *chunk = (const char *)((uintptr_t)here & ~(uintptr_t)(KVS_MEM_CHUNK - 1));
    for (size_t at = 0; at < KVS_MEM_CHUNK; at += 8) {
        const struct kvs_mem *m = (const struct kvs_mem *)(const void *)(chunk + at);
        assert_int_equal(kvs_memtab_has(&t, m), m == here);
        assert_false(kvs_memtab_has(&t, (const struct kvs_mem *)((const char *)page + at)));
    }
    for (uintptr_t at = 0; at < 64; at++) {
        assert_false(kvs_memtab_has(&t, (const struct kvs_mem *)(uintptr_t)at));
        assert_false(kvs_memtab_has(&t, (const struct kvs_mem *)(UINTPTR_MAX - at)));
        assert_false(at && kvs_memtab_has(&t, (const struct kvs_mem *)((uintptr_t)here + at)));
        assert_false(
            kvs_memtab_has(&t, (const struct kvs_mem *)((uintptr_t)here ^ UINT64_C(1) << (at % 63))));
    }
    assert_null(kvs_memtab_find(&t, 4, 7));
    assert_null(kvs_memtab_find(&t, 3, 8));
    assert_ptr_equal(kvs_memtab_find(&t, 3, 7), here);
    drop(&t, here);
    assert_null(kvs_memtab_find(&t, 3, 7));
    kvs_memtab_destroy(&t);
    free(page);
}

/* A slot rests while others are free: a stale handle is not at once another registration's. */
static void slots_rest(void **state)
{
    (void)state;
    struct kvs_memtab t = {0};
    struct kvs_mem *kept = put(&t, 0, 1, "k", 0, 0), *stale = put(&t, 0, 2, "k", 0, 0);
    drop(&t, stale);
    for (uint32_t i = 0; i < 50; i++) {
        struct kvs_mem *m = put(&t, 0, 2, "k", 0, 0);
        assert_ptr_not_equal(m, stale);
        assert_false(kvs_memtab_has(&t, stale));
        drop(&t, m);
    }
    drop(&t, kept);
    kvs_memtab_destroy(&t);
}

/* One bucket may hold several types of one dev_id, and several dev_ids of one type. */
static void shared_buckets(void **state)
{
    (void)state;
    struct kvs_memtab t = {0};
    for (uint64_t i = 0; i < 2000; i++) { /* of 64 buckets, so that some of these share one */
        uint64_t dev = i % 2 ? i : i << 40;
        struct kvs_mem *here = put(&t, 3, dev, "k", 0, 0);
        assert_ptr_equal(kvs_memtab_find(&t, 3, dev), here);
        assert_null(kvs_memtab_find(&t, 0, dev));
        assert_null(kvs_memtab_find(&t, 4, dev));
        assert_null(kvs_memtab_find(&t, 3, dev + 1));
        assert_null(kvs_memtab_find(&t, 3, dev + (UINT64_C(1) << 61)));
        assert_true(kvs_memtab_one_key(&t, here));
        assert_ptr_equal(kvs_memtab_framing(&t, here, 0), here);
        assert_null(kvs_memtab_framing(&t, here, 1));
        drop(&t, here);
    }
    assert_int_equal(t.nbuckets, 64);
    kvs_memtab_destroy(&t);
}

/* dev_ids that are addresses, multiples of a power of 2, or one behind the other are spread alike. */
static void dev_ids_are_spread(void **state)
{
    enum { MANY = 20000 };
    (void)state;
    for (uint32_t shift = 0; shift <= 48; shift += 3) {
        struct kvs_memtab t = {0};
        for (uint64_t i = 0; i < MANY; i++)
            put(&t, 0, i << shift, "k", 0, 0);
        t.steps = 0;
        for (uint64_t i = 0; i < MANY; i++)
            assert_non_null(kvs_memtab_find(&t, 0, i << shift));
        assert_true(t.steps < MANY);
        kvs_memtab_destroy(&t);
    }
}

/* KVS-REQ-062: two keys are seen, and seen to be no more, without a walk over all each time. */
static void two_keys_of_many(void **state)
{
    enum { MANY = 10000 };
    (void)state;
    static struct kvs_mem *all[MANY];
    struct kvs_memtab t = {0};
    char key[16];
    for (uint32_t i = 0; i < MANY; i++) { /* each its own */
        snprintf(key, sizeof key, "k%u", i);
        all[i] = put(&t, 0, 7, key, 0, 0);
    }
    for (uint32_t i = 0; i < MANY; i++) { /* from both ends to the middle */
        struct kvs_mem *found = kvs_memtab_find(&t, 0, 7);
        assert_int_equal(kvs_memtab_one_key(&t, found), i + 1 == MANY);
        drop(&t, all[i % 2 ? MANY - 1 - i / 2 : i / 2]);
    }
    assert_true(t.steps <= 2 * MANY);
    t.steps = 0;
    for (uint32_t i = 0; i < MANY; i++) /* one key, but for the oldest and the newest */
        all[i] = put(&t, 0, 7, i == 0 || i == MANY - 1 ? "other" : "key", 0, 0);
    assert_false(kvs_memtab_one_key(&t, all[5]));
    drop(&t, all[0]);
    assert_false(kvs_memtab_one_key(&t, all[5]));
    drop(&t, all[MANY - 1]);
    assert_true(kvs_memtab_one_key(&t, all[5]));
    for (uint32_t i = 1; i < MANY - 1; i++)
        assert_true(kvs_memtab_one_key(&t, all[i]));
    assert_true(t.steps <= 2 * MANY);
    kvs_memtab_destroy(&t);
}

/* KVS-REQ-061 KVS-REQ-561: of 10,000 pieces of one value each is found by its address, without a walk over
 * all each time.
 */
static void pieces_of_one_key(void **state)
{
    enum { MANY = 10000, LEN = 64 };
    (void)state;
    static struct kvs_mem *all[MANY];
    struct kvs_memtab t = {0};
    uint64_t seed = 3;
    for (uint32_t i = 0; i < MANY; i++)
        all[i] = put(&t, 0, 7, "k", (uint64_t)i * 2 * LEN, LEN);
    for (uint32_t i = 0; i < 4 * MANY; i++) {
        uint64_t at = next_random(&seed) % MANY, inside = next_random(&seed) % (2 * LEN);
        struct kvs_mem *want = inside <= LEN ? all[at] : NULL;
        assert_ptr_equal(kvs_memtab_framing(&t, all[0], at * 2 * LEN + inside), want);
    }
    assert_true(t.steps < 100 * 4 * MANY); /* a walk over all each time would be 10,000 */
    /* One that frames all of them is the answer where none of them is. */
    struct kvs_mem *wide = put(&t, 0, 7, "k", 0, (uint64_t)MANY * 2 * LEN);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        uint64_t at = 1 + next_random(&seed) % (MANY - 1), inside = next_random(&seed) % (2 * LEN);
        struct kvs_mem *want = inside <= LEN ? all[at] : wide;
        assert_ptr_equal(kvs_memtab_framing(&t, all[0], at * 2 * LEN + inside), want);
    }
    assert_ptr_equal(kvs_memtab_framing(&t, wide, 0), wide); /* the newest of two that begin there */
    assert_null(kvs_memtab_framing(&t, wide, (uint64_t)MANY * 2 * LEN + 1));
    drop(&t, wide);
    assert_ptr_equal(kvs_memtab_framing(&t, all[1], 0), all[0]);
    kvs_memtab_destroy(&t);
}

/* What comes and goes for ever takes no more memory, and what has gone gives it back. */
static void no_growth(void **state)
{
    enum { EACH = 40000 };
    (void)state;
    static struct kvs_mem *mems[EACH];
    struct kvs_memtab t = {0};
    size_t buckets = 0, chunks = 0;
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < EACH; i++)
            mems[i] = put(&t, 0, round + i, "k", 0, 0);
        buckets = round ? buckets : t.nbuckets;
        chunks = round ? chunks : t.slots.chunks;
        assert_in_range(chunks, 2, 3);
        assert_int_equal(t.nbuckets, buckets);
        assert_int_equal(t.slots.chunks, chunks);
        for (uint32_t i = 0; i < EACH; i++)
            drop(&t, mems[round % 3 ? i : EACH - 1 - i]);
        assert_int_equal(t.slots.chunks, 1);
        for (uint32_t i = 0; i < EACH; i++) /* also those of chunks that are no more */
            assert_false(kvs_memtab_has(&t, mems[i]));
    }
    kvs_memtab_destroy(&t);
}

/* Many chunks come and go in any order; none is lost, and none that went is found. */
static void many_chunks(void **state)
{
    enum { CHUNKS = 40, SLOTS = KVS_MEM_CHUNK / KVS_MEM_SLOT - 1 };
    (void)state;
    struct kvs_memslots s = {0};
    static struct kvs_mem *mems[CHUNKS][SLOTS];
    uint64_t seed = 5;
    for (uint32_t i = 0; i < CHUNKS; i++)
        for (uint32_t j = 0; j < SLOTS; j++)
            assert_non_null(mems[i][j] = kvs_memslots_take(&s));
    assert_int_equal(s.chunks, CHUNKS);
    bool gone[CHUNKS] = {false};
    for (uint32_t left = CHUNKS; left > 0; left--) {
        uint32_t at = next_random(&seed) % CHUNKS;
        while (gone[at])
            at = (at + 1) % CHUNKS;
        gone[at] = true;
        for (uint32_t j = 0; j < SLOTS; j++)
            kvs_memslots_give(&s, mems[at][j]);
        for (uint32_t i = 0; i < CHUNKS; i++)
            assert_true(gone[i] || kvs_memslots_has(&s, mems[i][SLOTS - 1]));
        assert_int_equal(s.chunks, left == 1 ? 1 : left); /* one that is empty is kept */
    }
    assert_int_equal(s.chunks, 1);
    kvs_memslots_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations),  cmocka_unit_test(strangers),
        cmocka_unit_test(slots_rest),         cmocka_unit_test(shared_buckets),
        cmocka_unit_test(dev_ids_are_spread), cmocka_unit_test(two_keys_of_many),
        cmocka_unit_test(pieces_of_one_key),  cmocka_unit_test(no_growth),
        cmocka_unit_test(many_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
