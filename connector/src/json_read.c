/* SPDX-License-Identifier: Apache-2.0 */
/* From text to a tree: yajl finds what is in the text, and whether it is JSON at all. */
#include "json.h"

#include "say.h"
#include <kvslot/connector.h>
#include <setjmp.h>
#include <string.h>
#include <yajl/yajl_parse.h>

struct reader {
    struct kvs_arena *arena;
    const char *text;
    size_t len;
    size_t at; /* behind the value that was last found */
    struct kvs_json *open[KVS_CONNECTOR_DEPTH];
    unsigned depth;
    const char *name; /* of the next member */
    size_t name_len;
    struct kvs_json *root;
    int status; /* why a callback ended it */
    jmp_buf no_memory;
};

/* ---- yajl's memory: from the arena, since it does not check whether it gets some ---- */

struct piece {
    size_t size;
    size_t pad; /* keeps what follows aligned */
};

static void *yajls_malloc(void *ctx, size_t size)
{
    struct reader *r = ctx;
    struct piece *piece = kvs_arena_get(r->arena, sizeof *piece + size);
    if (!piece)
        longjmp(r->no_memory, 1);
    piece->size = size;
    return piece + 1;
}

static void *yajls_realloc(void *ctx, void *old, size_t size)
{
    void *got = yajls_malloc(ctx, size);
    if (old) {
        size_t had = ((struct piece *)old - 1)->size;
        memcpy(got, old, had < size ? had : size);
    }
    return got;
}

static void yajls_free(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
}

/* ---- What yajl finds ---- */

static int stop(struct reader *r, int status)
{
    r->status = status;
    return 0;
}

/* Goes to where the next value, or end of one, begins in the text: yajl has seen that it is there. */
static void find(struct reader *r)
{
    while (r->at < r->len && memchr(" \t\r\n,:", r->text[r->at], 6))
        r->at++;
}

/* The same; false, which must not be, where it begins otherwise. */
static bool find_one_of(struct reader *r, const char *starts)
{
    find(r);
    return r->at < r->len && r->text[r->at] && strchr(starts, r->text[r->at]);
}

static int add(struct reader *r, struct kvs_json *value)
{
    if (r->depth == 0)
        r->root = value;
    else
        kvs_json_append(r->open[r->depth - 1], r->name, r->name_len, value);
    return 1;
}

static int add_scalar(struct reader *r, enum kvs_json_kind kind, const char *text, size_t len)
{
    struct kvs_json *value = kvs_json_container(r->arena, kind);
    if (!value)
        return stop(r, KVS_NO_MEMORY);
    value->text = text;
    value->len = len;
    return add(r, value);
}

static int plain(struct reader *r, size_t len)
{
    if (!find_one_of(r, "ntf-0123456789") || len > r->len - r->at)
        return stop(r, KVS_BACKEND);
    const char *text = r->text + r->at;
    r->at += len;
    return add_scalar(r, KVS_JSON_PLAIN, text, len);
}

static int on_null(void *ctx)
{
    return plain(ctx, 4);
}

static int on_boolean(void *ctx, int value)
{
    return plain(ctx, value ? 4 : 5);
}

static int on_number(void *ctx, const char *text, size_t len)
{
    (void)text;
    return plain(ctx, len);
}

/* The string that begins at the next value: as it is in the text, or without its escapes. */
static int string(struct reader *r, const char **text, size_t *len)
{
    if (!find_one_of(r, "\""))
        return stop(r, KVS_BACKEND);
    const char *start = r->text + r->at + 1, *end = r->text + r->len, *p = start;
    bool escapes = false;
    while (p < end && *p != '"') {
        if (*p == '\\') {
            escapes = true;
            p++;
        }
        p++;
    }
    r->at = (size_t)(p - r->text) + 1;
    *text = start;
    *len = (size_t)(p - start);
    if (!escapes)
        return 1;
    char *own = kvs_arena_get(r->arena, *len);
    if (!own)
        return stop(r, KVS_NO_MEMORY);
    *len = kvs_json_unescape(own, start, *len);
    *text = own;
    return 1;
}

static int on_string(void *ctx, const unsigned char *yajls, size_t yajls_len)
{
    struct reader *r = ctx;
    const char *text;
    size_t len;
    (void)yajls;
    (void)yajls_len;
    if (!string(r, &text, &len))
        return 0;
    return add_scalar(r, KVS_JSON_STRING, text, len);
}

static int on_name(void *ctx, const unsigned char *yajls, size_t yajls_len)
{
    struct reader *r = ctx;
    (void)yajls;
    (void)yajls_len;
    return string(r, &r->name, &r->name_len);
}

static int begin(struct reader *r, enum kvs_json_kind kind)
{
    if (!find_one_of(r, "[{"))
        return stop(r, KVS_BACKEND);
    if (r->depth == KVS_CONNECTOR_DEPTH)
        return stop(r, KVS_TOO_LARGE);
    struct kvs_json *value = kvs_json_container(r->arena, kind);
    if (!value)
        return stop(r, KVS_NO_MEMORY);
    r->at++;
    add(r, value);
    r->open[r->depth++] = value;
    return 1;
}

