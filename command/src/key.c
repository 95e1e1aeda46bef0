/* SPDX-License-Identifier: Apache-2.0 */
/* Keys on the command line and in listings, and numbers. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int from_hex(const char *option, const char *text, struct cmd_key *key)
{
    size_t digits = strlen(text);
    size_t good = strspn(text, "0123456789abcdefABCDEF");

    if (good != digits)
        return kvs_cmd_fail(CMD_USAGE, "option --%s takes hexadecimal digits, and '%c' is none", option,
                            text[good]);
    if (digits % 2 != 0)
        return kvs_cmd_fail(CMD_USAGE, "option --%s takes two digits for each byte, and was given %zu",
                            option, digits);
    unsigned char *bytes = malloc(digits / 2 + 1);
    if (!bytes)
        return kvs_cmd_fail(CMD_FAILED, "out of memory");
    for (size_t i = 0; i < digits / 2; i++)
        bytes[i] = (unsigned char)(hex_digit(text[2 * i]) * 16 + hex_digit(text[2 * i + 1]));
    *key = (struct cmd_key){bytes, digits / 2, bytes};
    return CMD_OK;
}

int kvs_cmd_key(const struct cmd_call *call, struct cmd_key *key, int *next)
{
    const char *hex = kvs_cmd_option(call, call->cmd->hex);

    *next = hex ? 1 : 2;
    if (hex)
        return from_hex(call->cmd->hex, hex, key);
    const char *text = call->noperands > 1 ? call->operands[1] : "";
    *key = (struct cmd_key){text, strlen(text), NULL};
    return CMD_OK;
}

void kvs_cmd_key_free(struct cmd_key *key)
{
    free(key->own);
}

void kvs_cmd_print_key(FILE *out, const void *key, size_t len)
{
    const unsigned char *bytes = key;

    for (size_t i = 0; i < len; i++) {
        if (bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '\\')
            putc(bytes[i], out);
        else
            fprintf(out, "\\x%02x", bytes[i]);
    }
}

int kvs_cmd_number(const struct cmd_call *call, const char *name, uint64_t min, uint64_t max, uint64_t *out)
{
    const char *text = kvs_cmd_option(call, name);

    if (!text)
        return CMD_OK;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    /* strtoull takes a sign and blanks too. */
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < min || value > max)
        return kvs_cmd_fail(CMD_USAGE, "option --%s is '%s'; it takes a whole number from %llu to %llu", name,
                            text, (unsigned long long)min, (unsigned long long)max);
    *out = value;
    return CMD_OK;
}
