/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables the host takes, and what it makes of them. */
#include "adopt.h"
#include "expect.h"

#include <kvslot/backend.h>

static int some_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)ctx;
    (void)limits;
    return KVS_OK;
}

static int some_io(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    (void)io;
    return KVS_OK;
}

static int some_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
    return KVS_OK;
}

static void some_cancel(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
}

static int some_poll(void *eng, int max_events)
{
    (void)eng;
    (void)max_events;
    return 0;
}

static int some_fd(void *eng)
{
    (void)eng;
    return -1;
}

static int some_list(void *eng, const void *prefix, size_t len,
                     int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                     uint64_t deadline_ns)
{
    (void)eng;
    (void)prefix;
    (void)len;
    (void)each;
    (void)arg;
    (void)deadline_ns;
    return KVS_OK;
}

static struct kvs_param params[3];

static struct kvs_backend good_table(void)
{
    memset(params, 0, sizeof params);
    params[0] = (struct kvs_param){.name = "path", .uri = "path", .def = "/x"};
    params[1] =
        (struct kvs_param){.name = "size", .type = KVS_PARAM_SIZE, .def = "1MiB", .min = 1, .max = 1 << 30};
    params[2] = (struct kvs_param){.name = "how", .type = KVS_PARAM_ENUM, .choices = "one|two", .def = "two"};
    return (struct kvs_backend){
        KVS_BACKEND_STAMP, .name = "store",   .version = "1.0", .params = params,
        .nparams = 3,      .open = some_open, .put = some_io,   .get = some_io,
    };
}

static struct kvs_backend async_table(void)
{
    struct kvs_backend b = good_table();
    b.put = b.get = NULL;
    b.submit = some_submit;
    return b;
}

/* ---- What is refused: one change to a good table each
 * ---------------------------------------------------------------- */

#define CHANGE(name, ...)                                                                                    \
    static void name(struct kvs_backend *b)                                                                  \
    {                                                                                                        \
        (void)b;                                                                                             \
        __VA_ARGS__;                                                                                         \
    }
CHANGE(bad_magic, b->magic ^= 1)
CHANGE(api_older, b->api = KVS_API - 1)
CHANGE(api_newer, b->api = KVS_API + 1)
CHANGE(size_none, b->size = 0)
CHANGE(size_small, b->size = offsetof(struct kvs_backend, submit))
CHANGE(size_huge, b->size = 1u << 20)
CHANGE(param_none, b->param_size = 0)
CHANGE(param_odd, b->param_size = sizeof(struct kvs_param) + 4)
CHANGE(param_huge, b->param_size = 8192)
CHANGE(io_none, b->io_size = 0)
CHANGE(io_newer, b->io_size += 16)
CHANGE(batch_newer, b->batch_size += 8)
CHANGE(host_newer, b->host_size += 8)
CHANGE(no_name, b->name = NULL)
CHANGE(empty_name, b->name = "")
CHANGE(upper_name, b->name = "Store")
CHANGE(path_name, b->name = "a/b")
CHANGE(long_name, b->name = "a123456789012345678901234567890123456789012345678901234567890123")
CHANGE(no_version, b->version = NULL)
CHANGE(empty_version, b->version = "")
CHANGE(no_open, b->open = NULL)
CHANGE(no_put, b->put = NULL)
CHANGE(no_get, b->get = NULL)
CHANGE(no_functions, b->put = b->get = NULL)
CHANGE(put_alone_with_submit, b->submit = some_submit; b->get = NULL)
CHANGE(poll_alone, b->poll = some_poll)
CHANGE(fd_alone, b->poll_fd = some_fd)
CHANGE(thread_model, b->thread_model = 2)
CHANGE(align_odd, b->priv_align = 24)
CHANGE(align_large, b->priv_align = 8192)
CHANGE(keys, b->min_key = 5; b->max_key = 4)
CHANGE(cap_both, b->caps_native = b->caps_none = KVS_CAP_TTL | KVS_CAP_SHARED)
CHANGE(list_missing, b->caps_native = KVS_CAP_LIST)
CHANGE(query_missing, b->caps_native = KVS_CAP_QUERY)
CHANGE(remove_missing, b->caps_native = KVS_CAP_REMOVE)
CHANGE(params_null, b->params = NULL)
CHANGE(params_many, b->nparams = 100000)
CHANGE(param_null, params[1].name = NULL)
CHANGE(param_empty, params[1].name = "")
CHANGE(param_dash, params[1].name = "a-b")
CHANGE(param_twice, params[1].name = "path")
CHANGE(param_sdk, params[1].name = "timeout")
CHANGE(param_kept, params[1].name = "bounce")
CHANGE(param_default, params[1].def = "1.5MiB")
CHANGE(param_outside, params[1].def = "2GiB")
CHANGE(param_bounds, params[1].min = 5; params[1].max = 4)
CHANGE(param_type, params[1].type = 6)
CHANGE(enum_none, params[2].choices = NULL)
CHANGE(enum_empty, params[2].choices = "")
CHANGE(enum_gap, params[2].choices = "one||two")
CHANGE(enum_twice, params[2].choices = "one|two|one")
CHANGE(enum_default, params[2].def = "three")
CHANGE(claim_unknown, params[1].uri = "query")
CHANGE(claim_half, params[1].uri = "unix:")
CHANGE(claim_variant, params[1].uri = "Unix:path")
CHANGE(claim_twice, params[1].uri = "host path")
CHANGE(claim_secret, params[0].flags = KVS_PARAM_SECRET)
CHANGE(scheme_bad, b->schemes = "Upper")
CHANGE(scheme_unknown, b->schemes = "fine other?nothing=1")
CHANGE(scheme_no_value, b->schemes = "other?size")
CHANGE(scheme_value, b->schemes = "other?size=big")

