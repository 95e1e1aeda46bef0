/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a value by declarations: for integrators' own parameters, and the text for a name that nobody
 * declares. */
#include "err.h"
#include "nearest.h"
#include "paramdef.h"
#include "span.h"
#include "units.h"

#include <string.h>

/* "path, create, timeout": cut where it does not fit. */
static void list_names(const struct kvs_param_names *all, char *buf, size_t size)
{
    size_t at = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < all->count; i++) {
        const char *name = all->at(all->arg, i);
        size_t len = strlen(name);
        if (at + len + sizeof ", ..." >= size) {
            strcpy(buf + at, "...");
            return;
        }
        memcpy(buf + at, name, len);
        at += len;
        strcpy(buf + at, i + 1 < all->count ? ", " : "");
        at += strlen(buf + at);
    }
}

int kvs_param_unknown(const char *whose, const char *name, const struct kvs_param_names *all,
                      struct kvs_error *err)
{
    char shown[80], names[300];
    kvs_show_bytes(shown, sizeof shown, name, strlen(name));
    struct kvs_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < all->count; i++)
        kvs_nearest_offer(&nearest, all->at(all->arg, i), strlen(all->at(all->arg, i)));
    list_names(all, names, sizeof names);
    if (nearest.best[0])
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "%.80s has no parameter '%s'; did you mean '%s'? It takes %s", whose, shown,
                           nearest.best, names);
    return kvs_err_set(err, KVS_INVALID_PARAM, "%.80s has no parameter '%s'; it takes %s", whose, shown,
                       names);
}

/* ---- Lists of declarations ---- */

struct lists {
    const struct kvs_param_list *lists;
    size_t count;
};

static size_t stride_of(const struct kvs_param_list *list)
{
    return list->stride ? list->stride : sizeof(struct kvs_param);
}

static const struct kvs_param *at(const struct lists *all, size_t i, size_t *size)
{
    const struct kvs_param_list *list = all->lists;
    for (; i >= list->count; list++)
        i -= list->count;
    *size = stride_of(list);
    return (const struct kvs_param *)((const char *)list->params + i * *size);
}

static const char *name_at(const void *arg, size_t i)
{
    size_t size;
    return at(arg, i, &size)->name;
}

/* How many there are in all; in *total. */
static int check_lists(const struct lists *all, size_t *total, struct kvs_error *err)
{
    *total = 0;
    if (!all->lists && all->count > 0)
        return kvs_err_set(err, KVS_INVALID_PARAM, "the lists of parameters are NULL, but not their number");
    for (size_t i = 0; i < all->count; i++) {
        const struct kvs_param_list *list = &all->lists[i];
        if (!list->params && list->count > 0)
            return kvs_err_set(err, KVS_INVALID_PARAM, "list %zu of parameters is NULL, but not its length",
                               i);
        if (stride_of(list) < KVS_PARAM_LEAST)
            return kvs_err_set(err, KVS_INVALID_PARAM,
                               "list %zu of parameters has stride %zu; a parameter has at least %zu bytes", i,
                               list->stride, KVS_PARAM_LEAST);
        if (!kvs_array_fits(list->params, list->count, stride_of(list), KVS_PARAM_LEAST))
            return kvs_err_set(err, KVS_INVALID_PARAM,
                               "list %zu of %zu parameters, %zu bytes apart, is beyond the end of memory", i,
                               list->count, stride_of(list));
        for (size_t j = 0; j < list->count; j++)
            if (!((const struct kvs_param *)((const char *)list->params + j * stride_of(list)))->name)
                return kvs_err_set(err, KVS_INVALID_PARAM, "parameter %zu of list %zu has no name", j, i);
        *total += list->count;
    }
    return KVS_OK;
}

int kvs_param_read(const char *whose, const struct kvs_param_list *lists, size_t nlists,
                   const struct kvs_param_value *given, int64_t *number, struct kvs_error *err)
{
    const struct lists all = {lists, nlists};
    size_t total, size = 0, i = 0;
    if (number)
        *number = 0;
    if (!whose || !given || !given->name || (number && !given->value))
        return kvs_err_set(err, KVS_INVALID_PARAM, "%s is NULL",
                           !whose         ? "whose"
                           : !given       ? "given"
                           : !given->name ? "the parameter's name"
                                          : "the parameter's value");
    int rc = check_lists(&all, &total, err);
    if (rc != KVS_OK)
        return rc;
    while (i < total && strcmp(name_at(&all, i), given->name) != 0)
        i++;
    if (i == total)
        return kvs_param_unknown(whose, given->name, &(struct kvs_param_names){name_at, &all, total}, err);
    if (!number)
        return KVS_OK;
    struct kvs_param decl = {0};
    const struct kvs_param *theirs = at(&all, i, &size);
    memcpy(&decl, theirs, size < sizeof decl ? size : sizeof decl);
    int64_t n = 0;
    rc = kvs_param_parse(&decl, given->value, &n, err);
    if (rc == KVS_OK)
        rc = kvs_param_check(&decl, given->value, n, err);
    if (rc == KVS_OK)
        *number = n;
    return rc;
}
