/* SPDX-License-Identifier: Apache-2.0 */
/* Listing keys. */
#include "case.h"
#include <stdio.h>
#include <time.h>

#define KEYS 40

struct seen {
    struct kit *k;
    const struct kit_key *keys;
    const size_t *sizes;
    size_t n, strip; /* strip: bytes that are not given, at the front of each key */
    unsigned times[KEYS];
    unsigned others, calls, stop_at;
};

static int each(void *arg, const void *key, size_t len, uint64_t size)
{
    struct seen *s = arg;
    size_t i = 0;
    while (i < s->n &&
           (s->keys[i].len != len + s->strip || memcmp(s->keys[i].data + s->strip, key, len) != 0))
        i++;
    if (i < s->n) {
        s->times[i]++;
        if (size != KVS_SIZE_UNKNOWN)
            KIT_EQ_U64(size, s->sizes[i]);
    } else {
        s->others++;
    }
    return ++s->calls == s->stop_at ? 42 : 0;
}

static void fill(struct kit *k, kvs_engine *e, const char *name, size_t n, struct kit_key *keys,
                 size_t *sizes)
{
    for (size_t i = 0; i < n; i++) {
        keys[i] = kit_key(k, "%s%zu", name, i);
        sizes[i] = kit_value_size(k, i * 13);
        kit_put(k, e, keys[i], kit_value(k, sizes[i], i).data, sizes[i]);
    }
}

static void all_once(const struct seen *s)
{
    for (size_t i = 0; i < s->n; i++)
        KIT_CHECK(s->times[i] == 1, "key %zu was given %u times", i, s->times[i]);
    KIT_EQ(s->others, 0);
}

static void list_prefix(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_key keys[KEYS], others[4], exact = kit_key(k, "in:"), none = kit_key(k, "nothing-begins-so");
    size_t sizes[KEYS], other_sizes[4];
    fill(k, e, "in:", KEYS, keys, sizes);
    fill(k, e, "out:", 4, others, other_sizes);
    struct seen s = {.k = k, .keys = keys, .sizes = sizes, .n = KEYS};
    KIT_STATUS_ERR(kvs_list(e, exact.data, exact.len, each, &s, &err), KVS_OK, &err);
    all_once(&s);
    s = (struct seen){.k = k};
    KIT_STATUS(kvs_list(e, none.data, none.len, each, &s, &err), KVS_OK);
    KIT_EQ(s.calls, 0);
    /* A whole key is its own prefix: key 1 and those that begin with it, 10 to 19. */
    s = (struct seen){.k = k, .keys = keys, .sizes = sizes, .n = KEYS};
    KIT_STATUS(kvs_list(e, keys[1].data, keys[1].len, each, &s, &err), KVS_OK);
    KIT_EQ(s.calls, 11);
    KIT_EQ(s.others, 0);
}

static void list_stops(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_key keys[8], prefix = kit_key(k, "s:");
    size_t sizes[8];
    fill(k, e, "s:", 8, keys, sizes);
    struct seen s = {.k = k, .keys = keys, .sizes = sizes, .n = 8, .stop_at = 3};
    KIT_EQ(kvs_list(e, prefix.data, prefix.len, each, &s, &err), 42);
    KIT_EQ(s.calls, 3);
    s = (struct seen){.k = k, .keys = keys, .sizes = sizes, .n = 8};
    KIT_STATUS(kvs_list(e, prefix.data, prefix.len, each, &s, &err), KVS_OK);
    all_once(&s);
}

static void list_binary(struct kit *k)
{
    static const char names[][4] = {
        {'b', '\0', 'x', 1}, {'b', '\0', 'x', 2}, {'b', '\0', '\xff', '\xff'}, {'b', 'x', 'x', 1}};
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_key keys[4], prefix = kit_key_bytes(k, "b\0", 2);
    size_t sizes[4] = {1, 1, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        keys[i] = kit_key_bytes(k, names[i], 4);
        kit_put(k, e, keys[i], "1", 1);
    }
    struct seen s = {.k = k, .keys = keys, .sizes = sizes, .n = 3};
    KIT_STATUS(kvs_list(e, prefix.data, prefix.len, each, &s, &err), KVS_OK);
    all_once(&s);
}

