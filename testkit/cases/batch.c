/* SPDX-License-Identifier: Apache-2.0 */
/* Many values in one transfer. */
#include "case.h"
#include <stdlib.h>

#define SALT_OF(i) ((i) + 1)

/* Writes n values of the sizes that size(i) says in one transfer, and reads them in another. */
static void batch(struct kit *k, size_t want, size_t (*size)(size_t i))
{
    size_t n = kit_batch_size(k, want);
    kvs_engine *e = kit_open(k);
    struct kit_item *out = calloc(n, sizeof(*out)), *in = calloc(n, sizeof(*in));
    struct kit_buf *to = calloc(n, sizeof(*to));
    KIT_CHECK(out && in && to, "no memory for %zu items", n);
    for (size_t i = 0; i < n; i++) {
        size_t len = kit_value_size(k, size(i));
        out[i] = (struct kit_item){kit_key(k, "b%zu", i), kit_value(k, len, SALT_OF(i)).data, len};
        to[i] = kit_buf(k, len, KIT_AT_END);
        kit_poison(&to[i]);
        in[i] = (struct kit_item){out[i].key, to[i].data, len};
    }
    kvs_xfer *w = kit_prep(k, e, KVS_WRITE, out, n), *r = kit_prep(k, e, KVS_READ, in, n);
    KIT_EQ(kvs_xfer_count(w), n);
    kit_ends(k, w, KVS_OK);
    kit_ends(k, r, KVS_OK);
    for (size_t i = 0; i < n; i++) {
        KIT_STATUS(kit_result(w, i), KVS_OK);
        KIT_STATUS(kit_result(r, i), KVS_OK);
        KIT_EQ_U64(kit_result_bytes(w, i), out[i].len);
        KIT_EQ_U64(kit_result_bytes(r, i), out[i].len);
        KIT_BYTES(to[i].data, out[i].data, out[i].len);
        kit_around(&to[i]);
    }
    kit_release(w);
    kit_release(r);
    free(out);
    free(in);
    free(to);
}

static size_t some(size_t i)
{
    return 100 + i;
}

static size_t mixed(size_t i)
{
    static const size_t sizes[] = {0, 1, 4096, 3, 65537, 0, 511, 200000};
    return sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];
}

static void batch_one(struct kit *k)
{
    batch(k, 1, some);
}

static void batch_64(struct kit *k)
{
    batch(k, 64, some);
}

static void batch_1024(struct kit *k)
{
    batch(k, 1024, some);
}

static void batch_mixed(struct kit *k)
{
    batch(k, 48, mixed);
}

static void batch_swapped(struct kit *k)
{
    size_t n = kit_batch_size(k, 32), len = kit_value_size(k, 64);
    kvs_engine *e = kit_open(k);
    struct kit_item out[32], in[32];
    for (size_t i = 0; i < n; i++) {
        out[i] = (struct kit_item){kit_key(k, "o%zu", i), kit_value(k, len, i).data, len};
        struct kit_buf to = kit_buf(k, len, KIT_AT_END);
        kit_poison(&to);
        in[n - 1 - i] = (struct kit_item){out[i].key, to.data, len};
    }
    kvs_xfer *w = kit_prep(k, e, KVS_WRITE, out, n), *r = kit_prep(k, e, KVS_READ, in, n);
    kit_ends(k, w, KVS_OK);
    kit_ends(k, r, KVS_OK);
    for (size_t i = 0; i < n; i++)
        KIT_BYTES(in[n - 1 - i].data, out[i].data, len);
    kit_release(w);
    kit_release(r);
}

static void batch_duplicates(struct kit *k)
{
    size_t n = kit_batch_size(k, 16), len = kit_value_size(k, 5000);
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "duplicate");
    struct kit_buf to = kit_buf(k, len, KIT_AT_END);
    struct kit_item out[16];
    size_t ok = 0, match = 0;
    for (size_t i = 0; i < n; i++)
        out[i] = (struct kit_item){key, kit_value(k, len, i).data, len};
    kvs_xfer *w = kit_prep(k, e, KVS_WRITE, out, n);
    kit_run(k, w);
    for (size_t i = 0; i < n; i++) {
        int status = kit_result(w, i);
        if (status != KVS_OK && (kit_has(k, KVS_CAP_OVERWRITE) || status != KVS_EXISTS))
            KIT_FAIL("writing one key several times: descriptor %zu is %s: %s", i, kvs_status_name(status),
                     kvs_xfer_error(w));
        ok += status == KVS_OK;
    }
    kit_release(w);
    KIT_GE(ok, 1);
    KIT_STATUS(kit_read(k, e, key, &to), KVS_OK);
    for (size_t i = 0; i < n; i++)
        match += memcmp(to.data, out[i].data, len) == 0;
    KIT_CHECK(match >= 1, "the value is none of those that were written: it is a mix, or foreign");
}

