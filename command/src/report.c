/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: sentences on standard error, and the exit codes. */
#include "command.h"

#include "err.h"
#include <stdarg.h>

static const struct {
    int code;
    const char *text;
} exit_texts[] = {
    {CMD_OK, "done"},
    {CMD_FAILED, "failed: the store, a file or a conformance case"},
    {CMD_USAGE,
     "wrong use: the command line, a parameter, a plugin file that is none, a key or value that cannot be"},
    {CMD_NOT_FOUND, "not found: the key, the backend, the plugin file, the conformance case"},
};

int kvs_cmd_exit_code(int status)
{
    switch (status) {
    case KVS_OK:
        return CMD_OK;
    case KVS_NOT_FOUND:
        return CMD_NOT_FOUND;
    case KVS_INVALID_PARAM:
    case KVS_TOO_LARGE:
        return CMD_USAGE;
    default:
        return CMD_FAILED;
    }
}

void kvs_cmd_exit_help(FILE *out)
{
    for (size_t i = 0; i < sizeof exit_texts / sizeof exit_texts[0]; i++)
        fprintf(out, "  %d  %s\n", exit_texts[i].code, exit_texts[i].text);
}

int kvs_cmd_fail(int code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    flockfile(stderr);
    fputs("kvslot: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(args);
    return code;
}

int kvs_cmd_fail_status(int status, const struct kvs_error *err)
{
    const char *text = err && err->text[0] ? err->text : kvs_status_text(status);

    return kvs_cmd_fail(kvs_cmd_exit_code(status), "%s", text);
}

int kvs_cmd_fail_key(int status, const struct kvs_error *err, const struct cmd_key *key)
{
    char shown[256];

    if (status != KVS_NOT_FOUND)
        return kvs_cmd_fail_status(status, err);
    return kvs_cmd_fail(kvs_cmd_exit_code(status), "there is no key '%s' in the store",
                        kvs_show_bytes(shown, sizeof shown, key->data, key->len));
}
