/* SPDX-License-Identifier: Apache-2.0 */
#include "params.h"

#include "say.h"
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT      8998u
#define DEFAULT_MAX_INPUT ((size_t)1 << 20)

/* ---- SGLANG_BOOTSTRAP_PORT ---- */

/* A hash of the value that was last complained of: coordinators that build a connector for each request
 * would say the same for ever. */
static _Atomic uint64_t complained;

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

static unsigned port_from_environment(void)
{
    const char *text = secure_getenv("SGLANG_BOOTSTRAP_PORT");
    if (!text || text[0] == '\0')
        return DEFAULT_PORT;
    const char *digits = text + (text[0] == '+' || text[0] == '-');
    if (digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0') {
        errno = 0;
        long port = strtol(text, NULL, 10);
        if (errno == 0 && port >= 1 && port <= 65535)
            return (unsigned)port;
    }
    uint64_t h = hash(text);
    if (atomic_exchange_explicit(&complained, h, memory_order_relaxed) != h) {
        char quoted[128];
        kvs_log(KVS_LOG_ERROR, "connector kv-sglang",
                "environment variable SGLANG_BOOTSTRAP_PORT is %s; a whole number from 1 to 65535 is needed, "
                "and %u is used",
                kvs_say_quoted(quoted, sizeof quoted, text, strlen(text)), DEFAULT_PORT);
    }
    return DEFAULT_PORT;
}

/* ---- All ---- */

static int twice(const struct kvs_param_value *params, size_t at, const char *whose, struct kvs_error *err)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(params[i].name, params[at].name) == 0)
            return kvs_say(err, KVS_INVALID_PARAM, "%s: parameter '%.64s' is given twice", whose,
                           params[at].name);
    }
    return KVS_OK;
}

static void set(struct kvs_settings *settings, const char *name, int64_t number)
{
    if (strcmp(name, "max_input") == 0)
        settings->max_input = (size_t)number;
    else if (strcmp(name, "bootstrap_port") == 0)
        settings->port = (unsigned)number;
    else if (strcmp(name, "room") == 0)
        settings->int_room = number == 1;
}

int kvs_settings_read(struct kvs_settings *settings, struct kvs_found found,
                      const struct kvs_param_value *params, size_t nparams, struct kvs_error *err)
{
    char whose[96];
    const struct kvs_known *known = found.known;
    struct kvs_param_list lists[2] = {{&kvs_max_input, 1, sizeof kvs_max_input}};
    size_t nlists = 1;

    if (known)
        lists[0] = (struct kvs_param_list){known->params, known->nparams, sizeof known->params[0]};
    else if (found.own->nparams > 0)
        lists[nlists++] =
            (struct kvs_param_list){found.own->params, found.own->nparams, found.own->param_size};
    snprintf(whose, sizeof whose, "connector '%s'", known ? known->name : found.own->name);
    *settings = (struct kvs_settings){.max_input = DEFAULT_MAX_INPUT, .port = 0};
    if (!params && nparams > 0)
        return kvs_say(err, KVS_INVALID_PARAM, "%s: params is NULL and nparams is %zu", whose, nparams);
    for (size_t i = 0; i < nparams; i++) {
        int64_t number;
        int status = kvs_param_read(whose, lists, nlists, &params[i], &number, err);
        if (status == KVS_OK)
            status = twice(params, i, whose, err);
        if (status != KVS_OK)
            return status;
        if (known || strcmp(params[i].name, kvs_max_input.name) == 0)
            set(settings, params[i].name, number);
    }
    if (known && known->has_room && settings->port == 0)
        settings->port = port_from_environment();
    return KVS_OK;
}
