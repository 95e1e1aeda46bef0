/* SPDX-License-Identifier: Apache-2.0 */
/* Asking whether keys are there. */
#include "case.h"
#include <stdlib.h>

static void size_is(struct kit *k, uint64_t got, uint64_t want)
{
    if (kit_has(k, KVS_CAP_QUERY_SIZE) || got != KVS_SIZE_UNKNOWN)
        KIT_EQ_U64(got, want);
}

static void query_present(struct kit *k)
{
    static const size_t sizes[] = {1, 5, 4096, 70000};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < 4; i++) {
        struct kit_key key = kit_key(k, "q%zu", i);
        size_t len = kit_value_size(k, sizes[i]);
        uint64_t size = 1;
        kit_put(k, e, key, kit_value(k, len, i).data, len);
        KIT_STATUS(kvs_query(e, key.data, key.len, &size, NULL), KVS_OK);
        size_is(k, size, len);
        KIT_STATUS(kvs_query(e, key.data, key.len, NULL, NULL), KVS_OK);
    }
}

static void query_absent(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "absent"), near = kit_key(k, "absent.");
    KIT_STATUS_IN(kvs_query(e, key.data, key.len, NULL, &err), KVS_NOT_FOUND, KVS_UNKNOWN);
    kit_put(k, e, near, "x", 1);
    KIT_STATUS_IN(kvs_query(e, key.data, key.len, NULL, &err), KVS_NOT_FOUND, KVS_UNKNOWN);
    KIT_STATUS(kvs_query(NULL, key.data, key.len, NULL, &err), KVS_INVALID_PARAM);
}

static void query_many(struct kit *k)
{
    size_t n = kit_batch_size(k, 300);
    kvs_engine *e = kit_open(k);
    struct kit_item *items = calloc(n, sizeof(*items));
    KIT_CHECK(items, "no memory for %zu items", n);
    for (size_t i = 0; i < n; i++) {
        items[i].key = kit_key(k, "many%zu", i);
        if (i % 3 == 0)
            kit_put(k, e, items[i].key, kit_value(k, kit_value_size(k, i + 1), i).data,
                    kit_value_size(k, i + 1));
    }
    kvs_xfer *x = kit_prep(k, e, KVS_QUERY, items, n);
    kit_ends(k, x, KVS_OK);
    for (size_t i = 0; i < n; i++) {
        if (i % 3 == 0) {
            KIT_STATUS(kit_result(x, i), KVS_OK);
            size_is(k, kit_result_bytes(x, i), kit_value_size(k, i + 1));
        } else {
            KIT_STATUS_IN(kit_result(x, i), KVS_NOT_FOUND, KVS_UNKNOWN);
        }
    }
    kit_ends(k, x, KVS_OK);
    kit_release(x);
    free(items);
}

static void query_follows(struct kit *k)
{
    kvs_engine *e = kit_open(k), *other = kit_open(k);
    struct kit_key key = kit_key(k, "followed");
    size_t len = kit_value_size(k, 111);
    KIT_STATUS_IN(kvs_query(e, key.data, key.len, NULL, NULL), KVS_NOT_FOUND, KVS_UNKNOWN);
    kit_put(k, e, key, kit_value(k, len, 1).data, len);
    KIT_STATUS(kvs_query(e, key.data, key.len, NULL, NULL), KVS_OK);
    if (kit_has(k, KVS_CAP_QUERY_LOCAL))
        KIT_STATUS(kvs_query(other, key.data, key.len, NULL, NULL), KVS_UNKNOWN);
    else
        KIT_STATUS(kvs_query(other, key.data, key.len, NULL, NULL), KVS_OK);
    if (kit_has(k, KVS_CAP_REMOVE)) {
        KIT_STATUS(kvs_remove(e, key.data, key.len, NULL), KVS_OK);
        KIT_STATUS(kvs_query(e, key.data, key.len, NULL, NULL), KVS_NOT_FOUND);
    }
}

static const struct kit_case cases[] = {
    {.id = "query.present",
     .title = "QUERY of a key that is there is OK, with its size",
     .explain = "Writes values of four sizes and asks for each. Where the store claims query_size the size "
                "is exact; elsewhere it may be unknown, but not wrong.",
     .requirements = "KVS-REQ-370 KVS-REQ-377 KVS-REQ-107",
     .needs = KVS_CAP_QUERY,
     .fn = query_present},
    {.id = "query.absent",
     .title = "QUERY of an absent key is NOT_FOUND",
     .explain = "Asks for a key that was never written, also when one that begins with it is there. A store "
                "that cannot say answers UNKNOWN.",
     .requirements = "KVS-REQ-371 KVS-REQ-372 KVS-REQ-377",
     .needs = KVS_CAP_QUERY,
     .fn = query_absent},
    {.id = "query.many",
     .title = "QUERY of 300 keys answers for each",
     .explain = "Asks for 300 keys of which every third is there, in one transfer: the transfer is OK, and "
                "each descriptor has its own answer and size. The transfer is posted twice.",
     .requirements = "KVS-REQ-001 KVS-REQ-369 KVS-REQ-376",
     .needs = KVS_CAP_QUERY,
     .timeout_s = 40,
     .fn = query_many},
    {.id = "query.follows",
     .title = "QUERY asks the store, not its memory",
     .explain = "Asks before a write, after it, from a second engine, and after a removal. With query_local "
                "the second engine gets UNKNOWN.",
     .requirements = "KVS-REQ-361 KVS-REQ-370 KVS-REQ-371 KVS-REQ-437",
     .needs = KVS_CAP_QUERY,
     .fn = query_follows},
};
KIT_TOPIC(topic_query, cases);
