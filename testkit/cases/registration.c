/* SPDX-License-Identifier: Apache-2.0 */
/* Registering memory and places of values. */
#include "case.h"
#include <kvslot/backend.h>
#include <stdio.h>
#include <stdlib.h>

static kvs_mem *place(kvs_engine *e, uint64_t dev_id, struct kit_key key, uint64_t len)
{
    struct kvs_error err = {0};
    struct kvs_desc d = {.dev_id = dev_id, .meta_info = key.data, .meta_len = key.len, .len = len};
    kvs_mem *mem = NULL;
    KIT_STATUS_ERR(kvs_mem_register(e, kit_remote_type(e), &d, &mem, &err), KVS_OK, &err);
    KIT_CHECK(mem, "kvs_mem_register answered OK and gave no registration");
    return mem;
}

static kvs_mem *memory(kvs_engine *e, const struct kit_buf *b)
{
    struct kvs_error err = {0};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)b->data, .len = b->len};
    kvs_mem *mem = NULL;
    KIT_STATUS_ERR(kvs_mem_register(e, KVS_MEM_DRAM, &d, &mem, &err), KVS_OK, &err);
    return mem;
}

/* Prepares one pair of a local buffer (with its registration) and a remote descriptor. */
static int prep_pair(kvs_engine *e, uint32_t op, const struct kvs_desc *local, const struct kvs_desc *remote,
                     kvs_xfer **x, struct kvs_error *err)
{
    struct kvs_dlist l = {.descs = local, .count = 1, .type = KVS_MEM_DRAM};
    struct kvs_dlist r = {.descs = remote, .count = 1, .type = kit_remote_type(e)};
    struct kvs_xfer_req req = {.size = sizeof(req), .op = op, .local = &l, .remote = &r};
    *x = NULL;
    return kvs_xfer_prep(e, &req, x, err);
}

static void write_through(struct kit *k, kvs_engine *e, const struct kvs_desc *remote,
                          const struct kit_buf *v)
{
    struct kvs_error err = {0};
    kvs_mem *mem = memory(e, v);
    struct kvs_desc local = {.mem = mem, .addr = (uint64_t)(uintptr_t)v->data, .len = v->len};
    kvs_xfer *x;
    KIT_STATUS_ERR(prep_pair(e, KVS_WRITE, &local, remote, &x, &err), KVS_OK, &err);
    kit_ends(k, x, KVS_OK);
    kit_release(x);
    KIT_STATUS(kvs_mem_deregister(e, mem, NULL), KVS_OK);
}

static void key_from_meta(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "meta");
    struct kit_buf v = kit_value(k, kit_value_size(k, 777), 1);
    kvs_mem *mem = place(e, 5, key, v.len);
    struct kvs_desc remote = {.mem = mem, .len = v.len};
    write_through(k, e, &remote, &v);
    kit_expect(k, e, key, v.data, v.len);
    KIT_STATUS(kvs_mem_deregister(e, mem, NULL), KVS_OK);
    kit_expect(k, e, key, v.data, v.len);
}

static void key_from_dev_id(struct kit *k)
{
    char text[24];
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, kit_value_size(k, 600), 1);
    uint64_t dev_id = kit_run_number(k) | UINT64_C(1) << 63;
    snprintf(text, sizeof(text), "%llu", (unsigned long long)dev_id);
    struct kit_key key = kit_key_raw(k, text, strlen(text));
    kvs_mem *bare = place(e, dev_id, (struct kit_key){0, NULL}, 0);
    struct kvs_desc remote = {.dev_id = dev_id, .len = v.len};
    write_through(k, e, &remote, &v);
    kit_expect(k, e, key, v.data, v.len);
    /* The same key once more, as meta_info under another dev_id. */
    kvs_mem *named = place(e, 1, key, v.len);
    struct kit_buf to = kit_buf(k, v.len, KIT_AT_END);
    struct kvs_desc local = {.mem = memory(e, &to), .addr = (uint64_t)(uintptr_t)to.data, .len = to.len};
    struct kvs_desc by_name = {.mem = named, .len = v.len};
    kvs_xfer *x;
    KIT_STATUS(prep_pair(e, KVS_READ, &local, &by_name, &x, NULL), KVS_OK);
    kit_ends(k, x, KVS_OK);
    KIT_BYTES(to.data, v.data, v.len);
    kit_release(x);
    KIT_STATUS(kvs_mem_deregister(e, bare, NULL), KVS_OK);
}

