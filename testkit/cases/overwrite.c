/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a key that exists. */
#include "case.h"

static void overwrite_sizes(struct kit *k)
{
    static const size_t sizes[] = {100, 40, 5000, 5000, 1, 0, 70000, 69999, 0, 8};
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "over");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t len = kit_value_size(k, sizes[i]);
        kit_put(k, e, key, kit_value(k, len, i).data, len);
        kit_expect(k, e, key, kit_value(k, len, i).data, len);
        if (i > 0 && kit_has(k, KVS_CAP_SIZE_CHECK) && kit_value_size(k, sizes[i - 1]) != len) {
            struct kit_buf to = kit_buf(k, kit_value_size(k, sizes[i - 1]), KIT_AT_END);
            KIT_STATUS(kit_read(k, e, key, &to), KVS_MISMATCH);
        }
    }
}

static void overwrite_batch(struct kit *k)
{
    size_t n = kit_batch_size(k, 32), len = kit_value_size(k, 700);
    kvs_engine *e = kit_open(k), *other = kit_open(k);
    struct kit_item items[32];
    for (uint64_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < n; i++)
            items[i] = (struct kit_item){kit_key(k, "o%zu", i), kit_value(k, len, 100 * round + i).data, len};
        kvs_xfer *x = kit_prep(k, e, KVS_WRITE, items, n);
        kit_ends(k, x, KVS_OK);
        kit_release(x);
        for (size_t i = 0; i < n; i++)
            kit_expect(k, other, items[i].key, items[i].data, len);
    }
}

static void write_once(struct kit *k)
{
    size_t len = kit_value_size(k, 500);
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "once");
    struct kit_buf first = kit_value(k, len, 1), second = kit_value(k, len - 1, 2);
    kit_put(k, e, key, first.data, len);
    struct kit_item items[] = {{key, second.data, len - 1}, {key, first.data, len}};
    for (int i = 0; i < 2; i++) {
        kvs_xfer *x = kit_prep(k, e, KVS_WRITE, &items[i], 1);
        kit_ends(k, x, KVS_EXISTS);
        kit_release(x);
    }
    kit_expect(k, e, key, first.data, len);
}

#define WRITERS 4

struct race {
    kvs_engine *e[WRITERS];
    struct kit_key key;
    struct kit_buf values[WRITERS];
    int results[WRITERS]; /* each by its own thread */
};

static void race_one(struct kit *k, void *arg, size_t t)
{
    struct race *r = arg;
    struct kit_item item = {r->key, r->values[t].data, r->values[t].len};
    kvs_xfer *x = kit_prep(k, r->e[t], KVS_WRITE, &item, 1);
    r->results[t] = kit_run(k, x);
    kit_release(x);
}

static void write_once_race(struct kit *k)
{
    struct race r;
    size_t len = kit_value_size(k, 20000);
    kvs_engine *a = kit_open(k), *b = kit_open(k);
    for (size_t i = 0; i < WRITERS; i++) {
        r.e[i] = i % 2 ? a : b;
        r.values[i] = kit_value(k, len, i);
    }
    for (int round = 0; round < 20; round++) {
        size_t winner = WRITERS;
        r.key = kit_key(k, "race%d", round);
        kit_threads(k, WRITERS, race_one, &r);
        for (size_t i = 0; i < WRITERS; i++) {
            KIT_CHECK(r.results[i] == KVS_OK || r.results[i] == KVS_EXISTS, "a writer got %s",
                      kvs_status_name(r.results[i]));
            KIT_CHECK(r.results[i] != KVS_OK || winner == WRITERS, "two writers of one key got OK");
            winner = r.results[i] == KVS_OK ? i : winner;
        }
        KIT_CHECK(winner < WRITERS, "no writer of the key got OK");
        kit_expect(k, a, r.key, r.values[winner].data, len);
    }
}

static const struct kit_case cases[] = {
    {.id = "overwrite.sizes",
     .title = "A key takes shorter, longer and empty values in turn",
     .explain = "Writes ten values of different lengths under one key and reads each; the length before it "
                "is a MISMATCH. A failure means that the tail or the length of an old value shows.",
     .requirements = "KVS-REQ-361 KVS-REQ-350",
     .needs = KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = overwrite_sizes},
    {.id = "overwrite.batch",
     .title = "A batch overwrites, and a second engine sees it",
     .explain = "Writes 32 keys four times in batches, and reads each time through another engine. A "
                "failure means a stale read.",
     .requirements = "KVS-REQ-361",
     .needs = KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = overwrite_batch},
    {.id = "write_once.exists",
     .title = "A write-once store answers EXISTS and keeps the first value",
     .explain = "Writes a key twice in a store without the overwrite capability. OK would say that the new "
                "value is stored.",
     .requirements = "KVS-REQ-008",
     .absent = KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = write_once},
    {.id = "write_once.race",
     .title = "Of several writers of one key in a write-once store one wins",
     .explain = "Four threads write one key at once through two engines, twenty times. One of them is OK, "
                "the others EXISTS, and the value is the winner's.",
     .requirements = "KVS-REQ-008 KVS-REQ-365",
     .absent = KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "concurrency",
     .fn = write_once_race},
};
KIT_TOPIC(topic_overwrite, cases);
