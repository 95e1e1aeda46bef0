/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input to the functions of transfers and of single keys: handles that are none, pointers that are NULL,
 * counts, lengths and keys that cannot be. KVS-REQ-107 KVS-REQ-137 KVS-REQ-138 */
#include "inputs.h"
#include "toy.h"

/* ---- Prep ---- */

static void refused_request(const struct ask *a, int status, const char *part)
{
    kvs_xfer *x = prepared_one;
    REFUSED(status, part, kvs_xfer_prep(good, &a->req, &x, err));
    assert_null(x);
}

static void handles_in_requests(void)
{
    struct ask a;
    kvs_xfer *x = prepared_one;
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    FOR_BAD(i) REFUSED(KVS_INVALID_PARAM, "no valid handle", kvs_xfer_prep(bad_engine(i), &a.req, &x, err));
    assert_null(x);
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_xfer_prep(good, NULL, &x, err));
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_xfer_prep(good, &a.req, NULL, err));
    FOR_BAD(i) if (bad_mem(i))
    {
        ask_for(&a, KVS_WRITE, 2, buf, 8);
        a.l[1].mem = bad_mem(i);
        refused_request(&a, KVS_INVALID_PARAM, "descriptor 1: its local mem is no registration");
        ask_lists(&a, KVS_WRITE, 2, buf, 8);
        a.r[0].mem = mine;
        a.r[0].addr = (uint64_t)(uintptr_t)buf;
        a.r[0].len = a.l[0].len = sizeof buf;
        a.r[1].mem = bad_mem(i);
        refused_request(&a, KVS_INVALID_PARAM, "descriptor 1: its remote mem is no registration");
    }
}

static void counts_in_requests(void)
{
    static const size_t far[] = {SIZE_MAX, (size_t)PTRDIFF_MAX, SIZE_MAX / 2 + 1};
    struct ask a;
    for (size_t i = 0; i < 3; i++) {
        ask_for(&a, KVS_WRITE, 2, buf, 8);
        a.local.stride = far[i];
        refused_request(&a, KVS_INVALID_PARAM, "local list of 2 descriptors");
        ask_lists(&a, KVS_WRITE, 2, buf, 8);
        a.remote.stride = far[i];
        refused_request(&a, KVS_INVALID_PARAM, "remote list of 2 descriptors");
        ask_lists(&a, KVS_QUERY, 2, NULL, 0);
        a.remote.count = far[i];
        refused_request(&a, KVS_TOO_LARGE, "at most 65536");
        ask_for(&a, KVS_QUERY, 2, NULL, 0);
        a.req.nkeys = far[i];
        refused_request(&a, KVS_TOO_LARGE, "at most 65536");
        ask_for(&a, KVS_QUERY, 0, NULL, 0);
        a.req.keys = NULL;
        a.req.custom = name;
        a.req.custom_len = far[i];
        if (far[i] != (size_t)PTRDIFF_MAX)
            refused_request(&a, KVS_INVALID_PARAM, "custom of");
    }
    ask_for(&a, KVS_QUERY, 1, NULL, 0);
    a.req.nkeys = 65537;
    refused_request(&a, KVS_TOO_LARGE, "at most 65536");
    a.req.nkeys = 0;
    refused_request(&a, KVS_INVALID_PARAM, "0 descriptors");
}

static void lengths_in_requests(void)
{
    struct ask a;
    for (size_t len = SIZE_MAX; len > SIZE_MAX - 8; len--) { /* some are small again with the prefix */
        ask_for(&a, KVS_WRITE, 2, buf, 8);
        a.keys[1].len = len;
        refused_request(&a, KVS_TOO_LARGE, "descriptor 1: the key has 1844674407370955161");
    }
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.keys[1].len = UINT32_MAX;
    refused_request(&a, KVS_TOO_LARGE, "descriptor 1: the key has 4294967297 bytes");
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.keys[1].data = NULL;
    refused_request(&a, KVS_INVALID_PARAM, "descriptor 1: a key of 2 bytes at NULL");
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.keys[1].data = (void *)(UINTPTR_MAX - 15);
    a.keys[1].len = 100;
    refused_request(&a, KVS_INVALID_PARAM, "descriptor 1: a key of 100 bytes");
    static const uint64_t lens[] = {UINT64_MAX, UINT64_MAX / 2 + 1, UINT64_MAX - 7};
    for (size_t i = 0; i < 3; i++) {
        ask_for(&a, KVS_WRITE, 2, buf, 8);
        a.l[1].len = lens[i];
        refused_request(&a, KVS_INVALID_PARAM, "beyond the end of memory");
    }
    ask_for(&a, KVS_READ, 2, buf, 8);
    a.l[1].addr = 0;
    refused_request(&a, KVS_INVALID_PARAM, "descriptor 1: local address is NULL");
    ask_for(&a, KVS_READ, 2, buf, 8);
    a.req.offsets = (const uint64_t[]){0, UINT64_MAX - 7};
    refused_request(&a, KVS_INVALID_PARAM, "overflows");
    a.req.offsets = (const uint64_t *)(UINTPTR_MAX - 15);
    refused_request(&a, KVS_INVALID_PARAM, "2 offsets is beyond the end of memory");
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.req.keys = (const struct kvs_key *)(UINTPTR_MAX - 15);
    refused_request(&a, KVS_INVALID_PARAM, "2 keys is beyond the end of memory");
}

