/* SPDX-License-Identifier: Apache-2.0 */
#include "params.h"
#include "err.h"
#include "log.h"
#include "paramdef.h"
#include "schemes.h"
#include "secrets.h"
#include "units.h"
#include "uri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum source {
    FROM_NOWHERE,
    FROM_SCHEME, /* what a further scheme sets; may be said again, not contradicted */
    FROM_TARGET,
    FROM_CALLER,
    FROM_ENVIRONMENT,
    FROM_DEFAULT,
};

struct value {
    const struct kvs_param *decl;
    char *text; /* NULL: neither value nor default */
    int64_t number;
    enum source source;
};

struct kvs_params {
    const struct kvs_backend *backend;
    size_t count, own; /* all; the backend's own, which come first */
    struct value values[];
};

static struct value *find(struct kvs_params *params, const char *name, size_t len)
{
    for (size_t i = 0; i < params->count; i++) {
        struct value *value = &params->values[i];
        if (strncmp(value->decl->name, name, len) == 0 && value->decl->name[len] == '\0')
            return value;
    }
    return NULL;
}

static int no_memory(struct kvs_error *err)
{
    return kvs_err_set(err, KVS_NO_MEMORY, "no memory for parameters");
}

static const char *name_at(const void *params, size_t i)
{
    return ((const struct kvs_params *)params)->values[i].decl->name;
}

static int unknown(const struct kvs_params *params, const char *name, struct kvs_error *err)
{
    char whose[80];
    snprintf(whose, sizeof whose, "backend '%s'", params->backend->name);
    return kvs_param_unknown(whose, name, &(struct kvs_param_names){name_at, params, params->count}, err);
}

static bool same_value(const struct value *value, const char *text, int64_t number)
{
    return value->decl->type == KVS_PARAM_STRING ? strcmp(value->text, text) == 0 : value->number == number;
}

static int taken(const struct value *value, enum source source, const char *text, struct kvs_error *err)
{
    const char *name = value->decl->name;
    char shown[80], set[80];
    if (value->source == FROM_SCHEME && (value->decl->flags & KVS_PARAM_SECRET))
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "parameter '%s' has another value than the target's scheme sets", name);
    if (value->source == FROM_SCHEME)
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "parameter '%s' is '%s', but the target's scheme sets '%s'", name,
                           kvs_show_bytes(shown, sizeof shown, text, strlen(text)),
                           kvs_show_bytes(set, sizeof set, value->text, strlen(value->text)));
    return kvs_err_set(err, KVS_INVALID_PARAM, "parameter '%s' is given twice, %s", name,
                       value->source != source ? "in the target and beside it"
                       : source == FROM_TARGET ? "both in the target"
                                               : "both beside the target");
}

/* Gives a parameter its value: reads it where it is a secret kept elsewhere, parses and checks it. */
static int assign(struct value *value, enum source source, const char *given, struct kvs_error *err)
{
    const struct kvs_param *decl = value->decl;
    char *text = NULL;
    int64_t number = 0;
    int rc = KVS_OK;
    if (value->source != FROM_NOWHERE && value->source != FROM_SCHEME)
        return taken(value, source, given, err);
    if (source != FROM_DEFAULT && (decl->flags & KVS_PARAM_SECRET) && given[0] == '@')
        rc = kvs_secret_read(decl->name, given, &text, err); /* KVS-REQ-512 */
    else if (!(text = strdup(given)))
        rc = no_memory(err);
    if (rc == KVS_OK)
        rc = kvs_param_parse(decl, text, &number, err);
    if (rc == KVS_OK)
        rc = kvs_param_check(decl, text, number, err);
    if (rc == KVS_OK && value->source == FROM_SCHEME) {
        if (!same_value(value, text, number))
            rc = taken(value, source, text, err);
        kvs_secret_free(text);
        return rc;
    }
    if (rc != KVS_OK) {
        kvs_secret_free(text);
        return rc;
    }
    value->text = text;
    value->number = number;
    value->source = source;
    return KVS_OK;
}

