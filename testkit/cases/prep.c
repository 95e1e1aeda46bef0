/* SPDX-License-Identifier: Apache-2.0 */
/* What prep accepts and refuses. */
#include "case.h"
#include <stdlib.h>

static void prep_null(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kvs_xfer_req req = {.size = sizeof(req), .op = KVS_WRITE};
    kvs_xfer *x = NULL;
    KIT_STATUS(kvs_xfer_prep(NULL, &req, &x, NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_prep(e, NULL, &x, NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_post(NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_check(NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_wait(NULL, 0), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_cancel(NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_release(NULL, 0), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_xfer_result(NULL, 0, NULL, NULL, NULL), KVS_INVALID_PARAM);
    KIT_EQ(kvs_xfer_count(NULL), 0);
    kvs_xfer_abandon(NULL);
    KIT_STATUS(kvs_engine_close(NULL, 0, NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_engine_progress(NULL), KVS_INVALID_PARAM);
    kvs_engine_abandon(NULL);
    kvs_free(NULL);
}

static void prep_counts(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, 8, 1);
    struct kit_key key = kit_key(k, "count");
    struct kvs_key keys[3] = {{key.data, key.len}, {key.data, key.len}, {key.data, key.len}};
    struct kvs_desc local[2] = {kit_local(e, v.data, v.len), kit_local(e, v.data, v.len)};
    struct kvs_dlist l = {.descs = local, .count = 2, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof(req), .op = KVS_WRITE, .local = &l, .keys = keys, .nkeys = 3};
    kvs_xfer *x = (kvs_xfer *)(uintptr_t)1;
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
    KIT_CHECK(x == NULL, "prep failed and the out pointer is not NULL");
    req.nkeys = 1;
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
    req.nkeys = 0;
    l.count = 0;
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
    req = (struct kvs_xfer_req){.size = sizeof(req), .op = 77, .local = &l, .keys = keys, .nkeys = 1};
    l.count = 1;
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
}

static void prep_lengths(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    static const uint64_t pairs[][2] = {{64, 4096}, {4096, 64}, {0, 8}};
    for (size_t i = 0; i < 3; i++) {
        struct kit_key key = kit_key(k, "l%zu", i);
        struct kit_buf v = kit_buf(k, pairs[i][0], KIT_AT_END);
        struct kvs_desc at = {.len = pairs[i][1], .meta_info = key.data, .meta_len = key.len};
        kvs_mem *mem = NULL;
        KIT_STATUS(kvs_mem_register(e, kit_remote_type(e), &at, &mem, NULL), KVS_OK);
        struct kvs_desc local = kit_local(e, v.data, v.len), remote = {.mem = mem, .len = pairs[i][1]};
        struct kvs_dlist l = {.descs = &local, .count = 1, .type = KVS_MEM_DRAM};
        struct kvs_dlist r = {.descs = &remote, .count = 1, .type = kit_remote_type(e)};
        struct kvs_xfer_req req = {.size = sizeof(req), .op = KVS_READ, .local = &l, .remote = &r};
        kvs_xfer *x = NULL;
        KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
        req.op = KVS_WRITE;
        KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
        KIT_STATUS(kvs_mem_deregister(e, mem, NULL), KVS_OK);
    }
}

static void prep_local_for_query(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, 8, 1);
    struct kit_key key = kit_key(k, "q");
    struct kvs_key keys = {key.data, key.len};
    struct kvs_desc local = kit_local(e, v.data, v.len);
    struct kvs_dlist l = {.descs = &local, .count = 1, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof(req), .op = KVS_QUERY, .local = &l, .keys = &keys, .nkeys = 1};
    kvs_xfer *x = NULL;
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
    if (kit_has(k, KVS_CAP_REMOVE)) {
        req.op = KVS_REMOVE;
        KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
    }
}

static void prep_newline_list(struct kit *k)
{
    char list[512];
    size_t n = kit_batch_size(k, 3), len = kit_value_size(k, 30), at = 0;
    kvs_engine *e = kit_open(k);
    struct kit_key keys[3];
    struct kvs_desc local[3];
    for (size_t i = 0; i < n; i++) {
        keys[i] = kit_key(k, "line %zu", i);
        struct kit_buf v = kit_value(k, len, i);
        local[i] = kit_local(e, v.data, v.len);
        memcpy(list + at, keys[i].data, keys[i].len);
        at += keys[i].len;
        list[at++] = '\n';
    }
    struct kvs_dlist l = {.descs = local, .count = n, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {
        .size = sizeof(req), .op = KVS_WRITE, .local = &l, .custom = list, .custom_len = at - 1};
    kvs_xfer *x = NULL;
    struct kvs_error err = {0};
    KIT_STATUS_ERR(kvs_xfer_prep(e, &req, &x, &err), KVS_OK, &err);
    memset(list, 'x', sizeof(list)); /* the keys were copied */
    kit_ends(k, x, KVS_OK);
    kit_release(x);
    for (size_t i = 0; i < n; i++)
        kit_expect(k, e, keys[i], kit_value(k, len, i).data, len);
    /* A newline at the end begins one more key, an empty one. */
    memset(list, 'x', sizeof(list));
    list[8] = '\n';
    l.count = 1;
    req.custom_len = 9;
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_INVALID_PARAM);
}

static void prep_stride(struct kit *k)
{
    struct wide {
        struct kvs_desc desc;
        uint64_t more[3];
    } local[4];
    size_t n = kit_batch_size(k, 4), len = kit_value_size(k, 20);
    kvs_engine *e = kit_open(k);
    struct kit_key names[4];
    struct kvs_key keys[4];
    for (size_t i = 0; i < n; i++) {
        struct kit_buf v = kit_value(k, len, i);
        memset(&local[i], 0xff, sizeof(local[i]));
        local[i].desc = kit_local(e, v.data, v.len);
        names[i] = kit_key(k, "wide%zu", i);
        keys[i] = (struct kvs_key){names[i].data, names[i].len};
    }
    struct kvs_dlist l = {
        .descs = &local[0].desc, .count = n, .stride = sizeof(local[0]), .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof(req), .op = KVS_WRITE, .local = &l, .keys = keys, .nkeys = n};
    kvs_xfer *x = NULL;
    KIT_STATUS(kvs_xfer_prep(e, &req, &x, NULL), KVS_OK);
    kit_ends(k, x, KVS_OK);
    kit_release(x);
    for (size_t i = 0; i < n; i++)
        kit_expect(k, e, names[i], kit_value(k, len, i).data, len);
}

static void prep_batch_limit(struct kit *k)
{
    size_t max = kit_limits(k)->max_batch;
    kvs_engine *e = kit_open(k);
    if (max == 0)
        max = KVS_BATCH_DEFAULT;
    struct kit_key key = kit_key(k, "limit");
    struct kit_item *items = calloc(max + 1, sizeof(*items));
    KIT_CHECK(items, "no memory for %zu items", max + 1);
    for (size_t i = 0; i <= max; i++)
        items[i] = (struct kit_item){key, NULL, 0};
    kvs_xfer *x = NULL;
    KIT_STATUS(kit_try_prep(k, e, KVS_READ, items, max + 1, NULL, &x, NULL), KVS_TOO_LARGE);
    KIT_STATUS(kit_try_prep(k, e, KVS_READ, items, max, NULL, &x, NULL), KVS_OK);
    kit_release(x);
    free(items);
}

static void prep_value_limit(struct kit *k)
{
    uint64_t max = kit_limits(k)->max_value;
    kvs_engine *e = kit_open(k);
    if (max == 0 || max > 64u << 20)
        kit_not_supported(k, "there is no limit, or one above 64 MiB");
    struct kit_key key = kit_key(k, "value");
    struct kit_buf v = kit_value(k, max + 1, 1);
    struct kit_item item = {key, v.data, max + 1};
    kvs_xfer *x = NULL;
    KIT_STATUS(kit_try_prep(k, e, KVS_WRITE, &item, 1, NULL, &x, NULL), KVS_TOO_LARGE);
    KIT_STATUS(kit_try_prep(k, e, KVS_READ, &item, 1, NULL, &x, NULL), KVS_TOO_LARGE);
    kit_put(k, e, key, v.data, max);
    kit_expect(k, e, key, v.data, max);
}

static const struct kit_case cases[] = {
    {.id = "prep.null",
     .title = "NULL handles and requests are INVALID_PARAM",
     .explain = "Calls every function with NULL where a handle belongs. None crashes.",
     .requirements = "KVS-REQ-100 KVS-REQ-107",
     .fn = prep_null},
    {.id = "prep.counts",
     .title = "Counts that do not fit are refused",
     .explain = "Prepares with more and fewer keys than descriptors, with none at all, and with an "
                "operation that does not exist. Each is INVALID_PARAM.",
     .requirements = "KVS-REQ-076 KVS-REQ-100 KVS-REQ-102",
     .fn = prep_counts},
    {.id = "prep.lengths",
     .title = "Local and remote lengths must be equal",
     .explain = "Prepares pairs of 64 and 4,096 bytes, the reverse, and 0 and 8. Each is INVALID_PARAM: "
                "otherwise a READ would run over its buffer or be silently short.",
     .requirements = "KVS-REQ-101",
     .fn = prep_lengths},
    {.id = "prep.local_for_query",
     .title = "QUERY and REMOVE take no local list",
     .explain = "Prepares both with a local list: INVALID_PARAM.",
     .requirements = "KVS-REQ-368",
     .needs = KVS_CAP_QUERY,
     .fn = prep_local_for_query},
    {.id = "prep.newline_list",
     .title = "Keys may come as one newline-separated list",
     .explain = "Writes with the custom list of keys, overwriting the list after prep, and reads each key. "
                "A list that ends in a newline has one key more.",
     .requirements = "KVS-REQ-075 KVS-REQ-076 KVS-REQ-077 KVS-REQ-551",
     .fn = prep_newline_list},
    {.id = "prep.stride",
     .title = "Lists are stepped through by their stride",
     .explain = "Writes from a list of descriptors that stand in larger structures.",
     .requirements = "KVS-REQ-052 KVS-REQ-078",
     .fn = prep_stride},
    {.id = "prep.batch_limit",
     .title = "A batch of max_batch prepares, one more is TOO_LARGE",
     .explain = "Prepares READs of as many descriptors as the engine's limit says, and of one more.",
     .requirements = "KVS-REQ-103 KVS-REQ-430",
     .fn = prep_batch_limit},
    {.id = "prep.value_limit",
     .title = "A value of max_value works, one byte more is TOO_LARGE",
     .explain = "Writes and reads a value of the engine's greatest size, where that is at most 64 MiB, and "
                "one byte more.",
     .requirements = "KVS-REQ-011 KVS-REQ-430",
     .profile = KVS_CONFORM_EXTENDED,
     .fn = prep_value_limit},
};
KIT_TOPIC(topic_prep, cases);
