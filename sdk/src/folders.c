/* SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"
#include "platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(struct kvs_folders *folders, const char *folder, size_t len)
{
    while (len > 1 && folder[len - 1] == '/')
        len--;
    if (len == 0) /* not the current folder: that is for anybody to choose */
        return true;
    for (size_t i = 0; i < folders->n; i++)
        if (strlen(folders->at[i]) == len && memcmp(folders->at[i], folder, len) == 0)
            return true;
    char **at = realloc(folders->at, (folders->n + 1) * sizeof *at);
    if (!at)
        return false;
    folders->at = at;
    at[folders->n] = strndup(folder, len);
    return at[folders->n] && ++folders->n;
}

static bool add_beside(struct kvs_folders *folders, const char *library, const char *below)
{
    char path[PATH_MAX + 32];
    int len = snprintf(path, sizeof path, "%s/%s", library, below);
    return add(folders, path, (size_t)len);
}

bool kvs_folders_make(struct kvs_folders *folders)
{
    char library[PATH_MAX];
    *folders = (struct kvs_folders){0};
    bool ok = true;
    const char *path = secure_getenv("KVSLOT_PLUGIN_PATH"); /* KVS-REQ-440 */
    while (path && ok) {
        size_t len = strcspn(path, ":");
        ok = add(folders, path, len);
        path = path[len] ? path + len + 1 : NULL;
    }
    ok = ok && add(folders, KVSLOT_PLUGIN_DIR, strlen(KVSLOT_PLUGIN_DIR));
    if (ok && kvs_library_folder(library)) {
        ok = add_beside(folders, library, "kvslot");
        *strrchr(library, '/') = '\0';
        ok = ok && add_beside(folders, library, "lib/kvslot");
    }
    if (!ok)
        kvs_folders_free(folders);
    return ok;
}

void kvs_folders_free(struct kvs_folders *folders)
{
    for (size_t i = 0; i < folders->n; i++)
        free(folders->at[i]);
    free(folders->at);
    *folders = (struct kvs_folders){0};
}

bool kvs_folder_has(const char *folder, const char *name, size_t len, char path[PATH_MAX])
{
    struct stat st;
    int n = snprintf(path, PATH_MAX, "%s/kvslot-%.*s.so", folder, (int)len, name);
    return n > 0 && n < PATH_MAX && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}
