/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables the host does not take. */
#include "tables.h"

/* What is refused: one change to a good table each. */

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

static const struct {
    void (*change)(struct kvs_backend *b);
    const char *text;
} refused[] = {
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

/* KVS-REQ-403 KVS-REQ-404 KVS-REQ-405 KVS-REQ-407 KVS-REQ-408 KVS-REQ-412 KVS-REQ-501 */
static void tables_that_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct kvs_backend table = good_table();
        const struct kvs_backend *ours = &table;
        struct kvs_error err = {0};
        refused[i].change(&table);
        int rc = kvs_backend_adopt(&table, "/p/kvslot-store.so", &ours, &err);
        if (rc != KVS_INVALID_PARAM)
            fail_msg("'%s' was not refused", refused[i].text);
        expect_text(err.text, "/p/kvslot-store.so: ");
        expect_text(err.text, refused[i].text);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
