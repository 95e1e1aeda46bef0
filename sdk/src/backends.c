/* SPDX-License-Identifier: Apache-2.0 */
#include "backends.h"
#include "err.h"
#include "loader.h"
#include "log.h"
#include "nearest.h"
#include "params.h"
#include "platform.h"
#include "proclock.h"
#include "schemes.h"
#include "uri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kvs_backend_register(const struct kvs_backend *backend, struct kvs_error *err)
{
    struct kvs_known *known;
    if (!backend)
        return kvs_err_set(err, KVS_INVALID_PARAM, "the backend's table is NULL");
    int rc = kvs_loader_enter(err);
    if (rc != KVS_OK)
        return rc;
    if (!kvs_known_by_table(backend))
        rc = kvs_known_add(backend, NULL, NULL, NULL, NULL, &known, err);
    kvs_loader_leave();
    return rc;
}

/* ---- Looking for one ---- */

static void offer_file(void *arg, const char *file_name)
{
    const char *name;
    size_t len = kvs_plugin_name(file_name, &name);
    if (len > 0)
        kvs_nearest_offer(arg, name, len);
}

static void find_nearest(struct kvs_nearest *nearest, const struct kvs_folders *folders)
{
    struct kvs_scheme scheme;
    for (const struct kvs_known *k = kvs_known_first(); k; k = k->next) {
        kvs_nearest_offer(nearest, k->table->name, strlen(k->table->name));
        for (const char *at = k->table->schemes; kvs_scheme_next(&at, &scheme);)
            kvs_nearest_offer(nearest, scheme.name, scheme.name_len);
    }
    for (size_t i = 0; i < folders->n; i++)
        kvs_each_file(folders->at[i], offer_file, nearest);
}

static int not_found(const char *scheme, const struct kvs_folders *folders, struct kvs_error *err)
{
    struct kvs_nearest nearest = {.wanted = scheme};
    char where[sizeof err->text] = "";
    size_t at = 0;
    find_nearest(&nearest, folders);
    for (size_t i = 0; i < folders->n && at < sizeof where; i++)
        at += (size_t)snprintf(where + at, sizeof where - at, "%s%s", i ? ", " : "", folders->at[i]);
    return kvs_err_set(
        err, KVS_NOT_FOUND, "there is no backend '%.64s'%s%s%s; looked for kvslot-%.64s.so in %s", scheme,
        nearest.best[0] ? " (did you mean '" : "", nearest.best, nearest.best[0] ? "'?)" : "", scheme, where);
}

/* KVS_LOCK_LOADER held. */
static int find(const char *scheme, struct kvs_known **known, struct kvs_error *err)
{
    size_t len = strlen(scheme);
    *known = kvs_known_by_name(scheme, len);
    if (!*known)
        *known = kvs_known_by_scheme(scheme, len);
    if (*known)
        return KVS_OK;
    struct kvs_folders folders;
    char path[PATH_MAX];
    if (!kvs_folders_make(&folders))
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory to look for backend '%.64s'", scheme);
    int rc = KVS_NOT_FOUND;
    size_t i = 0;
    while (i < folders.n && !kvs_folder_has(folders.at[i], scheme, len, path))
        i++;
    /* The first that is there counts, good or bad: what a later folder has may be another release. */
    rc = i < folders.n ? kvs_load_file(path, known, err) : not_found(scheme, &folders, err);
    kvs_folders_free(&folders);
    return rc;
}

static int no_target(const char *target, struct kvs_error *err)
{
    char shown[200];
    if (!target || !*target)
        return kvs_err_set(err, KVS_INVALID_PARAM, "the target is %s", target ? "empty" : "NULL");
    size_t colon = strcspn(target, ":"), slash = strcspn(target, "/"), len = strlen(target);
    bool uri = colon < slash && target[colon] == ':';
    kvs_target_show(shown, sizeof shown, target);
    /* KVS-REQ-526 KVS-REQ-527 KVS-REQ-529 */
    if (!uri && (target[slash] == '/' || (len > 3 && strcmp(target + len - 3, ".so") == 0)))
        return kvs_err_set(
            err, KVS_INVALID_PARAM,
            "target '%s' is a file, not a name or URI; a plugin file is loaded with kvs_plugin_load", shown);
    return kvs_err_set(
        err, KVS_INVALID_PARAM,
        "target '%s' is neither a name (a-z, 0-9, _ and -, a letter first) nor scheme[+variant]:...", shown);
}