static int from_scheme(struct kvs_params *params, const struct kvs_uri *uri, struct kvs_error *err)
{
    struct kvs_scheme scheme;
    struct kvs_setting setting;
    const struct kvs_backend *backend = params->backend;
    if (strcmp(uri->scheme, backend->name) == 0)
        return KVS_OK;
    if (!kvs_scheme_find(backend->schemes, uri->scheme, strlen(uri->scheme), &scheme))
        return kvs_err_set(err, KVS_INVALID_PARAM, "backend '%s' has no scheme '%.64s'", backend->name,
                           uri->scheme);
    for (size_t at = 0; kvs_setting_next(&scheme, &at, &setting);) {
        struct value *value = find(params, setting.name, setting.name_len);
        char *text = setting.value ? strndup(setting.value, setting.value_len) : NULL;
        int rc = !text ? no_memory(err) : value ? assign(value, FROM_SCHEME, text, err) : KVS_INVALID_PARAM;
        free(text);
        if (rc != KVS_OK)
            return rc;
    }
    return KVS_OK;
}

/* The parameter that takes a part of a URI: a claim for its variant goes before one for all. */
static struct value *claimant(struct kvs_params *params, const struct kvs_uri *uri, int part)
{
    struct value *found = NULL;
    for (size_t i = 0; i < params->own; i++) {
        struct kvs_claim claim;
        for (const char *at = params->values[i].decl->uri; kvs_claim_next(&at, &claim);) {
            if (claim.part != part)
                continue;
            if (!claim.variant && !found)
                found = &params->values[i];
            if (claim.variant && uri->variant && strlen(uri->variant) == claim.variant_len &&
                memcmp(claim.variant, uri->variant, claim.variant_len) == 0)
                return &params->values[i];
        }
    }
    return found;
}

static bool has_variant(const struct kvs_params *params, const char *variant)
{
    for (size_t i = 0; i < params->own; i++) {
        struct kvs_claim claim;
        for (const char *at = params->values[i].decl->uri; kvs_claim_next(&at, &claim);)
            if (claim.variant && claim.variant_len == strlen(variant) &&
                memcmp(claim.variant, variant, claim.variant_len) == 0)
                return true;
    }
    return false;
}

static int from_uri(struct kvs_params *params, const struct kvs_uri *uri, struct kvs_error *err)
{
    const char *backend = params->backend->name;
    if (uri->variant && !has_variant(params, uri->variant))
        return kvs_err_set(err, KVS_INVALID_PARAM, "backend '%s' has no variant '%.64s'", backend,
                           uri->variant);
    for (int part = 0; part < KVS_PART_COUNT; part++) {
        if (!uri->parts[part])
            continue;
        struct value *value = claimant(params, uri, part);
        if (!value)
            return kvs_err_set(err, KVS_INVALID_PARAM,
                               "the target has a %s, which backend '%s' does not take%s",
                               kvs_part_names[part], backend, uri->variant ? " in this variant" : "");
        int rc = assign(value, FROM_TARGET, uri->parts[part], err);
        if (rc != KVS_OK)
            return rc;
    }
    for (size_t i = 0; i < uri->nquery; i++) {
        struct value *value = find(params, uri->query[i].name, strlen(uri->query[i].name));
        int rc = value ? assign(value, FROM_TARGET, uri->query[i].value, err)
                       : unknown(params, uri->query[i].name, err);
        if (rc != KVS_OK)
            return rc;
    }
    return KVS_OK;
}

static int from_caller(struct kvs_params *params, const struct kvs_param_value *values, size_t n,
                       struct kvs_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = values[i].name;
        if (!name || !values[i].value)
            return kvs_err_set(err, KVS_INVALID_PARAM, "parameter %zu of the list has no %s", i + 1,
                               name ? "value" : "name");
        struct value *value = find(params, name, strlen(name));
        int rc = value ? assign(value, FROM_CALLER, values[i].value, err) : unknown(params, name, err);
        if (rc != KVS_OK)
            return rc;
    }
    return KVS_OK;
}

