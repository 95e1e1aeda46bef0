/* SPDX-License-Identifier: Apache-2.0 */
/* A backend with parameters of every kind, and short ways to resolve values for it. */
#ifndef KVS_TESTS_RESOLVE_H
#define KVS_TESTS_RESOLVE_H

#include "expect.h"
#include "params.h"

static const struct kvs_param redis_params[] = {
    {.name = "user", .uri = "user"},
    {.name = "password", .uri = "password", .env = "TEST_PASSWORD", .flags = KVS_PARAM_SECRET},
    {.name = "host", .uri = "host", .def = "localhost"},
    {.name = "port", .uri = "port", .def = "6379", .type = KVS_PARAM_INT, .min = 1, .max = 65535},
    {.name = "socket", .uri = "unix:path other:path"},
    {.name = "db", .uri = "path", .def = "0", .env = "TEST_DB", .type = KVS_PARAM_INT, .min = 0, .max = 15},
    {.name = "tls", .def = "no", .env = "TEST_TLS", .type = KVS_PARAM_BOOL},
    {.name = "mode", .def = "fast", .choices = "fast|safe", .type = KVS_PARAM_ENUM},
    {.name = "window", .type = KVS_PARAM_SIZE, .env = "TEST_WINDOW"},
    {.name = "pin", .env = "TEST_PIN", .def = "7", .type = KVS_PARAM_INT, .flags = KVS_PARAM_SECRET},
};
static const struct kvs_backend redis = {
    .name = "redis",
    .schemes = "rediss?tls=yes&mode=safe valkey",
    .params = redis_params,
    .nparams = sizeof redis_params / sizeof redis_params[0],
};
#define MOST_VALUES 4
struct given {
    const struct kvs_param_value values[MOST_VALUES];
};
#define GIVEN(...) ((struct given){{__VA_ARGS__}}.values)

static inline size_t count(const struct kvs_param_value *values)
{
    size_t n = 0;
    while (n < MOST_VALUES && values && values[n].name)
        n++;
    return n;
}

static inline struct kvs_params *resolve(const struct kvs_backend *backend, const char *target,
                                         const struct kvs_param_value *values)
{
    struct kvs_params *params;
    struct kvs_error err = {0};
    expect_status(kvs_params_resolve(backend, target, values, count(values), &params, &err), KVS_OK, &err);
    return params;
}

static inline struct kvs_error refused(const struct kvs_backend *backend, const char *target,
                                       const struct kvs_param_value *values)
{
    struct kvs_params *params = (void *)1;
    struct kvs_error err = {0};
    int rc = kvs_params_resolve(backend, target, values, count(values), &params, &err);
    if (rc != KVS_INVALID_PARAM)
        fail_msg("'%s' gave %s", target, kvs_status_name(rc));
    assert_int_equal(err.status, KVS_INVALID_PARAM);
    assert_null(params);
    return err;
}

static inline void expect_str(const struct kvs_params *params, const char *name, const char *want)
{
    const char *text;
    size_t len;
    assert_int_equal(kvs_params_str(params, name, &text, &len), KVS_OK);
    if (want)
        assert_string_equal(text, want);
    else
        assert_null(text);
    assert_int_equal(len, want ? strlen(want) : 0);
}

static inline void expect_i64(const struct kvs_params *params, const char *name, int64_t want)
{
    int64_t n;
    assert_int_equal(kvs_params_i64(params, name, &n), KVS_OK);
    assert_true(n == want);
}

#endif
