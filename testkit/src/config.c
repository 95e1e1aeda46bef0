/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration from a file. */
#include "say.h"
#include <errno.h>
#include <jansson.h>
#include <kvslot/testkit.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kvs_conform_file {
    json_t *root; /* owns all texts but the next */
    char *name;
    struct kvs_param_value *params;
    struct kvs_conform_waiver *waivers;
    struct kvs_conform_variant *variants; /* nvariants of them, their params owned */
    size_t nvariants;
};

void kvs_conform_file_free(struct kvs_conform_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->nvariants; i++)
        free((void *)(uintptr_t)f->variants[i].params);
    free(f->variants);
    free(f->waivers);
    free(f->params);
    free(f->name);
    json_decref(f->root);
    free(f);
}

/* What is being filled, and what is to be said. */
struct reading {
    struct kvs_conform_config *cfg;
    struct kvs_conform_file *file;
    struct kvs_error *err;
};

static int wrong(const struct reading *r, const char *name, const char *needed)
{
    return say(r->err, KVS_INVALID_PARAM, "member %s has to be %s", name, needed);
}

static int need_text(const struct reading *r, const char *name, const json_t *value, const char **to)
{
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
        return wrong(r, name, "a string");
    *to = json_string_value(value);
    return KVS_OK;
}

/* An object of strings, as parameters; *to is the caller's to free, also on failure. */
static int need_params(const struct reading *r, const char *name, json_t *value, struct kvs_param_value **to,
                       size_t *n)
{
    const char *key;
    json_t *one;
    *n = 0;
    if (!json_is_object(value))
        return wrong(r, name, "an object of strings");
    *to = calloc(json_object_size(value) + 1, sizeof(**to));
    if (!*to)
        return say(r->err, KVS_NO_MEMORY, "no memory for member %s", name);
    json_object_foreach(value, key, one)
    {
        const char *text;
        int rc = need_text(r, key, one, &text);
        if (rc != KVS_OK)
            return rc;
        (*to)[(*n)++] = (struct kvs_param_value){key, text};
    }
    return KVS_OK;
}

static int read_variants(struct reading *r, json_t *value)
{
    static const char *const known[] = {"denied", "unreachable", "full"};
    const char *key;
    json_t *one;
    if (!json_is_object(value))
        return wrong(r, "variants", "an object of objects");
    r->file->variants = calloc(json_object_size(value) + 1, sizeof(*r->file->variants));
    if (!r->file->variants)
        return say(r->err, KVS_NO_MEMORY, "no memory for the variants");
    json_object_foreach(value, key, one)
    {
        struct kvs_conform_variant *v = &r->file->variants[r->file->nvariants++];
        struct kvs_param_value *params = NULL;
        bool is_known = false;
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            is_known |= strcmp(key, known[i]) == 0;
        if (!is_known)
            return say(r->err, KVS_INVALID_PARAM,
                       "variant %s is not known; there are denied, unreachable, full", key);
        int rc = need_params(r, key, one, &params, &v->nparams);
        v->name = key;
        v->params = params;
        if (rc != KVS_OK)
            return rc;
    }
    r->cfg->variants = r->file->variants;
    r->cfg->nvariants = r->file->nvariants;
    return KVS_OK;
}

static int read_waivers(struct reading *r, json_t *value)
{
    size_t i, n = 0;
    json_t *one;
    if (!json_is_array(value))
        return wrong(r, "waivers", "an array of objects");
    r->file->waivers = calloc(json_array_size(value) + 1, sizeof(*r->file->waivers));
    if (!r->file->waivers)
        return say(r->err, KVS_NO_MEMORY, "no memory for the waivers");
    json_array_foreach(value, i, one)
    {
        const char *key;
        json_t *text;
        struct kvs_conform_waiver *w = &r->file->waivers[n++];
        if (!json_is_object(one))
            return wrong(r, "waivers", "an array of objects");
        json_object_foreach(one, key, text)
        {
            const char **to = strcmp(key, "id") == 0        ? &w->id
                              : strcmp(key, "reason") == 0  ? &w->reason
                              : strcmp(key, "expires") == 0 ? &w->expires
                                                            : NULL;
            if (!to)
                return say(r->err, KVS_INVALID_PARAM, "a waiver has id, reason and expires, and no '%s'",
                           key);
            int rc = need_text(r, key, text, to);
            if (rc != KVS_OK)
                return rc;
        }
    }
    r->cfg->waivers = r->file->waivers;
    r->cfg->nwaivers = n;
    return KVS_OK;
}

static int read_hooks(struct reading *r, json_t *value)
{
    const char *key;
    json_t *text;
    struct kvs_conform_hooks *h = &r->cfg->hooks;
    if (!json_is_object(value))
        return wrong(r, "hooks", "an object of strings");
    json_object_foreach(value, key, text)
    {
        const char **to = strcmp(key, "start") == 0    ? &h->start
                          : strcmp(key, "stop") == 0   ? &h->stop
                          : strcmp(key, "kill") == 0   ? &h->kill
                          : strcmp(key, "pause") == 0  ? &h->pause
                          : strcmp(key, "resume") == 0 ? &h->resume
                                                       : NULL;
        if (!to)
            return say(r->err, KVS_INVALID_PARAM,
                       "hook '%s' is not known; there are start, stop, kill, pause, resume", key);
        int rc = need_text(r, key, text, to);
        if (rc != KVS_OK)
            return rc;
    }
    return KVS_OK;
}

