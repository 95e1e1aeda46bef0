/* SPDX-License-Identifier: Apache-2.0 */
/* No exception crosses into the host. */
#ifndef KVSLOT_NIXL_GUARD_H
#define KVSLOT_NIXL_GUARD_H

#include <kvslot/kvslot.h>

#include <exception>
#include <utility>

namespace kvslot::nixl
{

/* Answers what `body` does; where that throws, a line in the log says so and `otherwise` is the answer. */
template <class T, class Body> T guarded(const char *who, const char *call, T otherwise, Body &&body) noexcept
{
    try {
        return std::forward<Body>(body)();
    } catch (const std::exception &e) {
        kvs_log(KVS_LOG_ERROR, who, "%s: %s", call, e.what());
    } catch (...) {
        kvs_log(KVS_LOG_ERROR, who, "%s: unknown exception", call);
    }
    return otherwise;
}

} // namespace kvslot::nixl

#endif
