/* SPDX-License-Identifier: Apache-2.0 */
/* A transfer that its done function posts again, while its ios complete on several threads. */
#include "engine_test.h"
#include "vendor.h"

struct chain {
    unsigned left, ran, canceled;
    atomic_uint inside, nested; /* done functions that run now; that began beside another */
    int wrong;                  /* a status that was not expected */
    atomic_bool over;
};

static void post_again(kvs_xfer *x, int status, void *arg)
{
    struct chain *c = arg;
    if (atomic_fetch_add_explicit(&c->inside, 1, memory_order_relaxed) != 0)
        atomic_fetch_add(&c->nested, 1);
    c->ran++; /* no two of them run at once, and each sees what the one before wrote */
    c->canceled += status == KVS_CANCELED;
    if (status != KVS_OK && status != KVS_CANCELED)
        c->wrong = status;
    if (c->left > 0) {
        c->left--;
        int rc = kvs_xfer_post(x);
        if (rc != KVS_IN_PROG)
            c->wrong = rc;
    }
    bool last = c->ran == RACES + 1 || c->wrong != KVS_OK;
    atomic_fetch_sub_explicit(&c->inside, 1, memory_order_relaxed);
    if (last)
        atomic_store(&c->over, true);
}

/* A vendor's thread for the ios of one place: it completes each that it gets to see. */
struct hand {
    struct chain *chain;
    unsigned place;
    uint64_t seed;
    pthread_t thread;
};

static void *complete_one(void *arg)
{
    struct hand *h = arg;
    uint64_t last = 0;
    for (unsigned looks = 0; !atomic_load_explicit(&h->chain->over, memory_order_relaxed); looks++) {
        uint64_t token = atomic_load_explicit(&offered[h->place], memory_order_acquire);
        if (token != last) {
            looks = 0;
            last = token;
            dawdle(&h->seed);
            callback(token, VENDOR_OK);
        } else if (looks > MEET_YIELD) { /* whoever has the other place does not run: it comes second */
            callback(atomic_load_explicit(&offered[1 - h->place], memory_order_acquire), VENDOR_OK);
            sched_yield();
        }
    }
    return NULL;
}

/* Each post comes from the done function of the one before, which runs on whichever of three threads has
 * ended the last io: two of the vendor's, and the caller, who checks, waits and cancels. To others the
 * transfer is running all the time. KVS-REQ-208 KVS-REQ-211 KVS-REQ-215 KVS-REQ-200 KVS-REQ-134 KVS-REQ-164
 * KVS-REQ-256 */
static void post_from_done(void **state)
{
    (void)state;
    uint64_t seed = race_seed(__func__);
    struct chain c = {.left = RACES};
    struct hand hands[IOS];
    atomic_store(&cancel_ends, true);
    kvs_xfer *x = prep_done(e, KVS_WRITE, IOS, memory, 16, post_again, &c);
    for (unsigned i = 0; i < IOS; i++) {
        hands[i] = (struct hand){&c, i, seed + i, 0};
        assert_int_equal(pthread_create(&hands[i].thread, NULL, complete_one, &hands[i]), 0);
    }
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    seed += IOS;
    while (!atomic_load(&c.over)) {
        uint32_t what = next_random(&seed) % 64;
        int rc = KVS_IN_PROG;
        if (what == 0)
            rc = kvs_xfer_wait(x, 1000);
        else if (what > 2)
            rc = kvs_xfer_check(x);
        else
            expect_rc(kvs_xfer_cancel(x), KVS_OK);
        if (rc != KVS_IN_PROG && !atomic_load(&c.over))
            fail_msg("%s was seen between two posts", kvs_status_name(rc));
        dawdle(&seed);
        if (what == 63)
            sched_yield();
    }
    int rc = wait_end(x);
    assert_true(rc == KVS_OK || rc == KVS_CANCELED);
    for (unsigned i = 0; i < IOS; i++)
        assert_int_equal(pthread_join(hands[i].thread, NULL), 0);
    assert_int_equal(c.ran, RACES + 1);
    assert_int_equal(c.wrong, KVS_OK);
    assert_int_equal(atomic_load(&c.nested), 0);
    release(x);
    print_message("%u of %u ended canceled, %llu completions came second\n", c.canceled, c.ran,
                  (unsigned long long)kvs_engine_violations(e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(post_from_done, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
