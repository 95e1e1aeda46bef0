/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing engines. */
#include "case.h"
#include <dlfcn.h>
#include <kvslot/backend.h>
#include <link.h>

static void cycle(struct kit *k, struct kit_key key)
{
    kvs_engine *e = kit_open(k);
    uint64_t size;
    KIT_STATUS_IN(kvs_query(e, key.data, key.len, &size, NULL), KVS_NOT_FOUND, KVS_NOT_SUPPORTED,
                  KVS_UNKNOWN);
    kit_close(k, e);
}

#define WARM       40 /* an SDK that was built for debugging keeps the last 64 handles that were given back */
#define SPANS      4
#define SPAN       10
#define PER_CYCLE  512 /* a leak of so many bytes shows; caches of the allocator move by less */
#define MAPPED_MIN (64 << 10)

/* Caches fill and empty: only what grows in every span is a leak. */
static void check_memory(const struct kit_usage *at)
{
    bool used = kit_usage_has_memory(), mapped = used;
    for (int i = 0; i < SPANS; i++) {
        used &= at[i + 1].used - at[i].used >= SPAN * PER_CYCLE;
        mapped &= at[i + 1].mapped - at[i].mapped >= SPAN * MAPPED_MIN;
    }
    int64_t more_used = at[SPANS].used - at[0].used, more_mapped = at[SPANS].mapped - at[0].mapped;
    KIT_CHECK(!mapped, "mappings grow: by %lld bytes in %d cycles of open and close", (long long)more_mapped,
              SPANS * SPAN);
    KIT_CHECK(!used, "memory grows: by %lld bytes in %d cycles of open and close", (long long)more_used,
              SPANS * SPAN);
}

static void open_cycles(struct kit *k)
{
    struct kit_key key = kit_key(k, "never-written");
    struct kit_usage at[SPANS + 1];
    cycle(k, key);
    cycle(k, key);
    struct kit_usage first = kit_usage();
    for (int i = 0; i < WARM; i++)
        cycle(k, key);
    for (int i = 0; i < SPANS * SPAN; i++) {
        if (i % SPAN == 0)
            at[i / SPAN] = kit_usage();
        cycle(k, key);
    }
    at[SPANS] = kit_usage();
    KIT_CHECK(kit_usage_settles(first.descriptors, INT64_MAX, kit_wait_ns(k)),
              "the process had %lld open descriptors after 2 cycles of open and close, and has %lld after %d",
              (long long)first.descriptors, (long long)kit_usage().descriptors, 2 + WARM + SPANS * SPAN);
    /* A thread that was joined leaves /proc a little later than it leaves the join. */
    KIT_CHECK(kit_usage_settles(INT64_MAX, first.threads, kit_wait_ns(k)),
              "the process had %lld threads after 2 cycles of open and close, and has %lld after %d",
              (long long)first.threads, (long long)kit_usage().threads, 2 + WARM + SPANS * SPAN);
    check_memory(at);
}

/* Bytes after the prefix that the names of the suite need. */
#define ROOM 18