static void xfer_prep(void)
{
    handles_in_requests();
    counts_in_requests();
    lengths_in_requests();
}

/* ---- Transfers ---- */

static void xfer_post(void)
{
    FOR_BAD(i) INVALID(kvs_xfer_post(bad_xfer(i)));
}

static void xfer_check(void)
{
    FOR_BAD(i) INVALID(kvs_xfer_check(bad_xfer(i)));
}

static void xfer_wait(void)
{
    FOR_BAD(i) INVALID(kvs_xfer_wait(bad_xfer(i), KVS_FOREVER));
    assert_int_equal(kvs_xfer_wait(prepared_one, KVS_FOREVER), KVS_NOT_POSTED);
    assert_int_equal(kvs_xfer_wait(prepared_one, KVS_FOREVER - 1), KVS_NOT_POSTED);
}

static void xfer_wait_any(void)
{
    size_t index = 77;
    FOR_BAD(i)
    {
        kvs_xfer *both[2] = {prepared_one, bad_xfer(i)};
        if (both[1])
            INVALID(kvs_xfer_wait_any(both, 2, KVS_FOREVER, &index));
    }
    kvs_xfer *none[2] = {NULL, NULL};
    INVALID(kvs_xfer_wait_any(none, 2, KVS_FOREVER, &index));
    INVALID(kvs_xfer_wait_any(NULL, 1, KVS_FOREVER, &index));
    INVALID(kvs_xfer_wait_any(&prepared_one, 0, KVS_FOREVER, &index));
    INVALID(kvs_xfer_wait_any(&prepared_one, SIZE_MAX, KVS_FOREVER, &index));
    assert_int_equal(index, 77);
    assert_int_equal(kvs_xfer_wait_any(&prepared_one, 1, KVS_FOREVER, NULL), KVS_OK);
}

static void xfer_cancel(void)
{
    FOR_BAD(i) INVALID(kvs_xfer_cancel(bad_xfer(i)));
}

static void xfer_result(void)
{
    int status = 77;
    uint64_t bytes = 77;
    const char *said = name;
    FOR_BAD(i) INVALID(kvs_xfer_result(bad_xfer(i), 0, &status, &bytes, &said));
    static const size_t places[] = {2, SIZE_MAX, (size_t)1 << 32, (size_t)1 << 63};
    for (size_t i = 0; i < 4; i++)
        INVALID(kvs_xfer_result(prepared_one, places[i], &status, &bytes, &said));
    assert_true(status == 77 && bytes == 77 && said == name);
    assert_int_equal(kvs_xfer_result(prepared_one, 1, NULL, NULL, NULL), KVS_OK);
}

static void xfer_error(void)
{
    FOR_BAD(i) assert_string_equal(kvs_xfer_error(bad_xfer(i)), "");
}

static void xfer_count(void)
{
    FOR_BAD(i) assert_int_equal(kvs_xfer_count(bad_xfer(i)), 0);
}

static void xfer_release(void)
{
    FOR_BAD(i) INVALID(kvs_xfer_release(bad_xfer(i), KVS_FOREVER));
}

static void xfer_abandon(void)
{
    FOR_BAD(i) kvs_xfer_abandon(bad_xfer(i));
}

/* ---- One key at a time ---- */

