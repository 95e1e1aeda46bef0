/* SPDX-License-Identifier: Apache-2.0 */
/* Slots: where they are, how long they stay, and that they are used again. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

#define MANY 6000 /* more than the slab grows by at a time */

static unsigned char memory[16];
static struct kvs_key keys[MANY];
static struct kvs_slot *slots[MANY];

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

/* KVS-REQ-157 */
static void test_slot_of_each_io(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct kvs_slot), 16);
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_READ, 8, memory, 2), *y = prep(e, KVS_READ, 8, memory, 2);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 8; i++) {
            struct kvs_rec *mine = kvs_rec_at(x, i);
            assert_ptr_equal(mine->slot->io, &mine->io);
            assert_ptr_equal(kvs_rec_at(y, i)->slot->io, &kvs_rec_at(y, i)->io);
            assert_false(kvs_slot_armed(mine->slot));
            slots[i] = mine->slot;
        }
        post(x);
        for (uint32_t i = 0; i < 8; i++) { /* the same one, with the state of this post */
            struct kvs_slab *slab;
            struct kvs_rec *mine = kvs_rec_at(x, i);
            assert_ptr_equal(mine->slot, slots[i]);
            assert_ptr_equal(kvs_slot_of(mine->io.token, &slab), mine->slot);
            assert_true(kvs_slot_armed(mine->slot));
        }
        for (uint32_t i = 0; i < 8; i++)
            hand_end(hand_batch(0), i, KVS_OK);
        hand.taken = 0;
        expect_rc(kvs_xfer_check(x), KVS_OK);
    }
    release(x);
    release(y);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
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
    static struct kvs_slot *again[MANY];
    hand_reset();
    kvs_engine *e = open_engine("hand");
    for (int round = 0; round < 3; round++) {
        kvs_xfer *x = prep_many(e, MANY / 2), *y = prep_many(e, MANY / 2);
        for (uint32_t i = 0; i < MANY / 2; i++) {
            again[2 * i] = kvs_rec_at(x, i)->slot;
            again[2 * i + 1] = kvs_rec_at(y, i)->slot;
        }
        qsort(again, MANY, sizeof again[0], by_address);
        for (uint32_t i = 1; i < MANY; i++)
            assert_true(again[i] != again[i - 1]);
        if (round > 0)
            assert_memory_equal(slots, again, sizeof slots);
        memcpy(slots, again, sizeof slots);
        release(x);
        release(y);
    }
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
            assert_ptr_equal(kvs_slot_of(rec->io.token, &slab), rec->slot);
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
    for (uint32_t i = 0; i < MANY; i++)
        slots[i] = kvs_rec_at(many, i)->slot;
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    release(x);
    release(many);
    uint64_t before = kvs_engine_violations(e);
    struct kvs_slab *slab = e->slab;
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    for (uint32_t i = 0; i < MANY; i++)
        assert_false(kvs_slot_armed(slots[i])); /* a sanitizer sees where one is gone */
    kvs_set_log(no_log, NULL, -1);
    hand.host->complete_cb(0, (void *)(uintptr_t)token);
    kvs_set_log(NULL, NULL, -1);
    assert_int_equal(kvs_slab_violations(slab), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot_of_each_io),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_one_for_all),
        cmocka_unit_test(test_never_unmapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
