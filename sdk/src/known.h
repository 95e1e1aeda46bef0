/* SPDX-License-Identifier: Apache-2.0 */
/* The backends that the process has. One list for the process, as a plugin's code is there once;
 * KVS_LOCK_LOADER guards it and is held over every call here. Entries never go, and their tables never
 * change. */
#ifndef KVS_SRC_KNOWN_H
#define KVS_SRC_KNOWN_H

#include "backends.h"

#include <stdbool.h>
#include <sys/stat.h>

struct kvs_known {
    struct kvs_known *next;
    const struct kvs_backend *table;  /* the host's own copy */
    const struct kvs_backend *theirs; /* the table itself */
    const char *file;                 /* free of symbolic links; NULL: built in */
    dev_t dev;                        /* of that file, when it was loaded */
    ino_t ino;
};

struct kvs_known *kvs_known_first(void);
struct kvs_known *kvs_known_by_name(const char *name, size_t len);
/* By a further scheme; the earliest that lists it. */
struct kvs_known *kvs_known_by_scheme(const char *scheme, size_t len);
struct kvs_known *kvs_known_by_table(const struct kvs_backend *theirs);
struct kvs_known *kvs_known_by_file(const char *file, const struct stat *st);

/* What a plugin's file has to do with the name of what is in it; KVS_OK if it fits. */
typedef int kvs_known_check(const struct kvs_backend *table, const void *arg, struct kvs_error *err);

/* Checks a table, calls its load() and makes it known. file and st are NULL for one that is built in; check
 * may be NULL. On an error nothing is kept, and it can be tried again. */
int kvs_known_add(const struct kvs_backend *theirs, const char *file, const struct stat *st,
                  kvs_known_check *check, const void *arg, struct kvs_known **known, struct kvs_error *err);

#endif
