/* SPDX-License-Identifier: Apache-2.0 */
/* READ of a part of a value. */
#include "case.h"

static int read_part(struct kit *k, kvs_engine *e, struct kit_key key, uint64_t offset, struct kit_buf *to)
{
    struct kit_item item = {key, to->data, to->len};
    kit_poison(to);
    kvs_xfer *x = kit_prep_at(KIT_HERE, k, e, KVS_READ, &item, 1, &offset, NULL, NULL);
    int rc = kit_run(k, x);
    if (rc == KVS_OK)
        KIT_EQ_U64(kit_result_bytes(x, 0), to->len);
    kit_release(x);
    kit_around(to);
    return rc;
}

static void range_parts(struct kit *k)
{
    size_t len = kit_value_size(k, 10000);
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "whole");
    struct kit_buf v = kit_value(k, len, 1);
    kit_put(k, e, key, v.data, len);
    const size_t parts[][2] = {{0, len},           {0, 1},      {len - 1, 1}, {1, len - 1},
                               {len / 2, len / 3}, {len / 3, 7}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct kit_buf to = kit_buf(k, parts[i][1], KIT_AT_END);
        KIT_STATUS(read_part(k, e, key, parts[i][0], &to), KVS_OK);
        KIT_BYTES(to.data, v.data + parts[i][0], parts[i][1]);
    }
}

static void range_past_end(struct kit *k)
{
    size_t len = kit_value_size(k, 100);
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "short");
    struct kit_buf to = kit_buf(k, 50, KIT_AT_END);
    kit_put(k, e, key, kit_value(k, len, 1).data, len);
    KIT_STATUS(read_part(k, e, key, len - 49, &to), KVS_MISMATCH);
    KIT_STATUS(read_part(k, e, key, len, &to), KVS_MISMATCH);
    KIT_STATUS(read_part(k, e, key, len + 1000, &to), KVS_MISMATCH);
    KIT_STATUS(read_part(k, e, key, UINT64_C(1) << 62, &to), KVS_MISMATCH);
    KIT_STATUS(read_part(k, e, kit_key(k, "absent"), 1, &to), KVS_NOT_FOUND);
}

static void range_write(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, 8, 1);
    struct kit_item item = {kit_key(k, "part"), v.data, 8};
    uint64_t offset = 4;
    kvs_xfer *x = NULL;
    KIT_STATUS(kit_try_prep(k, e, KVS_WRITE, &item, 1, &offset, &x, &err), KVS_NOT_SUPPORTED);
}

static void range_refused(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, 8, 1);
    struct kit_item item = {kit_key(k, "part"), v.data, 8};
    uint64_t offset = 4;
    kvs_xfer *x = NULL;
    KIT_STATUS(kit_try_prep(k, e, KVS_READ, &item, 1, &offset, &x, &err), KVS_NOT_SUPPORTED);
}

static const struct kit_case cases[] = {
    {.id = "range.write",
     .title = "A WRITE of a part is NOT_SUPPORTED",
     .explain = "Prepares a write at an offset. Every store refuses it at prep.",
     .requirements = "KVS-REQ-074",
     .fn = range_write},
    {.id = "range.parts",
     .title = "Parts of a value are read from their offsets",
     .explain = "Writes a value and reads its whole, its first and last byte and parts in its middle.",
     .requirements = "KVS-REQ-079 KVS-REQ-356 KVS-REQ-073",
     .needs = KVS_CAP_RANGE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = range_parts},
    {.id = "range.past_end",
     .title = "A part past the value's end is MISMATCH",
     .explain = "Reads parts that begin or end past the value, also far past, and a part of an absent key, "
                "which is NOT_FOUND.",
     .requirements = "KVS-REQ-355 KVS-REQ-356",
     .needs = KVS_CAP_RANGE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = range_past_end},
    {.id = "range.refused",
     .title = "Without the capability a READ of a part is NOT_SUPPORTED",
     .explain = "Prepares a read at an offset in a store that declares no range capability.",
     .requirements = "KVS-REQ-073",
     .absent = KVS_CAP_RANGE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = range_refused},
};
KIT_TOPIC(topic_range, cases);
