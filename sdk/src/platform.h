/* SPDX-License-Identifier: Apache-2.0 */
/* What is bound to Linux and glibc, but for threads and clocks (sync.h): where the library runs from,
 * folders, who may write to a file, what a shared object looks like. */
#ifndef KVS_SRC_PLATFORM_H
#define KVS_SRC_PLATFORM_H

#include <kvslot/kvslot.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The folder that the running library (or the program it is linked into) was loaded from. False: not known.
 */
bool kvs_library_folder(char folder[PATH_MAX]);

/* Runs with more rights than who started it, or as root: then it does not load what others could have
 * written. */
bool kvs_privileged(void);

/* May others than root and the owner write to the file, or put another in its place (its folder)? Answers
 * KVS_OK, or KVS_ACCESS with a text that names the file or folder and the mode. `path` is free of symbolic
 * links. KVS-REQ-439 */
int kvs_check_writers(const char *path, struct kvs_error *err);

/* Is the file a whole shared object for this machine? Loading one that was cut short would kill the process
 * with SIGBUS. */
int kvs_check_object(const char *path, struct kvs_error *err);

/* Calls each(arg, name) for every entry of a folder, in no order; one that cannot be read has none. */
void kvs_each_file(const char *folder, void (*each)(void *arg, const char *name), void *arg);

/* Asks for large pages for memory that is aligned to them, and will all be used. A hint. */
void kvs_platform_large_pages(void *at, size_t len);

#endif
