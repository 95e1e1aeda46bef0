/* SPDX-License-Identifier: Apache-2.0 */
/* What yajl does not do as we need it: it takes overlong forms and coded surrogates for UTF-8, \v and \f for
 * white space, and makes '?' of a lone surrogate. */
#include "json.h"

#include <string.h>

/* Bytes of the character at p, of n bytes; 0: it is none. */
static size_t utf8_step(const unsigned char *p, size_t n)
{
    unsigned char low = 0x80, high = 0xbf; /* of the second byte */
    size_t need;

    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        need = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        need = 3;
        low = p[0] == 0xe0 ? 0xa0 : 0x80;
        high = p[0] == 0xed ? 0x9f : 0xbf;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        need = 4;
        low = p[0] == 0xf0 ? 0x90 : 0x80;
        high = p[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (n < need || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    }
    return need;
}

size_t kvs_utf8_check(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t at = 0;

    while (at < len) {
        uint64_t eight;
        if (len - at >= sizeof eight) {
            memcpy(&eight, p + at, sizeof eight);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        size_t step = utf8_step(p + at, len - at);
        if (step == 0)
            return at;
        at += step;
    }
    return len;
}

size_t kvs_json_control(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len &&
           ((unsigned char)text[at] >= 0x20 || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
        at++;
    return at;
}

static unsigned hex4(const char *p)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)p[i];
        value = value << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static size_t put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* The character of the \u escape whose digits are at p; *used: bytes from there on, of at most `left`. */
static unsigned escaped(const char *p, size_t left, size_t *used)
{
    unsigned c = hex4(p);
    *used = 4;
    if (c < 0xd800 || c > 0xdbff || left < 10 || p[4] != '\\' || p[5] != 'u')
        return c;
    unsigned low = hex4(p + 6);
    if (low < 0xdc00 || low > 0xdfff)
        return c;
    *used = 10;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

size_t kvs_json_unescape(char *to, const char *from, size_t len)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    size_t out = 0;

    for (size_t i = 0; i < len;) {
        const char *backslash = memchr(from + i, '\\', len - i);
        size_t plain = backslash ? (size_t)(backslash - from) - i : len - i;
        memcpy(to + out, from + i, plain);
        out += plain;
        i += plain;
        if (!backslash)
            break;
        char letter = from[i + 1];
        i += 2;
        if (letter == 'u') {
            size_t used;
            out += put_utf8(to + out, escaped(from + i, len - i, &used));
            i += used;
        } else {
            const char *known = memchr(letters, letter, sizeof letters - 1);
            to[out++] = known ? controls[known - letters] : letter; /* else one of " \ / */
        }
    }
    return out;
}
