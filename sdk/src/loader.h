/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins: where they are looked for, and how one is loaded. */
#ifndef KVS_SRC_LOADER_H
#define KVS_SRC_LOADER_H

#include "known.h"

#include <limits.h>

/* Takes KVS_LOCK_LOADER. NOT_ALLOWED, with a text: this thread has it, inside the load() of a backend. */
int kvs_loader_enter(struct kvs_error *err);
void kvs_loader_leave(void);
/* KVS_LOCK_LOADER held. Any path of a plugin's file; *known is the one that is there already if it was loaded
 * before. */
int kvs_load_file(const char *file, struct kvs_known **known, struct kvs_error *err);

/* The NAME of a file name kvslot-NAME.so; its length, 0 where it has another form. */
size_t kvs_plugin_name(const char *file_name, const char **name);

/* The folders to look into, in their order, each once (folders.c). */
struct kvs_folders {
    char **at;
    size_t n;
};
/* False: no memory. */
bool kvs_folders_make(struct kvs_folders *folders);
void kvs_folders_free(struct kvs_folders *folders);
/* FOLDER/kvslot-NAME.so; false where that is longer than a path may be, or there is no such regular file. */
bool kvs_folder_has(const char *folder, const char *name, size_t len, char path[PATH_MAX]);

#endif
