/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot info --json: for programs. Keys are sorted, so that two reports can be compared as text. */
#include "command.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A backend's text that is no UTF-8 does not make the report fail. */
static json_t *text(const char *s)
{
    if (!s)
        return json_null();
    json_t *json = json_string(s);
    if (json)
        return json;
    char *plain = strdup(s);
    for (char *p = plain; p && *p; p++) {
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    }
    json = plain ? json_string(plain) : NULL;
    free(plain);
    return json;
}

static json_t *limit(uint64_t value)
{
    return value == 0 || value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static json_t *mask(uint32_t bits, const char *const *names)
{
    json_t *list = json_array();

    for (unsigned i = 0; names[i]; i++) {
        if (bits >> i & 1)
            json_array_append_new(list, text(names[i]));
    }
    return list;
}

static json_t *choices(const struct kvs_param *param)
{
    if (param->type != KVS_PARAM_ENUM || !param->choices)
        return json_null();
    json_t *list = json_array();
    for (const char *at = param->choices;; at++) {
        size_t len = strcspn(at, "|");
        json_array_append_new(list, json_stringn(at, len));
        at += len;
        if (*at == '\0')
            return list;
    }
}

static const char *unit(const struct kvs_param *param)
{
    if (param->type == KVS_PARAM_SIZE)
        return "bytes";
    return param->type == KVS_PARAM_DURATION ? "ns" : NULL;
}

static json_t *param(const struct kvs_param *param)
{
    bool bounded = param->min != 0 || param->max != 0;
    bool secret = param->flags & KVS_PARAM_SECRET;
    json_t *json = json_object();

    json_object_set_new(json, "name", text(param->name));
    json_object_set_new(json, "type", text(kvs_cmd_param_type(param)));
    json_object_set_new(json, "unit", text(unit(param)));
    json_object_set_new(json, "default", text(secret ? NULL : param->def));
    json_object_set_new(json, "environment", text(param->env));
    json_object_set_new(json, "uri", text(param->uri));
    json_object_set_new(json, "help", text(param->help));
    json_object_set_new(json, "since", text(param->since));
    json_object_set_new(json, "choices", choices(param));
    json_object_set_new(json, "min", bounded ? json_integer(param->min) : json_null());
    json_object_set_new(json, "max", bounded ? json_integer(param->max) : json_null());
    json_object_set_new(json, "required", json_boolean(param->flags & KVS_PARAM_REQUIRED));
    json_object_set_new(json, "secret", json_boolean(secret));
    return json;
}

static json_t *params(const struct kvs_param *list, size_t n)
{
    json_t *json = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(json, param(&list[i]));
    return json;
}

static json_t *capabilities(const struct kvs_backend *backend)
{
    json_t *json = json_object();

    for (unsigned i = 0; kvs_cmd_cap_names[i]; i++)
        json_object_set_new(json, kvs_cmd_cap_names[i], text(kvs_cmd_cap_state(backend, i)));
    return json;
}

static json_t *limits(const struct kvs_backend *backend)
{
    json_t *json = json_object();

    json_object_set_new(json, "min_key", limit(backend->min_key));
    json_object_set_new(json, "max_key", limit(backend->max_key));
    json_object_set_new(json, "max_value", limit(backend->max_value));
    json_object_set_new(json, "max_batch", limit(backend->max_batch));
    json_object_set_new(json, "max_iov", limit(backend->max_iov));
    return json;
}

static json_t *report(const struct cmd_info *info)
{
    const struct kvs_backend *backend = info->backend;
    json_t *memory = json_object();
    json_t *json = json_object();

    json_object_set_new(memory, "local", mask(backend->local_mems, kvs_cmd_mem_names));
    json_object_set_new(memory, "remote", mask(backend->remote_mems, kvs_cmd_mem_names));
    json_object_set_new(json, "kvslot", text(kvs_version()));
    json_object_set_new(json, "api", json_integer(backend->api));
    json_object_set_new(json, "name", text(backend->name));
    json_object_set_new(json, "version", text(backend->version));
    json_object_set_new(json, "summary", text(backend->summary));
    json_object_set_new(json, "schemes", text(backend->schemes));
    json_object_set_new(json, "file", text(info->where));
    json_object_set_new(json, "shape", text(kvs_cmd_shape(backend)));
    json_object_set_new(json, "thread_model", text(kvs_cmd_thread_model(backend)));
    json_object_set_new(json, "memory", memory);
    json_object_set_new(json, "flags", mask(backend->flags, kvs_cmd_flag_names));
    json_object_set_new(json, "capabilities", capabilities(backend));
    json_object_set_new(json, "limits", limits(backend));
    json_object_set_new(json, "parameters", params(backend->params, backend->nparams));
    json_object_set_new(json, "sdk_parameters", params(info->sdk_params, info->nsdk_params));
    return json;
}

int kvs_cmd_info_json(const struct cmd_info *info, FILE *out)
{
    json_t *json = report(info);

    int failed = json_dumpf(json, out, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(json);
    if (failed && !ferror(out))
        return kvs_cmd_fail(CMD_FAILED, "out of memory");
    fputc('\n', out);
    return CMD_OK;
}
