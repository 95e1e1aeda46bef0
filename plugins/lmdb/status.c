/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of LMDB's and of the system as statuses, and sentences about them. */
#include "env.h"

#include <errno.h>
#include <stdarg.h>
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
