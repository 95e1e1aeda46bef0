/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot query */
#include "command.h"

#include <inttypes.h>

static const struct cmd_option options[] = {
    {"key-hex", 0, "HEX", "the key as hexadecimal digits, in place of KEY"},
    {NULL, 0, NULL, NULL},
};

static int query(kvs_engine *engine, const struct cmd_key *key)
{
    struct kvs_error err = {0};
    uint64_t size = 0;

    int status = kvs_query(engine, key->data, key->len, &size, &err);
    if (status != KVS_OK)
        return kvs_cmd_fail_key(status, &err, key);
    if (size == KVS_SIZE_UNKNOWN)
        puts("unknown");
    else
        printf("%" PRIu64 "\n", size);
    return CMD_OK;
}

static int run(struct cmd_call *call)
{
    struct cmd_key key;
    kvs_engine *engine;
    int next;

    int code = kvs_cmd_key(call, &key, &next);
    if (code != CMD_OK)
        return code;
    code = kvs_cmd_open(call, &engine);
    if (code == CMD_OK) {
        code = query(engine, &key);
        kvs_cmd_close(engine);
    }
    kvs_cmd_key_free(&key);
    return code;
}

const struct cmd kvs_cmd_query = {
    .name = "query",
    .operands = "TARGET KEY",
    .summary = "is KEY there, and how long is its value",
    .help = "Prints the length in bytes, or 'unknown' where the store has the key but cannot tell. Exits "
            "with 3 where the\n"
            "key is not there, and with 1 where the store cannot say.",
    .options = options,
    .hex = "key-hex",
    .min = 2,
    .max = 2,
    .run = run,
};