#define LARGEST 65536

/* With as much time for a post as the case has: a store that makes a file of each value is not a wrong one.
 * Where the target says a time limit of its own, that stays. */
static kvs_engine *open_patient(struct kit *k)
{
    char text[32];
    struct kvs_error err;
    kvs_engine *e;
    snprintf(text, sizeof(text), "%llums", (unsigned long long)(kit_wait_ns(k) / 1000000u));
    return kit_open_with(k, "timeout", text, &e, &err) == KVS_OK ? e : kit_open(k);
}

/* All values side by side in one buffer: a mapping for each would be more than a process may have. */
static void batch_largest(struct kit *k)
{
    size_t n = kit_batch_size(k, LARGEST), len = kit_value_size(k, 8);
    kvs_engine *e = open_patient(k);
    struct kit_buf from = kit_value(k, n * len, 1), to = kit_buf(k, n * len, KIT_AT_END);
    struct kit_item *items = calloc(n, sizeof(*items));
    KIT_CHECK(items, "no memory for %zu items", n);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct kit_item){kit_key(k, "l%zx", i), from.data + i * len, len};
    kvs_xfer *x = kit_prep(k, e, KVS_WRITE, items, n);
    kit_ends(k, x, KVS_OK);
    kit_release(x);
    kit_poison(&to);
    for (size_t i = 0; i < n; i++)
        items[i].data = to.data + i * len;
    x = kit_prep(k, e, KVS_READ, items, n);
    kit_ends(k, x, KVS_OK);
    for (size_t i = 0; i < n; i++)
        KIT_EQ_U64(kit_result_bytes(x, i), len);
    kit_release(x);
    KIT_BYTES(to.data, from.data, n * len);
    free(items);
}

static const struct kit_case cases[] = {
    {.id = "batch.one",
     .title = "A batch of 1",
     .explain = "Writes and reads one value as a batch, with its status and byte count.",
     .requirements = "KVS-REQ-001 KVS-REQ-002 KVS-REQ-150",
     .fn = batch_one},
    {.id = "batch.of_64",
     .title = "A batch of 64 values of different sizes",
     .explain = "Writes 64 values of sizes 100 to 163 in one transfer and reads them in another; every "
                "status is OK, every byte count is the value's length, and every value is its own.",
     .requirements = "KVS-REQ-001 KVS-REQ-002 KVS-REQ-104 KVS-REQ-150",
     .fn = batch_64},
    {.id = "batch.of_1024",
     .title = "A batch of 1,024 values",
     .explain = "As batch.of_64 with 1,024 values, or the engine's greatest batch.",
     .requirements = "KVS-REQ-001 KVS-REQ-104 KVS-REQ-150",
     .timeout_s = 120,
     .fn = batch_1024},
    {.id = "batch.mixed_sizes",
     .title = "A batch of mixed sizes, empty ones among them",
     .explain = "Writes and reads 48 values of 0 bytes to 200 kB in one transfer. A failure means that an "
                "empty or a large value disturbs its neighbours.",
     .requirements = "KVS-REQ-359 KVS-REQ-360 KVS-REQ-150",
     .fn = batch_mixed},
    {.id = "batch.reversed",
     .title = "Values land at the descriptors that asked for them",
     .explain = "Writes 32 values of one size and reads them in reverse order. A failure means that the "
                "backend assigns answers by order of arrival.",
     .requirements = "KVS-REQ-001 KVS-REQ-410",
     .fn = batch_swapped},
    {.id = "batch.duplicate_keys",
     .title = "A key that occurs several times in a WRITE keeps one whole value",
     .explain = "Writes 16 values under one key in one transfer. At least one is OK, and what is read is "
                "one of them, whole.",
     .requirements = "KVS-REQ-367",
     .fn = batch_duplicates},
    {.id = "batch.largest",
     .title = "The engine's greatest batch works",
     .explain = "Writes and reads as many values of 8 bytes in one transfer as the engine takes, at most "
                "65,536, which every backend of kvslot's own takes.",
     .requirements = "KVS-REQ-105 KVS-REQ-104 KVS-REQ-150",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "slow",
     .timeout_s = 120,
     .fn = batch_largest},
};
KIT_TOPIC(topic_batch, cases);
