/* SPDX-License-Identifier: Apache-2.0 */
/* The backend's declared parameters. */
#include "case.h"
#include <dirent.h>
#include <inttypes.h>
#include <kvslot/backend.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct kvs_param *param_at(const struct kvs_backend *b, uint32_t i)
{
    size_t stride = b->param_size ? b->param_size : sizeof(struct kvs_param);
    return (const void *)((const char *)b->params + i * stride);
}

static bool is_number(const struct kvs_param *p)
{
    return p->type == KVS_PARAM_INT || p->type == KVS_PARAM_SIZE || p->type == KVS_PARAM_DURATION;
}

/* Opens with one parameter set; where that is refused the text has to name it. The engine, or NULL. */
static kvs_engine *try_open(struct kit *k, const char *name, const char *value)
{
    struct kvs_error err = {0};
    kvs_engine *e = NULL;
    int rc = kit_open_with(k, name, value, &e, &err);
    if (rc == KVS_OK)
        return e;
    KIT_CHECK(!e, "open with %s=%s failed and the out pointer is not NULL", name, value);
    KIT_CHECK(strstr(err.text, name), "open with %s=%s is %s, and its text does not name the parameter: %s",
              name, value, kvs_status_name(rc), err.text);
    return NULL;
}

static void refused(struct kit *k, const char *name, const char *value)
{
    kvs_engine *e = try_open(k, name, value);
    KIT_CHECK(!e, "open with %s=%s, which its declaration does not allow, is OK", name, value);
}

static void number_text(const struct kvs_param *p, int64_t n, char *to, size_t size)
{
    snprintf(to, size, "%" PRId64 "%s", n, p->type == KVS_PARAM_DURATION && n != 0 ? "ns" : "");
}

static void params_refused(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    const struct kvs_backend *b = kvs_engine_backend(e);
    char text[64];
    kit_needs_two_configurations(k);
    for (uint32_t i = 0; i < b->nparams; i++) {
        const struct kvs_param *p = param_at(b, i);
        if (p->type == KVS_PARAM_ENUM)
            refused(k, p->name, "no such word");
        if (p->type == KVS_PARAM_BOOL)
            refused(k, p->name, "perhaps");
        if (!is_number(p))
            continue;
        refused(k, p->name, "");
        refused(k, p->name, "12 apples");
        if (p->min == 0 && p->max == 0)
            continue;
        if (p->min > INT64_MIN) {
            number_text(p, p->min - 1, text, sizeof(text));
            refused(k, p->name, text);
        }
        if (p->max < INT64_MAX) {
            number_text(p, p->max + 1, text, sizeof(text));
            refused(k, p->name, text);
        }
    }
}

static void params_bounds(struct kit *k)
{
    kvs_engine *first = kit_open(k), *e;
    const struct kvs_backend *b = kvs_engine_backend(first);
    char text[64];
    kit_needs_two_configurations(k);
    for (uint32_t i = 0; i < b->nparams; i++) {
        const struct kvs_param *p = param_at(b, i);
        if (!is_number(p) || (p->min == 0 && p->max == 0))
            continue;
        for (int high = 0; high < 2; high++) {
            number_text(p, high ? p->max : p->min, text, sizeof(text));
            if ((e = try_open(k, p->name, text)) != NULL)
                kit_close(k, e);
        }
    }
}

static void params_defaults(struct kit *k)
{
    kvs_engine *first = kit_open(k);
    const struct kvs_backend *b = kvs_engine_backend(first);
    kit_needs_two_configurations(k);
    for (uint32_t i = 0; i < b->nparams; i++) {
        const struct kvs_param *p = param_at(b, i);
        struct kvs_error err = {0};
        kvs_engine *e;
        if (!p->def || kit_is_given(k, p))
            continue;
        KIT_STATUS_ERR(kit_open_with(k, p->name, p->def, &e, &err), KVS_OK, &err);
        struct kit_key key = kit_key(k, "with %s", p->name);
        struct kit_buf v = kit_value(k, kit_value_size(k, 100), i);
        kit_put(k, e, key, v.data, v.len);
        kit_expect(k, first, key, v.data, v.len);
        kit_close(k, e);
    }
}

