/* SPDX-License-Identifier: Apache-2.0 */
/* TARGET: a backend's name, a URI, or a plugin's file. KVS-REQ-527 */
#include "command.h"

#include <string.h>

bool kvs_cmd_is_file(const char *target)
{
    const char *slash = strchr(target, '/');
    const char *colon = strchr(target, ':');
    size_t len = strlen(target);

    if (colon && (!slash || colon < slash))
        return false;
    return slash || (len >= 3 && strcmp(target + len - 3, ".so") == 0);
}

int kvs_cmd_target(const char *target, const char **name)
{
    struct kvs_error err = {0};

    *name = target;
    if (!kvs_cmd_is_file(target))
        return CMD_OK;
    int status = kvs_plugin_load(target, name, &err);
    return status == KVS_OK ? CMD_OK : kvs_cmd_fail_status(status, &err);
}

int kvs_cmd_open(const struct cmd_call *call, kvs_engine **engine)
{
    struct kvs_error err = {0};
    const char *name;

    int code = kvs_cmd_target(call->operands[0], &name);
    if (code != CMD_OK)
        return code;
    int status = kvs_engine_open(name, call->params, call->nparams, engine, &err);
    return status == KVS_OK ? CMD_OK : kvs_cmd_fail_status(status, &err);
}

void kvs_cmd_close(kvs_engine *engine)
{
    /* After a timeout the store may still hold on to memory; the process ends now anyway. */
    if (kvs_engine_close(engine, KVS_SEC(5), NULL) != KVS_OK)
        kvs_engine_abandon(engine);
}
