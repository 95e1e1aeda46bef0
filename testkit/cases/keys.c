/* SPDX-License-Identifier: Apache-2.0 */
/* Keys are bytes. */
#include "case.h"
#include <stdio.h>
#include <stdlib.h>

/* Writes a different value under each key, then reads all. */
static void all_differ(struct kit *k, kvs_engine *e, const struct kit_key *keys, size_t n)
{
    size_t len = kit_value_size(k, 40);
    for (size_t i = 0; i < n; i++)
        kit_put(k, e, keys[i], kit_value(k, len, i).data, len);
    for (size_t i = 0; i < n; i++)
        kit_expect(k, e, keys[i], kit_value(k, len, i).data, len);
}

#define BYTES(s)                                                                                             \
    {                                                                                                        \
        s, sizeof(s) - 1                                                                                     \
    }

struct bytes {
    const char *data;
    size_t len;
};

static void write_all(struct kit *k, const struct bytes *names, size_t n)
{
    struct kit_key *keys = calloc(n, sizeof(*keys));
    kvs_engine *e = kit_open(k);
    KIT_CHECK(keys, "no memory for %zu keys", n);
    for (size_t i = 0; i < n; i++)
        keys[i] = kit_key_bytes(k, names[i].data, names[i].len);
    all_differ(k, e, keys, n);
    free(keys);
}

static void keys_binary(struct kit *k)
{
    static const struct bytes names[] = {
        BYTES("a\0b"),     BYTES("a\0c"),     BYTES("a"),      BYTES("a\0"),      BYTES("\r\n"),
        BYTES("\n"),       BYTES("a b"),      BYTES("a  b"),   BYTES(" a"),       BYTES("a "),
        BYTES("{a}"),      BYTES("{b}"),      BYTES("\xff"),   BYTES("\xff\xfe"), BYTES("\x80"),
        BYTES("\xc3\xa4"), BYTES("*"),        BYTES("?"),      BYTES("[a-z]*"),   BYTES("'"),
        BYTES("\""),       BYTES("\\"),       BYTES("%s%n"),   BYTES("$1"),       BYTES("\x1b[2J"),
        BYTES("\t"),       BYTES("\0\0\0\0"), BYTES("\0\0\0"), BYTES("\x7f"),     BYTES("; a"),
    };
    write_all(k, names, sizeof(names) / sizeof(names[0]));
}

static void keys_every_byte(struct kit *k)
{
    struct bytes names[256];
    char bytes[256];
    for (int i = 0; i < 256; i++) {
        bytes[i] = (char)i;
        names[i] = (struct bytes){&bytes[i], 1};
    }
    write_all(k, names, 256);
}

static void keys_alike(struct kit *k)
{
    static const struct bytes names[] = {
        BYTES("a/b"),   BYTES("a-SEP-b"), BYTES("a%2Fb"), BYTES("a%2fb"),   BYTES("a_b"),  BYTES("a\\b"),
        BYTES("@@x"),   BYTES("a@b"),     BYTES("%"),     BYTES("%25"),     BYTES("%2"),   BYTES("/"),
        BYTES("//"),    BYTES("."),       BYTES(".."),    BYTES("/../x"),   BYTES("x"),    BYTES("X"),
        BYTES("x.tmp"), BYTES("x~"),      BYTES(".x"),    BYTES("x."),      BYTES("61"),   BYTES("7"),
        BYTES("07"),    BYTES("+7"),      BYTES("7.0"),   BYTES("x%00"),    BYTES("x/"),   BYTES("x/."),
        BYTES("x/y"),   BYTES("x/y/z"),   BYTES("x=1"),   BYTES("x=1&y=2"), BYTES("null"),
    };
    write_all(k, names, sizeof(names) / sizeof(names[0]));
}

static void keys_nested(struct kit *k)
{
    bool limited;
    struct bytes names[24];
    static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaa";
    size_t room = kit_max_key(k, &limited) - kit_prefix_len(k), n = room < 23 ? room + 1 : 24;
    for (size_t i = 0; i < n; i++)
        names[i] = (struct bytes){text, i};
    write_all(k, names, n);
}

