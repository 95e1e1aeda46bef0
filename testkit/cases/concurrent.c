/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads at once. */
#include "case.h"
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS  40

struct shared {
    kvs_engine *e[THREADS];
    struct kit_key key;
    size_t len;
    struct kit_buf values[THREADS];
    atomic_int stop;
};

static void own_keys(struct kit *k, void *arg, size_t t)
{
    struct shared *s = arg;
    kvs_engine *e = s->e[t];
    for (size_t i = 0; i < ROUNDS; i++) {
        struct kit_key key = kit_key(k, "t%zu.%zu", t, i);
        size_t len = kit_value_size(k, 500 + 97 * i);
        struct kit_buf v = kit_value(k, len, 1000 * t + i);
        kit_put(k, e, key, v.data, len);
        kit_expect(k, e, key, v.data, len);
        if (kit_has(k, KVS_CAP_QUERY))
            KIT_STATUS(kvs_query(e, key.data, key.len, NULL, NULL), KVS_OK);
    }
}

static void concurrent_one_engine(struct kit *k)
{
    struct shared s = {0};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < THREADS; i++)
        s.e[i] = e;
    kit_threads(k, THREADS, own_keys, &s);
}

static void concurrent_two_engines(struct kit *k)
{
    struct shared s = {0};
    kvs_engine *a = kit_open(k), *b = kit_open(k);
    for (size_t i = 0; i < THREADS; i++)
        s.e[i] = i % 2 ? a : b;
    kit_threads(k, THREADS, own_keys, &s);
    /* What one engine's threads wrote the other reads. */
    for (size_t t = 0; t < THREADS; t++) {
        size_t len = kit_value_size(k, 500);
        kit_expect(k, t % 2 ? b : a, kit_key(k, "t%zu.0", t), kit_value(k, len, 1000 * t).data, len);
    }
}

static void open_and_close(struct kit *k, void *arg, size_t t)
{
    (void)arg;
    for (size_t i = 0; i < 8; i++) {
        kvs_engine *e = kit_open(k);
        struct kit_key key = kit_key(k, "o%zu.%zu", t, i);
        struct kit_buf v = kit_value(k, kit_value_size(k, 100), 10 * t + i);
        kit_put(k, e, key, v.data, v.len);
        kit_expect(k, e, key, v.data, v.len);
        kit_close(k, e);
    }
}

static void concurrent_open(struct kit *k)
{
    kit_threads(k, THREADS, open_and_close, NULL);
}

static void write_one_key(struct kit *k, void *arg, size_t t)
{
    struct shared *s = arg;
    for (size_t i = 0; i < ROUNDS; i++)
        kit_put(k, s->e[t], s->key, s->values[t].data, s->len);
}

static bool one_of(const struct shared *s, const uint8_t *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(value, s->values[i].data, s->len) == 0)
            return true;
    return false;
}

static void begin(struct kit *k, struct shared *s)
{
    memset(s, 0, sizeof(*s));
    s->key = kit_key(k, "contended");
    s->len = kit_value_size(k, 100000);
    for (size_t i = 0; i < THREADS; i++) {
        s->e[i] = i == 0 || i == 2 ? kit_open(k) : s->e[i - 1];
        s->values[i] = kit_value(k, s->len, i);
    }
}

static void concurrent_writers(struct kit *k)
{
    struct shared s;
    begin(k, &s);
    struct kit_buf to = kit_buf(k, s.len, KIT_AT_END);
    kit_threads(k, THREADS, write_one_key, &s);
    KIT_STATUS(kit_read(k, s.e[0], s.key, &to), KVS_OK);
    KIT_CHECK(one_of(&s, to.data, THREADS), "the value is none of those that were written: it is a mix");
}

