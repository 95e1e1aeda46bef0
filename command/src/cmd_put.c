/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot put */
#include "command.h"

static const struct cmd_option options[] = {
    {"key-hex", 0, "HEX", "the key as hexadecimal digits, in place of KEY"},
    {NULL, 0, NULL, NULL},
};

static int put(kvs_engine *engine, const struct cmd_key *key, struct cmd_input *in)
{
    struct kvs_error err = {0};

    int code = kvs_cmd_input_load(in);
    if (code != CMD_OK)
        return code;
    int status = kvs_put(engine, key->data, key->len, in->data, in->len, &err);
    return status == KVS_OK ? CMD_OK : kvs_cmd_fail_status(status, &err);
}

static int run(struct cmd_call *call)
{
    struct cmd_key key;
    struct cmd_input in;
    kvs_engine *engine;
    int next;

    int code = kvs_cmd_key(call, &key, &next);
    if (code != CMD_OK)
        return code;
    /* File and store are tried before anything is read: nobody types a value for a store that is not there.
     */
    code = kvs_cmd_input_open(call->operands[next - 1] ? call->operands[next] : NULL, &in);
    if (code == CMD_OK) {
        code = kvs_cmd_open(call, &engine);
        if (code == CMD_OK) {
            code = put(engine, &key, &in);
            kvs_cmd_close(engine);
        }
        kvs_cmd_input_close(&in);
    }
    kvs_cmd_key_free(&key);
    return code;
}

const struct cmd kvs_cmd_put = {
    .name = "put",
    .operands = "TARGET KEY [FILE]",
    .summary = "store FILE, or standard input, under KEY",
    .help = "FILE may be a pipe, and '-' is standard input. A value of 0 bytes is a value.",
    .options = options,
    .hex = "key-hex",
    .min = 2,
    .max = 3,
    .run = run,
};
