/* SPDX-License-Identifier: Apache-2.0 */
#include "known.h"
#include "adopt.h"
#include "engine.h"
#include "epoch.h"
#include "err.h"
#include "log.h"
#include "schemes.h"

#include <stdlib.h>
#include <string.h>

static struct kvs_known *first; /* guarded by KVS_LOCK_LOADER */

struct kvs_known *kvs_known_first(void)
{
    return first;
}

struct kvs_known *kvs_known_by_name(const char *name, size_t len)
{
    for (struct kvs_known *k = first; k; k = k->next)
        if (strlen(k->table->name) == len && memcmp(k->table->name, name, len) == 0)
            return k;
    return NULL;
}

struct kvs_known *kvs_known_by_scheme(const char *scheme, size_t len)
{
    struct kvs_scheme entry;
    for (struct kvs_known *k = first; k; k = k->next)
        if (kvs_scheme_find(k->table->schemes, scheme, len, &entry))
            return k;
    return NULL;
}

struct kvs_known *kvs_known_by_table(const struct kvs_backend *theirs)
{
    for (struct kvs_known *k = first; k; k = k->next)
        if (k->theirs == theirs)
            return k;
    return NULL;
}

struct kvs_known *kvs_known_by_file(const char *file, const struct stat *st)
{
    for (struct kvs_known *k = first; k; k = k->next) {
        if (!k->file)
            continue;
        if (k->dev == st->st_dev && k->ino == st->st_ino)
            return k;
        if (strcmp(k->file, file) == 0) {
            /* Opened NODELETE, so the old one stays whatever is done. */
            kvs_log(KVS_LOG_WARN, "sdk",
                    "plugin '%s' has changed since it was loaded; this process keeps what it loaded", file);
            return k;
        }
    }
    return NULL;
}

/* KVS-REQ-415: called once where it succeeds. */
static int call_load(const struct kvs_backend *table, const char *where, struct kvs_error *err)
{
    struct kvs_error why = {0};
    if (!table->load)
        return KVS_OK;
    struct kvs_error *outer = kvs_host_text_begin(&why);
    int rc = table->load(&kvs_host_table);
    kvs_host_text_end(outer);
    if (rc == KVS_OK)
        return KVS_OK;
    char buf[64];
    return kvs_err_set(err, kvs_status_error(rc), "%s: backend '%s' cannot be loaded: %s", where, table->name,
                       kvs_err_why(buf, sizeof buf, &why, rc));
}

static int check_name(const struct kvs_backend *table, const char *where, struct kvs_error *err)
{
    const struct kvs_known *other = kvs_known_by_name(table->name, strlen(table->name));
    if (!other)
        return KVS_OK;
    return kvs_err_set(err, KVS_INVALID_PARAM, "%s: there is a backend '%s' already, from %s", where,
                       table->name, other->file ? other->file : "the program itself (built in)");
}

static struct kvs_known *new_known(const struct kvs_backend *theirs, const char *file, const struct stat *st)
{
    struct kvs_known *known = calloc(1, sizeof *known);
    if (!known)
        return NULL;
    known->theirs = theirs;
    if (!file)
        return known;
    known->file = strdup(file);
    known->dev = st->st_dev;
    known->ino = st->st_ino;
    if (known->file)
        return known;
    free(known);
    return NULL;
}

int kvs_known_add(const struct kvs_backend *theirs, const char *file, const struct stat *st,
                  kvs_known_check *check, const void *arg, struct kvs_known **known, struct kvs_error *err)
{
    const char *where = file ? file : "built in";
    const struct kvs_backend *table;
    *known = NULL;
    int rc = kvs_backend_adopt(theirs, where, &table, err);
    if (rc != KVS_OK)
        return rc;
    struct kvs_known *k = new_known(theirs, file, st);
    rc = !k ? kvs_err_set(err, KVS_NO_MEMORY, "%s: no memory for backend '%s'", where, table->name) : KVS_OK;
    if (rc == KVS_OK && check)
        rc = check(table, arg, err);
    if (rc == KVS_OK)
        rc = check_name(table, where, err);
    /* From here on a forked child is known for one: it has its parent's copy of what load() began.
     * KVS-REQ-457 */
    if (rc == KVS_OK && (table->flags & KVS_F_ONCE_PER_PROCESS) && kvs_epoch_begin() == 0)
        rc = kvs_err_set(err, KVS_NO_MEMORY, "%s: no memory for backend '%s'", where, table->name);
    if (rc == KVS_OK)
        rc = call_load(table, where, err);
    if (rc != KVS_OK) {
        if (k)
            free((void *)(uintptr_t)k->file);
        free(k);
        kvs_backend_disown(table);
        return rc;
    }
    k->table = table;
    struct kvs_known **end = &first;
    while (*end)
        end = &(*end)->next;
    *end = k;
    *known = k;
    kvs_log(KVS_LOG_DEBUG, "sdk", "backend '%s' %s is known, from %s", table->name, table->version, where);
    return KVS_OK;
}