static int on_object(void *ctx)
{
    return begin(ctx, KVS_JSON_OBJECT);
}

static int on_array(void *ctx)
{
    return begin(ctx, KVS_JSON_ARRAY);
}

static int on_array_end(void *ctx)
{
    struct reader *r = ctx;
    if (!find_one_of(r, "]}"))
        return stop(r, KVS_BACKEND);
    r->at++;
    r->depth--;
    return 1;
}

static int on_object_end(void *ctx)
{
    struct reader *r = ctx;
    if (!on_array_end(r))
        return 0;
    return kvs_json_settle(r->arena, r->open[r->depth]) ? 1 : stop(r, KVS_NO_MEMORY);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_name,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* ---- Reading ---- */

/* yajl's own words, which end in a newline. */
static int no_json(struct reader *r, yajl_handle handle, const char *what, struct kvs_error *err)
{
    unsigned char *why = yajl_get_error(handle, 0, NULL, 0);
    find(r);
    return kvs_say(err, KVS_INVALID_PARAM, "%s: no JSON, near byte %zu: %.*s", what, r->at,
                   (int)strcspn((const char *)why, "\n"), (const char *)why);
}

static bool is_blank(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && memchr(" \t\r\n", text[i], 4))
        i++;
    return i == len;
}

/* yajl takes the beginning of a string behind the value for nothing: that is looked at here. */
static int parse(struct reader *r, const char *what, struct kvs_error *err)
{
    yajl_alloc_funcs memory = {yajls_malloc, yajls_realloc, yajls_free, r};

    if (setjmp(r->no_memory))
        return kvs_say_memory(err);
    yajl_handle handle = yajl_alloc(&callbacks, &memory, r);
    yajl_config(handle, yajl_dont_validate_strings, 1); /* done before, and better */
    yajl_status result = yajl_parse(handle, (const unsigned char *)r->text, r->len);
    if (result == yajl_status_ok)
        result = yajl_complete_parse(handle);
    if (result == yajl_status_ok && !is_blank(r->text + r->at, r->len - r->at))
        return kvs_say(err, KVS_INVALID_PARAM, "%s: no JSON, near byte %zu: trailing garbage", what, r->at);
    if (result == yajl_status_ok)
        return KVS_OK;
    if (r->status == KVS_TOO_LARGE)
        return kvs_say(err, KVS_TOO_LARGE, "%s: nested deeper than %d levels at byte %zu", what,
                       KVS_CONNECTOR_DEPTH, r->at);
    if (r->status == KVS_NO_MEMORY)
        return kvs_say_memory(err);
    if (r->status == KVS_BACKEND)
        return kvs_say(err, KVS_BACKEND, "%s: yajl found what is not there at byte %zu", what, r->at);
    return no_json(r, handle, what, err);
}

/* What yajl would take, or say less clearly. */
static int check_bytes(const struct kvs_json_source *source, struct kvs_error *err)
{
    const char *text = source->text;
    size_t len = source->len;

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return kvs_say(err, KVS_INVALID_PARAM,
                       "%s: no JSON: it begins with a byte order mark, which has to go", source->what);
    size_t at = kvs_utf8_check(text, len);
    if (at < len)
        return kvs_say(err, KVS_INVALID_PARAM, "%s: no UTF-8 at byte %zu (0x%02x)", source->what, at,
                       (unsigned char)text[at]);
    at = kvs_json_control(text, len);
    if (at < len)
        return kvs_say(err, KVS_INVALID_PARAM, "%s: no JSON: a control character at byte %zu (0x%02x)",
                       source->what, at, (unsigned char)text[at]);
    return KVS_OK;
}

int kvs_json_read(struct kvs_arena *arena, const struct kvs_json_source *source, struct kvs_json **root,
                  struct kvs_error *err)
{
    struct reader r;

    *root = NULL;
    if (!source->text && source->len > 0)
        return kvs_say(err, KVS_INVALID_PARAM, "%s: the text is NULL and its length is %zu", source->what,
                       source->len);
    if (source->len > source->most)
        return kvs_say(err, KVS_TOO_LARGE, "%s: %zu bytes; max_input allows %zu", source->what, source->len,
                       source->most);
    if (source->len == 0 || is_blank(source->text, source->len))
        return KVS_OK;
    int status = check_bytes(source, err);
    if (status != KVS_OK)
        return status;
    r.arena = arena;
    r.text = source->text;
    r.len = source->len;
    r.at = 0;
    r.depth = 0;
    r.name = NULL;
    r.name_len = 0;
    r.root = NULL;
    r.status = KVS_OK;
    status = parse(&r, source->what, err);
    if (status == KVS_OK)
        *root = r.root;
    return status;
}

const char *kvs_json_kind_name(const struct kvs_json *value)
{
    switch (value->kind) {
    case KVS_JSON_STRING:
        return "a string";
    case KVS_JSON_ARRAY:
        return "an array";
    case KVS_JSON_OBJECT:
        return "an object";
    case KVS_JSON_PLAIN:
        break;
    }
    return value->text[0] == 'n'                            ? "null"
           : value->text[0] == 't' || value->text[0] == 'f' ? "a boolean"
                                                            : "a number";
}