static bool declares(const struct kvs_backend *b, const char *name, uint32_t type)
{
    bool found = false;
    for (uint32_t i = 0; i < b->nparams; i++)
        found |= strcmp(param_at(b, i)->name, name) == 0 && param_at(b, i)->type == type;
    return found;
}

/* Removes a folder that the case has made, and the files in it. */
static void remove_folder(const char *path)
{
    char file[PATH_MAX];
    DIR *d = opendir(path);
    for (struct dirent *entry; d && (entry = readdir(d)) != NULL;)
        if (snprintf(file, sizeof(file), "%s/%s", path, entry->d_name) < (int)sizeof(file))
            unlink(file);
    if (d)
        closedir(d);
    rmdir(path);
}

static void params_create(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e = kit_open(k);
    const char *base = getenv("TMPDIR");
    char folder[PATH_MAX - 16], path[PATH_MAX];
    struct kit_key key = kit_key(k, "made");
    struct kit_buf v = kit_value(k, kit_value_size(k, 100), 1);
    const struct kvs_backend *b = kvs_engine_backend(e);
    if (!declares(b, "path", KVS_PARAM_STRING) || !declares(b, "create", KVS_PARAM_BOOL))
        kit_not_supported(k, "the backend does not declare the parameters path and create");
    kit_needs_two_configurations(k);
    snprintf(folder, sizeof(folder), "%s/kvslot-case-XXXXXX", base && base[0] ? base : "/tmp");
    KIT_CHECK(mkdtemp(folder), "the folder %s cannot be made", folder);
    snprintf(path, sizeof(path), "%s/store", folder);
    int refused = kit_open_folder(k, path, "no", &e, &err);
    bool made = access(path, F_OK) == 0;
    int rc = refused == KVS_OK || made ? KVS_OK : kit_open_folder(k, path, NULL, &e, &err);
    bool there = access(path, F_OK) == 0;
    if (refused != KVS_OK && !made && rc == KVS_OK) {
        kit_put(k, e, key, v.data, v.len);
        kit_expect(k, e, key, v.data, v.len);
        kit_close(k, e);
    }
    remove_folder(path);
    rmdir(folder);
    KIT_CHECK(refused < 0, "open with create=no of a folder that is missing is OK, not an error");
    KIT_CHECK(!made, "open with create=no has made the folder");
    KIT_STATUS_ERR(rc, KVS_OK, &err);
    KIT_CHECK(there, "open has not made the folder, and create=yes is the default");
}

static const struct kit_case cases[] = {
    {.id = "params.defaults",
     .title = "A default that is given is the default that is not",
     .explain = "Opens the target once for each parameter that the run does not set, with its declared "
                "default: that works, and it is the same store.",
     .requirements = "KVS-REQ-387 KVS-REQ-508",
     .profile = KVS_CONFORM_EXTENDED,
     .timeout_s = 60,
     .fn = params_defaults},
    {.id = "params.refused",
     .title = "What a declaration does not allow is refused by name",
     .explain = "Opens the target with numbers below and above each declared range, with words that are no "
                "choice and with texts that are no number. Each is refused in a sentence that names the "
                "parameter.",
     .requirements = "KVS-REQ-505 KVS-REQ-506",
     .timeout_s = 60,
     .fn = params_refused},
    {.id = "params.bounds",
     .title = "The bounds of a declared range work, or are refused by name",
     .explain = "Opens the target with the least and the greatest number that each parameter declares. It "
                "opens, or is refused in a sentence that names the parameter; a crash or a bare status means "
                "that the declaration promises what open does not look after.",
     .requirements = "KVS-REQ-443",
     .profile = KVS_CONFORM_EXTENDED,
     .timeout_s = 60,
     .fn = params_bounds},
    {.id = "params.create",
     .title = "A missing folder is made, unless create=no",
     .explain =
         "Where the backend declares the parameters path and create: opens it with a folder that is not "
         "there. With create=no that is an error and makes nothing; without it the folder is made, and "
         "works.",
     .requirements = "KVS-REQ-532",
     .profile = KVS_CONFORM_EXTENDED,
     .fn = params_create},
};
KIT_TOPIC(topic_params, cases);