/* Where nothing was given: the environment, then the default. KVS-REQ-508 */
static int fill_in(struct kvs_params *params, struct kvs_error *err)
{
    for (size_t i = 0; i < params->count; i++) {
        struct value *value = &params->values[i];
        const struct kvs_param *decl = value->decl;
        if (value->source != FROM_NOWHERE)
            continue;
        const char *text = decl->env ? secure_getenv(decl->env) : NULL; /* KVS-REQ-440 */
        struct kvs_error why;
        int rc = text ? assign(value, FROM_ENVIRONMENT, text, &why) : KVS_OK;
        if (rc == KVS_NO_MEMORY)
            return no_memory(err);
        if (rc != KVS_OK) /* KVS-REQ-507 */
            kvs_log(KVS_LOG_WARN, params->backend->name, "environment variable %.64s is not used: %s",
                    decl->env, why.text);
        if (value->source == FROM_NOWHERE && decl->def)
            rc = assign(value, FROM_DEFAULT, decl->def, err);
        if (value->source == FROM_NOWHERE && decl->def)
            return rc;
        if (!value->text && (decl->flags & KVS_PARAM_REQUIRED))
            return kvs_err_set(err, KVS_INVALID_PARAM, "backend '%s' needs parameter '%s'%s%.64s",
                               params->backend->name, decl->name,
                               decl->env ? ", or environment variable " : "", decl->env ? decl->env : "");
    }
    return KVS_OK;
}

static struct kvs_params *new_params(const struct kvs_backend *backend)
{
    size_t nsdk;
    const struct kvs_param *sdk = kvs_sdk_params(&nsdk);
    struct kvs_params *params = calloc(1, sizeof *params + (backend->nparams + nsdk) * sizeof(struct value));
    if (!params)
        return NULL;
    params->backend = backend;
    params->own = backend->nparams;
    params->count = backend->nparams + nsdk;
    for (size_t i = 0; i < params->count; i++)
        params->values[i].decl = i < params->own ? &backend->params[i] : &sdk[i - params->own];
    return params;
}

int kvs_params_resolve(const struct kvs_backend *backend, const char *target,
                       const struct kvs_param_value *values, size_t n, struct kvs_params **out,
                       struct kvs_error *err)
{
    struct kvs_uri uri;
    *out = NULL;
    if (!target || (n > 0 && !values))
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           target ? "the list of parameters is NULL, but not its length"
                                  : "the target is NULL");
    int rc = kvs_uri_parse(target, &uri, err);
    if (rc != KVS_OK)
        return rc;
    struct kvs_params *params = new_params(backend);
    rc = params ? from_scheme(params, &uri, err) : no_memory(err);
    if (rc == KVS_OK)
        rc = from_uri(params, &uri, err);
    if (rc == KVS_OK)
        rc = from_caller(params, values, n, err);
    if (rc == KVS_OK)
        rc = fill_in(params, err);
    kvs_uri_free(&uri);
    if (rc == KVS_OK)
        *out = params;
    else
        kvs_params_free(params);
    return rc;
}

void kvs_params_free(struct kvs_params *params)
{
    for (size_t i = 0; params && i < params->count; i++)
        kvs_secret_free(params->values[i].text);
    free(params);
}

static const struct value *look_up(const struct kvs_params *params, const char *name)
{
    for (size_t i = 0; name && i < params->count; i++)
        if (strcmp(params->values[i].decl->name, name) == 0)
            return &params->values[i];
    return NULL;
}

int kvs_params_str(const struct kvs_params *params, const char *name, const char **out, size_t *len)
{
    const struct value *value = look_up(params, name);
    *out = value ? value->text : NULL;
    if (len)
        *len = *out ? strlen(*out) : 0;
    return value ? KVS_OK : KVS_NOT_FOUND;
}

int kvs_params_i64(const struct kvs_params *params, const char *name, int64_t *out)
{
    const struct value *value = look_up(params, name);
    if (!value || !value->text || value->decl->type == KVS_PARAM_STRING)
        return KVS_NOT_FOUND;
    *out = value->number;
    return KVS_OK;
}