static int call(uint32_t op, kvs_engine *e, const void *key, size_t len, struct kvs_error *err)
{
    void *data = buf;
    uint64_t size = 77;
    int rc;
    switch (op) {
    case KVS_READ:
        return kvs_get(e, key, len, buf, 8, err);
    case KVS_WRITE:
        return kvs_put(e, key, len, buf, 8, err);
    case KVS_QUERY:
        rc = kvs_query(e, key, len, &size, err);
        assert_int_equal(size, 0);
        return rc;
    case KVS_REMOVE:
        return kvs_remove(e, key, len, err);
    default:
        rc = kvs_get_alloc(e, key, len, 8, &data, &size, err);
        assert_null(data);
        assert_int_equal(size, 0);
        return rc;
    }
}

static void keys_of(uint32_t op)
{
    FOR_BAD(i) REFUSED(KVS_INVALID_PARAM, "no valid handle", call(op, bad_engine(i), name, 4, err));
    REFUSED(KVS_INVALID_PARAM, "empty", call(op, good, name, 0, err));
    REFUSED(KVS_INVALID_PARAM, "empty", call(op, good, NULL, 0, err));
    REFUSED(KVS_INVALID_PARAM, "NULL", call(op, good, NULL, 4, err));
    for (size_t len = SIZE_MAX; len > SIZE_MAX - 8; len--)
        REFUSED(KVS_TOO_LARGE, "1844674407370955161", call(op, good, name, len, err));
    REFUSED(KVS_TOO_LARGE, "4294967297 bytes", call(op, good, name, UINT32_MAX, err));
}

static void put(void)
{
    keys_of(KVS_WRITE);
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_put(good, name, 4, NULL, 1, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_put(good, name, 4, buf, UINT64_MAX, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_put(good, name, 4, buf, UINT64_MAX / 2 + 1, err));
}

static void get(void)
{
    keys_of(KVS_READ);
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_get(good, name, 4, NULL, 1, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_get(good, name, 4, buf, UINT64_MAX, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_get(good, name, 4, buf, UINT64_MAX / 2 + 1, err));
}

static void get_alloc(void)
{
    void *data = buf;
    uint64_t len;
    keys_of(UINT32_MAX);
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_get_alloc(good, name, 4, 8, NULL, &len, err));
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_get_alloc(good, name, 4, 8, &data, NULL, err));
}

static void query(void)
{
    keys_of(KVS_QUERY);
}

static void remove_it(void)
{
    keys_of(KVS_REMOVE);
}

static int each_key(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)arg;
    (void)key;
    (void)len;
    (void)size;
    return 0;
}

static void list(void)
{
    FOR_BAD(i) REFUSED(KVS_INVALID_PARAM, "no valid", kvs_list(bad_engine(i), NULL, 0, each_key, NULL, err));
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_list(good, NULL, 0, NULL, NULL, err));
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_list(good, NULL, 1, each_key, NULL, err));
    for (size_t len = SIZE_MAX; len > SIZE_MAX - 8; len--)
        REFUSED(KVS_TOO_LARGE, "1844674407370955161", kvs_list(good, name, len, each_key, NULL, err));
    REFUSED(KVS_TOO_LARGE, "", kvs_list(good, name, UINT32_MAX, each_key, NULL, err));
    const void *end = (const void *)(UINTPTR_MAX - 15);
    REFUSED(KVS_INVALID_PARAM, "100 bytes is beyond", kvs_list(good, end, 100, each_key, NULL, err));
}

static const struct row rows[] = {
    {"kvs_xfer_prep", xfer_prep},
    {"kvs_xfer_post", xfer_post},
    {"kvs_xfer_check", xfer_check},
    {"kvs_xfer_wait", xfer_wait},
    {"kvs_xfer_wait_any", xfer_wait_any},
    {"kvs_xfer_cancel", xfer_cancel},
    {"kvs_xfer_result", xfer_result},
    {"kvs_xfer_error", xfer_error},
    {"kvs_xfer_count", xfer_count},
    {"kvs_xfer_release", xfer_release},
    {"kvs_xfer_abandon", xfer_abandon},
    {"kvs_put", put},
    {"kvs_get", get},
    {"kvs_get_alloc", get_alloc},
    {"kvs_query", query},
    {"kvs_remove", remove_it},
    {"kvs_list", list},
};
#define ROWS (sizeof rows / sizeof rows[0])

static void every_function(void **state)
{
    (void)state;
    check_rows(rows, ROWS, true);
    run_rows(rows, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_function, inputs_setup, inputs_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
