/* SPDX-License-Identifier: Apache-2.0 */
/* A value comes back as it went. */
#include "case.h"

static void sizes(struct kit *k, const size_t *list, size_t n)
{
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < n; i++) {
        size_t len = kit_value_size(k, list[i]);
        struct kit_key key = kit_key(k, "s%zu", list[i]);
        struct kit_buf v = kit_value(k, len, i);
        kit_put(k, e, key, v.data, len);
        kit_expect(k, e, key, v.data, len);
    }
}
#define SIZES(k, ...)                                                                                        \
    do {                                                                                                     \
        static const size_t kit_sizes[] = {__VA_ARGS__};                                                     \
        sizes((k), kit_sizes, sizeof(kit_sizes) / sizeof(kit_sizes[0]));                                     \
    } while (0)

static void roundtrip_empty(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "empty");
    uint64_t size = 1;
    kit_put(k, e, key, NULL, 0);
    kit_expect(k, e, key, NULL, 0);
    if (kit_has(k, KVS_CAP_QUERY)) {
        KIT_STATUS(kvs_query(e, key.data, key.len, &size, NULL), KVS_OK);
        if (kit_has(k, KVS_CAP_QUERY_SIZE))
            KIT_EQ_U64(size, 0);
    }
}

static void roundtrip_one_byte(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    static const uint8_t bytes[] = {0x00, 0x01, 0x0a, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < sizeof(bytes); i++) {
        struct kit_key key = kit_key(k, "b%zu", i);
        kit_put(k, e, key, &bytes[i], 1);
        kit_expect(k, e, key, &bytes[i], 1);
    }
}

static void roundtrip_odd_sizes(struct kit *k)
{
    SIZES(k, 2, 3, 5, 7, 9, 15, 17, 31, 33, 63, 65, 127, 129, 255, 257, 511, 513, 1023, 1025, 2047, 2049);
}

static void roundtrip_page_sizes(struct kit *k)
{
    SIZES(k, 4095, 4096, 4097, 8191, 8192, 8193, 16383, 16384, 16385, 65535, 65536, 65537);
}

static void roundtrip_large(struct kit *k)
{
    SIZES(k, 1000003, 4u << 20);
}

static void roundtrip_unaligned(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    size_t len = kit_value_size(k, 5000);
    for (size_t skew = 1; skew < 16; skew += 2) {
        struct kit_key key = kit_key(k, "u%zu", skew);
        struct kit_buf v = kit_buf_skewed(k, len, skew), to = kit_buf_skewed(k, len, 16 - skew);
        kit_fill(k, v.data, len, skew);
        kit_put(k, e, key, v.data, len);
        kit_poison(&to);
        KIT_STATUS(kit_read(k, e, key, &to), KVS_OK);
        KIT_BYTES(to.data, v.data, len);
        kit_around(&to);
        kit_around(&v);
    }
}

static void roundtrip_guarded_front(struct kit *k)
{
    static const size_t list[] = {1, 13, 4096, 9999};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        size_t len = kit_value_size(k, list[i]);
        struct kit_key key = kit_key(k, "g%zu", i);
        struct kit_buf v = kit_buf(k, len, KIT_AT_START), to = kit_buf(k, len, KIT_AT_START);
        kit_fill(k, v.data, len, i);
        kit_put(k, e, key, v.data, len);
        kit_poison(&to);
        KIT_STATUS(kit_read(k, e, key, &to), KVS_OK);
        KIT_BYTES(to.data, v.data, len);
        kit_around(&to);
    }
}

static void roundtrip_read_only_source(struct kit *k)
{
    static const size_t list[] = {1, 4096, 100001};
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct kit_key key = kit_key(k, "r%zu", i);
        struct kit_buf v = kit_value(k, kit_value_size(k, list[i]), i);
        kit_buf_protect(&v);
        kit_put(k, e, key, v.data, v.len);
        kit_expect(k, e, key, v.data, v.len);
    }
}

static void roundtrip_source_reused(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "reused");
    struct kit_buf v = kit_value(k, kit_value_size(k, 30000), 1), was = kit_value(k, v.len, 1);
    kit_put(k, e, key, v.data, v.len);
    KIT_BYTES(v.data, was.data, v.len);
    kit_poison(&v);
    kit_expect(k, e, key, was.data, was.len);
}

