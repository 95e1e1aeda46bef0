/* SPDX-License-Identifier: Apache-2.0 */
/* A backend for tests of the command: every key has the value "four", whose length it does not tell; it
 * writes once, and it has a secret. */
#include <kvslot/backend.h>
#include <string.h>

static const struct kvs_host *host;

static const struct kvs_param params[] = {
    {.name = "password",
     .def = "geheim-by-default",
     .env = "SHY_PASSWORD",
     .uri = "password",
     .help = "opens \xff it",
     .flags = KVS_PARAM_SECRET},
    {.name = "mood", .type = KVS_PARAM_ENUM, .choices = "good|bad", .def = "good"},
    {.name = "patience", .type = KVS_PARAM_DURATION, .def = "5s", .min = 1000000, .max = 60000000000},
    {.name = "user", .uri = "user"},
    {.name = "host", .uri = "host"},
};

static int shy_load(const struct kvs_host *services)
{
    host = services;
    return KVS_OK;
}

static int shy_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    const char *password = NULL;

    (void)eng;
    (void)limits;
    host->param_str(ctx, "password", &password, NULL);
    if (password && strcmp(password, "geheim-by-default") != 0 && strcmp(password, "geheim") != 0)
        return host->fail(ctx, KVS_ACCESS, "the password is wrong");
    return KVS_OK;
}

static int shy_put(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    (void)io;
    return KVS_EXISTS;
}

static int shy_get(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    io->actual = 4;
    if (io->len == 4)
        memcpy(io->iov[0].iov_base, "four", 4);
    return KVS_OK;
}

static int shy_query(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    io->actual = KVS_SIZE_UNKNOWN;
    return io->key_len == 1 ? KVS_UNKNOWN : KVS_OK;
}

KVS_BACKEND_DEFINE(shy_backend, .name = "shy", .version = "1", .summary = "Every key is there",
                   .params = params, .nparams = sizeof params / sizeof params[0], .schemes = "timid?mood=bad",
                   .caps_native = KVS_CAP_QUERY | KVS_CAP_SIZE_CHECK, .caps_none = KVS_CAP_OVERWRITE,
                   .flags = KVS_F_EMULATED, .max_value = 1000, .load = shy_load, .open = shy_open,
                   .put = shy_put, .get = shy_get, .query = shy_query)
