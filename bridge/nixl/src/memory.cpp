/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations, and their end while transfers still count them. */
#include "engine.h"

#include "guard.h"
#include "status.h"

#include <mutex>
#include <shared_mutex>

namespace kvslot::nixl
{

/* A call of the host's that was not taken. The host gets a number only, so the log has the reason. */
abi::Status Engine::refuse(const char *call, int rc, const kvs_error &err) const
{
    kvs_log(KVS_LOG_WARN, who(), "%s: %s: %s", call, kvs_status_name(rc), err.text);
    return to_host(rc);
}

abi::Status Engine::registerMem(const abi::BlobDesc &desc, const abi::MemType &type, abi::BackendMD *&out)
{
    out = nullptr;
    return guarded(who(), "registerMem", abi::backend_failed, [&] {
        if (!engine_)
            return abi::not_allowed;
        if (type != abi::mem_dram && type != abi::mem_object)
            return abi::not_supported;
        auto made = std::make_unique<Registration>(type, desc);
        kvs_desc told = {};
        told.addr = desc.addr;
        told.len = desc.len;
        told.dev_id = desc.dev_id;
        told.meta_info = desc.meta_info.data();
        told.meta_len = desc.meta_info.size();
        kvs_error err;
        int rc = kvs_mem_register(engine_, static_cast<std::uint32_t>(type), &told, &made->mem, &err);
        if (rc != KVS_OK)
            return refuse("registerMem", rc, err);
        kvs_mem *mem = made->mem;
        try {
            std::unique_lock hold(lock_);
            /* So that giving it up cannot fail for want of memory. */
            if (dead_.capacity() <= registrations_.size())
                dead_.reserve(2 * registrations_.size() + 8);
            out = registrations_.add(std::move(made));
        } catch (...) {
            kvs_mem_deregister(engine_, mem, nullptr);
            throw;
        }
        return abi::success;
    });
}

/* The host takes no other answer than success, and frees the memory. So what is still counted by a transfer
 * is only marked, its transfers are refused from now on, those that run are asked to end, and it goes with
 * the last of them. */
abi::Status Engine::deregisterMem(abi::BackendMD *md)
{
    if (!md)
        return abi::success;
    return guarded(who(), "deregisterMem", abi::backend_failed, [&] {
        std::unique_lock hold(lock_);
        Registration *r = registrations_.find(md);
        if (!r || r->dead)
            return abi::not_found;
        kvs_error err;
        int rc = kvs_mem_deregister(engine_, r->mem, &err);
        if (rc == KVS_OK) {
            registrations_.take(md);
            return abi::success;
        }
        if (rc != KVS_BUSY)
            return refuse("deregisterMem", rc, err);
        dead_.push_back(r);
        r->dead = true;
        kvs_log(KVS_LOG_WARN, who(),
                "deregisterMem of dev_id %llu: %s; they are refused from now on, and those that run are "
                "cancelled",
                static_cast<unsigned long long>(r->dev_id), err.text);
        requests_.for_each([&](Request &req) {
            for (const Registration *used : req.memory)
                if (used == r)
                    req.refused = true;
            if (req.refused && !req.releasing)
                kvs_xfer_cancel(req.xfer);
        });
        return abi::success;
    });
}

/* Ends the registrations that the host has given up and that no transfer counts any more. Takes the lock. */
void Engine::bury() const
{
    std::unique_lock hold(lock_);
    for (std::size_t i = dead_.size(); i-- > 0;) {
        if (kvs_mem_deregister(engine_, dead_[i]->mem, nullptr) == KVS_BUSY)
            continue;
        registrations_.take(dead_[i]);
        dead_.erase(dead_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

abi::Status Engine::loadLocalMD(abi::BackendMD *in, abi::BackendMD *&out)
{
    out = nullptr;
    return guarded(who(), "loadLocalMD", abi::backend_failed, [&] {
        std::shared_lock hold(lock_);
        Registration *r = in ? registrations_.find(in) : nullptr;
        if (!r)
            return abi::invalid_param;
        if (r->dead)
            return abi::not_allowed;
        out = in;
        return abi::success;
    });
}

/* What loadLocalMD gave is the registration itself: nothing to unload. The host may come after deregisterMem.
 */
abi::Status Engine::unloadMD(abi::BackendMD *)
{
    return abi::success;
}

} // namespace kvslot::nixl
