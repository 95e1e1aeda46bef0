/* SPDX-License-Identifier: Apache-2.0 */
/* prepXfer: the host's lists as the SDK takes them. */
#include "engine.h"

#include "guard.h"
#include "status.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

namespace kvslot::nixl
{
namespace
{

constexpr std::size_t buffers_named = 8;

kvs_desc to_sdk(const abi::BasicDesc &desc, const Registration *r)
{
    kvs_desc d = {};
    d.mem = r ? r->mem : nullptr;
    d.addr = desc.addr;
    d.len = desc.len;
    d.dev_id = desc.dev_id;
    return d;
}

} // namespace

struct Engine::Sides {
    std::vector<kvs_desc> local, remote;
    std::vector<const Registration *> memory; /* distinct, of the local side */
};

/* The registration behind a descriptor; none where the host gives none. The lock is held. */
int Engine::resolve(const abi::MetaList &list, const abi::MetaDesc &desc, const char *side,
                    Registration *&found, kvs_error *err) const
{
    std::size_t at = static_cast<std::size_t>(&desc - list.descs.data());
    found = desc.md ? registrations_.find(desc.md) : nullptr;
    if (!found && !desc.md)
        return KVS_OK;
    if (!found)
        return fail(err, KVS_INVALID_PARAM, "%s descriptor %zu: its metadata is not of this backend", side,
                    at);
    if (found->dead)
        return fail(err, KVS_NOT_ALLOWED, "%s descriptor %zu: dev_id %llu is deregistered", side, at,
                    static_cast<unsigned long long>(desc.dev_id));
    /* Pointers are used again: one that the host kept too long may stand for another registration by now. */
    if (found->type != list.type || found->dev_id != desc.dev_id)
        return fail(err, KVS_INVALID_PARAM,
                    "%s descriptor %zu: its metadata is of dev_id %llu in segment %d, not of %llu in %d",
                    side, at, static_cast<unsigned long long>(found->dev_id), static_cast<int>(found->type),
                    static_cast<unsigned long long>(desc.dev_id), static_cast<int>(list.type));
    return KVS_OK;
}

int Engine::local_side(const abi::MetaList &list, Sides &to, kvs_error *err) const
{
    const abi::BackendMD *last = nullptr;
    Registration *r = nullptr;
    to.local.reserve(list.descs.size());
    for (const abi::MetaDesc &desc : list.descs) {
        if (!desc.md || desc.md != last || desc.dev_id != r->dev_id) {
            int rc = resolve(list, desc, "local", r, err);
            if (rc != KVS_OK)
                return rc;
            last = desc.md;
            if (r)
                to.memory.push_back(r);
        }
        to.local.push_back(to_sdk(desc, r));
    }
    std::sort(to.memory.begin(), to.memory.end());
    to.memory.erase(std::unique(to.memory.begin(), to.memory.end()), to.memory.end());
    return KVS_OK;
}

/* Is it a registration that only waits for its last transfer: the SDK would still find it by its dev_id. */
bool Engine::is_dead(abi::MemType type, std::uint64_t dev_id) const
{
    return std::any_of(dead_.begin(), dead_.end(),
                       [&](const Registration *r) { return r->type == type && r->dev_id == dev_id; });
}

int Engine::remote_side(const abi::MetaList &list, Sides &to, kvs_error *err) const
{
    const abi::BackendMD *last = nullptr;
    Registration *r = nullptr;
    to.remote.reserve(list.descs.size());
    for (const abi::MetaDesc &desc : list.descs) {
        if (!desc.md || desc.md != last || desc.dev_id != r->dev_id) {
            int rc = resolve(list, desc, "remote", r, err);
            if (rc != KVS_OK)
                return rc;
            last = desc.md;
        }
        if (!r && is_dead(list.type, desc.dev_id))
            return fail(err, KVS_NOT_ALLOWED, "remote descriptor %zu: dev_id %llu is deregistered",
                        static_cast<std::size_t>(&desc - list.descs.data()),
                        static_cast<unsigned long long>(desc.dev_id));
        to.remote.push_back(to_sdk(desc, r));
    }
    return KVS_OK;
}

/* With keys of its own a transfer's remote side is not looked at. The lock is held. */
int Engine::sides(const abi::MetaList &local, const abi::MetaList &remote, bool keys_given, Sides &to,
                  kvs_error *err) const
{
    int rc = local_side(local, to, err);
    if (rc == KVS_OK && !keys_given)
        rc = remote_side(remote, to, err);
    return rc;
}

/* Makes what is prepared known by its pointer, unless memory of it was deregistered meanwhile. */
abi::Status Engine::enter(std::unique_ptr<Request> made, abi::BackendReq *&req) const
{
    kvs_xfer *xfer = made->xfer;
    bool gone = false;
    try {
        std::unique_lock hold(lock_);
        for (const Registration *r : made->memory)
            gone = gone || r->dead;
        if (!gone)
            req = requests_.add(std::move(made));
    } catch (...) {
        kvs_xfer_release(xfer, 0);
        throw;
    }
    if (!gone)
        return abi::success;
    kvs_xfer_release(xfer, 0);
    bury();
    return abi::not_allowed;
}

abi::Status Engine::prepXfer(const abi::XferOp &op, const abi::MetaList &local, const abi::MetaList &remote,
                             const std::string &agent, abi::BackendReq *&req, const abi::OptArgs *args) const
{
    req = nullptr;
    return guarded(who(), "prepXfer", abi::backend_failed, [&] {
        if (!engine_)
            return abi::not_allowed;
        if (agent != local_agent || (args && args->has_notif))
            return abi::not_supported;
        if (op != abi::op_read && op != abi::op_write)
            return abi::invalid_param;
        kvs_error err;
        Sides s;
        auto made = std::make_unique<Request>();
        kvs_dlist mine = {}, theirs = {};
        kvs_xfer_req what = {};
        what.size = sizeof what;
        what.op = op == abi::op_write ? KVS_WRITE : KVS_READ;
        what.local = &mine;
        bool keys_given = args && !args->custom.empty();
        if (keys_given) {
            what.custom = args->custom.data();
            what.custom_len = args->custom.size();
        } else {
            what.remote = &theirs;
        }
        for (std::size_t i = 0; i < std::min(buffers_named, local.descs.size()); i++)
            made->buffers.push_back({local.descs[i].addr, local.descs[i].len});
        made->count = local.descs.size();
        {
            /* No registration goes between its look-up and the SDK's counting it. */
            std::shared_lock hold(lock_);
            int rc = sides(local, remote, keys_given, s, &err);
            if (rc == KVS_OK) {
                mine = {s.local.data(), s.local.size(), 0, static_cast<std::uint32_t>(local.type)};
                theirs = {s.remote.data(), s.remote.size(), 0, static_cast<std::uint32_t>(remote.type)};
                rc = kvs_xfer_prep(engine_, &what, &made->xfer, &err);
            }
            if (rc != KVS_OK)
                return refuse("prepXfer", rc, err);
        }
        made->memory = std::move(s.memory);
        return enter(std::move(made), req);
    });
}

} // namespace kvslot::nixl