static int read_seed(struct reading *r, json_t *value)
{
    char *end;
    const char *text = json_string_value(value);
    errno = 0;
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        r->cfg->seed = (uint64_t)json_integer_value(value);
    else if (!text || text[0] < '0' || text[0] > '9')
        return wrong(r, "seed", "a whole number from 0 on");
    else {
        r->cfg->seed = strtoull(text, &end, 10);
        if (*end || errno)
            return wrong(r, "seed", "a whole number from 0 on");
    }
    return KVS_OK;
}

static int read_params(struct reading *r, json_t *value)
{
    int rc = need_params(r, "params", value, &r->file->params, &r->cfg->nparams);
    r->cfg->params = r->file->params;
    return rc;
}

static int read_multiplier(struct reading *r, json_t *value)
{
    if (!json_is_number(value) || !(json_number_value(value) > 0))
        return wrong(r, "timeout_multiplier", "a number above 0");
    r->cfg->timeout_multiplier = json_number_value(value);
    return KVS_OK;
}

static const struct {
    const char *name;
    size_t text;                                   /* offset of a const char *; or */
    size_t count;                                  /* offset of an unsigned, from 1 on; or */
    size_t flag;                                   /* offset of an int; or */
    int (*read)(struct reading *r, json_t *value); /* what reads it */
} members[] = {
#define TEXT(name)                                                                                           \
    {                                                                                                        \
#name, offsetof(struct kvs_conform_config, name), 0, 0, NULL                                         \
    }
#define COUNT(name)                                                                                          \
    {                                                                                                        \
#name, 0, offsetof(struct kvs_conform_config, name), 0, NULL                                         \
    }
#define FLAG(name)                                                                                           \
    {                                                                                                        \
#name, 0, 0, offsetof(struct kvs_conform_config, name), NULL                                         \
    }
    TEXT(target),
    TEXT(plugin_file),
    TEXT(filter),
    TEXT(skip),
    TEXT(json_file),
    TEXT(junit_file),
    TEXT(html_file),
    TEXT(case_program),
    TEXT(expect_file),
    TEXT(state_dir),
    TEXT(replay_file),
    COUNT(jobs),
    COUNT(repeat),
    FLAG(until_fail),
    FLAG(strict),
    {"params", 0, 0, 0, read_params},
    {"seed", 0, 0, 0, read_seed},
    {"timeout_multiplier", 0, 0, 0, read_multiplier},
    {"hooks", 0, 0, 0, read_hooks},
    {"variants", 0, 0, 0, read_variants},
    {"waivers", 0, 0, 0, read_waivers},
};

static int read_member(struct reading *r, const char *name, json_t *value)
{
    size_t i = 0, n = sizeof(members) / sizeof(members[0]);
    while (i < n && strcmp(members[i].name, name) != 0)
        i++;
    if (i == n)
        return say(r->err, KVS_INVALID_PARAM, "there is no member '%s'", name);
    if (members[i].read)
        return members[i].read(r, value);
    if (members[i].text)
        return need_text(r, name, value, (const char **)((char *)r->cfg + members[i].text));
    if (members[i].flag) {
        if (!json_is_boolean(value))
            return wrong(r, name, "true or false");
        *(int *)((char *)r->cfg + members[i].flag) = json_is_true(value);
        return KVS_OK;
    }
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || number > INT_MAX)
        return wrong(r, name, "a whole number from 1 on");
    *(unsigned *)((char *)r->cfg + members[i].count) = (unsigned)number;
    return KVS_OK;
}

static int read_all(struct reading *r)
{
    const char *name;
    json_t *value;
    if (!json_is_object(r->file->root))
        return say(r->err, KVS_INVALID_PARAM, "it is no object");
    json_object_foreach(r->file->root, name, value)
    {
        int rc = read_member(r, name, value);
        if (rc != KVS_OK)
            return rc;
    }
    return KVS_OK;
}

int kvs_conform_config_read(const char *file, struct kvs_conform_config *cfg, struct kvs_conform_file **out,
                            struct kvs_error *err)
{
    struct kvs_error why = {0};
    json_error_t where;
    if (out)
        *out = NULL;
    if (!file || !cfg || !out || cfg->size != sizeof(*cfg))
        return say(err, KVS_INVALID_PARAM,
                   "file, configuration or out pointer is NULL, or the size is not %zu", sizeof(*cfg));
    FILE *f = fopen(file, "re");
    if (!f)
        return say(err, KVS_IO, "the configuration %s cannot be read: %s", file, strerror(errno));
    struct kvs_conform_config filled = *cfg;
    struct reading r = {.cfg = &filled, .file = calloc(1, sizeof(*r.file)), .err = &why};
    int rc = r.file ? KVS_OK : say(&why, KVS_NO_MEMORY, "no memory");
    if (rc == KVS_OK) {
        r.file->root = json_loadf(f, JSON_REJECT_DUPLICATES, &where);
        rc =
            r.file->root ? read_all(&r) : say(&why, KVS_INVALID_PARAM, "line %d: %s", where.line, where.text);
    }
    fclose(f);
    if (rc != KVS_OK) {
        kvs_conform_file_free(r.file);
        return say(err, rc, "the configuration %s: %s", file, why.text);
    }
    r.file->name = strdup(file);
    filled.config_file = r.file->name; /* without memory for it the line lacks it */
    *cfg = filled;
    *out = r.file;
    return KVS_OK;
}
