/* SPDX-License-Identifier: Apache-2.0 */
/* What the host makes of the tables that it takes. */
#include "tables.h"

static const struct kvs_backend *adopt(const struct kvs_backend *table)
{
    const struct kvs_backend *ours;
    struct kvs_error err = {0};
    expect_status(kvs_backend_adopt(table, "built in", &ours, &err), KVS_OK, &err);
    assert_ptr_not_equal(ours, table);
    return ours;
}

/* KVS-REQ-429, KVS-REQ-448 */
static void zeros_are_filled_in(void **state)
{
    (void)state;
    struct kvs_backend table = good_table();
    const struct kvs_backend *ours = adopt(&table);
    assert_int_equal(ours->min_key, 1);
    assert_int_equal(ours->max_batch, KVS_BATCH_DEFAULT);
    assert_int_equal(ours->max_iov, 1);
    assert_int_equal(ours->priv_align, 16);
    assert_int_equal(ours->local_mems, KVS_MEM_MASK(KVS_MEM_DRAM));
    assert_int_equal(ours->remote_mems, KVS_MEM_MASK(KVS_MEM_DRAM) | KVS_MEM_MASK(KVS_MEM_OBJECT));
    assert_int_equal(ours->max_key, 0);
    assert_int_equal(ours->max_value, 0);
    assert_int_equal(ours->nparams, 3);
    assert_ptr_not_equal(ours->params, table.params);
    assert_string_equal(ours->params[2].choices, "one|two");
    kvs_backend_disown(ours);

    table.min_key = 3;
    table.max_batch = 9;
    table.max_iov = 8;
    table.priv_align = 4096;
    table.local_mems = KVS_MEM_MASK(KVS_MEM_VRAM);
    table.remote_mems = KVS_MEM_MASK(KVS_MEM_OBJECT) | 1u << 30;
    table.flags = KVS_F_EMULATED | 1u << 30;
    table.nparams = 0;
    table.params = NULL;
    ours = adopt(&table);
    assert_int_equal(ours->min_key, 3);
    assert_int_equal(ours->max_batch, 9);
    assert_int_equal(ours->max_iov, 8);
    assert_int_equal(ours->priv_align, 4096);
    assert_int_equal(ours->local_mems, KVS_MEM_MASK(KVS_MEM_VRAM));
    assert_int_equal(ours->remote_mems, KVS_MEM_MASK(KVS_MEM_OBJECT));
    assert_int_equal(ours->flags, KVS_F_EMULATED);
    assert_null(ours->params);
    kvs_backend_disown(ours);
    kvs_backend_disown(NULL);
}

/* ---- Capabilities ---- */

enum answer { NONE, EMULATED, NATIVE };

static enum answer answer_of(const struct kvs_backend *b, uint64_t cap)
{
    assert_int_equal(b->caps_native & b->caps_none, 0);
    return b->caps_native & cap ? NATIVE : b->caps_none & cap ? NONE : EMULATED;
}

static void expect_cap(struct kvs_backend table, uint64_t cap, enum answer want)
{
    const struct kvs_backend *ours = adopt(&table);
    assert_int_equal(answer_of(ours, cap), want);
    kvs_backend_disown(ours);
}

/* KVS-REQ-425 KVS-REQ-426 KVS-REQ-428 */
static void capabilities_of_a_blocking_backend(void **state)
{
    (void)state;
    struct kvs_backend b = good_table();
    expect_cap(b, KVS_CAP_READ, NATIVE);
    expect_cap(b, KVS_CAP_WRITE, NATIVE);
    expect_cap(b, KVS_CAP_QUERY, NONE);
    expect_cap(b, KVS_CAP_REMOVE, NONE);
    expect_cap(b, KVS_CAP_LIST, NONE);
    expect_cap(b, KVS_CAP_OVERWRITE, NONE);
    expect_cap(b, KVS_CAP_READ_ATOMIC, NONE);
    b.caps_none = KVS_CAP_WRITE;
    expect_cap(b, KVS_CAP_WRITE, NONE);
    b.caps_none = 0;
    b.caps_native = KVS_CAP_SIZE_CHECK | KVS_CAP_OVERWRITE;
    expect_cap(b, KVS_CAP_SIZE_CHECK, NATIVE);
    expect_cap(b, KVS_CAP_OVERWRITE, NATIVE);
    expect_cap(b, KVS_CAP_QUERY, EMULATED);
    expect_cap(b, KVS_CAP_QUERY_SIZE, EMULATED);
    b.caps_none = KVS_CAP_QUERY;
    expect_cap(b, KVS_CAP_QUERY, NONE);
    expect_cap(b, KVS_CAP_QUERY_SIZE, NONE);
    b.caps_none = KVS_CAP_READ;
    expect_cap(b, KVS_CAP_QUERY, NONE);
    b.caps_none = KVS_CAP_QUERY_SIZE;
    expect_cap(b, KVS_CAP_QUERY, EMULATED);
    expect_cap(b, KVS_CAP_QUERY_SIZE, NONE);
    b.caps_none = 0;
    b.query = b.remove = some_io;
    b.list = some_list;
    expect_cap(b, KVS_CAP_QUERY, NATIVE);
    expect_cap(b, KVS_CAP_QUERY_SIZE, NONE);
    expect_cap(b, KVS_CAP_REMOVE, NATIVE);
    expect_cap(b, KVS_CAP_LIST, NATIVE);
    b.caps_none = KVS_CAP_QUERY | KVS_CAP_REMOVE | KVS_CAP_LIST;
    expect_cap(b, KVS_CAP_QUERY, NONE);
    expect_cap(b, KVS_CAP_REMOVE, NONE);
    expect_cap(b, KVS_CAP_LIST, NONE);
    b.caps_native = UINT64_C(1) << 60;
    b.caps_none = UINT64_C(1) << 60; /* of a later version: not looked at */
    expect_cap(b, KVS_CAP_READ, NATIVE);
}

