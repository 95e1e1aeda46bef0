/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters that every engine has. KVS-REQ-500 */
#include "paramdef.h"
#include "params.h"

#include <string.h>

static const struct kvs_param sdk_params[] = {
    {
        .name = "timeout",
        .def = "30s",
        .env = "KVSLOT_TIMEOUT",
        .help = "longest time that a transfer may take; 0: no limit",
        .since = "0.1",
        .type = KVS_PARAM_DURATION,
    },
    {
        .name = "cancel_grace",
        .def = "1s",
        .help = "how long a transfer whose time is up may take to end by itself",
        .since = "0.1",
        .type = KVS_PARAM_DURATION,
    },
    {
        .name = "ttl",
        .def = "0",
        .help = "lifetime of a written value, in whole milliseconds; 0: it stays",
        .since = "0.1",
        .type = KVS_PARAM_DURATION,
    },
    {
        /* KVS-REQ-089 */
        .name = "prefix",
        .def = "",
        .help = "goes before every key; keeps users apart, but is no security boundary",
        .since = "0.1",
        .type = KVS_PARAM_STRING,
    },
    {
        .name = "threads",
        .def = "4",
        .env = "KVSLOT_THREADS",
        .help = "worker threads of an engine whose backend is blocking",
        .since = "0.1",
        .min = 1,
        .max = 256,
        .type = KVS_PARAM_INT,
    },
    {
        .name = "inline_bytes",
        .def = "64KiB",
        .help = "most that an asynchronous backend copies in the post itself",
        .since = "0.1",
        .type = KVS_PARAM_SIZE,
    },
    {
        .name = "progress",
        .def = "caller",
        .help = "who polls a backend: caller: whoever calls, else the service thread; thread: only that",
        .since = "0.1",
        .choices = "caller|thread",
        .type = KVS_PARAM_ENUM,
    },
    {
        .name = "bounce",
        .def = "no",
        .help =
            "copy values through buffers of the SDK, so that a store never keeps a caller's memory in use",
        .since = "0.1",
        .type = KVS_PARAM_BOOL,
    },
    {
        .name = "connect",
        .def = "eager",
        .help = "eager: opening fails where the store is not reachable; lazy: the first transfer does",
        .since = "0.1",
        .choices = "eager|lazy",
        .type = KVS_PARAM_ENUM,
    },
    {
        .name = "trace",
        .def = "no",
        .env = "KVSLOT_TRACE",
        .help = "log every call into the backend",
        .since = "0.1",
        .type = KVS_PARAM_BOOL,
    },
};

const struct kvs_param *kvs_sdk_params(size_t *n)
{
    if (n)
        *n = sizeof sdk_params / sizeof sdk_params[0];
    return sdk_params;
}

bool kvs_param_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof sdk_params / sizeof sdk_params[0]; i++)
        if (strcmp(sdk_params[i].name, name) == 0)
            return true;
    return false;
}
