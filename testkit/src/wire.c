/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *wire_hex(const void *bytes, size_t len)
{
    static const char digit[] = "0123456789abcdef";
    const uint8_t *b = bytes;
    char *hex = malloc(2 * len + 1);
    if (!hex)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        hex[2 * i] = digit[b[i] >> 4];
        hex[2 * i + 1] = digit[b[i] & 15];
    }
    hex[2 * len] = '\0';
    return hex;
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The reverse of wire_hex, to be freed; NULL where it is no hexadecimal. */
static uint8_t *unhex(const char *hex, size_t *len)
{
    size_t n = strlen(hex) / 2;
    uint8_t *bytes = malloc(n + 1);
    if (!bytes)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        int hi = nibble(hex[2 * i]), lo = nibble(hex[2 * i + 1]);
        if (hi < 0 || lo < 0) {
            free(bytes);
            return NULL;
        }
        bytes[i] = (uint8_t)(hi << 4 | lo);
    }
    *len = n;
    return bytes;
}

/* Bytes of the UTF-8 sequence at s, 0 where there is none; overlong forms and surrogates are left to jansson,
 * which refuses. */
static size_t utf8_sequence(const char *s, size_t left)
{
    unsigned char c = (unsigned char)*s;
    size_t n = c < 0x80                ? 1
               : c >= 0xc2 && c < 0xe0 ? 2
               : (c & 0xf0) == 0xe0    ? 3
               : c >= 0xf0 && c < 0xf5 ? 4
                                       : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

json_t *wire_text(const char *text, size_t len)
{
    char *clean = malloc(4 * len + 1);
    size_t at = 0;
    if (!clean)
        return NULL;
    for (size_t i = 0; i < len;) {
        size_t n = utf8_sequence(text + i, len - i);
        json_t *probe = n > 1 ? json_stringn(text + i, n) : NULL;
        bool control =
            n == 1 && ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) && !strchr("\n\t", text[i]);
        if (n == 0 || control || text[i] == '\0' || (n > 1 && !probe)) {
            at += (size_t)snprintf(clean + at, 5, "\\x%02x", (unsigned char)text[i]);
            i++;
        } else {
            memcpy(clean + at, text + i, n);
            at += n;
            i += n;
        }
        json_decref(probe);
    }
    json_t *json = json_stringn(clean, at);
    free(clean);
    return json;
}

/* The members of struct kvs_limits that go over the wire. */
#define LIMITS(XX)                                                                                           \
    XX(thread_model)                                                                                         \
    XX(min_key) XX(max_key) XX(max_value) XX(max_batch) XX(max_iov) XX(caps_native) XX(caps_none) XX(flags)

json_t *wire_limits_json(const struct kvs_limits *limits)
{
    json_t *json = json_object();
#define PUT(name) json_object_set_new(json, #name, json_integer((json_int_t)limits->name));
    LIMITS(PUT)
#undef PUT
    return json;
}

void wire_limits_read(const json_t *json, struct kvs_limits *limits)
{
    memset(limits, 0, sizeof(*limits));
    limits->size = sizeof(*limits);
#define GET(name) limits->name = (__typeof__(limits->name))json_integer_value(json_object_get(json, #name));
    LIMITS(GET)
#undef GET
}

char *wire_config_encode(const struct wire_config *cfg, const json_t *keys)
{
    json_t *params = json_array(), *all = NULL;
    char *text = NULL;
    size_t i = 0;
    while (i < cfg->nparams &&
           json_array_append_new(params, json_pack("[s, s]", cfg->params[i].name, cfg->params[i].value)) == 0)
        i++;
    if (i == cfg->nparams)
        all = json_pack("{s:s, s:s, s:s, s:s, s:s*, s:s*, s:O, s:O*, s:O*, s:o, s:I, s:I}", "case",
                        cfg->case_id, "target", cfg->target, "plugin", cfg->plugin, "prefix", cfg->prefix,
                        "role", cfg->role, "script", cfg->script, "params", params, "keys", keys, "store",
                        cfg->store, "limits", wire_limits_json(&cfg->limits), "seed", (json_int_t)cfg->seed,
                        "timeout_ns", (json_int_t)cfg->timeout_ns);
    text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    json_decref(params);
    return text;
}

