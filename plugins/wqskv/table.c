/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wqskv backend: the WDS KVCache client library, which is C++, closed, calls back from its own threads,
 * and is initialised once a process. Async shape: each io is one call of the library's (request.c).
 */
#include "codes.h"
#include "engine.h"
#include "request.h"

const struct kvs_host *wqskv_host;

/* clang-format off */
static const struct kvs_param params[] = {
    {.name = "config_path", .env = WQSKV_CONFIG_ENV, .uri = "path", .since = "0.1", .type = KVS_PARAM_STRING,
     .help = "the library's configuration, a JSON file"},
    {.name = "query_keys", .def = "1048576", .since = "0.1", .type = KVS_PARAM_INT, .min = 0, .max = INT64_C(1) << 32,
     .help = "how many keys that an engine has written it remembers for queries; the oldest are forgotten first"},
};
/* clang-format on */

static int wqskv_load(const struct kvs_host *from)
{
    wqskv_host = from;
    pending_setup();
    return KVS_OK;
}

/* clang-format off */
KVS_BACKEND_DEFINE(kvs_wqskv_backend,
    .name = "wqskv",
    .version = KVS_VERSION_TEXT,
    .summary = "WDS KVCache, by its client library",
    .params = params,
    .nparams = sizeof(params) / sizeof(params[0]),
    .thread_model = KVS_THREADS_PARALLEL,
    .local_mems = KVS_MEM_MASK(KVS_MEM_DRAM),
    .remote_mems = KVS_MEM_MASK(KVS_MEM_DRAM),
    /* No done function on the library's threads: it may wait for what these threads have to do next. */
    .flags = KVS_F_ONCE_PER_PROCESS | KVS_F_COMPLETE_DEFERRED,
    .caps_native = KVS_CAP_READ | KVS_CAP_WRITE | KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE | KVS_CAP_QUERY_LOCAL |
                   KVS_CAP_SHARED | KVS_CAP_DURABLE,
    .caps_none = KVS_CAP_REMOVE | KVS_CAP_LIST | KVS_CAP_RANGE | KVS_CAP_TTL | KVS_CAP_OVERWRITE |
                 KVS_CAP_SIZE_CHECK | KVS_CAP_READ_ATOMIC | KVS_CAP_CANCEL | KVS_CAP_CONSISTENCY,
    .max_iov = 16,
    .engine_priv = sizeof(struct engine),
    .io_priv = sizeof(struct request),
    .load = wqskv_load,
    .open = wqskv_open,
    .close = wqskv_close,
    .prep = wqskv_prep,
    .unprep = wqskv_unprep,
    .submit = wqskv_submit,
    .map_rc = wqskv_status)
/* clang-format on */
