/* SPDX-License-Identifier: Apache-2.0 */
/* What operations leave behind in an engine that stays open. */
#include "case.h"
#include <stddef.h>
#include <stdlib.h>

#define WARM   96 /* operations until caches and pools are full */
#define ROUNDS 4
#define ROUND  24 /* operations */
#define PER_OP                                                                                               \
    1024             /* a leak of so many bytes with each shows; what a store in memory notes of one is less \
                      */
#define MAP_OP  4096 /* the least that can be mapped */
#define VALUE   100
#define COUNTED (ROUND / 2) /* one descriptor or thread with each second operation */

struct leaks {
    struct kit *k;
    kvs_engine *e;
    struct kit_key key;
    struct kvs_desc value, to; /* registered once, where the backend needs that */
};

/* One transfer from its preparation to its release; the status of its only descriptor. */
static int run(struct leaks *l, uint32_t op)
{
    struct kvs_key key = {l->key.data, l->key.len};
    struct kvs_dlist local = {
        .descs = op == KVS_WRITE ? &l->value : &l->to, .count = 1, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof(req), .op = op, .keys = &key, .nkeys = 1};
    struct kvs_error err = {0};
    kvs_xfer *x = NULL;
    if (op == KVS_READ || op == KVS_WRITE)
        req.local = &local;
    KIT_STATUS_ERR(kvs_xfer_prep(l->e, &req, &x, &err), KVS_OK, &err);
    kit_run(l->k, x);
    int rc = kit_result(x, 0);
    kit_release(x);
    return rc;
}

static void put(struct leaks *l)
{
    bool overwrites = kit_has(l->k, KVS_CAP_OVERWRITE), removes = kit_has(l->k, KVS_CAP_REMOVE);
    if (!overwrites && removes)
        KIT_STATUS(run(l, KVS_REMOVE), KVS_OK);
    KIT_STATUS(run(l, KVS_WRITE), overwrites || removes ? KVS_OK : KVS_EXISTS);
}

static void get(struct leaks *l)
{
    KIT_STATUS(run(l, KVS_READ), KVS_OK);
}

/* UNKNOWN is an answer, too, as of a store that knows what it keeps only for a while. */
static void query(struct leaks *l)
{
    KIT_STATUS_IN(run(l, KVS_QUERY), KVS_OK, KVS_UNKNOWN);
}

static void drop(struct leaks *l)
{
    KIT_STATUS(run(l, KVS_REMOVE), KVS_OK);
    KIT_STATUS(run(l, KVS_WRITE), KVS_OK);
}

static int ignore(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)arg, (void)key, (void)len, (void)size;
    return 0;
}

static void list(struct leaks *l)
{
    KIT_STATUS(kvs_list(l->e, kit_prefix(l->k), kit_prefix_len(l->k), ignore, NULL, NULL), KVS_OK);
}

/* Caches fill and empty: only what grows in every round is a leak. */
static bool grows(const struct kit_usage *at, size_t offset, int64_t least)
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t before, after;
        memcpy(&before, (const char *)&at[i] + offset, sizeof(before));
        memcpy(&after, (const char *)&at[i + 1] + offset, sizeof(after));
        if (after - before < least)
            return false;
    }
    return true;
}

/* A thread that ends leaves /proc a little later: what is left then has leaked. */
static bool stays(struct kit *k, const struct kit_usage *at, bool descriptors)
{
    int64_t most = descriptors ? at[0].descriptors : at[0].threads;
    most += ROUNDS * COUNTED - 1;
    return !kit_usage_settles(descriptors ? most : INT64_MAX, descriptors ? INT64_MAX : most,
                              kit_wait_ns(k) / 40);
}

