/* SPDX-License-Identifier: Apache-2.0 */
/* Ending transfers before their time. */
#include "case.h"
#include <stdio.h>
#include <time.h>

#define COUNT 64

struct work {
    kvs_engine *e;
    struct kit_item items[COUNT];
    size_t n, len;
    kvs_xfer *x;
};

/* A batch of writes that is large enough to be caught running, prepared. */
static void begin(struct kit *k, struct work *w)
{
    w->e = kit_open(k);
    w->n = kit_batch_size(k, COUNT);
    w->len = kit_value_size(k, 30000);
    for (size_t i = 0; i < w->n; i++)
        w->items[i] = (struct kit_item){kit_key(k, "w%zu", i), kit_value(k, w->len, i).data, w->len};
    w->x = kit_prep(k, w->e, KVS_WRITE, w->items, w->n);
}

/* Every key has its whole value, or none. */
static void whole_or_absent(struct kit *k, struct work *w, const int *statuses)
{
    for (size_t i = 0; i < w->n; i++) {
        struct kit_buf to = kit_buf(k, w->len, KIT_AT_END);
        int rc = kit_read(k, w->e, w->items[i].key, &to);
        if (statuses && statuses[i] == KVS_OK)
            KIT_STATUS(rc, KVS_OK);
        KIT_CHECK(rc == KVS_OK || rc == KVS_NOT_FOUND, "READ after an early end is %s", kvs_status_name(rc));
        if (rc == KVS_OK)
            KIT_BYTES(to.data, w->items[i].data, w->len);
    }
}

static void ending_release(struct kit *k)
{
    struct work w;
    begin(k, &w);
    kit_post(w.x);
    uint64_t end = kit_now() + kit_wait_ns(k);
    int rc = kvs_xfer_release(w.x, 0);
    while (rc == KVS_BUSY) {
        KIT_CHECK(kit_now() < end, "release is still BUSY after the whole wait");
        KIT_STATUS_IN(kvs_xfer_check(w.x), KVS_IN_PROG, KVS_OK, KVS_CANCELED, KVS_TIMEOUT);
        rc = kvs_xfer_release(w.x, KVS_MS(1));
    }
    KIT_STATUS(rc, KVS_OK);
    whole_or_absent(k, &w, NULL);
}

static void ending_release_waits(struct kit *k)
{
    struct work w;
    begin(k, &w);
    kit_post(w.x);
    KIT_STATUS(kvs_xfer_release(w.x, kit_wait_ns(k)), KVS_OK);
    whole_or_absent(k, &w, NULL);
}

static void ending_abandon(struct kit *k)
{
    struct work w;
    begin(k, &w);
    kit_post(w.x);
    kvs_xfer_abandon(w.x);
    kit_close(k, w.e); /* drains what was abandoned */
    w.e = kit_open(k);
    if (kit_has(k, KVS_CAP_DURABLE))
        whole_or_absent(k, &w, NULL);
}

static void ending_cancel(struct kit *k)
{
    struct work w;
    int statuses[COUNT];
    begin(k, &w);
    kit_post(w.x);
    KIT_STATUS(kvs_xfer_cancel(w.x), KVS_OK);
    KIT_STATUS(kvs_xfer_cancel(w.x), KVS_OK);
    int rc = kit_wait(k, w.x);
    KIT_CHECK(rc == KVS_OK || rc == KVS_CANCELED, "a canceled transfer is %s (%d)", kvs_status_name(rc), rc);
    for (size_t i = 0; i < w.n; i++) {
        statuses[i] = kit_result(w.x, i);
        KIT_CHECK(statuses[i] == KVS_OK || statuses[i] == KVS_CANCELED,
                  "descriptor %zu of a canceled transfer is %s", i, kvs_status_name(statuses[i]));
        KIT_CHECK(rc != KVS_OK || statuses[i] == KVS_OK, "the transfer is OK and descriptor %zu is not", i);
    }
    KIT_STATUS(kvs_xfer_cancel(w.x), KVS_OK);
    KIT_STATUS(kvs_xfer_check(w.x), rc);
    whole_or_absent(k, &w, statuses);
    kit_release(w.x);
}

static void ending_wait_zero(struct kit *k)
{
    struct work w;
    begin(k, &w);
    KIT_STATUS(kvs_xfer_wait(w.x, 0), KVS_NOT_POSTED);
    kit_post(w.x);
    uint64_t end = kit_now() + kit_wait_ns(k);
    int rc;
    while ((rc = kvs_xfer_wait(w.x, 0)) == KVS_IN_PROG)
        if (kit_now() > end)
            kit_hang_at(KIT_HERE, "waiting with no time never sees the transfer end");
    KIT_STATUS(rc, KVS_OK);
    kit_release(w.x);
    whole_or_absent(k, &w, NULL);
}

