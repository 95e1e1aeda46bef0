/* SPDX-License-Identifier: Apache-2.0 */
/* Slots: where they are, how long they stay, and that they are used again. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

#define MANY       40000 /* ios of one transfer; two of them have more slots than the slab grows by at a time */
#define MANY_SLOTS (MANY / KVS_SLOT_IOS)

static unsigned char memory[16], many_bytes[128];
static struct kvs_key keys[MANY];
static struct kvs_slot *slots[2 * MANY_SLOTS];

static kvs_xfer *prep_many(kvs_engine *e, uint32_t n)
{
    kvs_xfer *x = NULL;
    struct kvs_error err = {0, ""};
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct kvs_key){"k", 1};
    struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_QUERY, .keys = keys, .nkeys = n};
    expect_status(kvs_xfer_prep(e, &req, &x, &err), KVS_OK, &err);
    return x;
}

/* The slot of io i, which stands at i % KVS_SLOT_IOS in it. KVS-REQ-157 */
static void test_slot_of_each_io(void **state)
{
    (void)state;
    enum { N = 2 * KVS_SLOT_IOS + 3 };
    assert_int_equal(sizeof(struct kvs_slot), 16);
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, N, many_bytes, 2), *y = prep(e, KVS_READ, N, many_bytes, 2);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < N; i++) {
            struct kvs_slot *slot = kvs_slot_at(x, i);
            assert_ptr_equal(slot->ios, &kvs_rec_at(x, i / KVS_SLOT_IOS * KVS_SLOT_IOS)->io);
            assert_ptr_not_equal(slot, kvs_slot_at(y, i));
            assert_false(kvs_slot_armed(slot, i % KVS_SLOT_IOS));
            if (round > 0)
                assert_ptr_equal(slot, slots[i / KVS_SLOT_IOS]);
            slots[i / KVS_SLOT_IOS] = slot;
        }
        post(x);
        for (uint32_t i = 0; i < N; i++) { /* the same ones, with the state of this post */
            struct kvs_slab *slab;
            uint64_t token = kvs_rec_at(x, i)->io.token;
            assert_ptr_equal(kvs_slot_of(token, &slab), slots[i / KVS_SLOT_IOS]);
            assert_int_equal(KVS_TOKEN_IO(token), i % KVS_SLOT_IOS);
            assert_true(kvs_slot_armed(kvs_slot_at(x, i), i % KVS_SLOT_IOS));
        }
        assert_int_equal(kvs_slot_open(kvs_slot_at(x, N - 1)), N % KVS_SLOT_IOS);
        for (uint32_t i = 0; i < N; i++)
            hand_end(hand_batch(0), i, KVS_OK);
        hand.taken = 0;
        expect_rc(kvs_xfer_check(x), KVS_OK);
    }
    release(x);
    release(y);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Each io of a slot has a state of its own: ending one again changes no other, whatever the order.
 * KVS-REQ-157 KVS-REQ-162 */
static void test_neighbours(void **state)
{
    (void)state;
    struct kvs_slot slot = {0};
    uint64_t tokens[KVS_SLOT_IOS], late[KVS_SLOT_IOS];
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < KVS_SLOT_IOS; i++) {
            late[i] = tokens[i];
            tokens[i] = round ? tokens[i] : kvs_token_of(77, i);
            assert_false(kvs_slot_disarm(&slot, tokens[i])); /* not yet */
        }
        uint64_t gen = kvs_slot_arm(&slot, KVS_SLOT_IOS);
        for (uint32_t i = 0; i < KVS_SLOT_IOS; i++) {
            tokens[i] = kvs_token_in(tokens[i], gen);
            assert_int_equal(KVS_TOKEN_SLOT(tokens[i]), 77);
            assert_int_equal(KVS_TOKEN_IO(tokens[i]), i);
        }
        for (uint32_t n = 0; n < KVS_SLOT_IOS; n++) {
            uint32_t i = n * 7 % KVS_SLOT_IOS;
            assert_int_equal(kvs_slot_open(&slot), KVS_SLOT_IOS - n);
            if (round)
                assert_false(kvs_slot_disarm(&slot, late[i]));
            assert_true(kvs_slot_disarm(&slot, tokens[i]));
            assert_false(kvs_slot_disarm(&slot, tokens[i]));
        }
    }
    assert_false(kvs_slot_disarm(&slot, 0));
}