/* As raw bytes: the second differs from the first in its last byte only. */
static void keys_longest(struct kit *k)
{
    bool limited;
    kvs_engine *e = kit_open(k);
    size_t max = kit_max_key(k, &limited);
    if (!limited)
        max = 1024;
    uint8_t bytes[KIT_KEY_MAX];
    struct kit_key keys[4] = {kit_key_of_len(k, max, 'a'), kit_key_of_len(k, max - 1, 'a'),
                              kit_key_of_len(k, max, 'b')};
    memcpy(bytes, keys[0].data, max);
    bytes[max - 1] = 'z';
    keys[3] = kit_key_raw(k, bytes, max);
    all_differ(k, e, keys, 4);
}

static void keys_too_long(struct kit *k)
{
    bool limited;
    struct kvs_error err = {0};
    size_t max = kit_max_key(k, &limited);
    if (!limited)
        kit_not_supported(k, "keys of %d bytes are fine, and longer ones are not tried", KIT_KEY_MAX);
    kvs_engine *e = kit_open(k);
    struct kit_key good = kit_key(k, "good"), bad = kit_key_of_len(k, max + 1, 'a');
    uint8_t v[8] = {0};
    struct kit_item items[] = {{good, v, 8}, {bad, v, 8}, {good, v, 8}};
    kvs_xfer *x = NULL;
    KIT_STATUS(kit_try_prep(k, e, KVS_WRITE, items + 1, 1, NULL, &x, &err), KVS_TOO_LARGE);
    KIT_STATUS(kit_try_prep(k, e, KVS_READ, items + 1, 1, NULL, &x, &err), KVS_TOO_LARGE);
    if (kit_has(k, KVS_CAP_QUERY))
        KIT_STATUS(kvs_query(e, bad.data, bad.len, NULL, &err), KVS_TOO_LARGE);
    if (kit_has(k, KVS_CAP_REMOVE))
        KIT_STATUS(kvs_remove(e, bad.data, bad.len, &err), KVS_TOO_LARGE);
    size_t n = kit_batch_size(k, 3);
    KIT_STATUS(kit_try_prep(k, e, KVS_WRITE, n < 3 ? items + 1 : items, n, NULL, &x, &err), KVS_TOO_LARGE);
    KIT_CHECK(x == NULL, "prep failed and the out pointer is not NULL");
    struct kit_buf to = kit_buf(k, 8, KIT_AT_END);
    KIT_STATUS(kit_read(k, e, good, &to), KVS_NOT_FOUND);
}

static void keys_empty(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    uint8_t v[8] = {0};
    struct kit_item item = {{0, (const uint8_t *)""}, v, 8};
    kvs_xfer *x = NULL;
    KIT_STATUS(kvs_put(e, "", 0, v, 8, &err), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_put(e, NULL, 0, v, 8, &err), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_get(e, "", 0, v, 8, &err), KVS_INVALID_PARAM);
    if (kit_has(k, KVS_CAP_QUERY))
        KIT_STATUS(kvs_query(e, "", 0, NULL, &err), KVS_INVALID_PARAM);
    KIT_STATUS(kit_try_prep(k, e, KVS_WRITE, &item, 1, NULL, &x, &err), KVS_INVALID_PARAM);
    KIT_STATUS(kit_try_prep(k, e, KVS_READ, &item, 1, NULL, &x, &err), KVS_INVALID_PARAM);
    KIT_CHECK(x == NULL, "prep failed and the out pointer is not NULL");
}

