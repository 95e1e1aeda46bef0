/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a value with another length than its own. */
#include "case.h"
#include <stdio.h>

struct pair {
    size_t stored, asked;
};

static void mismatch(struct kit *k, const struct pair *pairs, size_t n)
{
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < n; i++) {
        char text[24];
        const char *said = NULL;
        size_t stored = kit_value_size(k, pairs[i].stored), asked = kit_value_size(k, pairs[i].asked);
        if (stored == asked)
            continue; /* the store takes no values of that size */
        struct kit_key key = kit_key(k, "m%zu", i);
        struct kit_buf to = kit_buf(k, asked, KIT_AT_END);
        kit_put(k, e, key, kit_value(k, stored, i).data, stored);
        kit_poison(&to);
        struct kit_item item = {key, to.data, asked};
        kvs_xfer *x = kit_prep(k, e, KVS_READ, &item, 1);
        kit_ends(k, x, KVS_MISMATCH);
        KIT_STATUS(kit_result(x, 0), KVS_MISMATCH);
        KIT_STATUS(kvs_xfer_result(x, 0, NULL, NULL, &said), KVS_OK);
        snprintf(text, sizeof(text), "%zu", stored);
        KIT_CHECK(strstr(said, text), "the text has not the stored length %zu in it: %s", stored, said);
        kit_release(x);
        kit_around(&to);
        if (kit_has(k, KVS_CAP_READ_ATOMIC))
            kit_poisoned(&to, 0);
    }
}

static void size_shorter(struct kit *k)
{
    static const struct pair pairs[] = {{10, 16}, {1, 2}, {4095, 4096}, {100, 65536}};
    mismatch(k, pairs, 4);
}

static void size_longer(struct kit *k)
{
    static const struct pair pairs[] = {{32, 16}, {2, 1}, {4097, 4096}, {65536, 100}};
    mismatch(k, pairs, 4);
}

static void size_empty(struct kit *k)
{
    static const struct pair pairs[] = {{0, 8}, {8, 0}, {0, 1}, {1, 0}};
    mismatch(k, pairs, 4);
}

static void size_among_others(struct kit *k)
{
    size_t len = kit_value_size(k, 64);
    kvs_engine *e = kit_open(k);
    struct kit_item in[3];
    struct kit_buf to[3];
    if (kit_batch_size(k, 3) < 3)
        kit_not_supported(k, "a batch has at most %zu descriptors", kit_batch_size(k, 3));
    for (size_t i = 0; i < 3; i++) {
        struct kit_key key = kit_key(k, "a%zu", i);
        kit_put(k, e, key, kit_value(k, len, i).data, i == 1 ? len - 1 : len);
        to[i] = kit_buf(k, len, KIT_AT_END);
        kit_poison(&to[i]);
        in[i] = (struct kit_item){key, to[i].data, len};
    }
    kvs_xfer *x = kit_prep(k, e, KVS_READ, in, 3);
    kit_ends(k, x, KVS_MISMATCH);
    KIT_STATUS(kit_result(x, 0), KVS_OK);
    KIT_STATUS(kit_result(x, 1), KVS_MISMATCH);
    KIT_STATUS(kit_result(x, 2), KVS_OK);
    KIT_BYTES(to[0].data, kit_value(k, len, 0).data, len);
    KIT_BYTES(to[2].data, kit_value(k, len, 2).data, len);
    kit_release(x);
}

/* Without the capability a READ of another length may end as it likes, but not by writing past the buffer. */
static void size_within_buffer(struct kit *k)
{
    size_t len = kit_value_size(k, 9000);
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "long");
    kit_put(k, e, key, kit_value(k, len, 1).data, len);
    for (size_t asked = 1; asked < len; asked = asked * 7 + 1) {
        struct kit_buf to = kit_buf(k, asked, KIT_AT_END), front = kit_buf_skewed(k, asked, 100);
        kit_read(k, e, key, &to);
        kit_read(k, e, key, &front);
        kit_around(&to);
        kit_around(&front);
    }
}

#define LARGEST (64u << 20)

static void size_largest(struct kit *k)
{
    uint64_t max = kit_limits(k)->max_value;
    if (max == 0 || max > LARGEST)
        kit_not_supported(k, "values of 64 MiB are fine, and larger ones are not tried");
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "largest");
    struct kit_buf v = kit_value(k, max, 1);
    kit_put(k, e, key, v.data, max);
    kit_expect(k, e, key, v.data, max);
}

static const struct kit_case cases[] = {
    {.id = "size.within_buffer",
     .title = "A longer value never runs over the buffer",
     .explain = "Reads a value of 9,000 bytes into shorter buffers that end at a page which cannot be "
                "touched, or have canaries around them. Whatever the answer is, nothing outside the buffer "
                "may be written.",
     .requirements = "KVS-REQ-357",
     .fn = size_within_buffer},
    {.id = "size.shorter",
     .title = "READ with more bytes than the value has is MISMATCH",
     .explain = "Reads values that are shorter than the buffer. OK would pass off old bytes as data. The "
                "text has the stored length, and with read_atomic the buffer is untouched, its tail too.",
     .requirements = "KVS-REQ-350 KVS-REQ-351 KVS-REQ-353 KVS-REQ-354 KVS-REQ-389 KVS-REQ-153",
     .needs = KVS_CAP_SIZE_CHECK,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = size_shorter},
    {.id = "size.longer",
     .title = "READ with fewer bytes than the value has is MISMATCH",
     .explain = "Reads values that are longer than the buffer. OK would be a value cut short.",
     .requirements = "KVS-REQ-350 KVS-REQ-351 KVS-REQ-353 KVS-REQ-389",
     .needs = KVS_CAP_SIZE_CHECK,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = size_longer},
    {.id = "size.empty_value",
     .title = "An empty value is not 8 bytes, and 8 bytes are not empty",
     .explain = "Reads an empty value with 8 bytes and 8 bytes with none. A failure means that length 0 "
                "escapes the check.",
     .requirements = "KVS-REQ-350 KVS-REQ-351 KVS-REQ-360",
     .needs = KVS_CAP_SIZE_CHECK,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = size_empty},
    {.id = "size.among_others",
     .title = "One value of another length in a batch fails alone",
     .explain = "Reads three values of which the second is one byte shorter: OK, MISMATCH, OK, and the two "
                "values are there.",
     .requirements = "KVS-REQ-001 KVS-REQ-004 KVS-REQ-350",
     .needs = KVS_CAP_SIZE_CHECK,
     .profile = KVS_CONFORM_EXTENDED,
     .fn = size_among_others},
    {.id = "size.largest",
     .title = "A value of the greatest size works",
     .explain = "Writes and reads a value of max_value bytes, where that is at most 64 MiB. A failure means "
                "that the backend declares a limit that its store does not keep; prep.value_limit tries one "
                "byte more.",
     .requirements = "KVS-REQ-007 KVS-REQ-361",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "slow",
     .timeout_s = 60,
     .fn = size_largest},
};
KIT_TOPIC(topic_size, cases);