/* KVS-REQ-403 KVS-REQ-404 KVS-REQ-405 KVS-REQ-407 KVS-REQ-408 KVS-REQ-501, and B101 */
static void tables_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        void (*change)(struct kvs_backend *b);
        const char *text;
    } rows[] = {
        {bad_magic, "magic is 0x6b76736c6f740a1b, not 0x6b76736c6f740a1a"},
        {api_older, "compiled for API 4294967295, this kvslot (0.1.0) has API 0"},
        {api_newer, "compiled for API 1, this kvslot (0.1.0) has API 0"},
        {size_none, "its table has 0 bytes"},
        {size_small, "its table has"},
        {size_huge, "its table has 1048576 bytes"},
        {param_none, "struct kvs_param has 0 bytes"},
        {param_odd, "struct kvs_param has"},
        {param_huge, "struct kvs_param has 8192 bytes"},
        {io_none, "struct kvs_io has 0 bytes"},
        {io_newer, "newer kvslot: its struct kvs_io has 96 bytes, here it has 80"},
        {batch_newer, "newer kvslot: its struct kvs_batch has"},
        {host_newer, "newer kvslot: its struct kvs_host has"},
        {no_name, "no name"},
        {empty_name, "its name is ''"},
        {upper_name, "its name is 'Store'"},
        {path_name, "its name is 'a/b'"},
        {long_name, "its name is 'a123"},
        {no_version, "no version"},
        {empty_version, "no version"},
        {no_open, "backend 'store' has no function open"},
        {no_put, "has the function get, but not put"},
        {no_get, "has the function put, but not get"},
        {no_functions, "neither the functions put and get nor submit"},
        {put_alone_with_submit, "has the function put, but not get"},
        {poll_alone, "has the function poll, but not poll_fd"},
        {fd_alone, "has the function poll_fd, but not poll"},
        {thread_model, "thread model 2"},
        {align_odd, "priv_align 24"},
        {align_large, "priv_align 8192"},
        {keys, "min_key 5 above max_key 4"},
        {cap_both, "capability ttl is native and that it is none"},
        {list_missing, "capability list is native, but has no function list"},
        {query_missing, "capability query is native, but has no function query"},
        {remove_missing, "capability remove is native, but has no function remove"},
        {params_null, "has 3 parameters, but params is NULL"},
        {params_many, "has 100000 parameters"},
        {param_null, "parameter 2 of backend 'store' has no name"},
        {param_empty, "parameter ''"},
        {param_dash, "parameter 'a-b'"},
        {param_twice, "declares parameter 'path' twice"},
        {param_sdk, "declares parameter 'timeout', which is the SDK's own"},
        {param_kept, "declares parameter 'bounce', which is the SDK's own"},
        {param_default, "parameter 'size' is '1.5MiB'"},
        {param_outside, "parameter 'size' is '2GiB'"},
        {param_bounds, "min above its max"},
        {param_type, "type 6"},
        {enum_none, "'how' of backend 'store' has no good choices"},
        {enum_empty, "no good choices"},
        {enum_gap, "no good choices"},
        {enum_twice, "no good choices"},
        {enum_default, "parameter 'how' is 'three'"},
        {claim_unknown, "filled by 'query'"},
        {claim_half, "filled by 'unix:'"},
        {claim_variant, "filled by 'Unix:path'"},
        {claim_twice, "'path' and 'size' of backend 'store' are both filled by the path"},
        {claim_secret, "is secret"},
        {scheme_bad, "lists scheme 'Upper'"},
        {scheme_unknown, "scheme 'other' of backend 'store' sets 'nothing'"},
        {scheme_no_value, "scheme 'other' of backend 'store' sets 'size'"},
        {scheme_value, "parameter 'size' is 'big'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kvs_backend table = good_table();
        const struct kvs_backend *ours = &table;
        struct kvs_error err = {0};
        rows[i].change(&table);
        int rc = kvs_backend_adopt(&table, "/p/kvslot-store.so", &ours, &err);
        if (rc != KVS_INVALID_PARAM)
            fail_msg("'%s' was not refused", rows[i].text);
        expect_text(err.text, "/p/kvslot-store.so: ");
        expect_text(err.text, rows[i].text);
        assert_null(ours);
    }
    const struct kvs_backend *ours;
    struct kvs_error err = {0};
    expect_status(kvs_backend_adopt(NULL, "built in", &ours, &err), KVS_INVALID_PARAM, &err);
    struct kvs_backend async = async_table();
    async.caps_native = KVS_CAP_CANCEL;
    expect_status(kvs_backend_adopt(&async, "built in", &ours, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "capability cancel is native, but has no function cancel");
}

static const struct kvs_backend *adopt(const struct kvs_backend *table)
{
    const struct kvs_backend *ours;
    struct kvs_error err = {0};
    expect_status(kvs_backend_adopt(table, "built in", &ours, &err), KVS_OK, &err);
    assert_ptr_not_equal(ours, table);
    return ours;
}

/* KVS-REQ-429 */
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
    assert_int_equal(ours->remote_mems, KVS_MEM_MASK(KVS_MEM_DRAM));
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

/* ---- Capabilities
 * ------------------------------------------------------------------------------------------------------ */

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

/* ---- Tables of other releases with the same API number
 * ------------------------------------------------------------------ */

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
    const struct kvs_backend *ours = adopt(exact);
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
        cmocka_unit_test(tables_that_are_refused),
        cmocka_unit_test(zeros_are_filled_in),
        cmocka_unit_test(capabilities_of_a_blocking_backend),
        cmocka_unit_test(capabilities_of_an_async_backend),
        cmocka_unit_test(shorter_structures),
        cmocka_unit_test(longer_structures),
        cmocka_unit_test(offsets_are_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