int kvs_backend_find(const char *target, const struct kvs_backend **backend, struct kvs_error *err)
{
    struct kvs_known *known;
    if (backend)
        *backend = NULL;
    size_t len = target ? kvs_target_scheme(target) : 0;
    if (len == 0)
        return no_target(target, err);
    char *scheme = strndup(target, len);
    if (!scheme)
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for the name of a backend");
    int rc = kvs_loader_enter(err);
    if (rc == KVS_OK) {
        rc = find(scheme, &known, err);
        kvs_loader_leave();
    }
    free(scheme);
    if (rc == KVS_OK && backend)
        *backend = known->table;
    return rc;
}

/* ---- Listing them ---- */

struct entry {
    char *name, *where;
};

struct list {
    struct entry *at;
    size_t n;
    const char *folder; /* that is being read */
    bool failed;
};

static void add_entry(struct list *list, const char *name, size_t len, const char *where)
{
    for (size_t i = 0; i < list->n; i++)
        if (strlen(list->at[i].name) == len && memcmp(list->at[i].name, name, len) == 0)
            return;
    struct entry *at = realloc(list->at, (list->n + 1) * sizeof *at);
    if (at)
        list->at = at;
    struct entry entry = {at ? strndup(name, len) : NULL, at ? strdup(where) : NULL};
    if (entry.name && entry.where) {
        at[list->n++] = entry;
        return;
    }
    free(entry.name);
    free(entry.where);
    list->failed = true;
}

/* Only what could be opened. */
static void add_file(void *arg, const char *file_name)
{
    struct list *list = arg;
    char path[PATH_MAX];
    const char *name;
    size_t len = kvs_plugin_name(file_name, &name);
    if (len == 0 || !kvs_folder_has(list->folder, name, len, path))
        return;
    struct kvs_error why;
    char *real = kvs_privileged() ? realpath(path, NULL) : NULL;
    if (real && kvs_check_writers(real, &why) != KVS_OK)
        kvs_log(KVS_LOG_WARN, "sdk", "plugin '%s' is left out: %s", path, why.text);
    else
        add_entry(list, name, len, path);
    free(real);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int collect(struct list *list)
{
    struct kvs_folders folders;
    int rc = kvs_loader_enter(NULL);
    if (rc != KVS_OK)
        return rc;
    for (const struct kvs_known *k = kvs_known_first(); k; k = k->next)
        add_entry(list, k->table->name, strlen(k->table->name), k->file ? k->file : "built in");
    kvs_loader_leave();
    if (!kvs_folders_make(&folders))
        return KVS_NO_MEMORY;
    for (size_t i = 0; i < folders.n; i++) {
        list->folder = folders.at[i];
        kvs_each_file(folders.at[i], add_file, list);
    }
    kvs_folders_free(&folders);
    return list->failed ? KVS_NO_MEMORY : KVS_OK;
}

int kvs_backend_list(int (*each)(void *arg, const char *name, const char *where), void *arg)
{
    struct list list = {0};
    if (!each)
        return KVS_INVALID_PARAM;
    int rc = collect(&list);
    if (list.n > 0)
        qsort(list.at, list.n, sizeof *list.at, by_name);
    for (size_t i = 0; i < list.n && rc == KVS_OK; i++)
        rc =
            each(arg, list.at[i].name, list.at[i].where); /* with no lock held: it may open what it is told */
    for (size_t i = 0; i < list.n; i++) {
        free(list.at[i].name);
        free(list.at[i].where);
    }
    free(list.at);
    return rc;
}
