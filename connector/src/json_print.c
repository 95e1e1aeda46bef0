/* SPDX-License-Identifier: Apache-2.0 */
/* From a tree to text: no white space, and of all ways to write a string one. */
#include "json.h"

#include "say.h"
#include <stdlib.h>
#include <string.h>

struct out {
    char *text;
    size_t len, room;
    bool failed;
};

static bool reserve(struct out *out, size_t more)
{
    if (out->room - out->len >= more)
        return true;
    if (out->failed)
        return false;
    size_t room = 2 * out->room;
    while (room - out->len < more)
        room *= 2;
    char *text = realloc(out->text, room);
    if (!text) {
        out->failed = true;
        return false;
    }
    out->text = text;
    out->room = room;
    return true;
}

static void put(struct out *out, const char *text, size_t len)
{
    if (len > 0 && reserve(out, len)) {
        memcpy(out->text + out->len, text, len);
        out->len += len;
    }
}

static void put_u(struct out *out, unsigned c)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15], hex[c & 15]};
    put(out, text, sizeof text);
}

/* Writes what cannot stand in a string as it is. Answers how many bytes that was, 0: it can. */
static size_t put_escape(struct out *out, const unsigned char *p, size_t left)
{
    static const char letters[] = "btnvfr"; /* from \b on; \v is none of JSON's */

    if (*p == '"' || *p == '\\') {
        char text[2] = {'\\', (char)*p};
        put(out, text, 2);
    } else if (*p >= '\b' && *p <= '\r' && *p != '\v') {
        char text[2] = {'\\', letters[*p - '\b']};
        put(out, text, 2);
    } else if (*p < 0x20) {
        put_u(out, *p);
    } else if (*p == 0xed && left >= 3 && p[1] >= 0xa0) {
        put_u(out, 0xd000 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)); /* a lone surrogate */
        return 3;
    } else {
        return 0;
    }
    return 1;
}

static void put_string(struct out *out, const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t from = 0, i = 0;

    put(out, "\"", 1);
    while (i < len) {
        unsigned char c = p[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0xed) {
            i++;
            continue;
        }
        put(out, text + from, i - from);
        from = i;
        size_t done = put_escape(out, p + i, len - i);
        i += done ? done : 1;
        if (done)
            from = i;
    }
    put(out, text + from, len - from);
    put(out, "\"", 1);
}

/* As deep as the value, at most KVS_CONNECTOR_DEPTH. */
static void put_value(struct out *out, const struct kvs_json *value)
{
    if (value->kind == KVS_JSON_PLAIN) {
        put(out, value->text, value->len);
        return;
    }
    if (value->kind == KVS_JSON_STRING) {
        put_string(out, value->text, value->len);
        return;
    }
    bool object = value->kind == KVS_JSON_OBJECT;
    put(out, object ? "{" : "[", 1);
    for (const struct kvs_json *m = value->first; m; m = m->next) {
        if (object) {
            put_string(out, m->name, m->name_len);
            put(out, ":", 1);
        }
        put_value(out, m);
        if (m->next)
            put(out, ",", 1);
    }
    put(out, object ? "}" : "]", 1);
}

int kvs_json_print(const struct kvs_json *value, size_t guess, char **json, size_t *len,
                   struct kvs_error *err)
{
    struct out out = {.room = guess < 64 ? 64 : guess};

    out.text = malloc(out.room);
    if (!out.text)
        return kvs_say_memory(err);
    put_value(&out, value);
    put(&out, "", 1);
    if (out.failed) {
        free(out.text);
        return kvs_say_memory(err);
    }
    *json = out.text;
    if (len)
        *len = out.len - 1;
    return KVS_OK;
}
