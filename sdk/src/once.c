/* SPDX-License-Identifier: Apache-2.0 */
#include "once.h"
#include "err.h"
#include "proclock.h"

#include <stdlib.h>
#include <string.h>

/* Process-wide by its nature. Guarded by KVS_LOCK_ONCE. */
struct once {
    struct once *next;
    const struct kvs_backend *backend;
    uint32_t opening; /* opens on their way */
    bool opened;      /* one has succeeded */
    char **values;    /* of the backend's own parameters, in their order; NULL: none */
};
static struct once *first;

static struct once *find(const struct kvs_backend *backend)
{
    struct once *o = first;
    while (o && o->backend != backend)
        o = o->next;
    return o;
}

static const char *value_of(const struct kvs_backend *backend, const struct kvs_params *params, uint32_t i)
{
    const char *value = NULL;
    (void)kvs_params_str(params, backend->params[i].name, &value, NULL);
    return value;
}

static void free_once(struct once *o, uint32_t nparams)
{
    for (uint32_t i = 0; o->values && i < nparams; i++)
        free(o->values[i]);
    free(o->values);
    free(o);
}

static struct once *keep(const struct kvs_backend *backend, const struct kvs_params *params)
{
    struct once *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->backend = backend;
    o->values = calloc(backend->nparams + 1u, sizeof *o->values);
    bool ok = o->values != NULL;
    for (uint32_t i = 0; ok && i < backend->nparams; i++) {
        const char *value = value_of(backend, params, i);
        ok = !value || (o->values[i] = strdup(value)) != NULL;
    }
    if (!ok) {
        free_once(o, backend->nparams);
        return NULL;
    }
    o->next = first;
    first = o;
    return o;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int refuse(const struct kvs_backend *backend, uint32_t i, const char *now, const char *then,
                  struct kvs_error *err)
{
    const struct kvs_param *param = &backend->params[i];
    if (param->flags & KVS_PARAM_SECRET)
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "backend '%s' takes one configuration a process, and parameter '%s' is another "
                           "than at its first open",
                           backend->name, param->name);
    return kvs_err_set(err, KVS_INVALID_PARAM,
                       "backend '%s' takes one configuration a process, and parameter '%s' is '%.150s'; it "
                       "was '%.150s' at its first open",
                       backend->name, param->name, now ? now : "", then ? then : "");
}

static int begin(const struct kvs_backend *backend, const struct kvs_params *params, struct kvs_error *err)
{
    struct once *o = find(backend);
    for (uint32_t i = 0; o && i < backend->nparams; i++)
        if (!same(o->values[i], value_of(backend, params, i)))
            return refuse(backend, i, value_of(backend, params, i), o->values[i], err);
    if (!o && (o = keep(backend, params)) == NULL)
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for the configuration of backend '%s'",
                           backend->name);
    o->opening++;
    return KVS_OK;
}

int kvs_once_begin(const struct kvs_backend *backend, const struct kvs_params *params, uint64_t epoch,
                   struct kvs_error *err)
{
    if (!(backend->flags & KVS_F_ONCE_PER_PROCESS))
        return KVS_OK;
    if (epoch > 1) /* the first process has 1, every forked one more */
        return kvs_err_set(err, KVS_NOT_ALLOWED, "backend '%s' cannot be opened in a forked process",
                           backend->name);
    kvs_proclock_take(KVS_LOCK_ONCE);
    int rc = begin(backend, params, err);
    kvs_proclock_drop(KVS_LOCK_ONCE);
    return rc;
}

void kvs_once_end(const struct kvs_backend *backend, bool opened)
{
    if (!(backend->flags & KVS_F_ONCE_PER_PROCESS))
        return;
    kvs_proclock_take(KVS_LOCK_ONCE);
    struct once **at = &first;
    while (*at && (*at)->backend != backend)
        at = &(*at)->next;
    struct once *o = *at;
    if (o) {
        o->opening--;
        o->opened = o->opened || opened;
        if (!o->opened && o->opening == 0) {
            *at = o->next;
            free_once(o, backend->nparams);
        }
    }
    kvs_proclock_drop(KVS_LOCK_ONCE);
}
