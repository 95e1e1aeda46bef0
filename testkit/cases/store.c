/* SPDX-License-Identifier: Apache-2.0 */
/* A store that is not there, hangs, is full or says no: what the run's configuration lets a case do. */
#include "case.h"
#include <stdlib.h>
#include <time.h>

#define SHORT "200ms" /* timeout of engines whose store does not answer */

static bool is_error(int rc)
{
    return rc < 0 && rc != KVS_NOT_FOUND && rc != KVS_MISMATCH && rc != KVS_UNKNOWN;
}

/* Every operation fails with an error that is not NOT_FOUND. */
static void all_fail(struct kit *k, kvs_engine *e, struct kit_key key, size_t len)
{
    struct kvs_error err = {0};
    struct kit_buf v = kit_value(k, len, 2), to = kit_buf(k, len, KIT_AT_END);
    struct kit_item item = {key, to.data, len};
    kvs_xfer *x = kit_prep(k, e, KVS_READ, &item, 1);
    int rc = kit_run(k, x);
    if (kvs_xfer_release(x, kit_wait_ns(k) / 2) == KVS_BUSY)
        kit_hang_at(KIT_HERE, "long after its deadline the backend still has a READ");
    KIT_CHECK(is_error(rc), "READ from a store that does not answer is %s", kvs_status_name(rc));
    rc = kvs_put(e, key.data, key.len, v.data, v.len, &err);
    KIT_CHECK(is_error(rc), "WRITE to a store that does not answer is %s", kvs_status_name(rc));
    if (kit_has(k, KVS_CAP_QUERY)) {
        rc = kvs_query(e, key.data, key.len, NULL, &err);
        KIT_CHECK(is_error(rc), "QUERY of a store that does not answer is %s", kvs_status_name(rc));
    }
}

/* An engine gets the time that a store may need to be found again. */
static void works_again(struct kit *k, kvs_engine *e, struct kit_key key, const struct kit_buf *v)
{
    uint64_t end = kit_now() + kit_wait_ns(k);
    struct kvs_error err = {0};
    int rc;
    while ((rc = kvs_put(e, key.data, key.len, v->data, v->len, &err)) != KVS_OK && kit_now() < end)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    KIT_STATUS_ERR(rc, KVS_OK, &err);
    kit_expect(k, e, key, v->data, v->len);
}

/* Takes the store away with one hook and brings it back with another. */
static void away(struct kit *k, const char *hook, const char *back, const char *timeout)
{
    struct kvs_error err = {0};
    kvs_engine *e;
    struct kit_key key = kit_key(k, "before"), after = kit_key(k, "after");
    struct kit_buf v = kit_value(k, kit_value_size(k, 1000), 1);
    kit_needs_hook(k, hook);
    kit_needs_hook(k, back);
    kit_needs_two_configurations(k);
    KIT_STATUS_ERR(kit_open_with(k, "timeout", timeout, &e, &err), KVS_OK, &err);
    works_again(k, e, key, &v);
    kit_hook(k, hook);
    all_fail(k, e, key, v.len);
    kit_hook(k, back);
    works_again(k, e, after, &v);
}

static void store_stopped(struct kit *k)
{
    away(k, "stop", "start", "2s");
}

static void store_restarted(struct kit *k)
{
    kvs_engine *e;
    struct kvs_error err = {0};
    struct kit_key key = kit_key(k, "restarted");
    struct kit_buf v = kit_value(k, kit_value_size(k, 1000), 1), to = kit_buf(k, v.len, KIT_AT_END);
    kit_needs_hook(k, "kill");
    kit_needs_hook(k, "start");
    kit_needs_two_configurations(k);
    KIT_STATUS_ERR(kit_open_with(k, "timeout", "2s", &e, &err), KVS_OK, &err);
    works_again(k, e, key, &v);
    for (int i = 0; i < 3; i++) {
        kit_hook(k, "kill");
        kit_read(k, e, key, &to); /* whatever it is: it ends */
        kit_hook(k, "start");
        works_again(k, e, kit_key(k, "again%d", i), &v);
    }
}

static void store_failover(struct kit *k)
{
    kvs_engine *e;
    struct kvs_error err = {0};
    struct kit_key key = kit_key(k, "before");
    struct kit_buf v = kit_value(k, kit_value_size(k, 1000), 1), to = kit_buf(k, v.len, KIT_AT_END);
    kit_needs_hook(k, "kill");
    kit_needs_hook(k, "start");
    kit_needs_two_configurations(k);
    KIT_STATUS_ERR(kit_open_with(k, "timeout", "2s", &e, &err), KVS_OK, &err);
    works_again(k, e, key, &v);
    kit_hook(k, "kill");
    kit_read(k, e, key, &to); /* whatever it is: it ends */
    kit_hook(k, "start");
    works_again(k, e, kit_key(k, "after"), &v);
    kit_expect(k, e, key, v.data, v.len);
}

static void store_paused(struct kit *k)
{
    away(k, "pause", "resume", SHORT);
}

static void store_denied(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = NULL;
    struct kit_key key = kit_key(k, "denied");
    kit_needs_variant(k, "denied");
    kit_needs_two_configurations(k);
    int rc = kit_open_variant(k, "denied", NULL, NULL, &e, &err);
    if (rc == KVS_OK) {
        struct kit_buf v = kit_value(k, 1, 1);
        rc = kvs_put(e, key.data, key.len, v.data, v.len, &err);
    }
    KIT_STATUS_ERR(rc, KVS_ACCESS, &err);
    KIT_CHECK(err.text[0], "the refusal has no text");
}