static void list_engine_prefix(struct kit *k)
{
    char prefix[64];
    struct kvs_error err = {0};
    kvs_engine *e, *plain = kit_open(k);
    struct kit_key keys[5], outside[2];
    size_t sizes[5], outside_sizes[2];
    kit_needs_two_configurations(k);
    if (kit_has_prefix(k))
        kit_not_supported(k, "the run's own parameters have a prefix");
    fill(k, plain, "p:", 5, keys, sizes);
    fill(k, plain, "q:", 2, outside, outside_sizes);
    snprintf(prefix, sizeof(prefix), "%sp:", kit_prefix(k));
    KIT_STATUS_ERR(kit_open_with(k, "prefix", prefix, &e, &err), KVS_OK, &err);
    struct seen s = {.k = k, .keys = keys, .sizes = sizes, .n = 5, .strip = strlen(prefix)};
    KIT_STATUS_ERR(kvs_list(e, "", 0, each, &s, &err), KVS_OK, &err);
    all_once(&s);
}

#define MANY 300

struct slow {
    unsigned calls;
    uint64_t until; /* when the deadline, which was set before the first call, is over for sure */
};

/* The user's function takes its time: the deadline passes while it runs. */
static int slowly(void *arg, const void *key, size_t len, uint64_t size)
{
    struct slow *s = arg;
    (void)key;
    (void)len;
    (void)size;
    if (s->calls++ == 0)
        s->until = kit_now() + KVS_MS(100);
    while (kit_now() < s->until)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return 0;
}

static void list_deadline(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e, *plain = kit_open(k);
    struct kit_key prefix = kit_key(k, "m:");
    kit_needs_two_configurations(k);
    for (size_t i = 0; i < MANY; i++)
        kit_put(k, plain, kit_key(k, "m:%zu", i), "m", 1);
    KIT_STATUS_ERR(kit_open_with(k, "timeout", "50ms", &e, &err), KVS_OK, &err);
    struct slow s = {0};
    int rc = kvs_list(e, prefix.data, prefix.len, slowly, &s, &err);
    KIT_CHECK(rc != KVS_OK, "list goes on after its deadline: %u keys were given", s.calls);
    KIT_STATUS_ERR(rc, KVS_TIMEOUT, &err);
    KIT_CHECK(s.calls < MANY, "list goes on after its deadline: all %u keys were given", s.calls);
}

static const struct kit_case cases[] = {
    {.id = "list.prefix",
     .title = "list gives each key under a prefix once, and no other",
     .explain = "Writes 40 keys under one prefix and some under another, and lists by the prefix, by a "
                "prefix that nothing has, and by a whole key. Sizes are exact where they are given.",
     .requirements = "KVS-REQ-088",
     .needs = KVS_CAP_LIST,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = list_prefix},
    {.id = "list.stops",
     .title = "list stops when it is told to, with that answer",
     .explain = "Answers 42 at the third key: list gives no further key and answers 42. A second list gives "
                "all.",
     .requirements = "KVS-REQ-088",
     .needs = KVS_CAP_LIST,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = list_stops},
    {.id = "list.binary",
     .title = "list takes prefixes of any bytes",
     .explain = "Lists by a prefix with NUL in it. A failure means that the prefix is cut at NUL, or that "
                "0xff bytes fall out at the end of a range.",
     .requirements = "KVS-REQ-080 KVS-REQ-088",
     .needs = KVS_CAP_LIST,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = list_binary},
    {.id = "list.engine_prefix",
     .title = "list of an engine with a prefix gives keys without it",
     .explain = "Lists everything through an engine that has a prefix: only keys under the prefix, and "
                "without it.",
     .requirements = "KVS-REQ-086 KVS-REQ-087",
     .needs = KVS_CAP_LIST,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = list_engine_prefix},
    {.id = "list.deadline",
     .title = "list ends by its deadline",
     .explain = "Lists 300 keys through an engine with a timeout of 50 ms, and takes 100 ms over the first. "
                "list ends TIMEOUT, before it has given all keys.",
     .requirements = "KVS-REQ-447",
     .needs = KVS_CAP_LIST,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "timing",
     .fn = list_deadline},
};
KIT_TOPIC(topic_list, cases);