static void read_or_write(struct kit *k, void *arg, size_t t)
{
    struct shared *s = arg;
    if (t < 2) {
        write_one_key(k, s, t);
        s->stop++;
        return;
    }
    struct kit_buf to = kit_buf(k, s->len, KIT_AT_END);
    while (s->stop < 2) {
        kit_poison(&to);
        KIT_STATUS(kit_read(k, s->e[t], s->key, &to), KVS_OK);
        KIT_CHECK(one_of(s, to.data, 2), "a READ beside WRITEs gave a mix of values");
    }
}

static void concurrent_readers(struct kit *k)
{
    struct shared s;
    begin(k, &s);
    kit_put(k, s.e[0], s.key, s.values[0].data, s.len);
    kit_threads(k, THREADS, read_or_write, &s);
}

#define FLIGHTS 16
#define WRITES  4

static void fly(struct kit *k, void *arg, size_t t)
{
    struct shared *s = arg;
    size_t n = kit_batch_size(k, WRITES), len = kit_value_size(k, 1000);
    kvs_xfer *all[FLIGHTS];
    for (size_t f = 0; f < FLIGHTS; f++) {
        struct kit_item items[WRITES];
        for (size_t i = 0; i < n; i++)
            items[i] = (struct kit_item){kit_key(k, "f%zu.%zu.%zu", t, f, i),
                                         kit_value(k, len, WRITES * f + i).data, len};
        all[f] = kit_prep(k, s->e[t], KVS_WRITE, items, n);
        kit_post(all[f]);
    }
    for (size_t f = FLIGHTS; f-- > 0;) {
        KIT_STATUS(kit_wait(k, all[f]), KVS_OK);
        kit_release(all[f]);
    }
    for (size_t f = 0; f < FLIGHTS; f++)
        for (size_t i = 0; i < n; i++)
            kit_expect(k, s->e[t], kit_key(k, "f%zu.%zu.%zu", t, f, i),
                       kit_value(k, len, WRITES * f + i).data, len);
}

static void concurrent_flights(struct kit *k)
{
    struct shared s = {0};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < THREADS; i++)
        s.e[i] = e;
    kit_threads(k, THREADS, fly, &s);
}

#define THOUSAND 1000
#define SMALL    32

/* Every value in one buffer of the thread's own, and all transfers posted before the first wait. */
static void fly_many(struct kit *k, void *arg, size_t t)
{
    struct shared *s = arg;
    size_t len = kit_value_size(k, SMALL);
    kvs_xfer **all = calloc(THOUSAND, sizeof(kvs_xfer *));
    struct kit_buf from = kit_value(k, THOUSAND * len, t), to = kit_buf(k, THOUSAND * len, KIT_AT_END);
    KIT_CHECK(all, "no memory for %d transfers", THOUSAND);
    kit_poison(&to);
    for (uint32_t op = KVS_WRITE;; op = KVS_READ) {
        for (size_t f = 0; f < THOUSAND; f++) {
            uint8_t *data = (op == KVS_WRITE ? from.data : to.data) + f * len;
            struct kit_item item = {kit_key(k, "k%zu.%zu", t, f), data, len};
            all[f] = kit_prep(k, s->e[t], op, &item, 1);
            kit_post(all[f]);
        }
        for (size_t f = THOUSAND; f-- > 0;) {
            KIT_STATUS(kit_wait(k, all[f]), KVS_OK);
            kit_release(all[f]);
        }
        if (op == KVS_READ)
            break;
    }
    KIT_BYTES(to.data, from.data, THOUSAND * len);
    free(all);
}

static void concurrent_thousands(struct kit *k)
{
    struct shared s = {0};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < THREADS; i++)
        s.e[i] = e;
    kit_threads(k, THREADS, fly_many, &s);
}

