/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what is not there. */
#include "case.h"

static void missing_read(struct kit *k)
{
    static const size_t sizes[] = {0, 1, 4096};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < 3; i++) {
        struct kit_buf to = kit_buf(k, kit_value_size(k, sizes[i]), KIT_AT_END);
        KIT_STATUS(kit_read(k, e, kit_key(k, "absent%zu", i), &to), KVS_NOT_FOUND);
        kit_around(&to);
    }
}

static void missing_untouched(struct kit *k)
{
    static const size_t sizes[] = {1, 100, 4097};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < 3; i++) {
        struct kit_buf to = kit_buf(k, kit_value_size(k, sizes[i]), KIT_AT_END);
        kit_poison(&to);
        KIT_STATUS(kit_read(k, e, kit_key(k, "absent%zu", i), &to), KVS_NOT_FOUND);
        kit_poisoned(&to, 0);
    }
}

static void missing_among_others(struct kit *k)
{
    size_t len = kit_value_size(k, 512), n = kit_batch_size(k, 3), absent = n > 1 ? 1 : 0;
    kvs_engine *e = kit_open(k);
    struct kit_buf to[3];
    struct kit_item in[3];
    const char *text = NULL;
    for (size_t i = 0; i < n; i++) {
        struct kit_key key = kit_key(k, "k%zu", i);
        if (i != absent)
            kit_put(k, e, key, kit_value(k, len, i).data, len);
        to[i] = kit_buf(k, len, KIT_AT_END);
        kit_poison(&to[i]);
        in[i] = (struct kit_item){key, to[i].data, len};
    }
    kvs_xfer *x = kit_prep(k, e, KVS_READ, in, n);
    kit_ends(k, x, KVS_NOT_FOUND);
    for (size_t i = 0; i < n; i++) {
        KIT_STATUS(kit_result(x, i), i == absent ? KVS_NOT_FOUND : KVS_OK);
        KIT_STATUS(kvs_xfer_result(x, i, NULL, NULL, &text), KVS_OK);
        KIT_CHECK(text, "the text of a descriptor is NULL");
        if (i != absent)
            KIT_BYTES(to[i].data, kit_value(k, len, i).data, len);
    }
    KIT_STATUS(kvs_xfer_result(x, n, NULL, NULL, &text), KVS_INVALID_PARAM);
    kit_release(x);
}

static void missing_single_call(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "absent");
    uint8_t to[16];
    KIT_STATUS(kvs_get(e, key.data, key.len, to, sizeof(to), &err), KVS_NOT_FOUND);
    KIT_EQ(err.status, KVS_NOT_FOUND);
    KIT_CHECK(err.text[0], "an error has no text");
    KIT_STATUS(kvs_get(e, key.data, key.len, to, sizeof(to), NULL), KVS_NOT_FOUND);
}

static void missing_then_written(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "later");
    struct kit_buf v = kit_value(k, kit_value_size(k, 300), 1), to = kit_buf(k, v.len, KIT_AT_END);
    KIT_STATUS(kit_read(k, e, key, &to), KVS_NOT_FOUND);
    kit_put(k, e, key, v.data, v.len);
    kit_expect(k, e, key, v.data, v.len);
}

static const struct kit_case cases[] = {
    {.id = "missing.read",
     .title = "READ of an absent key is NOT_FOUND",
     .explain = "Reads keys that were never written, with 0, 1 and 4,096 bytes. Anything but NOT_FOUND "
                "makes a miss look like a broken store, or like a value.",
     .requirements = "KVS-REQ-007 KVS-REQ-006",
     .fn = missing_read},
    {.id = "missing.among_others",
     .title = "One absent key in a batch fails alone",
     .explain = "Reads three keys of which the second is absent: the statuses are OK, NOT_FOUND, OK in this "
                "order, the transfer's is NOT_FOUND, and the two values are there.",
     .requirements = "KVS-REQ-001 KVS-REQ-003 KVS-REQ-004 KVS-REQ-006",
     .fn = missing_among_others},
    {.id = "missing.single_call",
     .title = "kvs_get of an absent key is NOT_FOUND, with a text",
     .explain = "Calls kvs_get for an absent key with and without a place for the error.",
     .requirements = "KVS-REQ-390 KVS-REQ-107",
     .fn = missing_single_call},
    {.id = "missing.then_written",
     .title = "A key that was missed and then written is found",
     .explain = "Reads an absent key, writes it and reads again. A failure means that a miss is remembered.",
     .requirements = "KVS-REQ-361",
     .fn = missing_then_written},
    {.id = "missing.untouched",
     .title = "READ of an absent key leaves the buffer as it was",
     .explain = "Poisons buffers, reads absent keys into them, and looks for bytes that changed.",
     .requirements = "KVS-REQ-352",
     .needs = KVS_CAP_READ_ATOMIC,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = missing_untouched},
};
KIT_TOPIC(topic_missing, cases);
