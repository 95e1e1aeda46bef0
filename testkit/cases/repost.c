/* SPDX-License-Identifier: Apache-2.0 */
/* Posting a transfer again, and what check says meanwhile. */
#include "case.h"

static void repost_check(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, kit_value_size(k, 100), 1);
    struct kit_item item = {kit_key(k, "checked"), v.data, v.len};
    kvs_xfer *x = kit_prep(k, e, KVS_WRITE, &item, 1);
    KIT_STATUS(kvs_xfer_check(x), KVS_NOT_POSTED);
    KIT_STATUS(kvs_xfer_check(x), KVS_NOT_POSTED);
    kit_ends(k, x, KVS_OK);
    for (int i = 0; i < 10; i++)
        KIT_STATUS(kvs_xfer_check(x), KVS_OK);
    KIT_STATUS(kvs_xfer_wait(x, 0), KVS_OK);
    kit_release(x);
    /* One that was never posted goes as well. */
    x = kit_prep(k, e, KVS_WRITE, &item, 1);
    kit_release(x);
    struct kit_buf to = kit_buf(k, 8, KIT_AT_END);
    item = (struct kit_item){kit_key(k, "absent"), to.data, to.len};
    x = kit_prep(k, e, KVS_READ, &item, 1);
    kit_ends(k, x, KVS_NOT_FOUND);
    for (int i = 0; i < 10; i++)
        KIT_STATUS(kvs_xfer_check(x), KVS_NOT_FOUND);
    kit_release(x);
}

static void repost_100(struct kit *k)
{
    size_t len = kit_value_size(k, 1000), n = kit_batch_size(k, 4);
    kvs_engine *e = kit_open(k);
    struct kit_buf to[4];
    struct kit_item in[4];
    for (size_t i = 0; i < n; i++) {
        struct kit_key key = kit_key(k, "again%zu", i);
        kit_put(k, e, key, kit_value(k, len, i).data, len);
        to[i] = kit_buf(k, len, KIT_AT_END);
        in[i] = (struct kit_item){key, to[i].data, len};
    }
    kvs_xfer *x = kit_prep(k, e, KVS_READ, in, n);
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < n; i++)
            kit_poison(&to[i]);
        kit_ends(k, x, KVS_OK);
        for (size_t i = 0; i < n; i++)
            KIT_BYTES(to[i].data, kit_value(k, len, i).data, len);
    }
    kit_release(x);
}

static void repost_write(struct kit *k)
{
    size_t len = kit_value_size(k, 3000);
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, len, 0);
    struct kit_item item = {kit_key(k, "rewritten"), v.data, len};
    kvs_xfer *x = kit_prep(k, e, KVS_WRITE, &item, 1);
    for (uint64_t round = 0; round < 20; round++) {
        kit_fill(k, v.data, len, round);
        kit_ends(k, x, KVS_OK);
        kit_expect(k, e, item.key, v.data, len);
    }
    kit_release(x);
}

static void repost_after_failure(struct kit *k)
{
    size_t len = kit_value_size(k, 200);
    kvs_engine *e = kit_open(k);
    const char *text = NULL;
    struct kit_key key = kit_key(k, "late");
    struct kit_buf v = kit_value(k, len, 1), to = kit_buf(k, len, KIT_AT_END);
    struct kit_item item = {key, to.data, len};
    kvs_xfer *x = kit_prep(k, e, KVS_READ, &item, 1);
    kit_ends(k, x, KVS_NOT_FOUND);
    kit_ends(k, x, KVS_NOT_FOUND);
    kit_put(k, e, key, v.data, len);
    kit_poison(&to);
    kit_ends(k, x, KVS_OK);
    KIT_STATUS(kit_result(x, 0), KVS_OK);
    KIT_EQ_U64(kit_result_bytes(x, 0), len);
    KIT_STATUS(kvs_xfer_result(x, 0, NULL, NULL, &text), KVS_OK);
    KIT_CHECK(text && text[0] == '\0', "a text of the failed post is still there: %s", text);
    KIT_BYTES(to.data, v.data, len);
    kit_release(x);
}

static void repost_while_running(struct kit *k)
{
    size_t n = kit_batch_size(k, 64), len = kit_value_size(k, 20000);
    kvs_engine *e = kit_open(k);
    struct kit_item items[64];
    for (size_t i = 0; i < n; i++)
        items[i] = (struct kit_item){kit_key(k, "p%zu", i), kit_value(k, len, i).data, len};
    kvs_xfer *x = kit_prep(k, e, KVS_WRITE, items, n);
    kit_post(x);
    int rc = kvs_xfer_post(x);
    /* BUSY if the first post is still running; else this was an allowed second one. */
    if (rc != KVS_BUSY && rc != KVS_IN_PROG && rc != KVS_OK && rc != KVS_EXISTS)
        KIT_FAIL("post of a transfer that was just posted is %s (%d)", kvs_status_name(rc), rc);
    rc = kit_wait(k, x);
    if (rc != KVS_EXISTS || kit_has(k, KVS_CAP_OVERWRITE))
        KIT_STATUS(rc, KVS_OK);
    kit_release(x);
    for (size_t i = 0; i < n; i++)
        kit_expect(k, e, items[i].key, items[i].data, len);
}

static const struct kit_case cases[] = {
    {.id = "repost.check",
     .title = "check says NOT_POSTED before, and the result as often as asked",
     .explain = "Checks a transfer before its post, ten times after it, and once more for one that failed. "
                "A transfer that was never posted can be released.",
     .requirements = "KVS-REQ-130 KVS-REQ-132",
     .fn = repost_check},
    {.id = "repost.hundred_times",
     .title = "A READ may be posted 100 times",
     .explain = "Reads four values with one transfer a hundred times into freshly poisoned memory. A "
                "failure means that something of an earlier post is left.",
     .requirements = "KVS-REQ-114 KVS-REQ-116 KVS-REQ-150",
     .fn = repost_100},
    {.id = "repost.after_failure",
     .title = "A failed transfer may be posted again and starts clean",
     .explain = "Reads an absent key twice, writes it, and posts the same transfer once more: OK, with no "
                "status or text of the failure left.",
     .requirements = "KVS-REQ-114 KVS-REQ-116",
     .fn = repost_after_failure},
    {.id = "repost.while_running",
     .title = "post of a running transfer is BUSY and changes nothing",
     .explain = "Posts a large batch twice in a row. The second answer is BUSY unless the first has ended, "
                "the batch ends OK, and all values are there.",
     .requirements = "KVS-REQ-113 KVS-REQ-150",
     .fn = repost_while_running},
    {.id = "repost.write",
     .title = "A WRITE posted again sends what is in memory now",
     .explain = "Changes the source of one transfer twenty times and posts it each time; each value is read "
                "back.",
     .requirements = "KVS-REQ-114 KVS-REQ-361",
     .needs = KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = repost_write},
};
KIT_TOPIC(topic_repost, cases);