static void capabilities_of_an_async_backend(void **state)
{
    (void)state;
    struct kvs_backend b = async_table();
    b.caps_native = KVS_CAP_SIZE_CHECK;
    b.poll = some_poll;
    b.poll_fd = some_fd;
    expect_cap(b, KVS_CAP_READ, NATIVE);
    expect_cap(b, KVS_CAP_WRITE, NATIVE);
    expect_cap(b, KVS_CAP_QUERY, NONE);
    expect_cap(b, KVS_CAP_REMOVE, NONE);
    expect_cap(b, KVS_CAP_CANCEL, NONE);
    b.caps_native |= KVS_CAP_QUERY | KVS_CAP_REMOVE | KVS_CAP_CANCEL;
    b.cancel = some_cancel;
    expect_cap(b, KVS_CAP_QUERY, NATIVE);
    expect_cap(b, KVS_CAP_REMOVE, NATIVE);
    expect_cap(b, KVS_CAP_CANCEL, NATIVE);
    b.put = b.get = b.query = b.remove = some_io; /* both shapes: open chooses */
    expect_cap(b, KVS_CAP_QUERY, NATIVE);
}

/* ---- Tables of other releases with the same API number ---- */

/* KVS-REQ-402 KVS-REQ-411 */
static void shorter_structures(void **state)
{
    (void)state;
    struct kvs_backend table = good_table();
    table.size = offsetof(struct kvs_backend, on_register);
    table.list = some_list; /* past its end: must not be seen */
    table.io_size -= 16;
    table.batch_size -= 8;
    table.host_size -= 8;
    size_t stride = offsetof(struct kvs_param, type);
    char *packed = malloc(3 * stride);
    for (int i = 0; i < 3; i++)
        memcpy(packed + (size_t)i * stride, &params[i], stride);
    table.params = (const struct kvs_param *)(void *)packed;
    table.param_size = (uint32_t)stride;
    struct kvs_backend *exact = malloc(table.size); /* so that a longer read shows */
    memcpy(exact, &table, table.size);
    const struct kvs_backend *ours = adopt(&table);
    assert_null(ours->list);
    kvs_backend_disown(ours);
    ours = adopt(exact);
    assert_null(ours->list);
    assert_ptr_equal(ours->get, some_io);
    assert_int_equal(ours->size, sizeof *ours);
    assert_string_equal(ours->params[2].name, "how");
    assert_int_equal(ours->params[2].type, KVS_PARAM_STRING);
    kvs_backend_disown(ours);
    free(exact);
    free(packed);
}

struct longer_param {
    struct kvs_param param;
    char more[16];
};

/* KVS-REQ-402 KVS-REQ-412: "a plugin whose parameter struct has 16 more bytes" */
static void longer_structures(void **state)
{
    (void)state;
    good_table();
    struct longer_param longer[3];
    memset(longer, 0xee, sizeof longer);
    for (int i = 0; i < 3; i++)
        longer[i].param = params[i];
    struct {
        struct kvs_backend table;
        char more[64];
    } table = {.table = good_table()};
    memset(table.more, 0xee, sizeof table.more);
    table.table.size = sizeof table;
    table.table.params = &longer[0].param;
    table.table.param_size = sizeof longer[0];
    const struct kvs_backend *ours = adopt(&table.table);
    assert_int_equal(ours->size, sizeof *ours);
    assert_int_equal(ours->param_size, sizeof(struct kvs_param));
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&ours->params[i], &params[i], sizeof params[i]);
    kvs_backend_disown(ours);
}

/* KVS-REQ-409: moving a member of API 0 breaks this, on purpose. */
static void offsets_are_fixed(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct kvs_io), 80);
    assert_int_equal(offsetof(struct kvs_io, token), 0);
    assert_int_equal(offsetof(struct kvs_io, iov), 24);
    assert_int_equal(offsetof(struct kvs_io, actual), 48);
    assert_int_equal(offsetof(struct kvs_io, mem_priv), 72);
    assert_int_equal(offsetof(struct kvs_batch, ios), 16);
    assert_int_equal(offsetof(struct kvs_batch, priv), 40);
    assert_int_equal(offsetof(struct kvs_backend, magic), 0);
    assert_int_equal(offsetof(struct kvs_backend, size), 8);
    assert_int_equal(offsetof(struct kvs_backend, api), 12);
    assert_int_equal(offsetof(struct kvs_backend, param_size), 28);
    assert_int_equal(offsetof(struct kvs_backend, name), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_filled_in),
        cmocka_unit_test(capabilities_of_a_blocking_backend),
        cmocka_unit_test(capabilities_of_an_async_backend),
        cmocka_unit_test(shorter_structures),
        cmocka_unit_test(longer_structures),
        cmocka_unit_test(offsets_are_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