static void store_eager(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = NULL;
    kit_needs_variant(k, "unreachable");
    kit_needs_two_configurations(k);
    int rc = kit_open_variant(k, "unreachable", "connect", "eager", &e, &err);
    KIT_CHECK(rc < 0, "open with connect=eager is OK, not an error, where no store is there");
    KIT_CHECK(err.text[0], "open failed without a text");
}

static void store_lazy(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = NULL;
    struct kit_key key = kit_key(k, "lazy");
    kit_needs_variant(k, "unreachable");
    kit_needs_two_configurations(k);
    KIT_STATUS_ERR(kit_open_variant(k, "unreachable", "connect", "lazy", &e, &err), KVS_OK, &err);
    all_fail(k, e, key, kit_value_size(k, 10));
}

#define FILL 512

static void store_full(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = NULL;
    size_t len = kit_value_size(k, 65536), n = 0;
    struct kit_buf v = kit_value(k, len, 1);
    int rc = KVS_OK;
    kit_needs_variant(k, "full");
    kit_needs_two_configurations(k);
    KIT_STATUS_ERR(kit_open_variant(k, "full", NULL, NULL, &e, &err), KVS_OK, &err);
    struct kit_key small = kit_key(k, "small"), keys[FILL];
    kit_put(k, e, small, v.data, 10 < len ? 10 : len);
    while (rc == KVS_OK && n < FILL) {
        keys[n] = kit_key(k, "fill%zu", n);
        rc = kvs_put(e, keys[n].data, keys[n].len, v.data, len, &err);
        n++;
    }
    if (rc == KVS_OK && len < 65536)
        kit_not_supported(k, "%d values of %zu bytes do not fill it", FILL, len);
    KIT_STATUS_ERR(rc, KVS_FULL, &err);
    if (kit_has(k, KVS_CAP_OVERWRITE) && len > 10) {
        rc = kvs_put(e, small.data, small.len, v.data, len, &err);
        if (rc != KVS_OK) { /* there may have been room in a corner */
            KIT_STATUS(rc, KVS_FULL);
            kit_expect(k, e, small, v.data, 10);
        }
    }
    for (size_t i = 0; i + 1 < n; i++)
        kit_expect(k, e, keys[i], v.data, len);
    if (!kit_has(k, KVS_CAP_REMOVE))
        return;
    for (size_t i = 0; i < n / 2; i++)
        KIT_STATUS_ERR(kvs_remove(e, keys[i].data, keys[i].len, &err), KVS_OK, &err);
    kit_put(k, e, kit_key(k, "room again"), v.data, len / 2);
}

static const struct kit_case cases[] = {
    {.id = "store.denied",
     .title = "A refused authentication is ACCESS",
     .explain = "Opens the target as the variant denied does, and writes where the open succeeds: one of the "
                "two is ACCESS, with a text.",
     .requirements = "KVS-REQ-009 KVS-REQ-443",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults",
     .fn = store_denied},
    {.id = "store.eager",
     .title = "open fails where no store is there",
     .explain = "Opens the target as the variant unreachable does, with connect=eager: an error with a text.",
     .requirements = "KVS-REQ-504 KVS-REQ-443",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults",
     .timeout_s = 60,
     .fn = store_eager},
    {.id = "store.lazy",
     .title = "open with connect=lazy works where no store is there",
     .explain =
         "Opens the target as the variant unreachable does, with connect=lazy: OK, and every operation "
         "then ends with an error that is not NOT_FOUND.",
     .requirements = "KVS-REQ-503 KVS-REQ-384 KVS-REQ-373",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults",
     .timeout_s = 120,
     .fn = store_lazy},
    {.id = "store.full",
     .title = "A write that finds no room is FULL and takes nothing away",
     .explain =
         "Opens the target as the variant full does and writes values of 64 KiB until one fails: it is "
         "FULL, all earlier values are there, an overwrite that finds no room leaves the old value, and "
         "after removals there is room again.",
     .requirements = "KVS-REQ-010 KVS-REQ-364 KVS-REQ-384",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults",
     .timeout_s = 60,
     .alone = true,
     .fn = store_full},
    {.id = "store.stopped",
     .title = "Operations on a store that has gone end with an error",
     .explain = "Stops the store: READ, WRITE and QUERY end within the engine's timeout, with an error that "
                "is not NOT_FOUND. Starts it again: the same engine works.",
     .requirements = "KVS-REQ-384 KVS-REQ-373 KVS-REQ-385",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults",
     .timeout_s = 60,
     .alone = true,
     .fn = store_stopped},
    {.id = "store.restarted",
     .title = "An engine outlives the crashes of its store",
     .explain = "Kills the store and starts it again, three times. The same engine works after each.",
     .requirements = "KVS-REQ-385 KVS-REQ-384",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults",
     .timeout_s = 60,
     .alone = true,
     .fn = store_restarted},
    {.id = "store.failover",
     .title = "With consistency a completed WRITE outlives a crash of the store",
     .explain =
         "Writes, kills the store and starts it again: the value is there. A store that may lose it must not "
         "have the capability consistency.",
     .requirements = "KVS-REQ-363 KVS-REQ-361",
     .needs = KVS_CAP_CONSISTENCY,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults durability",
     .timeout_s = 60,
     .alone = true,
     .fn = store_failover},
    {.id = "store.paused",
     .title = "Operations on a store that hangs end with an error",
     .explain = "Pauses the store: READ, WRITE and QUERY of an engine with a timeout of 200 ms end with an "
                "error that is not NOT_FOUND. Resumes it: the same engine works.",
     .requirements = "KVS-REQ-384 KVS-REQ-373 KVS-REQ-385",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "faults",
     .timeout_s = 60,
     .alone = true,
     .fn = store_paused},
};
KIT_TOPIC(topic_store, cases);
