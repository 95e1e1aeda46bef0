/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot info: what a backend says about itself. Nothing is opened. */
#include "command.h"

#include <string.h>

static const struct cmd_option options[] = {
    {"json", 0, NULL, "as JSON"},
    {NULL, 0, NULL, NULL},
};

const char *const kvs_cmd_mem_names[] = {"dram", "vram", "block", "object", "file", NULL};
const char *const kvs_cmd_flag_names[] = {"submit_blocks",
                                          "complete_deferred",
                                          "needs_registration",
                                          "once_per_process",
                                          "emulated",
                                          "use_blocking",
                                          "no_poll",
                                          NULL};
#define CAP_NAME(name, bit, text) [bit] = text,
const char *const kvs_cmd_cap_names[] = {KVS_CAP_MAP(CAP_NAME) NULL};

const char *kvs_cmd_cap_state(const struct kvs_backend *backend, unsigned bit)
{
    if (backend->caps_native >> bit & 1)
        return "native";
    return backend->caps_none >> bit & 1 ? "none" : "emulated";
}

const char *kvs_cmd_shape(const struct kvs_backend *backend)
{
    if (!backend->submit)
        return "blocking";
    return backend->put ? "async, blocking" : "async";
}

const char *kvs_cmd_thread_model(const struct kvs_backend *backend)
{
    return backend->thread_model == KVS_THREADS_PARALLEL ? "parallel" : "serial";
}

const char *kvs_cmd_param_type(const struct kvs_param *param)
{
    static const char *const types[] = {"string", "bool", "int", "size", "duration", "enum"};

    return param->type < sizeof types / sizeof types[0] ? types[param->type] : "unknown";
}

struct search {
    const char *name;
    char where[4096];
};

static int match(void *arg, const char *name, const char *where)
{
    struct search *search = arg;

    if (strcmp(name, search->name) != 0)
        return 0;
    snprintf(search->where, sizeof search->where, "%s", where);
    return 1;
}

static int run(struct cmd_call *call)
{
    struct kvs_error err = {0};
    struct cmd_info info = {0};
    const char *name;

    int code = kvs_cmd_target(call->operands[0], &name);
    if (code != CMD_OK)
        return code;
    int status = kvs_backend_find(name, &info.backend, &err);
    if (status != KVS_OK)
        return kvs_cmd_fail_status(status, &err);
    struct search search = {.name = info.backend->name, .where = "unknown"};
    (void)kvs_backend_list(match, &search);
    info.where = search.where;
    info.sdk_params = kvs_sdk_params(&info.nsdk_params);
    if (kvs_cmd_option(call, "json"))
        return kvs_cmd_info_json(&info, stdout);
    kvs_cmd_info_text(&info, stdout);
    return CMD_OK;
}

const struct cmd kvs_cmd_info = {
    .name = "info",
    .operands = "TARGET",
    .summary = "show what a backend can do, and its parameters",
    .help = "Shows what the backend declares; the store is not opened, and parameters given are not looked "
            "at. An\n"
            "opened store may be able to do less.",
    .options = options,
    .min = 1,
    .max = 1,
    .run = run,
};