static void keys_engine_prefix(struct kit *k)
{
    char prefix[64];
    struct kvs_error err = {0};
    kvs_engine *e, *plain = kit_open(k);
    struct kit_key whole = kit_key(k, "p:name");
    struct kit_buf v = kit_value(k, kit_value_size(k, 50), 1);
    kit_needs_two_configurations(k);
    if (kit_has_prefix(k))
        kit_not_supported(k, "the run's own parameters have a prefix");
    snprintf(prefix, sizeof(prefix), "%sp:", kit_prefix(k));
    int rc = kit_open_with(k, "prefix", prefix, &e, &err);
    if (rc == KVS_INVALID_PARAM)
        kit_not_supported(k, "the target sets a prefix of its own: %s", err.text);
    KIT_STATUS_ERR(rc, KVS_OK, &err);
    const struct kit_key name = {4, (const uint8_t *)"name"};
    kit_put(k, e, name, v.data, v.len);
    kit_expect(k, plain, whole, v.data, v.len);
    kit_expect(k, e, name, v.data, v.len);
    struct kit_buf to = kit_buf(k, v.len, KIT_AT_END);
    KIT_STATUS(kit_read(k, plain, name, &to), KVS_NOT_FOUND);
    if (kit_has(k, KVS_CAP_QUERY))
        KIT_STATUS(kvs_query(e, "name", 4, NULL, &err), KVS_OK);
    KIT_STATUS(kvs_put(e, "", 0, v.data, v.len, &err), KVS_INVALID_PARAM);
}

static const struct kit_case cases[] = {
    {.id = "keys.binary",
     .title = "Keys hold any bytes",
     .explain = "Writes values under keys with NUL, CR LF, blanks, braces, 0xff, format and shell "
                "characters, and reads all of them. A failure means that two keys are taken for one, or "
                "that one does not come through.",
     .requirements = "KVS-REQ-080 KVS-REQ-081",
     .fn = keys_binary},
    {.id = "keys.every_byte",
     .title = "Each of the 256 bytes makes a key of its own",
     .explain = "Writes a value under 256 keys that differ in their last byte only, then reads all. A "
                "failure means that some bytes are folded or cut.",
     .requirements = "KVS-REQ-080 KVS-REQ-081",
     .timeout_s = 40,
     .fn = keys_every_byte},
    {.id = "keys.alike",
     .title = "Keys that look alike once escaped stay apart",
     .explain = "Writes under keys such as a/b, a%2Fb, a-SEP-b, x, X, x.tmp, .., 7 and 07, and reads all. A "
                "failure means that the backend's escaping of keys is not one to one.",
     .requirements = "KVS-REQ-081",
     .fn = keys_alike},
    {.id = "keys.nested",
     .title = "Keys that begin with one another stay apart",
     .explain = "Writes under 24 keys of which each begins with the one before, and reads all. A failure "
                "means that a key is found by its beginning.",
     .requirements = "KVS-REQ-081",
     .fn = keys_nested},
    {.id = "keys.longest",
     .title = "Keys of the greatest length work, and differ in their last byte",
     .explain = "Writes under keys of max_key bytes (1,024 where there is no limit) that differ only at "
                "their end, and one byte shorter. A failure means that long keys are cut or hashed.",
     .requirements = "KVS-REQ-081",
     .fn = keys_longest},
    {.id = "keys.empty",
     .title = "An empty key is refused everywhere",
     .explain = "Puts, gets, queries and prepares with an empty key: INVALID_PARAM each time.",
     .requirements = "KVS-REQ-082",
     .fn = keys_empty},
    {.id = "keys.engine_prefix",
     .title = "The engine's prefix goes before every key",
     .explain = "Opens an engine with a prefix, writes a key, and reads it through an engine without one "
                "under prefix and key. A failure means that one of the operations forgets the prefix.",
     .requirements = "KVS-REQ-083 KVS-REQ-085",
     .profile = KVS_CONFORM_EXTENDED,
     .fn = keys_engine_prefix},
    {.id = "keys.too_long",
     .title = "A key one byte too long is TOO_LARGE and nothing is sent",
     .explain = "Uses a key of max_key + 1 bytes with every operation, and in a batch with a good one. "
                "Every answer is TOO_LARGE, and the good key was not written.",
     .requirements = "KVS-REQ-011 KVS-REQ-084 KVS-REQ-106",
     .profile = KVS_CONFORM_EXTENDED,
     .fn = keys_too_long},
};
KIT_TOPIC(topic_keys, cases);