static void ending_checks_only(struct kit *k)
{
    struct work w;
    begin(k, &w);
    kit_post(w.x);
    uint64_t end = kit_now() + kit_wait_ns(k);
    int rc;
    while ((rc = kvs_xfer_check(w.x)) == KVS_IN_PROG)
        if (kit_now() > end)
            kit_hang_at(KIT_HERE, "a caller that only checks never sees the transfer end");
    KIT_STATUS(rc, KVS_OK);
    kit_release(w.x);
}

static void ending_cancel_ends(struct kit *k)
{
    char grace[32];
    struct kvs_error err = {0};
    struct work w = {.n = kit_batch_size(k, COUNT), .len = kit_value_size(k, 30000)};
    kit_needs_two_configurations(k);
    snprintf(grace, sizeof(grace), "%llums", (unsigned long long)(kit_wait_ns(k) / 4000000u));
    KIT_STATUS_ERR(kit_open_with(k, "cancel_grace", grace, &w.e, &err), KVS_OK, &err);
    for (size_t i = 0; i < w.n; i++)
        w.items[i] = (struct kit_item){kit_key(k, "w%zu", i), kit_value(k, w.len, i).data, w.len};
    w.x = kit_prep(k, w.e, KVS_WRITE, w.items, w.n);
    kit_post(w.x);
    uint64_t end = kit_now() + kit_wait_ns(k) / 4;
    KIT_STATUS(kvs_xfer_cancel(w.x), KVS_OK);
    while (kvs_xfer_check(w.x) == KVS_IN_PROG)
        KIT_CHECK(kit_now() < end, "%s after its cancel a transfer is still running, and cancel is native",
                  grace);
    kit_release(w.x);
    whole_or_absent(k, &w, NULL);
}

static const struct kit_case cases[] = {
    {.id = "ending.release",
     .title = "release of a running transfer is BUSY until it has ended",
     .explain = "Posts a batch of writes and releases it at once, again and again. Each answer is BUSY, "
                "with the handle still good, or OK, with everything over; no value is left half written.",
     .requirements = "KVS-REQ-250 KVS-REQ-251 KVS-REQ-364 KVS-REQ-150",
     .fn = ending_release},
    {.id = "ending.release_waits",
     .title = "release with a time waits for the end",
     .explain = "Releases a running batch with a time limit: OK, and no value is left half written.",
     .requirements = "KVS-REQ-253 KVS-REQ-364",
     .fn = ending_release_waits},
    {.id = "ending.abandon",
     .title = "An abandoned transfer ends by itself",
     .explain = "Abandons a running batch and closes the engine, which waits for it. A failure means an io "
                "that never completes, or a completion after close.",
     .requirements = "KVS-REQ-278 KVS-REQ-279 KVS-REQ-282 KVS-REQ-172",
     .fn = ending_abandon},
    {.id = "ending.cancel",
     .title = "A canceled transfer still completes every io once",
     .explain = "Cancels a running batch twice. Every descriptor ends OK or CANCELED, the transfer is OK "
                "only if all are, and what is OK is there.",
     .requirements = "KVS-REQ-254 KVS-REQ-255 KVS-REQ-256 KVS-REQ-257 KVS-REQ-265",
     .fn = ending_cancel},
    {.id = "ending.cancel_ends",
     .title = "A native cancel ends every io within the grace",
     .explain = "Cancels a running batch of an engine with a long cancel_grace, and checks until it has "
                "ended, which is within the grace; no value is left half written.",
     .requirements = "KVS-REQ-267 KVS-REQ-257 KVS-REQ-364",
     .needs = KVS_CAP_CANCEL,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "timing",
     .fn = ending_cancel_ends},
    {.id = "ending.wait_zero",
     .title = "wait with no time answers IN_PROG and changes nothing",
     .explain = "Waits with a time of 0 before the post and until the batch has ended. A failure means that "
                "a wait whose time is over spoils the transfer, or that it makes no progress.",
     .requirements = "KVS-REQ-300 KVS-REQ-150",
     .fn = ending_wait_zero},
    {.id = "ending.checks_only",
     .title = "check alone sees the end",
     .explain = "Posts a batch and only checks. A failure means that completions need somebody to wait for "
                "them.",
     .requirements = "KVS-REQ-131 KVS-REQ-305",
     .fn = ending_checks_only},
};
KIT_TOPIC(topic_ending, cases);
