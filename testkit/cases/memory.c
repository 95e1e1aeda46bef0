/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is the caller's again once a transfer has ended. */
#include "case.h"
#include <stdlib.h>

#define ROUNDS 12

/* Something for the backend to do, so that what it left for later is done. */
static void stir(struct kit *k, kvs_engine *e, size_t round)
{
    struct kit_buf v = kit_value(k, kit_value_size(k, 100), round);
    struct kit_key key = kit_key(k, "stir%zu", round);
    kit_put(k, e, key, v.data, v.len);
    kit_expect(k, e, key, v.data, v.len);
}

static void memory_remapped(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "read");
    struct kit_buf to[ROUNDS];
    size_t len = kit_value_size(k, 20000);
    kit_put(k, e, key, kit_value(k, len, 1).data, len);
    for (size_t i = 0; i < ROUNDS; i++) {
        to[i] = kit_buf(k, len, KIT_AT_END);
        KIT_STATUS(kit_read(k, e, key, &to[i]), KVS_OK);
        kit_buf_remap(&to[i]);
        stir(k, e, i);
    }
    kit_close(k, e);
    for (size_t i = 0; i < ROUNDS; i++) {
        kit_poisoned(&to[i], 0);
        kit_around(&to[i]);
    }
}

static void memory_source_gone(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    size_t len = kit_value_size(k, 20000);
    struct kit_key keys[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        struct kit_buf v = kit_value(k, len, 100 + i);
        keys[i] = kit_key(k, "source%zu", i);
        kit_put(k, e, keys[i], v.data, len);
        kit_buf_forbid(&v);
        stir(k, e, i);
    }
    for (size_t i = 0; i < ROUNDS; i++)
        kit_expect(k, e, keys[i], kit_value(k, len, 100 + i).data, len);
}

static void memory_reused(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    size_t n = kit_batch_size(k, 64), len = kit_value_size(k, 200);
    struct kit_item *items = calloc(n, sizeof(*items));
    KIT_CHECK(items, "no memory for %zu items", n);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++)
            items[i] = (struct kit_item){kit_key(k, "b%zu.%zu", round, i),
                                         kit_value(k, len, n * round + i).data, len};
        kvs_xfer *x = kit_prep(k, e, KVS_WRITE, items, n);
        kit_ends(k, x, KVS_OK);
        kit_release(x); /* from here on its memory holds something else */
        stir(k, e, round);
    }
    free(items);
}

static const struct kit_case cases[] = {
    {.id = "memory.remapped",
     .title = "A buffer is not written after its READ has ended",
     .explain = "Reads into a buffer and, as soon as that has ended, puts other memory with a pattern in its "
                "place; other transfers follow, and the engine is closed. A pattern that has changed means "
                "that the backend, or its library, still writes to a place that is not its any more.",
     .requirements = "KVS-REQ-357 KVS-REQ-172",
     .fn = memory_remapped},
    {.id = "memory.source_gone",
     .title = "A source is not read after its WRITE has ended",
     .explain = "Writes from a buffer that cannot be touched any more as soon as the WRITE has ended; other "
                "transfers follow, and all values are read. SIGSEGV means that the backend sends from memory "
                "that is not its any more; bytes that differ, that it had not taken them.",
     .requirements = "KVS-REQ-361 KVS-REQ-172",
     .fn = memory_source_gone},
    {.id = "memory.reused",
     .title = "A batch is not touched after its last completion",
     .explain = "Prepares, runs and releases batches; what is released is filled with a pattern at once. A "
                "crash means that the backend looks at a batch, an io or a key that it has completed.",
     .requirements = "KVS-REQ-172",
     .fn = memory_reused},
};
KIT_TOPIC(topic_memory, cases);
