/* SPDX-License-Identifier: Apache-2.0 */
/* NIXL's plugin interface (number 1), declared here so that one binary serves every release that has it:
 * nothing of NIXL is included or linked. Host and plugin meet in the order of members and of virtual
 * functions alone; the names are ours, in a namespace of our own, so that no symbol of the host's can ever
 * take the place of one here. layout.cpp asserts sizes and offsets. */
#ifndef KVSLOT_NIXL_ABI_H
#define KVSLOT_NIXL_ABI_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kvslot::nixl::abi
{

constexpr int plugin_api = 1;

enum MemType : int { mem_dram = 0, mem_vram = 1, mem_block = 2, mem_object = 3, mem_file = 4 };
enum XferOp : int { op_read = 0, op_write = 1 };

enum Status : int {
    in_prog = 1,
    success = 0,
    not_posted = -1,
    invalid_param = -2,
    backend_failed = -3,
    not_found = -4,
    mismatch = -5,
    not_allowed = -6,
    repost_active = -7,
    unknown = -8,
    not_supported = -9,
    remote_disconnect = -10,
    canceled = -11,
    no_telemetry = -12,
};

enum class CostMethod : int { by_backend = 0 };
enum class SyncMode : int {};

using Params = std::unordered_map<std::string, std::string>;
using MemList = std::vector<MemType>;
using QueryAnswer = std::optional<Params>;
using Notifs = std::vector<std::pair<std::string, std::string>>;
using MemView = void *;

/* ---- Descriptors ---- */

struct BasicDesc {
    std::uintptr_t addr = 0;
    std::size_t len = 0;
    std::uint64_t dev_id = 0;
};

/* One that is registered or asked about. */
struct BlobDesc : BasicDesc {
    std::string meta_info;
};

/* What an engine hands out for a registration. The host keeps the pointer and never looks inside. */
class BackendMD
{
  public:
    virtual ~BackendMD() = default;

  protected:
    explicit BackendMD(bool is_private) : is_private_(is_private) {}
    bool is_private_;
};

/* One of a transfer, with what loadLocalMD or registerMem gave for it. */
struct MetaDesc : BasicDesc {
    BackendMD *md = nullptr;
};

template <class T> class DescList
{
  public:
    explicit DescList(MemType of) : type(of) {}
    virtual ~DescList() = default;
    virtual void resize(const std::size_t &count)
    {
        descs.resize(count);
    }

    MemType type;
    std::vector<T> descs;
};

using MetaList = DescList<MetaDesc>;
using RegList = DescList<BlobDesc>;
struct RemoteMetaDesc; /* memory views only */
using RemoteMetaList = DescList<RemoteMetaDesc>;
struct AgentArgs; /* never looked at */

/* ---- Requests and arguments ---- */

class BackendReq
{
  public:
    virtual ~BackendReq() = default;
};

struct OptArgs {
    std::string notif;
    bool has_notif = false;
    std::string custom; /* reaches prepXfer, and never postXfer */
};

struct InitParams {
    std::string local_agent;
    std::string type;
    Params *custom = nullptr;
    bool progress_thread = false;
    std::uint64_t progress_delay_us = 0;
    SyncMode sync{};
    bool telemetry = false;
};

/* ---- The engine ---- */

/* The order of the virtual functions is the interface: destructor first, then as they stand. */
class BackendEngine
{
  public:
    explicit BackendEngine(const InitParams *init)
        : type_(init->type), custom_(*init->custom), local_agent(init->local_agent),
          telemetry(init->telemetry)
    {
    }
    BackendEngine(const BackendEngine &) = delete;
    BackendEngine &operator=(const BackendEngine &) = delete;

    /* As the host asks it after the constructor. */
    bool failed() const
    {
        return init_err;
    }

    /* What it shows to whoever asks it for the engine's parameters. */
    const Params &shown() const
    {
        return custom_;
    }

    virtual ~BackendEngine() = default;
    virtual bool supportsRemote() const = 0;
    virtual bool supportsLocal() const = 0;
    virtual bool supportsNotif() const = 0;
    virtual MemList getSupportedMems() const = 0;
    virtual Status registerMem(const BlobDesc &desc, const MemType &type, BackendMD *&out) = 0;
    virtual Status deregisterMem(BackendMD *md) = 0;
    virtual Status connect(const std::string &agent) = 0;
    virtual Status disconnect(const std::string &agent) = 0;
    virtual Status unloadMD(BackendMD *md) = 0;
    virtual Status prepXfer(const XferOp &op, const MetaList &local, const MetaList &remote,
                            const std::string &agent, BackendReq *&req, const OptArgs *args) const = 0;
    virtual Status postXfer(const XferOp &op, const MetaList &local, const MetaList &remote,
                            const std::string &agent, BackendReq *&req, const OptArgs *args) const = 0;
    virtual Status checkXfer(BackendReq *req) const = 0;
    virtual Status releaseReqH(BackendReq *req) const = 0;
    virtual Status prepMemView(const RemoteMetaList &, MemView &, const OptArgs *) const
    {
        return not_supported;
    }
    virtual Status prepMemView(const MetaList &, MemView &, const OptArgs *) const
    {
        return not_supported;
    }
    virtual void releaseMemView(MemView) const {}
    virtual Status getPublicData(const BackendMD *, std::string &) const
    {
        return backend_failed;
    }
    virtual Status getConnInfo(std::string &) const
    {
        return backend_failed;
    }
    virtual Status loadRemoteConnInfo(const std::string &, const std::string &)
    {
        return backend_failed;
    }
    virtual Status loadRemoteMD(const BlobDesc &, const MemType &, const std::string &, BackendMD *&)
    {
        return backend_failed;
    }
    virtual Status loadLocalMD(BackendMD *, BackendMD *&)
    {
        return backend_failed;
    }
    virtual Status getNotifs(Notifs &)
    {
        return backend_failed;
    }
    virtual Status genNotif(const std::string &, const std::string &) const
    {
        return backend_failed;
    }
    virtual Status queryMem(const RegList &, std::vector<QueryAnswer> &) const
    {
        return not_supported;
    }
    virtual Status estimateXferCost(const XferOp &, const MetaList &, const MetaList &, const std::string &,
                                    BackendReq *const &, std::chrono::microseconds &,
                                    std::chrono::microseconds &, CostMethod &, const AgentArgs *) const
    {
        return not_supported;
    }

  private:
    friend struct EngineLayout;
    std::string type_;

  protected:
    Params custom_;

  private:
    std::vector<char> events_; /* the host moves it out; of whatever type, it stays empty */
    std::mutex events_lock_;

  protected:
    bool init_err = false; /* set by a constructor that failed: the host then destroys the engine */
    const std::string local_agent;
    const bool telemetry;
};

/* ---- What nixl_plugin_init() answers ---- */

struct Plugin {
    int api;
    BackendEngine *(*create_engine)(const InitParams *);
    void (*destroy_engine)(BackendEngine *);
    const char *(*name)();
    const char *(*version)();
    Params (*options)();
    MemList (*mems)();
};

} // namespace kvslot::nixl::abi

#endif
