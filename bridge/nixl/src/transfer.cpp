/* SPDX-License-Identifier: Apache-2.0 */
/* A prepared transfer's life: post, check, release. */
#include "engine.h"

#include "guard.h"
#include "status.h"

#include <cstdio>
#include <mutex>
#include <shared_mutex>

namespace kvslot::nixl
{

/* A result for the host. It gets a number, and the log, once a post, what the number does not say. */
abi::Status Engine::ended(Request &r, int rc) const
{
    if (rc < 0 && rc != KVS_NOT_POSTED && !r.told.exchange(true)) {
        kvs_log(is_folded(rc) ? KVS_LOG_WARN : KVS_LOG_DEBUG, who(), "transfer: %s: %s", kvs_status_name(rc),
                kvs_xfer_error(r.xfer));
    }
    return to_host(rc);
}

/* The lists are those of prepXfer, which has taken what it needs of them. */
abi::Status Engine::postXfer(const abi::XferOp &, const abi::MetaList &, const abi::MetaList &,
                             const std::string &, abi::BackendReq *&req, const abi::OptArgs *args) const
{
    return guarded(who(), "postXfer", abi::backend_failed, [&] {
        if (args && args->has_notif)
            return abi::not_supported;
        /* Held over the post: what deregisterMem finds running was posted before, and nothing is after. */
        std::shared_lock hold(lock_);
        Request *r = req ? requests_.find(req) : nullptr;
        if (!r)
            return abi::invalid_param;
        if (r->refused)
            return abi::not_allowed;
        if (r->releasing)
            return abi::repost_active;
        int rc = kvs_xfer_post(r->xfer);
        if (rc != KVS_BUSY)
            r->told = false;
        if (rc >= 0) /* another run, whose first release only asks */
            r->asked = false;
        return ended(*r, rc);
    });
}

abi::Status Engine::checkXfer(abi::BackendReq *req) const
{
    return guarded(who(), "checkXfer", abi::backend_failed, [&] {
        /* Held over the check: no release of another thread's takes the transfer away meanwhile. */
        std::shared_lock hold(lock_);
        Request *r = req ? requests_.find(req) : nullptr;
        if (!r)
            return abi::invalid_param;
        if (r->releasing)
            return abi::in_prog;
        return ended(*r, kvs_xfer_check(r->xfer));
    });
}

/* Names the memory that a store may still touch after the host has been told that all is over. */
void Engine::give_up(const Request &r, const char *why) const
{
    char list[400];
    int at = 0;
    for (const Buffer &b : r.buffers)
        if (at >= 0 && at < static_cast<int>(sizeof list))
            at += std::snprintf(list + at, sizeof list - static_cast<std::size_t>(at), "%s%#llx+%zu",
                                at ? ", " : "", static_cast<unsigned long long>(b.addr), b.len);
    std::size_t more = r.count - r.buffers.size();
    char rest[40] = "";
    if (more > 0)
        std::snprintf(rest, sizeof rest, " and %zu more", more);
    kvs_log(KVS_LOG_ERROR, who(),
            "%s: a transfer still runs and is abandoned; the store may yet touch its memory: %s%s", why,
            at > 0 ? list : "none", rest);
}

/* The host keeps a refusal and does not ask again but once, from a destructor that takes no answer. So the
 * first release of what runs cancels it, and the second ends it in any case. */
abi::Status Engine::releaseReqH(abi::BackendReq *req) const
{
    return guarded(who(), "releaseReqH", abi::backend_failed, [&] {
        Request *r;
        bool last;
        {
            std::unique_lock hold(lock_);
            r = req ? requests_.find(req) : nullptr;
            if (!r)
                return abi::invalid_param;
            if (r->releasing)
                return abi::repost_active;
            r->releasing = true;
            last = r->asked;
        }
        int rc = kvs_xfer_release(r->xfer, release_timeout_ns_);
        if (rc != KVS_OK && !last) {
            std::unique_lock hold(lock_);
            r->releasing = false;
            r->asked = true;
            return abi::repost_active;
        }
        if (rc != KVS_OK) {
            give_up(*r, "released a second time");
            kvs_xfer_abandon(r->xfer);
        }
        bool dead;
        {
            std::unique_lock hold(lock_);
            requests_.take(req);
            dead = !dead_.empty();
        }
        if (dead)
            bury();
        return abi::success;
    });
}

} // namespace kvslot::nixl
