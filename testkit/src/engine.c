/* SPDX-License-Identifier: Apache-2.0 */
#include "caps.h"
#include "kit.h"
#include <kvslot/backend.h>
#include <stdio.h>
#include <stdlib.h>

int kit_engine_open(const struct wire_config *cfg, const char *target, const char *name, const char *value,
                    kvs_engine **e, struct kvs_error *err)
{
    struct kvs_param_value *all = calloc(cfg->nparams + 1, sizeof(*all));
    size_t n = 0;
    *e = NULL;
    if (!all)
        return KVS_NO_MEMORY;
    for (size_t i = 0; i < cfg->nparams; i++)
        if (!name || strcmp(cfg->params[i].name, name) != 0)
            all[n++] = cfg->params[i];
    if (name)
        all[n++] = (struct kvs_param_value){name, value};
    int rc = kvs_engine_open(target, n ? all : NULL, n, e, err);
    free(all);
    return rc;
}

void kit_remember(struct kit *k, kvs_engine *e)
{
    size_t i = 0;
    pthread_mutex_lock(&k->lock);
    while (i < KIT_MAX_ENGINES && k->engines[i])
        i++;
    if (i < KIT_MAX_ENGINES)
        k->engines[i] = e;
    pthread_mutex_unlock(&k->lock);
    KIT_CHECK(i < KIT_MAX_ENGINES, "a case opens more than %d engines at once", KIT_MAX_ENGINES);
}

void kit_forget(struct kit *k, kvs_engine *e)
{
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < KIT_MAX_ENGINES; i++)
        if (k->engines[i] == e)
            k->engines[i] = NULL;
    pthread_mutex_unlock(&k->lock);
}

int kit_open_with(struct kit *k, const char *name, const char *value, kvs_engine **e, struct kvs_error *err)
{
    int rc = kit_engine_open(k->cfg, k->target, name, value, e, err);
    if (rc == KVS_OK)
        kit_remember(k, *e);
    return rc;
}

/* A URI without its path, which says another folder; its other parameters stay. To be freed. */
static char *without_folder(const char *target)
{
    char *text = NULL;
    const char *query = strchr(target, '?');
    if (!query || strstr(query, "path=") || strstr(query, "create="))
        query = "";
    return asprintf(&text, "%.*s%s%s", (int)strcspn(target, ":"), target, query[0] ? ":" : "", query) < 0
               ? NULL
               : text;
}

int kit_open_folder(struct kit *k, const char *path, const char *create, kvs_engine **e,
                    struct kvs_error *err)
{
    struct wire_config cfg = *k->cfg;
    size_t n = 0;
    cfg.params = calloc(cfg.nparams + 3, sizeof(*cfg.params));
    KIT_CHECK(cfg.params, "no memory for parameters");
    for (size_t i = 0; i < k->cfg->nparams; i++)
        if (strcmp(k->cfg->params[i].name, "path") != 0 && strcmp(k->cfg->params[i].name, "create") != 0)
            cfg.params[n++] = k->cfg->params[i];
    cfg.params[n++] = (struct kvs_param_value){"path", path};
    if (create)
        cfg.params[n++] = (struct kvs_param_value){"create", create};
    cfg.nparams = n;
    char *target = without_folder(k->target);
    KIT_CHECK(target, "no memory for the target");
    int rc = kit_engine_open(&cfg, target, NULL, NULL, e, err);
    free(target);
    free(cfg.params);
    if (rc == KVS_OK)
        kit_remember(k, *e);
    return rc;
}

bool kit_is_given(const struct kit *k, const struct kvs_param *p)
{
    size_t len = strlen(p->name);
    for (size_t i = 0; i < k->cfg->nparams; i++)
        if (strcmp(k->cfg->params[i].name, p->name) == 0)
            return true;
    if (p->uri && strchr(k->target, ':'))
        return true;
    for (const char *at = strchr(k->target, '?'); at; at = strchr(at + 1, '&'))
        if (strncmp(at + 1, p->name, len) == 0 && at[1 + len] == '=')
            return true;
    return false;
}

void kit_needs_two_configurations(struct kit *k)
{
    if (kit_limits(k)->flags & KVS_F_ONCE_PER_PROCESS)
        kit_not_supported(k, "the backend takes one configuration a process");
}

kvs_engine *kit_open(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e;
    KIT_STATUS_ERR(kit_open_with(k, NULL, NULL, &e, &err), KVS_OK, &err);
    KIT_CHECK(e, "kvs_engine_open answered OK and gave no engine");
    return e;
}

void kit_close_at(struct kit_at at, struct kit *k, kvs_engine *e)
{
    struct kvs_error err = {0};
    uint64_t violations = kvs_engine_violations(e);
    kit_forget(k, e);
    int rc = kvs_engine_close(e, kit_wait_ns(k), &err);
    if (rc == KVS_BUSY)
        kit_hang_at(at, "kvs_engine_close does not end: %s", err.text);
    kit_status_at(at, "kvs_engine_close", rc, KVS_OK, err.text);
    if (violations > 0)
        kit_fail_at(at,
                    "the backend broke its contract %llu times, as the output says; completing an io twice "
                    "is one way",
                    (unsigned long long)violations);
}

void kit_engines_end(struct kit *k)
{
    for (size_t i = 0; i < KIT_MAX_ENGINES; i++)
        if (k->engines[i])
            kit_close(k, k->engines[i]);
}

const struct kvs_limits *kit_limits(const struct kit *k)
{
    return &k->cfg->limits;
}

bool kit_has(const struct kit *k, uint64_t caps)
{
    return caps_have(kit_limits(k), caps);
}

uint32_t kit_remote_type(kvs_engine *e)
{
    uint32_t mask = kvs_engine_backend(e)->remote_mems, type = KVS_MEM_DRAM;
    while (mask && !(mask & KVS_MEM_MASK(type)))
        type++;
    return type;
}

uint64_t kit_value_size(const struct kit *k, uint64_t want)
{
    uint64_t max = kit_limits(k)->max_value;
    return max > 0 && max < want ? max : want;
}

size_t kit_batch_size(const struct kit *k, size_t want)
{
    size_t max = kit_limits(k)->max_batch;
    return max > 0 && max < want ? max : want;
}