/* A generation that comes round is never 0, and token and slot agree on it. KVS-REQ-161 */
static void test_generation_comes_round(void **state)
{
    (void)state;
    struct kvs_slot slot = {0};
    const uint64_t last = UINT64_MAX >> KVS_TOKEN_GEN;
    kvs_a64_store(&slot.state, (last - 1) << KVS_SLOT_IOS);
    const uint64_t before = kvs_token_of(5, 3);
    uint64_t token = before, gen = 0;
    for (int round = 0; round < 3; round++) {
        gen = kvs_slot_arm(&slot, 4);
        assert_int_equal(gen, round ? (uint64_t)round : last);
        token = kvs_token_in(token, gen);
        assert_true(kvs_slot_disarm(&slot, token));
        assert_false(kvs_slot_disarm(&slot, token));
    }
    assert_int_equal(KVS_TOKEN_SLOT(token), KVS_TOKEN_SLOT(before));
    assert_int_equal(KVS_TOKEN_IO(token), KVS_TOKEN_IO(before));
}

static int by_address(const void *a, const void *b)
{
    const struct kvs_slot *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

/* It grows, no slot has two ios, and what was given back is taken again. KVS-REQ-158 */
static void test_growth(void **state)
{
    (void)state;
    static struct kvs_slot *again[2 * MANY_SLOTS];
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *one = prep_many(e, 1); /* the others do not come out even with what it grows by */
    for (int round = 0; round < 3; round++) {
        kvs_xfer *x = prep_many(e, MANY), *y = prep_many(e, MANY);
        for (uint32_t i = 0; i < MANY_SLOTS; i++) {
            again[2 * i] = x->slots[i];
            again[2 * i + 1] = y->slots[i];
        }
        qsort(again, 2 * MANY_SLOTS, sizeof again[0], by_address);
        for (uint32_t i = 1; i < 2 * MANY_SLOTS; i++)
            assert_true(again[i] != again[i - 1]);
        if (round > 0)
            assert_memory_equal(slots, again, sizeof slots);
        memcpy(slots, again, sizeof slots);
        release(x);
        release(y);
    }
    release(one);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Engines of every backend take their slots from the one place that a token's number leads to. KVS-REQ-158 */
static void test_one_for_all(void **state)
{
    (void)state;
    struct fixture f;
    hand_reset();
    open_mock(&f, "inline", "");
    kvs_engine *e = open_engine("hand"), *two = open_engine("hand-stiff");
    kvs_xfer *x[] = {prep(f.e, KVS_READ, 4, memory, 4), prep(e, KVS_READ, 4, memory, 4),
                     prep(two, KVS_READ, 4, memory, 4)};
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 4; k++) {
            struct kvs_slab *slab;
            const struct kvs_rec *rec = kvs_rec_at(x[i], k);
            assert_ptr_equal(kvs_slot_of(rec->io.token, &slab), kvs_slot_at(x[i], k));
            assert_ptr_equal(slab, x[i]->engine->slab);
        }
    for (int i = 0; i < 3; i++)
        release(x[i]);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    assert_int_equal(kvs_engine_close(two, LONG, NULL), KVS_OK);
    close_mock(&f);
}

/* When all that used it is gone, a late completion still finds its slot. KVS-REQ-159 */
static void test_never_unmapped(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 1, memory, 16), *many = prep_many(e, MANY);
    post(x);
    uint64_t token = kvs_batch_io(hand_batch(0), 0)->token;
    for (uint32_t i = 0; i < MANY_SLOTS; i++)
        slots[i] = many->slots[i];
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    release(x);
    release(many);
    uint64_t before = kvs_engine_violations(e);
    struct kvs_slab *slab = e->slab;
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    for (uint32_t i = 0; i < MANY_SLOTS; i++)
        assert_int_equal(kvs_slot_open(slots[i]), 0); /* a sanitizer sees where one is gone */
    kvs_set_log(no_log, NULL, -1);
    hand.host->complete_cb(0, (void *)(uintptr_t)token);
    kvs_set_log(NULL, NULL, -1);
    assert_int_equal(kvs_slab_violations(slab), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot_of_each_io),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_generation_comes_round),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_one_for_all),
        cmocka_unit_test(test_never_unmapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
