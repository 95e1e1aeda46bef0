/* SPDX-License-Identifier: Apache-2.0 */
/* estimateXferCost, from what the engine has counted of the transfers before. */
#include "engine.h"

#include "guard.h"
#include "status.h"

#include <algorithm>

namespace kvslot::nixl
{
namespace
{

constexpr std::uint64_t enough = 16; /* transfers, before which there is nothing to go by */

/* Days at most: the last place of a histogram has no end, and lengths are whatever the host says. */
std::chrono::microseconds scaled(std::uint64_t ns, double factor)
{
    constexpr double most_us = 30.0 * 24 * 3600 * 1e6;
    double us = static_cast<double>(std::min(ns, KVS_SEC(3600))) * factor / 1000.0 + 0.5;
    return std::chrono::microseconds(static_cast<std::int64_t>(std::min(us, most_us)));
}

} // namespace

/* The median of the operation so far, which is of the mean length: longer transfers take longer in
 * proportion, shorter ones are not taken to be any quicker. The margin reaches to what nine of ten took. */
abi::Status Engine::estimateXferCost(const abi::XferOp &op, const abi::MetaList &local, const abi::MetaList &,
                                     const std::string &, abi::BackendReq *const &,
                                     std::chrono::microseconds &duration, std::chrono::microseconds &margin,
                                     abi::CostMethod &method, const abi::AgentArgs *) const
{
    return guarded(who(), "estimateXferCost", abi::backend_failed, [&] {
        if (!engine_)
            return abi::not_allowed;
        if (op != abi::op_read && op != abi::op_write)
            return abi::invalid_param;
        kvs_stats stats;
        stats.size = sizeof stats;
        int rc = kvs_engine_stats(engine_, &stats);
        if (rc != KVS_OK)
            return to_host(rc);
        const kvs_op_stats &so_far = stats.op[op == abi::op_write ? KVS_WRITE : KVS_READ];
        if (so_far.transfers < enough)
            return abi::not_supported;
        double bytes = 0, mean = static_cast<double>(so_far.bytes) / static_cast<double>(so_far.transfers);
        for (const abi::MetaDesc &desc : local.descs)
            bytes += static_cast<double>(desc.len);
        double factor = mean > 0 ? std::max(1.0, bytes / mean) : 1.0;
        std::uint64_t half = kvs_latency_quantile(so_far.latency, 0.5);
        std::uint64_t most = kvs_latency_quantile(so_far.latency, 0.9);
        duration = scaled(half, factor);
        margin = scaled(most - half, factor);
        method = abi::CostMethod::by_backend;
        return abi::success;
    });
}

} // namespace kvslot::nixl
