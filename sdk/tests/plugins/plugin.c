/* SPDX-License-Identifier: Apache-2.0 */
/* The plugins of test_loader.c and test_find.c: one source, built many times. TEST_NAME is the backend's
 * name; TEST_CHANGE overrides members of a good table; TEST_NO_SYMBOL, TEST_NULL, TEST_OPENS and
 * TEST_LOAD_FAILS change what is around it.
 */
#include <kvslot/backend.h>

#include <stdlib.h>

/* Later initialisers override, that is the point. */
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif

static int loads; /* calls of load so far */

static int plugin_load(const struct kvs_host *host)
{
    loads++;
    if (host->size < sizeof(struct kvs_host) || host->api != KVS_API)
        return KVS_MISMATCH;
#ifdef TEST_LOAD_FAILS
    if (loads == 1)
        return host->fail(NULL, KVS_ACCESS, "the licence of %d seats has run out", 5);
    if (loads == 2)
        return 1;
#endif
    return KVS_OK;
}

/* For the test, which has no other way to look inside. */
static int plugin_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)ctx;
    (void)limits;
#ifdef TEST_OPENS
    return KVS_OK;
#else
    return loads;
#endif
}

static int plugin_io(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    (void)io;
    return KVS_OK;
}

/* A parameter of a later release, with 16 more bytes. */
struct plugin_param {
    struct kvs_param known;
    const char *more[2];
};
static const struct plugin_param params[] = {
    {{.name = "path", .uri = "path", .def = "/a"}, {"not to be", "looked at"}},
    {{.name = "size", .type = KVS_PARAM_SIZE, .def = "2MiB", .min = 1, .max = 1 << 30},
     {"by a host", "that is older"}},
};

/* A table of a later release. */
static const struct {
    struct kvs_backend table;
    const char *more[8];
} plugin = {
    .table = {KVS_BACKEND_STAMP, .size = sizeof plugin, .param_size = sizeof(struct plugin_param),
              .name = TEST_NAME, .version = "1.0", .schemes = TEST_NAME "-alias?size=3MiB",
              .params = &params[0].known, .nparams = 2, .load = plugin_load, .open = plugin_open,
              .put = plugin_io, .get = plugin_io,
#ifdef TEST_CHANGE
              TEST_CHANGE
#endif
    },
};

#ifndef TEST_NO_SYMBOL
KVS_EXPORT const struct kvs_backend *kvs_backend_entry(void);
KVS_EXPORT const struct kvs_backend *kvs_backend_entry(void)
{
#ifdef TEST_NULL
    return plugin.table.api == KVS_API ? NULL : &plugin.table;
#else
    return &plugin.table;
#endif
}
#else
KVS_EXPORT const void *kvs_other_entry(void);
KVS_EXPORT const void *kvs_other_entry(void)
{
    return &plugin.table;
}
#endif