static void same_dev_id(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key k1 = kit_key(k, "k1"), k2 = kit_key(k, "k2");
    struct kit_buf v1 = kit_value(k, kit_value_size(k, 64), 1), v2 = kit_value(k, kit_value_size(k, 64), 2);
    struct kit_buf v3 = kit_value(k, kit_value_size(k, 64), 3);
    kvs_mem *m1 = place(e, 7, k1, v1.len), *m2 = place(e, 7, k2, v2.len);
    struct kvs_desc r1 = {.mem = m1, .dev_id = 7, .len = v1.len},
                    r2 = {.mem = m2, .dev_id = 7, .len = v2.len};
    struct kvs_desc by_id = {.dev_id = 7, .len = v1.len},
                    local = {.addr = (uint64_t)(uintptr_t)v3.data, .len = v3.len};
    kvs_xfer *x;
    local.mem = memory(e, &v3);
    write_through(k, e, &r1, &v1);
    write_through(k, e, &r2, &v2);
    kit_expect(k, e, k1, v1.data, v1.len);
    kit_expect(k, e, k2, v2.data, v2.len);
    KIT_STATUS(prep_pair(e, KVS_WRITE, &local, &by_id, &x, NULL), KVS_INVALID_PARAM);
    KIT_STATUS(kvs_mem_deregister(e, m2, NULL), KVS_OK);
    if (!kit_has(k, KVS_CAP_OVERWRITE))
        return;
    /* Now dev_id 7 stands for k1 alone. */
    KIT_STATUS(prep_pair(e, KVS_WRITE, &local, &by_id, &x, NULL), KVS_OK);
    kit_ends(k, x, KVS_OK);
    kit_release(x);
    kit_expect(k, e, k1, v3.data, v3.len);
    kit_expect(k, e, k2, v2.data, v2.len);
}

static void unknown_dev_id(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, 8, 1);
    struct kvs_desc local = {.mem = memory(e, &v), .addr = (uint64_t)(uintptr_t)v.data, .len = v.len};
    struct kvs_desc remote = {.dev_id = 4711, .len = v.len};
    kvs_xfer *x = (kvs_xfer *)(uintptr_t)1;
    KIT_STATUS(prep_pair(e, KVS_WRITE, &local, &remote, &x, NULL), KVS_NOT_FOUND);
    KIT_CHECK(x == NULL, "prep failed and the out pointer is not NULL");
    kvs_mem *mem = place(e, 4711, kit_key(k, "gone"), 8);
    KIT_STATUS(kvs_mem_deregister(e, mem, NULL), KVS_OK);
    KIT_STATUS(prep_pair(e, KVS_WRITE, &local, &remote, &x, NULL), KVS_NOT_FOUND);
}

static void deregister(struct kit *k)
{
    kvs_engine *e = kit_open(k), *other = kit_open(k);
    kvs_mem *a = place(e, 1, kit_key(k, "a"), 8), *b = place(e, 2, kit_key(k, "b"), 8);
    kvs_mem *foreign = place(other, 3, kit_key(k, "c"), 8);
    kvs_mem *twice[] = {a, a}, *mixed[] = {a, foreign, b}, *both[] = {a, b};
    KIT_STATUS(kvs_mem_deregister(e, NULL, NULL), KVS_OK);
    KIT_STATUS(kvs_mem_deregister(e, foreign, NULL), KVS_NOT_FOUND);
    KIT_STATUS(kvs_mem_deregister_list(e, twice, 2, NULL), KVS_NOT_FOUND);
    KIT_STATUS(kvs_mem_deregister_list(e, mixed, 3, NULL), KVS_NOT_FOUND);
    KIT_STATUS(kvs_mem_deregister_list(e, both, 2, NULL), KVS_OK);
    KIT_STATUS(kvs_mem_deregister(other, foreign, NULL), KVS_OK);
}

