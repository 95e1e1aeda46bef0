/* SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"
#include "err.h"
#include "platform.h"
#include "proclock.h"
#include "schemes.h"
#include "uri.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t kvs_plugin_name(const char *file_name, const char **name)
{
    static const char before[] = "kvslot-", after[] = ".so";
    if (strncmp(file_name, before, sizeof before - 1) != 0)
        return 0;
    *name = file_name + sizeof before - 1;
    size_t len = kvs_name_span(*name);
    return strcmp(*name + len, after) == 0 ? len : 0;
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* KVS-REQ-442: a file is found by its name, so it holds what its name says: the backend of that name, or,
 * where it is a symbolic link, the backend that has that name as a scheme. */
static int check_file_name(const struct kvs_backend *table, const void *arg, struct kvs_error *err)
{
    const char *file = arg, *name;
    struct kvs_scheme scheme;
    struct stat st;
    size_t len = kvs_plugin_name(base_name(file), &name);
    if (len == strlen(table->name) && memcmp(name, table->name, len) == 0)
        return KVS_OK;
    if (len > 0 && kvs_scheme_find(table->schemes, name, len, &scheme) && lstat(file, &st) == 0 &&
        S_ISLNK(st.st_mode))
        return KVS_OK;
    return kvs_err_set(err, KVS_INVALID_PARAM, "'%s' holds backend '%s'; its file name must be kvslot-%s.so",
                       file, table->name, table->name);
}

/* What dlerror says, without the name of the file in front. */
static const char *dl_reason(const char *file)
{
    const char *text = dlerror();
    if (!text)
        return "for no known reason";
    size_t len = strlen(file);
    return strncmp(text, file, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2 : text;
}

static int open_object(const char *file, const struct kvs_backend **table, void **handle,
                       struct kvs_error *err)
{
    *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); /* KVS-REQ-438 */
    if (!*handle)
        return kvs_err_set(err, KVS_INVALID_PARAM, "'%s' cannot be loaded: %s", file, dl_reason(file));
    union {
        void *object;
        kvs_backend_entry_fn call;
    } entry = {.object = dlsym(*handle, KVS_BACKEND_ENTRY)};
    if (!entry.object)
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "'%s' has no symbol " KVS_BACKEND_ENTRY ", so it is no kvslot plugin", file);
    *table = entry.call();
    if (!*table)
        return kvs_err_set(err, KVS_INVALID_PARAM,
                           "'%s' has no table: its " KVS_BACKEND_ENTRY " answers NULL", file);
    return KVS_OK;
}

static int load_new(const char *file, const char *real, const struct stat *st, struct kvs_known **known,
                    struct kvs_error *err)
{
    const struct kvs_backend *table = NULL;
    const char *name;
    void *handle = NULL;
    int rc = kvs_check_object(real, err);
    if (rc != KVS_OK)
        return rc;
    if (kvs_plugin_name(base_name(file), &name) == 0)
        return kvs_err_set(err, KVS_INVALID_PARAM, "'%s' is not named kvslot-NAME.so, as plugins are", file);
    if (kvs_privileged()) {
        rc = kvs_check_writers(real, err);
        if (rc != KVS_OK)
            return rc;
    }
    rc = open_object(real, &table, &handle, err);
    if (rc == KVS_OK)
        rc = kvs_known_add(table, real, st, check_file_name, file, known, err);
    if (rc != KVS_OK && handle)
        dlclose(handle); /* it stays mapped; only the count goes */
    return rc;
}

int kvs_load_file(const char *file, struct kvs_known **known, struct kvs_error *err)
{
    struct stat st;
    *known = NULL;
    char *real = realpath(file, NULL);
    if (!real || stat(real, &st) != 0) {
        int status = errno == ENOENT || errno == ENOTDIR ? KVS_NOT_FOUND
                     : errno == EACCES                   ? KVS_ACCESS
                                                         : KVS_INVALID_PARAM;
        kvs_err_set(err, status, "plugin '%s' cannot be loaded: %m", file);
        free(real);
        return status;
    }
    struct kvs_known *there = kvs_known_by_file(real, &st);
    int rc = there ? check_file_name(there->table, file, err) : load_new(file, real, &st, known, err);
    if (rc == KVS_OK && there)
        *known = there;
    free(real);
    return rc;
}

int kvs_loader_enter(struct kvs_error *err)
{
    if (kvs_proclock_has(KVS_LOCK_LOADER))
        return kvs_err_set(
            err, KVS_NOT_ALLOWED,
            "inside a backend's load() no backend is looked for, loaded, listed or registered");
    kvs_proclock_take(KVS_LOCK_LOADER);
    return KVS_OK;
}

void kvs_loader_leave(void)
{
    kvs_proclock_drop(KVS_LOCK_LOADER);
}

int kvs_plugin_load(const char *file, const char **name, struct kvs_error *err)
{
    struct kvs_known *known;
    if (name)
        *name = NULL;
    if (!file || !*file)
        return kvs_err_set(err, KVS_INVALID_PARAM, "the plugin's file name is %s", file ? "empty" : "NULL");
    int rc = kvs_loader_enter(err);
    if (rc != KVS_OK)
        return rc;
    rc = kvs_load_file(file, &known, err);
    kvs_loader_leave();
    if (rc == KVS_OK && name)
        *name = known->table->name;
    return rc;
}
