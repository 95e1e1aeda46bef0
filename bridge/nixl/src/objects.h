/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the host's two kinds of pointers, and the tables in which they are looked up: a pointer
 * that is in no table is not ours and is never followed. */
#ifndef KVSLOT_NIXL_OBJECTS_H
#define KVSLOT_NIXL_OBJECTS_H

#include "abi.h"

#include <kvslot/kvslot.h>

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kvslot::nixl
{

struct Registration final : abi::BackendMD {
    Registration(abi::MemType of, const abi::BasicDesc &desc)
        : abi::BackendMD(true), type(of), dev_id(desc.dev_id)
    {
    }

    const abi::MemType type;
    const std::uint64_t dev_id;
    kvs_mem *mem = nullptr;
    /* The host has given it up while transfers still counted it. Guarded by the engine's lock. */
    bool dead = false;
};

struct Buffer {
    std::uintptr_t addr;
    std::size_t len;
};

struct Request final : abi::BackendReq {
    kvs_xfer *xfer = nullptr;
    std::vector<const Registration *> memory; /* distinct, of the local side; const after prep */
    std::vector<Buffer> buffers;              /* the first few, for the log; const after prep */
    std::size_t count = 0;                    /* of buffers, all told; const after prep */

    /* Names memory that the host has given up: not to be posted any more. Guarded by the engine's lock. */
    bool refused = false;
    /* A release is inside the SDK, and nobody else may touch xfer. Guarded by the engine's lock. */
    bool releasing = false;
    /* A release of this post was answered REPOST_ACTIVE: the next is the last. Set with the engine's lock
     * held exclusively; posts, which share it, take it back. */
    std::atomic<bool> asked = false;
    /* The log has been told how the last post ended. */
    std::atomic<bool> told = false;
};

/* Owns what it holds. Guarded by the engine's lock: shared to look up, exclusive to change. */
template <class Object, class Handle> class Table
{
  public:
    /* NULL for a pointer that is not in here. */
    Object *find(const Handle *handle) const
    {
        auto at = all_.find(handle);
        return at == all_.end() ? nullptr : at->second.get();
    }
    Object *add(std::unique_ptr<Object> object)
    {
        Object *raw = object.get();
        all_.emplace(raw, std::move(object));
        return raw;
    }
    std::unique_ptr<Object> take(const Handle *handle)
    {
        auto at = all_.find(handle);
        if (at == all_.end())
            return nullptr;
        std::unique_ptr<Object> object = std::move(at->second);
        all_.erase(at);
        return object;
    }
    std::size_t size() const
    {
        return all_.size();
    }
    template <class Each> void for_each(Each &&each)
    {
        for (auto &[handle, object] : all_)
            each(*object);
    }

  private:
    std::unordered_map<const Handle *, std::unique_ptr<Object>> all_;
};

} // namespace kvslot::nixl

#endif