static void open_limits(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    const struct kvs_backend *b = kvs_engine_backend(e);
    struct kvs_limits l = {.size = sizeof(l)};
    KIT_CHECK(b, "the engine has no backend");
    KIT_CHECK((b->put && b->get) || b->submit, "the backend has neither put and get nor submit");
    KIT_STATUS(kvs_engine_limits(e, &l), KVS_OK);
    KIT_EQ_U64(l.caps_native & l.caps_none, 0);
    KIT_CHECK(l.caps_native & KVS_CAP_READ, "READ is not declared as native");
    KIT_CHECK(l.caps_native & KVS_CAP_WRITE, "WRITE is not declared as native");
    KIT_GE(l.min_key, 1);
    KIT_CHECK(l.max_key == 0 || l.max_key >= kit_prefix_len(k) + ROOM,
              "keys of at most %u bytes are too short for the suite, which needs %zu", l.max_key,
              kit_prefix_len(k) + ROOM);
    KIT_STATUS(kvs_engine_limits(e, NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_engine_limits(NULL, &l), KVS_INVALID_PARAM);
}

static void open_two_engines(struct kit *k)
{
    kvs_engine *a = kit_open(k), *b = kit_open(k);
    struct kit_key one = kit_key(k, "one"), two = kit_key(k, "two");
    struct kit_buf v1 = kit_value(k, kit_value_size(k, 3000), 1),
                   v2 = kit_value(k, kit_value_size(k, 5000), 2);
    kit_put(k, a, one, v1.data, v1.len);
    kit_expect(k, b, one, v1.data, v1.len);
    kit_put(k, b, two, v2.data, v2.len);
    kit_expect(k, a, two, v2.data, v2.len);
    kit_close(k, a);
    kit_expect(k, b, one, v1.data, v1.len);
    kit_expect(k, b, two, v2.data, v2.len);
}

static void open_durable(struct kit *k)
{
    struct kit_key key = kit_key(k, "kept"), empty = kit_key(k, "kept-empty");
    struct kit_buf v = kit_value(k, kit_value_size(k, 70001), 1);
    kvs_engine *e = kit_open(k);
    kit_put(k, e, key, v.data, v.len);
    kit_put(k, e, empty, NULL, 0);
    kit_close(k, e);
    e = kit_open(k);
    kit_expect(k, e, key, v.data, v.len);
    kit_expect(k, e, empty, NULL, 0);
}

#define WORK 32

static void open_close_with_work(struct kit *k)
{
    struct kit_item items[WORK];
    size_t n = kit_batch_size(k, WORK), len = kit_value_size(k, 20000);
    struct kvs_error err = {0};
    int statuses[WORK];
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct kit_item){kit_key(k, "w%zu", i), kit_value(k, len, i).data, len};
    kvs_xfer *x = kit_prep(k, e, KVS_WRITE, items, n);
    kit_post(x);
    kit_forget(k, e);
    KIT_STATUS_ERR(kvs_engine_close(e, kit_wait_ns(k), &err), KVS_OK, &err);
    KIT_CHECK(kvs_xfer_check(x) != KVS_IN_PROG, "the engine is closed and its transfer is still running");
    for (size_t i = 0; i < n; i++)
        statuses[i] = kit_result(x, i);
    KIT_STATUS(kvs_xfer_post(x), KVS_NOT_ALLOWED);
    kit_release(x);
    for (size_t i = 0; i < n; i++)
        KIT_STATUS_IN(statuses[i], KVS_OK, KVS_CANCELED);
    if (!kit_has(k, KVS_CAP_DURABLE))
        return;
    e = kit_open(k);
    for (size_t i = 0; i < n; i++)
        if (statuses[i] == KVS_OK)
            kit_expect(k, e, items[i].key, items[i].data, len);
}

static void open_bad_parameter(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = (kvs_engine *)(uintptr_t)1;
    KIT_STATUS(kit_open_with(k, "no_such_parameter", "1", &e, &err), KVS_INVALID_PARAM);
    KIT_CHECK(e == NULL, "open failed and the out pointer is not NULL");
    KIT_EQ(err.status, KVS_INVALID_PARAM);
    KIT_CHECK(strstr(err.text, "no_such_parameter"), "the text does not name the parameter: %s", err.text);
    KIT_STATUS(kit_open_with(k, "timeout", "soon", &e, &err), KVS_INVALID_PARAM);
    KIT_CHECK(strstr(err.text, "timeout"), "the text does not name the parameter: %s", err.text);
    e = kit_open(k);
    KIT_CHECK(e, "the target does not open after an open that failed");
}

static void open_lazy(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e;
    struct kit_key key = kit_key(k, "lazy");
    struct kit_buf v = kit_value(k, kit_value_size(k, 100), 1);
    KIT_STATUS_ERR(kit_open_with(k, "connect", "lazy", &e, &err), KVS_OK, &err);
    kit_put(k, e, key, v.data, v.len);
    kit_expect(k, e, key, v.data, v.len);
}

static bool needs_kvslot(const struct link_map *map)
{
    const char *names = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            names = (const char *)d->d_un.d_ptr; /* glibc has made it an address */
    for (const ElfW(Dyn) *d = map->l_ld; names && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && strncmp(names + d->d_un.d_val, "libkvslot", 9) == 0)
            return true;
    return false;
}