static void busy(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "busy");
    struct kit_buf v = kit_value(k, kit_value_size(k, 333), 1);
    kvs_mem *mem = memory(e, &v), *at = place(e, 1, key, v.len),
            *unused = place(e, 2, kit_key(k, "unused"), 8);
    kvs_mem *list[] = {unused, mem};
    struct kvs_desc local = {.mem = mem, .addr = (uint64_t)(uintptr_t)v.data, .len = v.len};
    struct kvs_desc remote = {.mem = at, .len = v.len};
    kvs_xfer *x;
    KIT_STATUS(prep_pair(e, KVS_WRITE, &local, &remote, &x, NULL), KVS_OK);
    KIT_STATUS(kvs_mem_deregister(e, mem, NULL), KVS_BUSY);
    KIT_STATUS(kvs_mem_deregister_list(e, list, 2, NULL), KVS_BUSY);
    /* The key was copied: its registration may go. */
    KIT_STATUS(kvs_mem_deregister(e, at, NULL), KVS_OK);
    kit_ends(k, x, KVS_OK);
    KIT_STATUS(kvs_mem_deregister(e, mem, NULL), KVS_BUSY);
    kit_release(x);
    KIT_STATUS(kvs_mem_deregister_list(e, list, 2, NULL), KVS_OK);
    kit_expect(k, e, key, v.data, v.len);
}

static void unsupported_type(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    const struct kvs_backend *b = kvs_engine_backend(e);
    uint32_t both = (b->local_mems ? b->local_mems : 1) | (b->remote_mems ? b->remote_mems : 1);
    struct kvs_desc d = {.dev_id = 1, .len = 8};
    for (uint32_t type = 0; type < 32; type++) {
        kvs_mem *mem = (kvs_mem *)(uintptr_t)0xdead;
        if (both & KVS_MEM_MASK(type))
            continue;
        KIT_STATUS(kvs_mem_register(e, type, &d, &mem, NULL), KVS_NOT_SUPPORTED);
        KIT_CHECK(mem == NULL, "registering failed and the out pointer is not NULL");
    }
}

static void list_all_or_none(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key a = kit_key(k, "a"), b = kit_key(k, "b");
    struct kvs_desc d[3] = {{.dev_id = 1, .meta_info = a.data, .meta_len = a.len, .len = 8},
                            {.dev_id = 2, .meta_info = b.data, .meta_len = b.len, .len = 8},
                            {.dev_id = 3, .addr = UINT64_MAX - 3, .len = 8}};
    struct kvs_dlist list = {.descs = d, .count = 3, .type = kit_remote_type(e)};
    kvs_mem *mems[3] = {(kvs_mem *)(uintptr_t)1, (kvs_mem *)(uintptr_t)1, (kvs_mem *)(uintptr_t)1};
    KIT_STATUS(kvs_mem_register_list(e, &list, mems, NULL), KVS_INVALID_PARAM);
    for (int i = 0; i < 3; i++)
        KIT_CHECK(mems[i] == NULL, "registering a list failed and handle %d is not NULL", i);
    /* What was taken back is not found by its dev_id either. */
    struct kit_buf v = kit_value(k, 8, 1);
    struct kvs_desc local = {.mem = memory(e, &v), .addr = (uint64_t)(uintptr_t)v.data, .len = 8};
    struct kvs_desc remote = {.dev_id = 1, .len = 8};
    kvs_xfer *x;
    KIT_STATUS(prep_pair(e, KVS_WRITE, &local, &remote, &x, NULL), KVS_NOT_FOUND);
    d[2].addr = 0;
    KIT_STATUS(kvs_mem_register_list(e, &list, mems, NULL), KVS_OK);
    KIT_STATUS(kvs_mem_deregister_list(e, mems, 3, NULL), KVS_OK);
}

static void bounds(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_buf v = kit_value(k, 64, 1);
    kvs_mem *mem = memory(e, &v), *at;
    struct kit_key key = kit_key(k, "frame");
    struct kvs_desc d = {.addr = 1000, .len = 64, .meta_info = key.data, .meta_len = key.len};
    KIT_STATUS(kvs_mem_register(e, kit_remote_type(e), &d, &at, NULL), KVS_OK);
    uint64_t base = (uint64_t)(uintptr_t)v.data;
    struct kvs_desc good = {.mem = mem, .addr = base, .len = 64},
                    r_good = {.mem = at, .addr = 1000, .len = 64};
    struct kvs_desc locals[] = {{.mem = mem, .addr = base + 1, .len = 64},
                                {.mem = mem, .addr = base - 1, .len = 64}};
    struct kvs_desc remotes[] = {{.mem = at, .addr = 999, .len = 64},
                                 {.mem = at, .addr = 1001, .len = 64},
                                 {.mem = at, .addr = UINT64_MAX, .len = 64}};
    kvs_xfer *x;
    for (size_t i = 0; i < 2; i++)
        KIT_STATUS(prep_pair(e, KVS_WRITE, &locals[i], &r_good, &x, NULL), KVS_INVALID_PARAM);
    for (size_t i = 0; i < 3; i++)
        KIT_STATUS(prep_pair(e, KVS_WRITE, &good, &remotes[i], &x, NULL), KVS_INVALID_PARAM);
    KIT_STATUS(prep_pair(e, KVS_WRITE, &good, &r_good, &x, NULL), KVS_OK);
    kit_ends(k, x, KVS_OK);
    kit_release(x);
    kit_expect(k, e, key, v.data, v.len);
}

