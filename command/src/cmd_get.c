/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot get */
#include "command.h"

#include "units.h"
#include <stdlib.h>

static const struct cmd_option options[] = {
    {"key-hex", 0, "HEX", "the key as hexadecimal digits, in place of KEY"},
    {"size", 0, "SIZE", "how long the value is (4096, 64KiB, ...), for stores that cannot tell"},
    {NULL, 0, NULL, NULL},
};

static int fetch_sized(kvs_engine *engine, const struct cmd_key *key, uint64_t size, const char *file)
{
    struct kvs_error err = {0};
    int code = CMD_OK;

    void *data = malloc(size ? size : 1);
    if (!data)
        return kvs_cmd_fail(CMD_FAILED, "there is no memory for %llu bytes", (unsigned long long)size);
    int status = kvs_get(engine, key->data, key->len, data, size, &err);
    if (status == KVS_OK)
        code = kvs_cmd_output(file, data, size);
    else
        code = kvs_cmd_fail_key(status, &err, key);
    free(data);
    return code;
}

static int fetch(kvs_engine *engine, const struct cmd_key *key, const char *file)
{
    struct kvs_error err = {0};
    void *data = NULL;
    uint64_t len = 0;

    int status = kvs_get_alloc(engine, key->data, key->len, SIZE_MAX, &data, &len, &err);
    if (status == KVS_NOT_SUPPORTED)
        return kvs_cmd_fail(CMD_FAILED, "%s; give the value's length with --size",
                            err.text[0] ? err.text : "the store cannot tell how long the value is");
    if (status != KVS_OK)
        return kvs_cmd_fail_key(status, &err, key);
    int code = kvs_cmd_output(file, data, len);
    kvs_free(data);
    return code;
}

static int run(struct cmd_call *call)
{
    struct cmd_key key;
    kvs_engine *engine;
    const char *size = kvs_cmd_option(call, "size");
    int64_t bytes = 0;
    int next;

    if (size && kvs_parse_size(size, &bytes) != KVS_PARSE_OK)
        return kvs_cmd_fail(CMD_USAGE, "option --size is '%s'; it takes a size, like 4096, 64KiB or 10MB",
                            size);
    int code = kvs_cmd_key(call, &key, &next);
    if (code != CMD_OK)
        return code;
    code = kvs_cmd_open(call, &engine);
    if (code == CMD_OK) {
        const char *file = call->operands[next - 1] ? call->operands[next] : NULL;
        code = size ? fetch_sized(engine, &key, (uint64_t)bytes, file) : fetch(engine, &key, file);
        kvs_cmd_close(engine);
    }
    kvs_cmd_key_free(&key);
    return code;
}

const struct cmd kvs_cmd_get = {
    .name = "get",
    .operands = "TARGET KEY [FILE]",
    .summary = "write the value of KEY to FILE, or standard output",
    .help = "FILE is made or replaced as a whole, and left alone where anything fails; pipes and devices are "
            "written to.\n"
            "With --size, a value of another length is an error.",
    .options = options,
    .hex = "key-hex",
    .min = 2,
    .max = 3,
    .run = run,
};
