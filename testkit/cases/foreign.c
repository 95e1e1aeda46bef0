/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that belong to others. */
#include "case.h"
#include <stdlib.h>

#define LEN 100

/* The value of one: told by its key alone, so that every process of the run knows it. */
static struct kit_buf value_of(struct kit *k, struct kit_key key)
{
    struct kit_buf v = kit_buf(k, kit_value_size(k, LEN), KIT_AT_END);
    for (size_t i = 0; i < v.len; i++)
        v.data[i] = (uint8_t)(key.data[i % key.len] ^ i);
    return v;
}

static void put_all(struct kit *k, kvs_engine *e)
{
    for (size_t i = 0; i < KIT_FOREIGN; i++) {
        struct kit_key key = kit_foreign_key(k, i);
        struct kit_buf v = value_of(k, key);
        struct kit_item item = {key, v.data, v.len};
        kvs_xfer *x = kit_prep(k, e, KVS_WRITE, &item, 1);
        KIT_STATUS_IN(kit_run(k, x), KVS_OK,
                      KVS_EXISTS); /* there already, from an earlier round that could not remove it */
        kit_release(x);
    }
}

static int skip(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)arg;
    (void)key;
    (void)len;
    (void)size;
    return 0;
}

#define WORK 16

/* One of each operation, among keys of the case's own. */
static void work(struct kit *k, kvs_engine *e)
{
    struct kit_key keys[WORK];
    struct kvs_error err = {0};
    struct kit_buf v = kit_value(k, kit_value_size(k, LEN), 1);
    for (size_t i = 0; i < WORK; i++) {
        keys[i] = kit_key(k, "%s%zu", i % 2 ? "x" : "", i);
        kit_put(k, e, keys[i], v.data, v.len);
    }
    if (kit_has(k, KVS_CAP_OVERWRITE))
        kit_put(k, e, keys[0], v.data, v.len / 2);
    kit_expect(k, e, keys[1], v.data, v.len);
    if (kit_has(k, KVS_CAP_LIST))
        KIT_STATUS_ERR(kvs_list(e, kit_prefix(k), kit_prefix_len(k), skip, NULL, &err), KVS_OK, &err);
    for (size_t i = 0; i < WORK && kit_has(k, KVS_CAP_REMOVE); i++)
        KIT_STATUS_ERR(kvs_remove(e, keys[i].data, keys[i].len, &err), KVS_OK, &err);
    kit_close(k, kit_open(k));
}

static void check_all(struct kit *k, kvs_engine *e)
{
    for (size_t i = 0; i < KIT_FOREIGN; i++) {
        struct kit_key key = kit_foreign_key(k, i);
        struct kit_buf want = value_of(k, key), got = kit_buf(k, want.len, KIT_AT_END);
        int rc = kit_read(k, e, key, &got);
        KIT_CHECK(rc == KVS_OK, "the key %.*s, which no case has used, was written before and is %s now",
                  (int)key.len, (const char *)key.data, kvs_status_name(rc));
        KIT_CHECK(memcmp(got.data, want.data, want.len) == 0,
                  "the value of the key %.*s, which no case has used, has changed", (int)key.len,
                  (const char *)key.data);
    }
}

static void foreign_untouched(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    if (!kit_foreign_waits(k))
        put_all(k, e);
    work(k, e);
    check_all(k, e);
}

static void foreign_helper(struct kit *k, const char *role)
{
    KIT_CHECK(strcmp(role, KIT_FOREIGN_PUT) == 0, "there is no role %s", role);
    put_all(k, kit_open(k));
}

static const struct kit_case cases[] = {
    {.id = "foreign.untouched",
     .title = "Keys of others stay as they are",
     .explain = "Keys that are not the run's, but near to its prefix, have the value that they were written "
                "with. Where "
                "the store is durable they were written before the first case, and all cases lie between; "
                "elsewhere this "
                "case writes them, and does some work with keys of its own. A failure means that an "
                "operation on one key "
                "reaches another.",
     .requirements = "KVS-REQ-081 KVS-REQ-361 KVS-REQ-374",
     .foreign = true,
     .alone = true,
     .fn = foreign_untouched,
     .helper = foreign_helper},
};
KIT_TOPIC(topic_foreign, cases);
