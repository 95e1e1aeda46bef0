/* SPDX-License-Identifier: Apache-2.0 */
/* kvs_get_alloc. */
#include "case.h"

static void alloc_sizes(struct kit *k)
{
    static const size_t sizes[] = {0, 1, 1000, 300000};
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < 4; i++) {
        size_t len = kit_value_size(k, sizes[i]);
        struct kit_key key = kit_key(k, "a%zu", i);
        struct kit_buf v = kit_value(k, len, i);
        void *data = NULL;
        uint64_t got = 1;
        kit_put(k, e, key, v.data, len);
        KIT_STATUS_ERR(kvs_get_alloc(e, key.data, key.len, 1u << 20, &data, &got, &err), KVS_OK, &err);
        KIT_CHECK(data, "kvs_get_alloc of %zu bytes is OK and gave NULL", len);
        KIT_EQ_U64(got, len);
        KIT_BYTES(data, v.data, len);
        kvs_free(data);
        /* Exactly max is not too large. */
        KIT_STATUS_ERR(kvs_get_alloc(e, key.data, key.len, len, &data, &got, &err), KVS_OK, &err);
        kvs_free(data);
    }
}

static void alloc_refused(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "large");
    void *data = &err;
    uint64_t got = 1;
    size_t len = kit_value_size(k, 1000);
    kit_put(k, e, key, kit_value(k, len, 1).data, len);
    KIT_STATUS(kvs_get_alloc(e, key.data, key.len, len - 1, &data, &got, &err), KVS_TOO_LARGE);
    KIT_CHECK(data == NULL, "kvs_get_alloc failed and its out pointer is not NULL");
    key = kit_key(k, "absent");
    data = &err;
    KIT_STATUS_IN(kvs_get_alloc(e, key.data, key.len, 100, &data, &got, &err), KVS_NOT_FOUND, KVS_UNKNOWN);
    KIT_CHECK(data == NULL, "kvs_get_alloc failed and its out pointer is not NULL");
}

static void alloc_no_size(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "sized");
    void *data = &key;
    uint64_t got = 1;
    kit_put(k, e, key, "12345678", 8);
    KIT_STATUS(kvs_get_alloc(e, key.data, key.len, 100, &data, &got, NULL), KVS_NOT_SUPPORTED);
    KIT_CHECK(data == NULL, "kvs_get_alloc failed and its out pointer is not NULL");
}

static const struct kit_case cases[] = {
    {.id = "alloc.sizes",
     .title = "kvs_get_alloc finds the size by itself",
     .explain = "Fetches values of 0 bytes to 300 kB without saying their size, also with the size itself "
                "as the limit. An empty value gives memory that is not NULL.",
     .requirements = "KVS-REQ-379 KVS-REQ-380 KVS-REQ-360",
     .needs = KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = alloc_sizes},
    {.id = "alloc.refused",
     .title = "kvs_get_alloc of too large a value is TOO_LARGE",
     .explain = "Fetches a value that is one byte over the limit, and an absent key; the out pointer is "
                "NULL.",
     .requirements = "KVS-REQ-381 KVS-REQ-371",
     .needs = KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = alloc_refused},
    {.id = "alloc.no_size",
     .title = "kvs_get_alloc is NOT_SUPPORTED where QUERY gives no size",
     .explain = "Fetches a value without saying its size from a store that declares no query_size.",
     .requirements = "KVS-REQ-382",
     .absent = KVS_CAP_QUERY_SIZE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = alloc_no_size},
};
KIT_TOPIC(topic_alloc, cases);
