/* SPDX-License-Identifier: Apache-2.0 */
/* The host's parameters of an engine: names and values, from which all that is open to choice comes. */
#ifndef KVSLOT_NIXL_PARAMS_H
#define KVSLOT_NIXL_PARAMS_H

#include "abi.h"

#include <kvslot/kvslot.h>

#include <string>
#include <vector>

namespace kvslot::nixl
{

/* What the host is shown: the declared parameters with their defaults, the SDK's and the bridge's own among
 * them. `backend` is NULL for the plugin whose parameter `backend` says what to open. */
abi::Params options(const char *backend);

/* What an engine is opened with. The values point into the host's map. */
struct Settings {
    std::string target;                  /* for kvs_engine_open() */
    std::vector<kvs_param_value> values; /* those that differ from their defaults */
    std::uint64_t release_timeout_ns = 0;
    std::uint64_t drain_timeout_ns = 0;
};

/* Reads them; on an error `err` names the parameter. */
int read_settings(const char *backend, const abi::Params &from, Settings &to, struct kvs_error *err);

/* Puts "***" in the place of secrets: `shown` are parameters that the host may show to anybody. One that is
 * only the place of a secret (@FILE) stays. */
void hide_secrets(const char *backend, abi::Params &shown);

} // namespace kvslot::nixl

#endif
