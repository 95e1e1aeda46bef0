/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot keys */
#include "command.h"

#include <errno.h>
#include <string.h>

static const struct cmd_option options[] = {
    {"null", '0', NULL, "write keys as they are, each followed by a NUL byte"},
    {"prefix-hex", 0, "HEX", "the prefix as hexadecimal digits, in place of PREFIX"},
    {NULL, 0, NULL, NULL},
};

/* Answer of each() that no status has: the output broke. */
enum { STOPPED = 1000 };

struct listing {
    bool raw;
    int error; /* errno of the write that failed */
};

static int each(void *arg, const void *key, size_t len, uint64_t size)
{
    struct listing *listing = arg;

    (void)size;
    if (listing->raw) {
        fwrite(key, 1, len, stdout);
        putchar('\0');
    } else {
        kvs_cmd_print_key(stdout, key, len);
        putchar('\n');
    }
    listing->error = errno;
    return ferror(stdout) ? STOPPED : 0;
}

static int list(kvs_engine *engine, const struct cmd_key *prefix, bool raw)
{
    struct listing listing = {.raw = raw};
    struct kvs_error err = {0};

    int status = kvs_list(engine, prefix->data, prefix->len, each, &listing, &err);
    if (status == STOPPED) {
        clearerr(stdout); /* said here, with the reason */
        return kvs_cmd_fail(CMD_FAILED, "standard output cannot be written: %s", strerror(listing.error));
    }
    return status == KVS_OK ? CMD_OK : kvs_cmd_fail_status(status, &err);
}

static int run(struct cmd_call *call)
{
    struct cmd_key prefix;
    kvs_engine *engine;
    int next;

    int code = kvs_cmd_key(call, &prefix, &next);
    if (code != CMD_OK)
        return code;
    code = kvs_cmd_open(call, &engine);
    if (code == CMD_OK) {
        code = list(engine, &prefix, kvs_cmd_option(call, "null") != NULL);
        kvs_cmd_close(engine);
    }
    kvs_cmd_key_free(&prefix);
    return code;
}

const struct cmd kvs_cmd_keys = {
    .name = "keys",
    .operands = "TARGET [PREFIX]",
    .summary = "list the keys, or those that begin with PREFIX",
    .help = "One key a line, in the store's own order; bytes that are not printable ASCII, and the "
            "backslash, are shown\n"
            "as \\xNN.",
    .options = options,
    .hex = "prefix-hex",
    .min = 1,
    .max = 2,
    .run = run,
};