static void open_plugin(struct kit *k)
{
    Dl_info info;
    struct link_map *map = NULL;
    const struct kvs_backend *b = kvs_engine_backend(kit_open(k));
    KIT_CHECK(dladdr((void *)(uintptr_t)b->open, &info) && info.dli_fname, "the file of open is not known");
    const char *slash = strrchr(info.dli_fname, '/'), *name = slash ? slash + 1 : info.dli_fname;
    size_t len = strlen(name);
    if (strncmp(name, "kvslot-", 7) != 0 || len < 3 || strcmp(name + len - 3, ".so") != 0)
        kit_not_supported(k, "the backend is no plugin, but part of %s", name);
    void *file = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    KIT_CHECK(file && dlinfo(file, RTLD_DI_LINKMAP, &map) == 0, "%s is not loaded", info.dli_fname);
    kvs_backend_entry_fn entry = (kvs_backend_entry_fn)(uintptr_t)dlsym(file, KVS_BACKEND_ENTRY);
    KIT_CHECK(entry, "%s exports no %s", name, KVS_BACKEND_ENTRY);
    const struct kvs_backend *own = entry();
    KIT_CHECK(own && entry() == own, "%s is not one table for good", KVS_BACKEND_ENTRY);
    KIT_CHECK(own->magic == KVS_BACKEND_MAGIC && own->api == KVS_API && own->size > 0 && own->io_size > 0 &&
                  own->batch_size > 0 && own->host_size > 0,
              "the table does not carry magic, API number and sizes");
    KIT_CHECK(!needs_kvslot(map), "%s links against a library of kvslot", name);
    dlclose(file);
}

static const struct kit_case cases[] = {
    {.id = "open.cycles",
     .title = "Nothing grows from the second open and close on",
     .explain = "Opens and closes the target 42 times, each time with one query, and counts the descriptors "
                "and threads of the process after the 2nd and the last time, and its memory after each 10. A "
                "failure means that close leaves something behind.",
     .timeout_s = 60,
     .requirements = "KVS-REQ-290 KVS-REQ-289",
     .fn = open_cycles},
    {.id = "open.limits",
     .title = "Limits and capabilities are sound",
     .explain = "Reads the engine's limits: READ and WRITE are native, no capability is both native and "
                "none, and keys are long enough to be used at all. A failure means that the backend's table "
                "declares something that cannot be.",
     .requirements = "KVS-REQ-406 KVS-REQ-428 KVS-REQ-431 KVS-REQ-432",
     .fn = open_limits},
    {.id = "open.plugin",
     .title = "A plugin stands by itself",
     .explain = "Looks at the plugin's file: it has the one entry function, which gives a table with magic, "
                "API number and sizes, and it needs no library of kvslot. A plugin that links against one "
                "gets a second SDK beside the host's, or none.",
     .requirements = "KVS-REQ-400 KVS-REQ-401 KVS-REQ-413",
     .profile = KVS_CONFORM_EXTENDED,
     .fn = open_plugin},
    {.id = "open.two_engines",
     .title = "Two engines of a process share the store",
     .explain = "Opens the target twice; what one engine has written the other reads, also after one is "
                "closed. A failure means that each engine has a store of its own, or that closing one hurts "
                "the other.",
     .requirements = "KVS-REQ-361 KVS-REQ-387",
     .fn = open_two_engines},
    {.id = "open.close_with_work",
     .title = "Close drains what is running",
     .explain = "Posts a batch of writes and closes the engine at once. Close must end, every io must have "
                "ended as OK or CANCELED, the transfer can still be read and released, and where the store "
                "is durable every write that was OK is there afterwards.",
     .requirements = "KVS-REQ-285 KVS-REQ-286 KVS-REQ-292 KVS-REQ-150",
     .fn = open_close_with_work},
    {.id = "open.bad_parameter",
     .title = "A wrong parameter is refused by name",
     .explain = "Opens the target with an unknown parameter and with a malformed one. Both are refused as "
                "INVALID_PARAM in a sentence that names the parameter, the engine is NULL, and a correct "
                "open works afterwards.",
     .requirements = "KVS-REQ-505 KVS-REQ-509",
     .fn = open_bad_parameter},
    {.id = "open.lazy",
     .title = "An engine opened with connect=lazy works",
     .explain = "Opens with connect=lazy, then writes and reads. A failure means that the backend does not "
                "make up for the connection that it did not make in open.",
     .requirements = "KVS-REQ-503",
     .fn = open_lazy},
    {.id = "open.durable",
     .title = "Values survive close and open",
     .explain = "Writes a value and an empty one, closes, opens again and reads both. A failure means that "
                "the capability durable is claimed and not kept.",
     .requirements = "KVS-REQ-388",
     .needs = KVS_CAP_DURABLE,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "durability",
     .fn = open_durable},
};
KIT_TOPIC(topic_open, cases);
