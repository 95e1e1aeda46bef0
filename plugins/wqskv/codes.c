/* SPDX-License-Identifier: Apache-2.0 */
#include "codes.h"

#include <errno.h>
#include <kvslot/types.h>

/* What the library's numbers mean is not documented: these are the ones that say what they mean, negative
 * errno's, as its own emulator here has them. All others are BACKEND, with the number in the text. */
int wqskv_status(int rc)
{
    switch (rc) {
    case 0:
        return KVS_OK;
    case -ENOENT:
        return KVS_NOT_FOUND;
    case -EEXIST:
        return KVS_EXISTS;
    case -ENOSPC:
        return KVS_FULL;
    case -ENOMEM:
        return KVS_NO_MEMORY;
    case -EIO:
        return KVS_IO;
    case -EACCES:
        return KVS_ACCESS;
    case -ETIMEDOUT:
        return KVS_TIMEOUT;
    case -ECANCELED:
        return KVS_CANCELED;
    case -ENOTCONN:
    case -ECONNRESET:
    case -ECONNREFUSED:
        return KVS_DISCONNECTED;
    case -EINVAL:
        return KVS_INVALID_PARAM;
    default:
        return KVS_BACKEND;
    }
}
