/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include <cstdarg>
#include <cstdio>

namespace kvslot::nixl
{

abi::Status to_host(int kvs_status) noexcept
{
    switch (kvs_status) {
    case KVS_EXISTS:
    case KVS_ACCESS:
        return abi::not_allowed;
    case KVS_TOO_LARGE:
        return abi::invalid_param;
    default:
        /* Down to CANCELED the numbers are the host's own. */
        return kvs_status <= KVS_IN_PROG && kvs_status >= KVS_CANCELED ? static_cast<abi::Status>(kvs_status)
                                                                       : abi::backend_failed;
    }
}

bool is_folded(int kvs_status) noexcept
{
    return kvs_status == KVS_BACKEND || static_cast<int>(to_host(kvs_status)) != kvs_status;
}

int fail(kvs_error *err, int status, const char *fmt, ...) noexcept
{
    va_list args;
    va_start(args, fmt);
    std::vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    err->status = status;
    return status;
}

} // namespace kvslot::nixl