static char *string_of(const json_t *all, const char *name)
{
    const char *s = json_string_value(json_object_get(all, name));
    return s ? strdup(s) : NULL;
}

static int decode_lists(const json_t *all, struct wire_config *cfg)
{
    const json_t *params = json_object_get(all, "params"), *keys = json_object_get(all, "keys");
    cfg->params = calloc(json_array_size(params) + 1, sizeof(*cfg->params));
    cfg->keys = calloc(json_array_size(keys) + 1, sizeof(*cfg->keys));
    cfg->key_lens = calloc(json_array_size(keys) + 1, sizeof(*cfg->key_lens));
    if (!cfg->params || !cfg->keys || !cfg->key_lens)
        return KVS_NO_MEMORY;
    for (; cfg->nparams < json_array_size(params); cfg->nparams++) {
        const json_t *pair = json_array_get(params, cfg->nparams);
        const char *name = json_string_value(json_array_get(pair, 0));
        const char *value = json_string_value(json_array_get(pair, 1));
        if (!name || !value)
            return KVS_INVALID_PARAM;
        struct kvs_param_value *p = &cfg->params[cfg->nparams];
        p->name = strdup(name);
        p->value = strdup(value);
    }
    for (; cfg->nkeys < json_array_size(keys); cfg->nkeys++) {
        const char *hex = json_string_value(json_array_get(keys, cfg->nkeys));
        cfg->keys[cfg->nkeys] = hex ? unhex(hex, &cfg->key_lens[cfg->nkeys]) : NULL;
        if (!cfg->keys[cfg->nkeys])
            return KVS_INVALID_PARAM;
    }
    return KVS_OK;
}

int wire_config_decode(const char *text, size_t len, struct wire_config *cfg)
{
    memset(cfg, 0, sizeof(*cfg));
    json_t *all = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    if (!all)
        return KVS_INVALID_PARAM;
    cfg->case_id = string_of(all, "case");
    cfg->target = string_of(all, "target");
    cfg->plugin = string_of(all, "plugin");
    cfg->prefix = string_of(all, "prefix");
    cfg->role = string_of(all, "role");
    cfg->script = string_of(all, "script");
    cfg->seed = (uint64_t)json_integer_value(json_object_get(all, "seed"));
    cfg->timeout_ns = (uint64_t)json_integer_value(json_object_get(all, "timeout_ns"));
    wire_limits_read(json_object_get(all, "limits"), &cfg->limits);
    cfg->store = json_incref(json_object_get(all, "store"));
    int rc = cfg->case_id && cfg->target && cfg->plugin && cfg->prefix ? decode_lists(all, cfg)
                                                                       : KVS_INVALID_PARAM;
    json_decref(all);
    if (rc != KVS_OK)
        wire_config_free(cfg);
    return rc;
}

static void free_const(const char *s)
{
    free((void *)(uintptr_t)s); /* names and values are const in the public structure, and ours here */
}

void wire_config_free(struct wire_config *cfg)
{
    for (size_t i = 0; cfg->params && i < cfg->nparams; i++) {
        free_const(cfg->params[i].name);
        free_const(cfg->params[i].value);
    }
    for (size_t i = 0; cfg->keys && i < cfg->nkeys; i++)
        free(cfg->keys[i]);
    free(cfg->params);
    free(cfg->keys);
    free(cfg->key_lens);
    free(cfg->case_id);
    free(cfg->target);
    free(cfg->plugin);
    free(cfg->prefix);
    free(cfg->role);
    free(cfg->script);
    json_decref(cfg->store);
    memset(cfg, 0, sizeof(*cfg));
}
