/* SPDX-License-Identifier: Apache-2.0 */
/* What the done function of a transfer that has ended held may do, before and after the late completions. */
#include "blocked.h"
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[16];

struct late {
    sem_t over;
    kvs_engine *e;
    kvs_mem *mem; /* to be deregistered; NULL: none */
    unsigned times;
    int first, second, status, deregistered; /* what it was answered */
};

/* Posts before and after the store lets go of what it holds. */
static void post_twice(kvs_xfer *x, int status, void *arg)
{
    struct late *l = arg;
    if (l->times++ == 0) {
        l->status = status;
        l->first = kvs_xfer_post(x);
        if (l->mem)
            l->deregistered = kvs_mem_deregister(l->e, l->mem, NULL);
        hand.host->complete_rest(hand_batch(0), KVS_OK);
        l->second = kvs_xfer_post(x);
        if (l->second == KVS_IN_PROG)
            return;
    }
    sem_post(&l->over);
}

static void begin_test(struct late *l, const char *target)
{
    *l = (struct late){.first = 77, .second = 77, .deregistered = 77};
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    sem_init(&l->over, 0, 0);
    l->e = open_engine(target);
}

static void end_test(struct late *l, kvs_xfer *x)
{
    release(x);
    assert_int_equal(kvs_engine_close(l->e, LONG, NULL), KVS_OK);
    sem_destroy(&l->over);
    kvs_set_log(NULL, NULL, -1);
}

/* KVS-REQ-272 KVS-REQ-276 KVS-REQ-211 */
static void test_posted(void **state)
{
    struct late l;
    (void)state;
    begin_test(&l, "hand-stiff:?timeout=20ms&cancel_grace=1ms");
    kvs_xfer *x = prep_done(l.e, KVS_WRITE, 1, memory, 16, post_twice, &l);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    eventually(hand_taken() == 2); /* by its done function */
    expect_rc(l.status, KVS_TIMEOUT);
    expect_rc(l.first, KVS_BUSY);
    expect_rc(l.second, KVS_IN_PROG);
    hand.host->complete_rest(hand_batch(1), KVS_OK);
    sem_take(&l.over);
    int rc = wait_end(x);
    assert_true(rc == KVS_OK || rc == KVS_TIMEOUT); /* on a busy machine its time was up */
    assert_int_equal(l.times, 2);
    end_test(&l, x);
}

/* Not where its registration has gone meanwhile. KVS-REQ-297 KVS-REQ-296 */
static void test_without_memory(void **state)
{
    struct late l;
    (void)state;
    begin_test(&l, "hand-stiff:?timeout=20ms&cancel_grace=1ms&bounce=yes");
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .dev_id = 1};
    assert_int_equal(kvs_mem_register(l.e, KVS_MEM_DRAM, &d, &l.mem, NULL), KVS_OK);
    struct kvs_desc local = {.mem = l.mem, .addr = d.addr, .len = 16};
    struct kvs_dlist list = {&local, 1, 0, KVS_MEM_DRAM};
    struct kvs_key key = {"k0", 2};
    struct kvs_xfer_req req = {.size = sizeof req,
                               .op = KVS_WRITE,
                               .local = &list,
                               .keys = &key,
                               .nkeys = 1,
                               .done = post_twice,
                               .arg = &l};
    kvs_xfer *x = NULL;
    struct kvs_error err = {0, ""};
    expect_status(kvs_xfer_prep(l.e, &req, &x, &err), KVS_OK, &err);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    sem_take(&l.over);
    expect_rc(l.first, KVS_BUSY);
    expect_rc(l.deregistered, KVS_OK);
    expect_rc(l.second, KVS_NOT_ALLOWED);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    assert_int_equal(hand_taken(), 1);
    end_test(&l, x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_posted), cmocka_unit_test(test_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
