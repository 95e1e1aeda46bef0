/* SPDX-License-Identifier: Apache-2.0 */
#include "adopt.h"

#define CAP_KNOWN_BIT(name, bit, text) | (UINT64_C(1) << (bit))
#define CAPS_KNOWN                     (UINT64_C(0) KVS_CAP_MAP(CAP_KNOWN_BIT))

static const char *cap_name(uint64_t bit)
{
    switch (bit) {
#define CAP_NAME(name, number, text)                                                                         \
    case UINT64_C(1) << (number):                                                                            \
        return text;
        KVS_CAP_MAP(CAP_NAME)
    default:
        return "?";
    }
}

/* A function is its capability, unless that is declared none. */
static void take_function(struct kvs_backend *b, uint64_t cap, int has)
{
    if (has && !(b->caps_none & cap))
        b->caps_native |= cap;
}

static int need_function(const struct kvs_backend *b, uint64_t cap, int has, const char *function,
                         const struct kvs_adopt *adopt)
{
    if (!(b->caps_native & cap) || has)
        return KVS_OK;
    return kvs_adopt_refuse(adopt, "backend '%s' says that capability %s is native, but has no function %s",
                            b->name, cap_name(cap), function);
}

int kvs_adopt_caps(struct kvs_backend *b, const struct kvs_adopt *adopt)
{
    int blocking = b->submit == NULL;
    b->caps_native &= CAPS_KNOWN;
    b->caps_none &= CAPS_KNOWN;
    uint64_t both = b->caps_native & b->caps_none;
    if (both)
        return kvs_adopt_refuse(adopt, "backend '%s' says that capability %s is native and that it is none",
                                b->name, cap_name(both & -both));
    take_function(b, KVS_CAP_READ, 1);
    take_function(b, KVS_CAP_WRITE, 1);
    take_function(b, KVS_CAP_QUERY, blocking && b->query);
    take_function(b, KVS_CAP_REMOVE, blocking && b->remove);
    take_function(b, KVS_CAP_LIST, b->list != NULL);
    int rc = need_function(b, KVS_CAP_LIST, b->list != NULL, "list", adopt);
    if (rc == KVS_OK)
        rc = need_function(b, KVS_CAP_QUERY, !b->put || b->query, "query", adopt);
    if (rc == KVS_OK)
        rc = need_function(b, KVS_CAP_REMOVE, !b->put || b->remove, "remove", adopt);
    if (rc == KVS_OK)
        rc = need_function(b, KVS_CAP_CANCEL, blocking || b->cancel, "cancel", adopt);
    if (rc != KVS_OK)
        return rc;
    /* KVS-REQ-425: a get of length 0 tells whether the key is there, and how long its value is. */
    uint64_t emulated = 0, needed = KVS_CAP_READ | KVS_CAP_SIZE_CHECK;
    if (blocking && !(b->caps_native & KVS_CAP_QUERY) && (b->caps_native & needed) == needed)
        emulated = KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE;
    if (b->caps_none & KVS_CAP_QUERY)
        emulated = 0;
    b->caps_none |= CAPS_KNOWN & ~(b->caps_native | emulated); /* KVS-REQ-428 */
    return KVS_OK;
}
