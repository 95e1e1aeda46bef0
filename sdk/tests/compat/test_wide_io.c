/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of today under a host whose io has 16 bytes more: it steps by the host's stride. KVS-REQ-410,
 * KVS-REQ-411 */
#include "../expect.h"

#include <kvslot/backend.h>

#define COUNT 33u

/* The io of the plugin under test, as the header says today. */
#define IO_TODAY 80u

static void exchange(kvs_engine *engine, uint32_t op, unsigned char *data, size_t step)
{
    struct kvs_error err = {KVS_OK, ""};
    struct kvs_desc descs[COUNT] = {{0}};
    struct kvs_key keys[COUNT];
    char names[COUNT][8];
    for (uint32_t i = 0; i < COUNT; i++) {
        descs[i].addr = (uint64_t)(uintptr_t)(data + i * step);
        descs[i].len = i;
        keys[i].len = (size_t)snprintf(names[i], sizeof names[i], "k%u", i);
        keys[i].data = names[i];
    }
    struct kvs_dlist local = {descs, COUNT, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req, .op = op, .local = &local, .keys = keys, .nkeys = COUNT};
    kvs_xfer *xfer;
    expect_status(kvs_xfer_prep(engine, &req, &xfer, &err), KVS_OK, &err);
    int rc = kvs_xfer_post(xfer);
    if (rc == KVS_IN_PROG)
        rc = kvs_xfer_wait(xfer, KVS_SEC(30));
    assert_int_equal(rc, KVS_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        int status;
        uint64_t bytes;
        assert_int_equal(kvs_xfer_result(xfer, i, &status, &bytes, NULL), KVS_OK);
        assert_int_equal(status, KVS_OK);
        assert_int_equal(bytes, i);
    }
    assert_int_equal(kvs_xfer_release(xfer, 0), KVS_OK);
}

static void round_trip(const char *model)
{
    struct kvs_error err = {KVS_OK, ""};
    char target[64];
    kvs_engine *engine;
    snprintf(target, sizeof target, "mock:%s?model=%s", model, model);
    expect_status(kvs_engine_open(target, NULL, 0, &engine, &err), KVS_OK, &err);
    const struct kvs_backend *backend = kvs_engine_backend(engine);
    assert_int_equal(sizeof(struct kvs_io), IO_TODAY + 16);
    assert_int_equal(backend->io_size, IO_TODAY);

    enum { STEP = 64 };
    unsigned char out[COUNT * STEP], in[COUNT * STEP];
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i * 7 + i / STEP);
    memset(in, 0xee, sizeof in);
    exchange(engine, KVS_WRITE, out, STEP);
    exchange(engine, KVS_READ, in, STEP);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_memory_equal(in + i * STEP, out + i * STEP, i);
        assert_int_equal(in[i * STEP + i], 0xee);
    }
    expect_status(kvs_engine_close(engine, KVS_SEC(30), &err), KVS_OK, &err);
}

static void inline_model(void **state)
{
    (void)state;
    round_trip("inline");
}

static void thread_model(void **state)
{
    (void)state;
    round_trip("thread");
}

static void poll_model(void **state)
{
    (void)state;
    round_trip("poll");
}

static void blocking_model(void **state)
{
    (void)state;
    round_trip("blocking");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inline_model),
        cmocka_unit_test(thread_model),
        cmocka_unit_test(poll_model),
        cmocka_unit_test(blocking_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