static void roundtrip_single_calls(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    struct kit_key one = kit_key(k, "call"), two = kit_key(k, "transfer");
    struct kit_buf v = kit_value(k, kit_value_size(k, 12345), 1), to = kit_buf(k, v.len, KIT_AT_END);
    KIT_STATUS_ERR(kvs_put(e, one.data, one.len, v.data, v.len, &err), KVS_OK, &err);
    kit_expect(k, e, one, v.data, v.len);
    kit_put(k, e, two, v.data, v.len);
    kit_poison(&to);
    KIT_STATUS_ERR(kvs_get(e, two.data, two.len, to.data, to.len, &err), KVS_OK, &err);
    KIT_BYTES(to.data, v.data, v.len);
    KIT_STATUS(kvs_put(NULL, one.data, one.len, v.data, v.len, &err), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_get(NULL, one.data, one.len, to.data, to.len, &err), KVS_INVALID_PARAM);
}

static const struct kit_case cases[] = {
    {.id = "roundtrip.empty",
     .title = "A value of 0 bytes is a value",
     .explain = "Writes an empty value, reads it with length 0, and asks whether the key is there. A "
                "failure means that an empty value is taken for no value.",
     .requirements = "KVS-REQ-359 KVS-REQ-360",
     .fn = roundtrip_empty},
    {.id = "roundtrip.one_byte",
     .title = "Values of 1 byte come back",
     .explain = "Writes and reads single bytes, among them NUL and 0xff.",
     .requirements =
         "KVS-REQ-361 KVS-REQ-357 KVS-REQ-150 KVS-REQ-012 KVS-REQ-117 KVS-REQ-118 KVS-REQ-119 KVS-REQ-154 "
         "KVS-REQ-155 KVS-REQ-160",
     .fn = roundtrip_one_byte},
    {.id = "roundtrip.odd_sizes",
     .title = "Values of odd sizes come back byte for byte",
     .explain = "Writes and reads values of sizes around the powers of two up to 2,049. Buffers end at a "
                "page that cannot be touched, so a byte too many is a crash.",
     .requirements = "KVS-REQ-361 KVS-REQ-357",
     .fn = roundtrip_odd_sizes},
    {.id = "roundtrip.page_sizes",
     .title = "Values around the page sizes come back",
     .explain = "Writes and reads values one byte below, at and above 4, 8, 16 and 64 KiB.",
     .requirements = "KVS-REQ-361 KVS-REQ-357",
     .fn = roundtrip_page_sizes},
    {.id = "roundtrip.large",
     .title = "Values of 1 MB and 4 MiB come back",
     .explain = "Writes and reads large values, or the largest that the store takes. A failure here alone "
                "often means a partial read or write that was taken for a whole one.",
     .requirements = "KVS-REQ-361 KVS-REQ-357",
     .fn = roundtrip_large},
    {.id = "roundtrip.unaligned",
     .title = "Buffers at odd addresses work",
     .explain = "Writes from and reads into buffers at every odd offset up to 15, with canaries on both "
                "sides.",
     .requirements = "KVS-REQ-357 KVS-REQ-361",
     .fn = roundtrip_unaligned},
    {.id = "roundtrip.guarded_front",
     .title = "Nothing before a buffer is touched",
     .explain = "Writes from and reads into buffers right behind a page that cannot be touched. A crash "
                "means that the backend reads or writes before the buffer.",
     .requirements = "KVS-REQ-357",
     .fn = roundtrip_guarded_front},
    {.id = "roundtrip.read_only_source",
     .title = "The source of a WRITE may be read-only",
     .explain = "Writes from memory that is mapped read-only. A crash means that the backend writes into "
                "the caller's source.",
     .requirements = "KVS-REQ-358",
     .fn = roundtrip_read_only_source},
    {.id = "roundtrip.source_reused",
     .title = "The source may be reused once the WRITE has ended",
     .explain = "Writes a value, overwrites the source buffer, and reads the value. A failure means that "
                "the backend still uses the caller's memory after it has completed the io.",
     .requirements = "KVS-REQ-172 KVS-REQ-358",
     .fn = roundtrip_source_reused},
    {.id = "roundtrip.single_calls",
     .title = "kvs_put and kvs_get do what a transfer does",
     .explain = "What kvs_put wrote a transfer reads, and the reverse. A backend that takes registered "
                "memory only refuses both.",
     .requirements = "KVS-REQ-066 KVS-REQ-390 KVS-REQ-378",
     .fn = roundtrip_single_calls},
};
KIT_TOPIC(topic_roundtrip, cases);
