/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot info, for people. */
#include "command.h"

#include "units.h"
#include <inttypes.h>
#include <string.h>

static void line(FILE *out, const char *label, const char *text)
{
    if (text && text[0])
        fprintf(out, "%-14s %s\n", label, text);
}

static void limit(FILE *out, const char *label, uint64_t value, const char *unit)
{
    if (value == 0)
        fprintf(out, "  %-12s no limit\n", label);
    else
        fprintf(out, "  %-12s %" PRIu64 " (%s)\n", label, value, unit);
}

static void mask(FILE *out, const char *label, uint32_t bits, const char *const *names)
{
    const char *space = "";

    if (bits == 0)
        return;
    fprintf(out, "%-14s ", label);
    for (unsigned i = 0; names[i]; i++) {
        if (bits >> i & 1) {
            fprintf(out, "%s%s", space, names[i]);
            space = " ";
        }
    }
    fputc('\n', out);
}

static const char *number(char *buf, size_t size, const struct kvs_param *param, int64_t value)
{
    if (param->type == KVS_PARAM_SIZE)
        return kvs_format_size(buf, size, value);
    if (param->type == KVS_PARAM_DURATION)
        return kvs_format_duration(buf, size, value);
    snprintf(buf, size, "%" PRId64, value);
    return buf;
}

static void param_type(FILE *out, const struct kvs_param *param)
{
    char min[64], max[64];

    fputs(kvs_cmd_param_type(param), out);
    if (param->type == KVS_PARAM_ENUM && param->choices)
        fprintf(out, " %s", param->choices);
    else if (param->min != 0 || param->max != 0)
        fprintf(out, " %s to %s", number(min, sizeof min, param, param->min),
                number(max, sizeof max, param, param->max));
}

static void param(FILE *out, const struct kvs_param *param)
{
    bool secret = param->flags & KVS_PARAM_SECRET;

    fprintf(out, "  %s: ", param->name);
    param_type(out, param);
    if (param->flags & KVS_PARAM_REQUIRED)
        fputs(", required", out);
    if (secret)
        fputs(", secret", out);
    if (param->def && !secret)
        fprintf(out, ", default '%s'", param->def);
    if (param->since)
        fprintf(out, ", since %s", param->since);
    fputc('\n', out);
    if (param->help)
        fprintf(out, "      %s\n", param->help);
    if (param->uri)
        fprintf(out, "      in a URI: %s\n", param->uri);
    if (param->env)
        fprintf(out, "      environment: %s\n", param->env);
}

static void params(FILE *out, const char *title, const struct kvs_param *list, size_t n)
{
    fprintf(out, "\n%s\n", title);
    if (n == 0)
        fputs("  none\n", out);
    for (size_t i = 0; i < n; i++)
        param(out, &list[i]);
}

void kvs_cmd_info_text(const struct cmd_info *info, FILE *out)
{
    const struct kvs_backend *backend = info->backend;

    line(out, "name", backend->name);
    line(out, "version", backend->version);
    line(out, "summary", backend->summary);
    line(out, "file", info->where);
    line(out, "schemes", backend->schemes);
    line(out, "shape", kvs_cmd_shape(backend));
    line(out, "threads", kvs_cmd_thread_model(backend));
    mask(out, "local memory", backend->local_mems, kvs_cmd_mem_names);
    mask(out, "remote memory", backend->remote_mems, kvs_cmd_mem_names);
    mask(out, "flags", backend->flags, kvs_cmd_flag_names);

    fputs("\nCapabilities\n", out);
    for (unsigned i = 0; kvs_cmd_cap_names[i]; i++)
        fprintf(out, "  %-12s %s\n", kvs_cmd_cap_names[i], kvs_cmd_cap_state(backend, i));

    fputs("\nLimits\n", out);
    limit(out, "min_key", backend->min_key, "bytes");
    limit(out, "max_key", backend->max_key, "bytes");
    limit(out, "max_value", backend->max_value, "bytes");
    limit(out, "max_batch", backend->max_batch, "descriptors");
    limit(out, "max_iov", backend->max_iov, "pieces of memory");

    params(out, "Parameters of this backend", backend->params, backend->nparams);
    params(out, "Parameters of every backend", info->sdk_params, info->nsdk_params);
}
