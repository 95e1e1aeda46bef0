/* SPDX-License-Identifier: Apache-2.0 */
#include "err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where text that is `len` bytes long and was cut there ends, so that no UTF-8 character is left half. */
static size_t whole_utf8(const char *text, size_t len)
{
    size_t start = len;
    while (start > 0 && len - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0)
        return len;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    size_t have = len - start + 1;
    return need > have ? start - 1 : len;
}

int kvs_err_vset(struct kvs_error *err, int status, const char *fmt, va_list args)
{
    if (!err)
        return status;
    int saved = errno;
    /* Not straight into err->text: that may be among the arguments. */
    char text[sizeof err->text];
    int n = vsnprintf(text, sizeof text, fmt, args);
    if (n < 0)
        text[0] = '\0';
    else if ((size_t)n >= sizeof text)
        text[whole_utf8(text, sizeof text - 1)] = '\0';
    memcpy(err->text, text, strlen(text) + 1);
    err->status = status;
    errno = saved;
    return status;
}

int kvs_err_set(struct kvs_error *err, int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    kvs_err_vset(err, status, fmt, args);
    va_end(args);
    return status;
}

static size_t shown_width(unsigned char c)
{
    return c >= 0x20 && c < 0x7f ? 1 : 4;
}

const char *kvs_show_bytes(char *buf, size_t size, const void *data, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *in = data;
    if (size == 0)
        return buf;
    size_t room = size - 1, pos = 0, width = 0, i;
    for (i = 0; i < len && width <= room; i++)
        width += shown_width(in[i]);
    size_t dots = width > room ? (room < 3 ? room : 3) : 0;
    room -= dots;
    for (i = 0; i < len && pos + shown_width(in[i]) <= room; i++) {
        if (shown_width(in[i]) == 1) {
            buf[pos++] = (char)in[i];
        } else {
            buf[pos++] = '\\';
            buf[pos++] = 'x';
            buf[pos++] = hex[in[i] >> 4];
            buf[pos++] = hex[in[i] & 15];
        }
    }
    while (dots-- > 0)
        buf[pos++] = '.';
    buf[pos] = '\0';
    return buf;
}

int kvs_status_known(int status)
{
    switch (status) {
#define STATUS_CASE(name, number, text) case number:
        KVS_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
        return 1;
    default:
        return 0;
    }
}

int kvs_status_error(int rc)
{
    if (rc >= 0 || rc == KVS_NOT_POSTED || rc == KVS_AGAIN || !kvs_status_known(rc))
        return KVS_BACKEND;
    return rc;
}

const char *kvs_err_why(char *buf, size_t size, const struct kvs_error *own, int rc)
{
    if (own->text[0])
        return own->text;
    if (kvs_status_error(rc) == rc)
        return kvs_status_text(rc);
    snprintf(buf, size, "it answered %d, which is no error", rc);
    return buf;
}
