/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations that are taken back while transfers with them are prepared and posted. */
#include "engine_test.h"
#include "vendor.h"

enum stage { IDLE, PREPARED, OVER };

struct lease {
    kvs_mem *here, *there; /* written before both sides meet */
    atomic_int stage;      /* of its transfer */
};

static struct lease leases[GROUP];
static unsigned taken, busy; /* what went wrong; BUSY was answered. Of the thread that deregisters. */

/* The local one: BUSY while it is counted, and only then. */
static bool deregister_here(struct lease *l)
{
    int before = atomic_load_explicit(&l->stage, memory_order_relaxed);
    int rc = kvs_mem_deregister(e, l->here, NULL);
    int after = atomic_load_explicit(&l->stage, memory_order_relaxed);
    busy += rc == KVS_BUSY;
    taken += rc == KVS_BUSY ? before == OVER : rc != KVS_OK || after == PREPARED;
    return rc != KVS_BUSY;
}

static void *deregister_both(void *arg)
{
    struct side *s = arg;
    while (s->round < RACES) {
        bool left[GROUP];
        unsigned n = 0;
        meet_group(s);
        for (int k = 0; k < GROUP; k++) {
            meet_round(s);
            if (k & 4)
                taken += kvs_mem_deregister(e, leases[k].there, NULL) != KVS_OK;
            left[k] = !deregister_here(&leases[k]);
            n += left[k];
            if (!(k & 4))
                taken += kvs_mem_deregister(e, leases[k].there, NULL) != KVS_OK;
        }
        for (int k = 0; n > 0; k = (k + 1) % GROUP) {
            if (k == 0)
                sched_yield();
            if (left[k] && deregister_here(&leases[k])) {
                left[k] = false;
                n--;
            }
        }
        meet_group(s);
    }
    return NULL;
}

static kvs_mem *registered_as(const void *addr, uint64_t dev_id)
{
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)addr, .len = addr ? 16 : 0, .dev_id = dev_id};
    kvs_mem *m = NULL;
    expect_rc(kvs_mem_register(e, KVS_MEM_DRAM, &d, &m, NULL), KVS_OK);
    return m;
}

/* Prepares, posts twice and releases; or finds one of the two registrations gone. */
static bool run_lease(struct lease *l, unsigned round)
{
    struct kvs_desc here = {.mem = l->here, .addr = (uint64_t)(uintptr_t)memory, .len = 16};
    struct kvs_desc there = {.mem = round & 2 ? l->there : NULL, .len = 16, .dev_id = round};
    struct kvs_dlist local = {&here, 1, 0, KVS_MEM_DRAM}, remote = {&there, 1, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_WRITE, .local = &local, .remote = &remote};
    kvs_xfer *x;
    int rc = kvs_xfer_prep(e, &req, &x, NULL);
    if (rc == KVS_INVALID_PARAM || rc == KVS_NOT_FOUND)
        return false;
    expect_rc(rc, KVS_OK);
    atomic_store_explicit(&l->stage, PREPARED, memory_order_relaxed);
    atomic_store(&submit_ends, round & 8);
    for (int i = 0; i < 2; i++) {
        rc = kvs_xfer_post(x);
        if (rc == KVS_IN_PROG)
            callback(atomic_load(&offered[0]), VENDOR_OK);
        expect_rc(kvs_xfer_check(x), KVS_OK);
    }
    atomic_store_explicit(&l->stage, IDLE, memory_order_relaxed);
    release(x);
    return true;
}

/* One thread takes registrations back from the moment on at which another prepares, posts and releases with
 * them: the local one goes before the prep or after the release, and not in between; that of the key goes at
 * once, whatever is posted. KVS-REQ-550 KVS-REQ-551 KVS-REQ-552 KVS-REQ-553 KVS-REQ-554 */
static void deregister_while_posting(void **state)
{
    (void)state;
    uint64_t seed = race_seed(__func__);
    struct meet m = {0};
    struct side mine = {&m, 0, 0, 0, seed}, theirs = {&m, 1, 0, 0, seed + 1};
    unsigned ran = 0;
    taken = busy = 0;
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, deregister_both, &theirs), 0);
    while (mine.round < RACES) {
        for (unsigned k = 0; k < GROUP; k++) {
            leases[k].here = registered_as(memory, 1);
            leases[k].there = registered_as(NULL, mine.round + k + 1);
            atomic_store(&leases[k].stage, IDLE);
        }
        meet_group(&mine);
        for (int k = 0; k < GROUP; k++) {
            meet_round(&mine);
            ran += run_lease(&leases[k], mine.round);
            atomic_store_explicit(&leases[k].stage, OVER, memory_order_relaxed);
        }
        meet_group(&mine);
    }
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(taken, 0);
    assert_int_equal(atomic_load(&gone), 0);
    print_message("%u of %u were prepared in time, BUSY was answered %u times\n", ran, RACES, busy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deregister_while_posting, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
