/* SPDX-License-Identifier: Apache-2.0 */
/* Removing keys. */
#include "case.h"

static void remove_present(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "removed"), near = kit_key(k, "removed."), empty = kit_key(k, "empty");
    struct kit_buf v = kit_value(k, kit_value_size(k, 400), 1), to = kit_buf(k, v.len, KIT_AT_END);
    kit_put(k, e, key, v.data, v.len);
    kit_put(k, e, near, v.data, v.len);
    kit_put(k, e, empty, NULL, 0);
    KIT_STATUS(kvs_remove(e, key.data, key.len, NULL), KVS_OK);
    KIT_STATUS(kit_read(k, e, key, &to), KVS_NOT_FOUND);
    if (kit_has(k, KVS_CAP_QUERY))
        KIT_STATUS(kvs_query(e, key.data, key.len, NULL, NULL), KVS_NOT_FOUND);
    kit_expect(k, e, near, v.data, v.len);
    KIT_STATUS(kvs_remove(e, empty.data, empty.len, NULL), KVS_OK);
    KIT_STATUS(kvs_remove(e, empty.data, empty.len, NULL), KVS_NOT_FOUND);
}

static void remove_absent(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "absent");
    KIT_STATUS(kvs_remove(e, key.data, key.len, NULL), KVS_NOT_FOUND);
    kit_put(k, e, key, "x", 1);
    KIT_STATUS(kvs_remove(e, key.data, key.len, NULL), KVS_OK);
    KIT_STATUS(kvs_remove(e, key.data, key.len, NULL), KVS_NOT_FOUND);
    KIT_STATUS(kvs_remove(NULL, key.data, key.len, NULL), KVS_INVALID_PARAM);
}

static void remove_many(struct kit *k)
{
    size_t n = kit_batch_size(k, 60);
    kvs_engine *e = kit_open(k);
    struct kit_item items[60] = {0};
    struct kit_buf to = kit_buf(k, 1, KIT_AT_END);
    for (size_t i = 0; i < n; i++) {
        items[i].key = kit_key(k, "r%zu", i);
        if (i % 2 == 0)
            kit_put(k, e, items[i].key, "y", 1);
    }
    struct kit_key kept = kit_key(k, "kept");
    kit_put(k, e, kept, "z", 1);
    kvs_xfer *x = kit_prep(k, e, KVS_REMOVE, items, n);
    kit_ends(k, x, KVS_OK);
    for (size_t i = 0; i < n; i++)
        KIT_STATUS(kit_result(x, i), i % 2 == 0 ? KVS_OK : KVS_NOT_FOUND);
    kit_release(x);
    for (size_t i = 0; i < n; i++)
        KIT_STATUS(kit_read(k, e, items[i].key, &to), KVS_NOT_FOUND);
    kit_expect(k, e, kept, "z", 1);
}

static void remove_then_write(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "reborn");
    size_t len = kit_value_size(k, 900);
    for (size_t round = 0; round < 10; round++) {
        size_t now = len > round ? len - round : 0;
        kit_put(k, e, key, kit_value(k, now, round).data, now);
        kit_expect(k, e, key, kit_value(k, now, round).data, now);
        KIT_STATUS(kvs_remove(e, key.data, key.len, NULL), KVS_OK);
    }
}

static const struct kit_case cases[] = {
    {.id = "remove.present",
     .title = "REMOVE makes a key absent, and only that one",
     .explain = "Removes a key and reads it: NOT_FOUND. A key that begins with it stays. A key with an "
                "empty value is there to be removed, once.",
     .requirements = "KVS-REQ-374 KVS-REQ-359 KVS-REQ-377",
     .needs = KVS_CAP_REMOVE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = remove_present},
    {.id = "remove.absent",
     .title = "REMOVE of an absent key is NOT_FOUND",
     .explain = "Removes a key that was never written, and one twice.",
     .requirements = "KVS-REQ-375 KVS-REQ-377",
     .needs = KVS_CAP_REMOVE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = remove_absent},
    {.id = "remove.many",
     .title = "REMOVE of 60 keys answers for each",
     .explain = "Removes 60 keys of which every second is there, in one transfer: the transfer is OK, each "
                "descriptor has its own answer, and a key that was not named stays.",
     .requirements = "KVS-REQ-001 KVS-REQ-369 KVS-REQ-374 KVS-REQ-375 KVS-REQ-376",
     .needs = KVS_CAP_REMOVE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = remove_many},
    {.id = "remove.then_write",
     .title = "A removed key can be written again",
     .explain = "Writes, reads and removes one key ten times, with another length and value each time.",
     .requirements = "KVS-REQ-361 KVS-REQ-374",
     .needs = KVS_CAP_REMOVE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = remove_then_write},
};
KIT_TOPIC(topic_remove, cases);