static void judge(struct kit *k, const char *op, const struct kit_usage *at)
{
    const struct kit_usage *end = &at[ROUNDS];
    int n = ROUNDS * ROUND;
    KIT_CHECK(!grows(at, offsetof(struct kit_usage, descriptors), COUNTED) || !stays(k, at, true),
              "open descriptors grow with each %s: by %lld with %d", op,
              (long long)(end->descriptors - at->descriptors), n);
    KIT_CHECK(!grows(at, offsetof(struct kit_usage, threads), COUNTED) || !stays(k, at, false),
              "threads grow with each %s: by %lld with %d", op, (long long)(end->threads - at->threads), n);
    if (!kit_usage_has_memory())
        return;
    KIT_CHECK(!grows(at, offsetof(struct kit_usage, used), ROUND * PER_OP),
              "memory grows with each %s: by %lld bytes with %d", op, (long long)(end->used - at->used), n);
    KIT_CHECK(!grows(at, offsetof(struct kit_usage, mapped), ROUND * MAP_OP),
              "mappings grow with each %s: by %lld bytes with %d", op, (long long)(end->mapped - at->mapped),
              n);
}

static void leaks(struct kit *k, const char *op, void (*once)(struct leaks *l))
{
    struct kit_usage at[ROUNDS + 1];
    size_t len = kit_value_size(k, VALUE);
    /* The guarded transfers of the SDK take a mapping each, until there are 1024 of them. */
    setenv("KVSLOT_QUARANTINE", "0", 1);
    struct leaks l = {k, kit_open(k), kit_key(k, "again"), {0}, {0}};
    l.value = kit_local(l.e, kit_value(k, len, 1).data, len);
    l.to = kit_local(l.e, kit_buf(k, len, KIT_AT_END).data, len);
    KIT_STATUS(run(&l, KVS_WRITE), KVS_OK);
    for (int i = 0; i < WARM; i++)
        once(&l);
    for (int i = 0; i < ROUNDS * ROUND; i++) {
        if (i % ROUND == 0)
            at[i / ROUND] = kit_usage();
        once(&l);
    }
    at[ROUNDS] = kit_usage();
    judge(k, op, at);
}

static void leaks_write(struct kit *k)
{
    leaks(k, "WRITE", put);
}

static void leaks_read(struct kit *k)
{
    leaks(k, "READ", get);
}

static void leaks_query(struct kit *k)
{
    leaks(k, "QUERY", query);
}

static void leaks_remove(struct kit *k)
{
    leaks(k, "REMOVE", drop);
}

static void leaks_list(struct kit *k)
{
    leaks(k, "list", list);
}

#define HOW                                                                                                  \
    "again and again, on an engine that stays open, until caches and pools are full, and then four times "   \
    "as often in equal rounds; counts the descriptors, threads and memory of the process. What grows in "    \
    "every round is left behind by each call."

static const struct kit_case cases[] = {
    {.id = "leaks.write",
     .title = "WRITEs leave nothing behind in the process",
     .explain = "Writes one key " HOW,
     .timeout_s = 60,
     .requirements = "KVS-REQ-393",
     .fn = leaks_write},
    {.id = "leaks.read",
     .title = "READs leave nothing behind in the process",
     .explain = "Reads one key " HOW,
     .timeout_s = 60,
     .requirements = "KVS-REQ-393",
     .fn = leaks_read},
    {.id = "leaks.query",
     .title = "QUERYs leave nothing behind in the process",
     .explain = "Asks for one key " HOW,
     .timeout_s = 60,
     .requirements = "KVS-REQ-393",
     .needs = KVS_CAP_QUERY,
     .fn = leaks_query},
    {.id = "leaks.remove",
     .title = "REMOVEs leave nothing behind in the process",
     .explain = "Removes and writes one key " HOW,
     .timeout_s = 60,
     .requirements = "KVS-REQ-393",
     .needs = KVS_CAP_REMOVE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = leaks_remove},
    {.id = "leaks.list",
     .title = "Listing keys leaves nothing behind in the process",
     .explain = "Lists the keys of the run " HOW,
     .timeout_s = 60,
     .requirements = "KVS-REQ-393",
     .needs = KVS_CAP_LIST,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = leaks_list},
};
KIT_TOPIC(topic_leaks, cases);
