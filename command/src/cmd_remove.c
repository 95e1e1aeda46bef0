/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot remove */
#include "command.h"

static const struct cmd_option options[] = {
    {"key-hex", 0, "HEX", "the key as hexadecimal digits, in place of KEY"},
    {NULL, 0, NULL, NULL},
};

static int run(struct cmd_call *call)
{
    struct kvs_error err = {0};
    struct cmd_key key;
    kvs_engine *engine;
    int next;

    int code = kvs_cmd_key(call, &key, &next);
    if (code != CMD_OK)
        return code;
    code = kvs_cmd_open(call, &engine);
    if (code == CMD_OK) {
        int status = kvs_remove(engine, key.data, key.len, &err);
        if (status != KVS_OK)
            code = kvs_cmd_fail_key(status, &err, &key);
        kvs_cmd_close(engine);
    }
    kvs_cmd_key_free(&key);
    return code;
}

const struct cmd kvs_cmd_remove = {
    .name = "remove",
    .operands = "TARGET KEY",
    .summary = "remove KEY and its value",
    .help = "Exits with 3 where the key was not there.",
    .options = options,
    .hex = "key-hex",
    .min = 2,
    .max = 2,
    .run = run,
};
