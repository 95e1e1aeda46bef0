/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include <errno.h>
#include <lmdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void env_say(struct env_text *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out->text, sizeof(out->text), fmt, args);
    va_end(args);
}

int env_status(int rc)
{
    switch (rc) {
    case MDB_SUCCESS:
        return KVS_OK;
    case MDB_NOTFOUND:
        return KVS_NOT_FOUND;
    case MDB_MAP_FULL:
    case MDB_DBS_FULL:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return KVS_FULL;
    case MDB_BAD_VALSIZE:
        return KVS_TOO_LARGE;
    case EACCES:
    case EPERM:
    case EROFS:
        return KVS_ACCESS;
    case ENOMEM:
        return KVS_NO_MEMORY;
    case EINVAL:
        return KVS_BACKEND;
    default:
        return rc > 0 ? KVS_IO : KVS_BACKEND; /* an errno, or LMDB's own */
    }
}

const char *env_reason(int rc)
{
    switch (rc) {
    case MDB_MAP_FULL:
        return "the environment is full and its map may not grow beyond map_limit";
    case MDB_READERS_FULL:
        return "all places for readers (max_readers) are taken by other processes";
    default:
        return mdb_strerror(rc);
    }
}

bool env_certain(int rc)
{
    switch (rc) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM: /* before the page that makes it count is written */
        return true;
    default:
        return rc < 0 && rc != MDB_PANIC; /* LMDB's own: found before anything was written */
    }
}
