/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that are released while their ios complete. What is wrong there is mostly seen by a sanitizer:
 * memory that is touched when it is freed, or another's, already. */
#include "engine_test.h"
#include "vendor.h"

struct ends {
    atomic_uint times, canceled;
};

static void count_done(kvs_xfer *x, int status, void *arg)
{
    struct ends *ends = arg;
    (void)x;
    atomic_fetch_add_explicit(&ends->canceled, status == KVS_CANCELED, memory_order_relaxed);
    atomic_fetch_add_explicit(&ends->times, 1, memory_order_relaxed);
}

static uint64_t tokens[GROUP][IOS]; /* written before both sides meet */

static void *complete_all(void *arg)
{
    struct side *s = arg;
    while (s->round < RACES) {
        meet_group(s);
        for (int k = 0; k < GROUP; k++) {
            meet_round(s);
            for (int i = 0; i < IOS; i++)
                callback(tokens[k][(i + s->round / 2) % IOS], VENDOR_OK);
        }
        meet_group(s);
    }
    return NULL;
}

/* Those that still run; which says nothing wrong of them. */
static unsigned release_all(kvs_xfer **x)
{
    unsigned left = 0;
    for (int k = 0; k < GROUP; k++) {
        if (!x[k])
            continue;
        int now = kvs_xfer_check(x[k]), rc = kvs_xfer_release(x[k], 0);
        if (now != KVS_IN_PROG && now != KVS_OK)
            expect_rc(now, KVS_CANCELED);
        if (rc == KVS_OK)
            x[k] = NULL;
        else
            expect_rc(rc, KVS_BUSY);
        left += rc == KVS_BUSY;
    }
    return left;
}

/* A transfer is released from the first moment on at which its ios may complete, until it is gone; which it
 * is never while one is open, and at once when none is: the last completion touches nothing of it. Every
 * other one has a done function, in every other group a cancel completes the ios too. KVS-REQ-174 KVS-REQ-250
 * KVS-REQ-251 KVS-REQ-162 KVS-REQ-163 KVS-REQ-164 KVS-REQ-200 */
static void release_while_completing(void **state)
{
    (void)state;
    uint64_t seed = race_seed(__func__);
    struct meet m = {0};
    struct side mine = {&m, 0, 0, 0, seed}, theirs = {&m, 1, 0, 0, seed + 1};
    struct ends ends = {0, 0};
    unsigned busy = 0, dones = 0;
    kvs_xfer *x[GROUP];
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, complete_all, &theirs), 0);
    while (mine.round < RACES) {
        atomic_store(&cancel_ends, mine.group & 2);
        for (int k = 0; k < GROUP; k++) {
            dones += k & 2 ? 1 : 0;
            x[k] = prep_done(e, KVS_WRITE, IOS, memory, 16, k & 2 ? count_done : NULL, &ends);
            if (kvs_xfer_post(x[k]) != KVS_IN_PROG)
                fail();
            for (int i = 0; i < IOS; i++)
                tokens[k][i] = atomic_load(&offered[i]);
        }
        meet_group(&mine);
        for (int k = 0; k < GROUP; k++) {
            meet_round(&mine);
            int rc = kvs_xfer_release(x[k], 0);
            busy += rc == KVS_BUSY;
            if (rc == KVS_OK)
                x[k] = NULL;
            else
                expect_rc(rc, KVS_BUSY);
        }
        while (release_all(x) > 0)
            sched_yield();
        meet_group(&mine);
        assert_int_equal(atomic_load(&ends.times), dones);
    }
    assert_int_equal(pthread_join(t, NULL), 0);
    print_message("%u of %u were running still after their first release; of %u ends %u were cancels\n", busy,
                  RACES, dones, atomic_load(&ends.canceled));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(release_while_completing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
