/* SPDX-License-Identifier: Apache-2.0 */
/* bounce=yes: a late completion in the middle of deregistering. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

static unsigned char *memory; /* gone with its registration: a sanitizer tells who still uses it */
static struct kvs_batch
    *late; /* completed as soon as the registration was found to be one that may go; or NULL */

/* What CMakeLists.txt puts in the place of the SDK's. */
uint64_t __real_kvs_bounce_lost(const kvs_engine *e, const struct kvs_mem *m);
uint64_t __wrap_kvs_bounce_lost(const kvs_engine *e, const struct kvs_mem *m);
uint64_t __wrap_kvs_bounce_lost(const kvs_engine *e, const struct kvs_mem *m)
{
    uint64_t n = __real_kvs_bounce_lost(e, m);
    struct kvs_batch *batch = late;
    late = NULL;
    if (batch)
        hand.host->complete_rest(batch, KVS_OK);
    return n;
}

/* A held READ or WRITE, which is the only one to count its registration. */
static kvs_xfer *hold(kvs_engine *e, uint32_t op, kvs_mem **mem)
{
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .dev_id = 1};
    expect_status(kvs_mem_register(e, KVS_MEM_DRAM, &d, mem, &err), KVS_OK, &err);
    d.mem = *mem;
    struct kvs_dlist local = {&d, 1, 0, KVS_MEM_DRAM};
    struct kvs_key key = {"k0", 2};
    struct kvs_xfer_req req = {.size = sizeof req, .op = op, .local = &local, .keys = &key, .nkeys = 1};
    kvs_xfer *x = NULL;
    expect_status(kvs_xfer_prep(e, &req, &x, &err), KVS_OK, &err);
    post_short(x);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    return x;
}

/* The registration goes all the same, and the transfer knows that it has. KVS-REQ-296 KVS-REQ-297 KVS-REQ-295
 */
static void test_in_between(void **state)
{
    (void)state;
    kvs_set_log(no_log, NULL, -1);
    for (uint32_t op = KVS_READ; op <= KVS_WRITE; op++) {
        hand_reset();
        kvs_engine *e = open_engine("hand-stiff:?bounce=yes&timeout=20ms&cancel_grace=1ms");
        kvs_mem *mem;
        memory = calloc(1, 16);
        assert_non_null(memory);
        kvs_xfer *x = hold(e, op, &mem);
        late = hand_batch(0);
        struct kvs_error err = {0, ""};
        expect_status(kvs_mem_deregister(e, mem, &err), KVS_OK, &err);
        assert_null(late);
        free(memory);
        expect_rc(status_of(x, 0), KVS_TIMEOUT);
        expect_rc(kvs_xfer_post(x), KVS_NOT_ALLOWED);
        assert_int_equal(hand_taken(), 1);
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
    kvs_set_log(NULL, NULL, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_between)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
