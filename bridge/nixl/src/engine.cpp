/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, closing, and what the host asks before it does anything. */
#include "engine.h"

#include "guard.h"

#include <kvslot/backend.h>

#include <mutex>

namespace kvslot::nixl
{

abi::MemList mems_of(const kvs_backend *backend)
{
    abi::MemList list;
    std::uint32_t mask = backend->local_mems | backend->remote_mems;
    for (abi::MemType type : {abi::mem_dram, abi::mem_object})
        if (mask & KVS_MEM_MASK(type))
            list.push_back(type);
    return list;
}

Engine::Engine(const abi::InitParams *init, const char *backend)
    : abi::BackendEngine(init), who_("nixl/" + init->type)
{
    init_err = !guarded(who(), "open", false, [&] {
        bool opened = open(*init->custom, backend);
        if (opened)
            hide_secrets(backend, custom_);
        else
            custom_.clear();
        return opened;
    });
}

bool Engine::open(const abi::Params &from, const char *backend)
{
    kvs_error err;
    Settings settings;
    int rc = read_settings(backend, from, settings, &err);
    if (rc == KVS_OK)
        rc = kvs_engine_open(settings.target.c_str(), settings.values.data(), settings.values.size(),
                             &engine_, &err);
    if (rc != KVS_OK) {
        kvs_log(KVS_LOG_ERROR, who(), "cannot be opened: %s: %s", kvs_status_name(rc), err.text);
        return false;
    }
    release_timeout_ns_ = settings.release_timeout_ns;
    drain_timeout_ns_ = settings.drain_timeout_ns;
    limits_.size = sizeof limits_;
    kvs_engine_limits(engine_, &limits_);
    return true;
}

Engine::~Engine()
{
    if (!engine_)
        return;
    guarded(who(), "destroy", 0, [&] {
        kvs_error err;
        int rc = kvs_engine_close(engine_, drain_timeout_ns_, &err);
        requests_.for_each([&](Request &r) {
            if (rc != KVS_OK && kvs_xfer_release(r.xfer, 0) != KVS_OK) {
                give_up(r, "the backend is destroyed");
                kvs_xfer_abandon(r.xfer);
            } else if (rc == KVS_OK) {
                kvs_xfer_release(r.xfer, 0);
            }
        });
        if (rc == KVS_OK)
            return 0;
        kvs_log(KVS_LOG_ERROR, who(), "given up with its threads, which stay: %s", err.text);
        kvs_engine_abandon(engine_);
        return 0;
    });
}

bool Engine::supportsRemote() const
{
    return false;
}

bool Engine::supportsLocal() const
{
    return true;
}

bool Engine::supportsNotif() const
{
    return false;
}

abi::MemList Engine::getSupportedMems() const
{
    return guarded(who(), "getSupportedMems", abi::MemList{},
                   [&] { return engine_ ? mems_of(kvs_engine_backend(engine_)) : abi::MemList{}; });
}

/* The store is reached from here: the only agent to connect to is this one. */
abi::Status Engine::connect(const std::string &agent)
{
    return agent == local_agent ? abi::success : abi::not_supported;
}

abi::Status Engine::disconnect(const std::string &agent)
{
    return agent == local_agent ? abi::success : abi::not_supported;
}

} // namespace kvslot::nixl
