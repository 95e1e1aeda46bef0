/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of statuses, and the version. */
#include "err.h"

/* KVS-REQ-005: numbers that NIXL shares, and those that any stored log or report may hold, never move. */
_Static_assert(KVS_IN_PROG == 1 && KVS_OK == 0 && KVS_CANCELED == -11 && KVS_AGAIN == -107,
               "status numbers are fixed");

const char *kvs_version(void)
{
    return KVS_VERSION_TEXT;
}

const char *kvs_status_name(int status)
{
    switch (status) {
#define STATUS_NAME(name, number, text)                                                                      \
    case number:                                                                                             \
        return #name;
        KVS_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    default:
        return "?";
    }
}

const char *kvs_status_text(int status)
{
    switch (status) {
#define STATUS_TEXT(name, number, text)                                                                      \
    case number:                                                                                             \
        return text;
        KVS_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    default:
        return "unknown status";
    }
}
