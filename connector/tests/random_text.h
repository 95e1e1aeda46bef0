/* SPDX-License-Identifier: Apache-2.0 */
/* Random strings, written in two ways: any that stands for them, and the one that comes out. For one test. */
#ifndef KVS_CONNECTOR_RANDOM_TEXT_H
#define KVS_CONNECTOR_RANDOM_TEXT_H

#include "connector_test.h"
#include "random.h"

/* ---- Two texts ---- */

struct text {
    char *data;
    size_t len, room;
};

static void put(struct text *t, const char *data, size_t len)
{
    if (t->len + len + 1 > t->room) {
        t->room = 2 * (t->len + len + 32);
        t->data = realloc(t->data, t->room);
        assert_non_null(t->data);
    }
    memcpy(t->data + t->len, data, len);
    t->len += len;
    t->data[t->len] = '\0';
}

static void puts_(struct text *t, const char *data)
{
    put(t, data, strlen(data));
}

/* As it goes in, and as it has to come out. */
struct both {
    struct text in, out;
};

static void blank(struct both *b)
{
    for (unsigned n = below(8); n > 5; n--)
        put(&b->in, &" \t\r\n"[below(4)], 1);
}

static void token(struct both *b, const char *text)
{
    blank(b);
    puts_(&b->in, text);
    puts_(&b->out, text);
    blank(b);
}

/* ---- Strings ---- */

enum { MOST_CHARS = 12 };

/* Code points; lone surrogates may be among them, but never a high one before a low one. */
struct string {
    unsigned chars[MOST_CHARS];
    unsigned n;
};

static unsigned character(unsigned before)
{
    unsigned c;
    switch (below(10)) {
    case 0:
        c = below(0x20);
        break;
    case 1:
        c = (unsigned char)"\"\\/<>&\x7f"[below(7)];
        break;
    case 2:
        c = 0x80 + below(0x780);
        break;
    case 3:
        c = 0x800 + below(0xf800);
        break;
    case 4:
        c = 0x10000 + below(0x100000);
        break;
    case 5:
        c = 0xd800 + below(0x800);
        break;
    default:
        c = 'a' + below(4);
    }
    if (before >= 0xd800 && before < 0xdc00 && c >= 0xdc00 && c < 0xe000)
        return 'x';
    return c;
}

static struct string random_string(void)
{
    struct string s = {.n = below(MOST_CHARS)};
    for (unsigned i = 0; i < s.n; i++)
        s.chars[i] = character(i ? s.chars[i - 1] : 0);
    return s;
}

static void put_raw(struct text *t, unsigned c)
{
    char utf8[4];
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--, c >>= 6)
        utf8[i] = (char)(0x80 | (c & 0x3f));
    utf8[0] = (char)(first[n] | c);
    put(t, utf8, (size_t)n);
}

static void put_u(struct text *t, unsigned unit, bool upper)
{
    char text[8];
    snprintf(text, sizeof text, upper ? "\\u%04X" : "\\u%04x", unit);
    puts_(t, text);
}

static const char *short_escape(unsigned c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return NULL;
    }
}

static bool is_surrogate(unsigned c)
{
    return c >= 0xd800 && c < 0xe000;
}

/* In any form that stands for it. */
static void put_in(struct text *t, unsigned c)
{
    const char *escape = c == '/' ? "\\/" : short_escape(c);
    unsigned form = below(3);
    bool raw = c >= 0x20 && c != '"' && c != '\\' && !is_surrogate(c);
    if (form == 0 && escape)
        puts_(t, escape);
    else if (form == 1 && raw)
        put_raw(t, c);
    else if (c < 0x10000) {
        put_u(t, c, below(2));
    } else {
        put_u(t, 0xd800 + ((c - 0x10000) >> 10), below(2));
        put_u(t, 0xdc00 + (c & 0x3ff), below(2));
    }
}

static void put_out(struct text *t, unsigned c)
{
    if (short_escape(c))
        puts_(t, short_escape(c));
    else if (c < 0x20 || is_surrogate(c))
        put_u(t, c, false);
    else
        put_raw(t, c);
}

static void put_string_in(struct text *t, const struct string *s)
{
    puts_(t, "\"");
    for (unsigned i = 0; i < s->n; i++)
        put_in(t, s->chars[i]);
    puts_(t, "\"");
}

static void put_string_out(struct text *t, const struct string *s)
{
    puts_(t, "\"");
    for (unsigned i = 0; i < s->n; i++)
        put_out(t, s->chars[i]);
    puts_(t, "\"");
}

/* The bytes' order is that of the code points. */
static int string_order(const struct string *a, const struct string *b)
{
    for (unsigned i = 0; i < a->n && i < b->n; i++) {
        if (a->chars[i] != b->chars[i])
            return a->chars[i] < b->chars[i] ? -1 : 1;
    }
    return (a->n > b->n) - (a->n < b->n);
}

#endif
