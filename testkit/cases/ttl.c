/* SPDX-License-Identifier: Apache-2.0 */
/* Values that expire. */
#include "case.h"
#include <time.h>

static void ttl_expires(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e, *plain = kit_open(k);
    struct kit_key key = kit_key(k, "mortal"), stays = kit_key(k, "stays");
    struct kit_buf v = kit_value(k, kit_value_size(k, 100), 1), to = kit_buf(k, v.len, KIT_AT_END);
    kit_needs_two_configurations(k);
    KIT_STATUS_ERR(kit_open_with(k, "ttl", "500ms", &e, &err), KVS_OK, &err);
    kit_put(k, plain, stays, v.data, v.len);
    kit_put(k, e, key, v.data, v.len);
    uint64_t end = kit_now() + kit_wait_ns(k);
    int rc;
    while ((rc = kit_read(k, plain, key, &to)) == KVS_OK) {
        KIT_CHECK(kit_now() < end, "a value with a ttl of 500ms is still there");
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    KIT_STATUS(rc, KVS_NOT_FOUND);
    kit_expect(k, plain, stays, v.data, v.len);
}

static const struct kit_case cases[] = {
    {.id = "ttl.expires",
     .title = "A value written with a ttl expires",
     .explain = "Writes a value through an engine with ttl=500ms and waits until it is NOT_FOUND; a value "
                "without a ttl stays.",
     .requirements = "KVS-REQ-361 KVS-REQ-422",
     .needs = KVS_CAP_TTL,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "timing",
     .fn = ttl_expires},
};
KIT_TOPIC(topic_ttl, cases);
