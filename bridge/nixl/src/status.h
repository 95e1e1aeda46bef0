/* SPDX-License-Identifier: Apache-2.0 */
/* The SDK's statuses as the host has them. */
#ifndef KVSLOT_NIXL_STATUS_H
#define KVSLOT_NIXL_STATUS_H

#include "abi.h"

namespace kvslot::nixl
{

/* KVS-REQ-014 */
abi::Status to_host(int kvs_status) noexcept;

/* Does the host's status say less than the SDK's: the text is then all that tells what happened. */
bool is_folded(int kvs_status) noexcept;

} // namespace kvslot::nixl

#endif
