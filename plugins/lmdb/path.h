/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of an environment. */
#ifndef KVS_LMDB_PATH_H
#define KVS_LMDB_PATH_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Sees to it that path is a folder, made with its parents if `create` says so. A status, with text. */
int path_prepare(const char *path, bool create, struct env_text *text);
/* What stat says of the environment's data file in that folder; false: there is none yet. */
bool path_data(const char *path, struct stat *out);
/* Sees to it that a file which was just made in that folder, and the folder itself, are found after a crash.
 * An errno or 0. */
int path_sync(const char *path);
/* Flushes the data file in that folder, if there is one; false: it cannot be done. */
bool path_flush(const char *path);
/* Whether this process has that file mapped. What the kernel does not tell is no. */
bool path_mapped(const struct stat *file);
/* The name of a file system over which LMDB's locks do not work, if path is on one; else NULL. `look` is
 * statfs, but in tests. */
const char *path_remote(const char *path, int (*look)(const char *path, struct statfs *out));

/* Sees to it that the lock file has its blocks: it is written through a map, where a full disk is a SIGBUS.
 * 0, ENOSPC or such; what cannot be looked at is left to LMDB. No environment of the process may have the
 * file open, since closing it here drops the process' locks. */
int path_reserve_lock(const char *path, size_t bytes, mode_t mode);

#endif
