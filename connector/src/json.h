/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values as trees, from text and to text. */
#ifndef KVS_CONNECTOR_JSON_H
#define KVS_CONNECTOR_JSON_H

#include "arena.h"

#include <kvslot/kvslot.h>
#include <stdbool.h>

enum kvs_json_kind {
    KVS_JSON_PLAIN, /* null, true, false, a number: as the text has it */
    KVS_JSON_STRING,
    KVS_JSON_ARRAY,
    KVS_JSON_OBJECT,
};

/* A value. Strings and names are UTF-8 in which, beyond the standard, a lone surrogate is coded like any
 * character of three bytes; no input can hold that but by an escape. They may hold NULs. */
struct kvs_json {
    struct kvs_json *next; /* in its array or object */
    const char *name;      /* in an object */
    size_t name_len;
    union {
        const char *text;       /* scalars */
        struct kvs_json *first; /* arrays and objects */
    };
    union {
        size_t len;
        struct kvs_json *last;
    };
    uint32_t count; /* of members */
    uint32_t place; /* among the members of its object, as they came */
    enum kvs_json_kind kind;
};

/* ---- From text ---- */

/* What is read, for messages: "the kv_transfer_params of the prefill". */
struct kvs_json_source {
    const char *what;
    const char *text; /* has to stay as long as the tree: it points into it */
    size_t len;
    size_t most; /* bytes */
};

/* Reads a text. *root is NULL where there is nothing but white space. */
int kvs_json_read(struct kvs_arena *arena, const struct kvs_json_source *source, struct kvs_json **root,
                  struct kvs_error *err);
/* "an object", "null", ... */
const char *kvs_json_kind_name(const struct kvs_json *value);
/* Offset of the first byte that is no UTF-8; len where there is none. */
size_t kvs_utf8_check(const char *text, size_t len);
/* Offset of the first control character that may stand nowhere in JSON; len where there is none. */
size_t kvs_json_control(const char *text, size_t len);
/* Resolves the escapes of a string whose form was checked; the result is never longer. Answers its length. */
size_t kvs_json_unescape(char *to, const char *from, size_t len);

/* ---- Trees ---- */

/* Makes an object or array, empty; NULL: no memory. */
struct kvs_json *kvs_json_container(struct kvs_arena *arena, enum kvs_json_kind kind);
/* Puts a value behind all others; `name` stays the caller's, NULL in arrays. */
void kvs_json_append(struct kvs_json *to, const char *name, size_t name_len, struct kvs_json *value);
/* Appends a scalar; `text` stays the caller's. Answers false where memory is out. */
bool kvs_json_put(struct kvs_arena *arena, struct kvs_json *object, const char *name, enum kvs_json_kind kind,
                  const char *text, size_t len);
/* Brings the members of an object into the order of their names, the last one of each name alone. Answers
 * false where memory is out. */
bool kvs_json_settle(struct kvs_arena *arena, struct kvs_json *object);
/* Bytewise, a name before those that it begins. */
int kvs_json_name_order(const struct kvs_json *a, const struct kvs_json *b);
/* Are settled values equal: numbers by their worth, of any size. */
bool kvs_json_equal(const struct kvs_json *a, const struct kvs_json *b);
/* Members sorted by name, equal names as they came; NULL: no memory. */
struct kvs_json **kvs_json_sorted(struct kvs_arena *arena, const struct kvs_json *object);

/* ---- To text ---- */

/* Prints a value: *json is from malloc, and ends in a NUL that *len does not count. `guess`: about how
 * long it will be. */
int kvs_json_print(const struct kvs_json *value, size_t guess, char **json, size_t *len,
                   struct kvs_error *err);

#endif
