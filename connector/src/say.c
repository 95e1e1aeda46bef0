/* SPDX-License-Identifier: Apache-2.0 */
#include "say.h"

#include "json.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int kvs_say(struct kvs_error *err, int status, const char *fmt, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    err->status = status;
    return status;
}

int kvs_say_memory(struct kvs_error *err)
{
    return kvs_say(err, KVS_NO_MEMORY, "out of memory");
}

/* Bytes of the UTF-8 character at text[0]; 0 where none is there that can be shown as it is. */
static size_t character(const char *text, size_t len)
{
    unsigned char c = (unsigned char)text[0];
    size_t need = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (c < 0x20 || c == 0x7f || need > len || kvs_utf8_check(text, need) != need)
        return 0;
    if (c == 0xc2 && (unsigned char)text[1] < 0xa0) /* control characters, too */
        return 0;
    return need;
}

const char *kvs_say_quoted(char *buf, size_t size, const char *text, size_t len)
{
    size_t pos = 0;
    buf[pos++] = '"';
    for (size_t i = 0; i < len;) {
        char one[8];
        size_t whole = character(text + i, len - i);
        if (whole == 1 && (text[i] == '"' || text[i] == '\\'))
            snprintf(one, sizeof one, "\\%c", text[i]);
        else if (whole > 0)
            snprintf(one, sizeof one, "%.*s", (int)whole, text + i);
        else
            snprintf(one, sizeof one, "\\x%02x", (unsigned char)text[i]);
        size_t more = strlen(one);
        if (pos + more + 5 > size) { /* the dots, the quote and the NUL */
            memcpy(buf + pos, "...", 3);
            pos += 3;
            break;
        }
        memcpy(buf + pos, one, more);
        pos += more;
        i += whole > 0 ? whole : 1;
    }
    memcpy(buf + pos, "\"", 2);
    return buf;
}
