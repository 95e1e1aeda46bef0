/* SPDX-License-Identifier: Apache-2.0 */
/* Short ways to engines, registrations and requests. */
#ifndef KVS_TESTS_ENGINES_H
#define KVS_TESTS_ENGINES_H

#include "expect.h"

/* Room for values, ended by a name that is NULL. */
#define WITH(...) ((const struct kvs_param_value[]){__VA_ARGS__, {NULL, NULL}})

static inline kvs_engine *open_with(const char *target, const struct kvs_param_value *params)
{
    kvs_engine *e = NULL;
    struct kvs_error err = {0};
    size_t n = 0;
    while (params && params[n].name)
        n++;
    expect_status(kvs_engine_open(target, params, n, &e, &err), KVS_OK, &err);
    assert_non_null(e);
    return e;
}

static inline void close_engine(kvs_engine *e)
{
    struct kvs_error err = {0};
    expect_status(kvs_engine_close(e, KVS_SEC(30), &err), KVS_OK, &err);
}

/* A registration with the key `name`, or its dev_id where that is NULL. */
static inline kvs_mem *registered(kvs_engine *e, uint32_t type, uint64_t dev_id, const char *name,
                                  uint64_t addr, uint64_t len)
{
    struct kvs_desc d = {
        .addr = addr, .len = len, .dev_id = dev_id, .meta_info = name, .meta_len = name ? strlen(name) : 0};
    struct kvs_error err = {0};
    kvs_mem *m = (kvs_mem *)(uintptr_t)0xdead;
    expect_status(kvs_mem_register(e, type, &d, &m, &err), KVS_OK, &err);
    assert_non_null(m);
    return m;
}

static inline void deregistered(kvs_engine *e, kvs_mem *m)
{
    struct kvs_error err = {0};
    expect_status(kvs_mem_deregister(e, m, &err), KVS_OK, &err);
}

#define MOST_PAIRS 8

/* A request with its two lists; by default n exact pairs between `buf` and keys "k0", "k1", ... */
struct ask {
    struct kvs_desc l[MOST_PAIRS], r[MOST_PAIRS];
    struct kvs_dlist local, remote;
    struct kvs_key keys[MOST_PAIRS];
    struct kvs_xfer_req req;
};

/* Fills `a` for one op over n pieces of `len` bytes at `buf`; the remote side is the keys of `a`, until the
 * test says otherwise. */
static inline void ask_for(struct ask *a, uint32_t op, uint32_t n, void *buf, uint64_t len)
{
    static const char *const names[MOST_PAIRS] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    *a = (struct ask){0};
    for (uint32_t i = 0; i < n; i++) {
        a->l[i] = (struct kvs_desc){.addr = (uint64_t)(uintptr_t)buf + i * len, .len = len};
        a->r[i] = (struct kvs_desc){.len = len};
        a->keys[i] = (struct kvs_key){names[i], 2};
    }
    a->local = (struct kvs_dlist){a->l, n, 0, KVS_MEM_DRAM};
    a->remote = (struct kvs_dlist){a->r, n, 0, KVS_MEM_DRAM};
    a->req = (struct kvs_xfer_req){.size = sizeof a->req, .op = op, .keys = a->keys, .nkeys = n};
    if (op < KVS_QUERY)
        a->req.local = &a->local;
}

/* The same, with the remote list instead of keys. */
static inline void ask_lists(struct ask *a, uint32_t op, uint32_t n, void *buf, uint64_t len)
{
    ask_for(a, op, n, buf, len);
    a->req.keys = NULL;
    a->req.nkeys = 0;
    a->req.remote = &a->remote;
}

static inline kvs_xfer *prepared_at(kvs_engine *e, const struct ask *a, const char *file, int line)
{
    kvs_xfer *x = NULL;
    struct kvs_error err = {0};
    expect_status_at(kvs_xfer_prep(e, &a->req, &x, &err), KVS_OK, &err, file, line);
    assert_non_null(x);
    return x;
}
#define prepared(e, a) prepared_at((e), (a), __FILE__, __LINE__)

/* prep refuses, and says so with `text`. */
static inline void unprepared_at(kvs_engine *e, const struct ask *a, int status, const char *text,
                                 const char *file, int line)
{
    kvs_xfer *x = (kvs_xfer *)(uintptr_t)0xdead;
    struct kvs_error err = {0};
    expect_status_at(kvs_xfer_prep(e, &a->req, &x, &err), status, &err, file, line);
    expect_text_at(err.text, text, 1, file, line);
    assert_null(x);
}
#define unprepared(e, a, status, text) unprepared_at((e), (a), (status), (text), __FILE__, __LINE__)

/* Posts, waits, and answers the transfer's status. */
static inline int run_xfer(kvs_xfer *x)
{
    int rc = kvs_xfer_post(x);
    return rc == KVS_IN_PROG ? kvs_xfer_wait(x, KVS_SEC(30)) : rc;
}

static inline int result_of(kvs_xfer *x, size_t i)
{
    int status = 77;
    assert_int_equal(kvs_xfer_result(x, i, &status, NULL, NULL), KVS_OK);
    return status;
}

static inline const char *text_of(kvs_xfer *x, size_t i)
{
    const char *text = NULL;
    assert_int_equal(kvs_xfer_result(x, i, NULL, NULL, &text), KVS_OK);
    return text;
}

static inline uint64_t bytes_of(kvs_xfer *x, size_t i)
{
    uint64_t bytes = 77;
    assert_int_equal(kvs_xfer_result(x, i, NULL, &bytes, NULL), KVS_OK);
    return bytes;
}

/* Prepares, runs and releases. */
static inline int run_ask_at(kvs_engine *e, const struct ask *a, const char *file, int line)
{
    kvs_xfer *x = prepared_at(e, a, file, line);
    int rc = run_xfer(x);
    assert_int_equal(kvs_xfer_release(x, KVS_SEC(30)), KVS_OK);
    return rc;
}
#define run_ask(e, a) run_ask_at((e), (a), __FILE__, __LINE__)

#endif