static const struct kit_case cases[] = {
    {.id = "registration.meta_info",
     .title = "The key of a registration is its meta_info",
     .explain = "Registers a place with meta_info and a dev_id, writes through the registration and reads "
                "by the key. A failure means that the key does not travel with the registration.",
     .requirements = "KVS-REQ-054 KVS-REQ-058 KVS-REQ-060",
     .fn = key_from_meta},
    {.id = "registration.dev_id",
     .title = "Without meta_info the key is the dev_id in decimal",
     .explain = "Registers a large dev_id without meta_info, writes by dev_id and reads by the key in "
                "decimal, then through a registration that has those digits as meta_info: all are one key.",
     .requirements = "KVS-REQ-058 KVS-REQ-059 KVS-REQ-061 KVS-REQ-072",
     .fn = key_from_dev_id},
    {.id = "registration.same_dev_id",
     .title = "Registrations that share a dev_id stay apart",
     .explain = "Registers two keys under one dev_id and writes through both: each value lands under its "
                "own key. The dev_id alone is refused while it stands for two keys; once one of them has "
                "gone, the other is untouched.",
     .requirements = "KVS-REQ-056 KVS-REQ-057 KVS-REQ-062 KVS-REQ-067",
     .fn = same_dev_id},
    {.id = "registration.unknown_dev_id",
     .title = "A dev_id that nobody registered is NOT_FOUND",
     .explain = "Prepares a write to a dev_id that was never registered, and to one whose registration has "
                "gone. Both are refused as NOT_FOUND.",
     .requirements = "KVS-REQ-063",
     .fn = unknown_dev_id},
    {.id = "registration.deregister",
     .title = "Deregistering a list is all or none",
     .explain = "Deregisters NULL, a registration of another engine, a list with one registration twice, "
                "and a list with a foreign one in it. Only NULL is fine, and whatever was refused leaves "
                "every registration in place.",
     .requirements = "KVS-REQ-555",
     .fn = deregister},
    {.id = "registration.busy",
     .title = "Memory of a prepared transfer cannot be deregistered",
     .explain = "Deregistering local memory that a transfer counts is BUSY until release, alone and in a "
                "list; the registration that gave the key may go right after prep, and the transfer still "
                "works.",
     .requirements = "KVS-REQ-551 KVS-REQ-552 KVS-REQ-553 KVS-REQ-554",
     .fn = busy},
    {.id = "registration.unsupported_type",
     .title = "A memory type that the backend does not have is NOT_SUPPORTED",
     .explain = "Tries every memory type that the backend does not declare. Each is NOT_SUPPORTED, and the "
                "out pointer is NULL.",
     .requirements = "KVS-REQ-053 KVS-REQ-055 KVS-REQ-429",
     .fn = unsupported_type},
    {.id = "registration.list",
     .title = "Registering a list is all or none",
     .explain = "Registers three descriptors of which the last one overflows: all handles are NULL and none "
                "of the dev_ids is known. The corrected list then works.",
     .requirements = "KVS-REQ-055 KVS-REQ-556",
     .fn = list_all_or_none},
    {.id = "registration.bounds",
     .title = "Descriptors outside their registration are refused",
     .explain = "Prepares writes whose local or remote descriptor begins before or ends after its "
                "registration. Each is INVALID_PARAM; the exact one works.",
     .requirements = "KVS-REQ-064 KVS-REQ-068 KVS-REQ-069 KVS-REQ-070 KVS-REQ-071",
     .fn = bounds},
};
KIT_TOPIC(topic_registration, cases);
