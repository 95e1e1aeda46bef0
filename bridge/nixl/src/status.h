/* SPDX-License-Identifier: Apache-2.0 */
/* The SDK's statuses as the host has them, and errors of the bridge's own. */
#ifndef KVSLOT_NIXL_STATUS_H
#define KVSLOT_NIXL_STATUS_H

#include "abi.h"

#include <kvslot/kvslot.h>

namespace kvslot::nixl
{

/* KVS-REQ-014 */
abi::Status to_host(int kvs_status) noexcept;

/* Does the host's status say less than the SDK's: the text is then all that tells what happened. */
bool is_folded(int kvs_status) noexcept;

/* Fills in *err, and answers `status`. */
int fail(kvs_error *err, int status, const char *fmt, ...) noexcept KVS_PRINTF(3, 4);

} // namespace kvslot::nixl

#endif