static void register_loop(struct kit *k, void *arg, size_t t)
{
    struct shared *s = arg;
    for (size_t i = 0; i < 200; i++) {
        struct kit_key key = kit_key(k, "g%zu", t);
        struct kvs_desc d = {.dev_id = 0, .len = 8, .meta_info = key.data, .meta_len = key.len};
        kvs_mem *mem = NULL;
        KIT_STATUS(kvs_mem_register(s->e[t], kit_remote_type(s->e[t]), &d, &mem, NULL), KVS_OK);
        struct kit_buf v = kit_value(k, 8, t);
        if (i % 20 == 0 && (i == 0 || kit_has(k, KVS_CAP_OVERWRITE))) {
            kit_put(k, s->e[t], key, v.data, 8);
            kit_expect(k, s->e[t], key, v.data, 8);
        }
        KIT_STATUS(kvs_mem_deregister(s->e[t], mem, NULL), KVS_OK);
    }
}

static void concurrent_registration(struct kit *k)
{
    struct shared s = {0};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < THREADS; i++)
        s.e[i] = e;
    kit_threads(k, THREADS, register_loop, &s);
}

static const struct kit_case cases[] = {
    {.id = "concurrent.one_engine",
     .title = "Four threads use one engine",
     .explain = "Four threads write, read and query keys of their own through one engine.",
     .requirements = "KVS-REQ-135 KVS-REQ-434 KVS-REQ-433",
     .tags = "concurrency",
     .timeout_s = 40,
     .fn = concurrent_one_engine},
    {.id = "concurrent.two_engines",
     .title = "Four threads use two engines",
     .explain = "As concurrent.one_engine with two engines; afterwards each reads what the other has "
                "written.",
     .requirements = "KVS-REQ-361 KVS-REQ-387 KVS-REQ-434",
     .tags = "concurrency",
     .timeout_s = 40,
     .fn = concurrent_two_engines},
    {.id = "concurrent.open",
     .title = "Four threads open and close engines",
     .explain = "Four threads open, write, read and close eight times each. A failure means that opening or "
                "closing one engine hurts another.",
     .requirements = "KVS-REQ-387 KVS-REQ-290",
     .tags = "concurrency",
     .fn = concurrent_open},
    {.id = "concurrent.flights",
     .title = "64 transfers in flight from four threads",
     .explain = "Four threads post 16 transfers of 4 writes each before they wait for the first, and read "
                "all values afterwards.",
     .requirements = "KVS-REQ-135 KVS-REQ-150 KVS-REQ-434",
     .tags = "concurrency",
     .timeout_s = 60,
     .fn = concurrent_flights},
    {.id = "concurrent.thousands",
     .title = "4,000 transfers in flight from four threads",
     .explain = "Four threads post 1,000 writes each before they wait for the first, then 1,000 reads of the "
                "same. An io that is lost shows as a transfer that never ends.",
     .requirements = "KVS-REQ-135 KVS-REQ-150 KVS-REQ-434",
     .tags = "concurrency slow",
     .timeout_s = 120,
     .fn = concurrent_thousands},
    {.id = "concurrent.registration",
     .title = "Four threads register and deregister one dev_id",
     .explain = "Each thread registers keys of its own under dev_id 0 and uses them. A failure means that "
                "registrations with one dev_id get into each other's way.",
     .requirements = "KVS-REQ-550 KVS-REQ-056 KVS-REQ-057",
     .tags = "concurrency",
     .fn = concurrent_registration},
    {.id = "concurrent.writers",
     .title = "Writers of one key leave one value, whole",
     .explain = "Four threads write different values of 100 kB to one key through two engines. What is read "
                "afterwards is one of the four.",
     .requirements = "KVS-REQ-365",
     .needs = KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "concurrency",
     .timeout_s = 60,
     .fn = concurrent_writers},
    {.id = "concurrent.readers",
     .title = "A reader beside writers sees old or new, never a mix",
     .explain = "Two threads write different values of 100 kB to one key while two others read it. Every "
                "READ gives one of the two values, whole.",
     .requirements = "KVS-REQ-366 KVS-REQ-364",
     .needs = KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "concurrency",
     .timeout_s = 60,
     .fn = concurrent_readers},
};
KIT_TOPIC(topic_concurrent, cases);
