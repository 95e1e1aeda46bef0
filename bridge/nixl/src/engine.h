/* SPDX-License-Identifier: Apache-2.0 */
/* The adapter: what the host calls a backend engine, on top of one kvs_engine. Its functions are in
 * engine.cpp (life), memory.cpp, prepare.cpp, transfer.cpp, query.cpp and estimate.cpp. */
#ifndef KVSLOT_NIXL_ENGINE_H
#define KVSLOT_NIXL_ENGINE_H

#include "abi.h"
#include "objects.h"
#include "params.h"
#include "rwlock.h"

#include <kvslot/kvslot.h>

#include <string>
#include <vector>

namespace kvslot::nixl
{

/* The segments that a backend's engines take, DRAM and OBJ at most. */
abi::MemList mems_of(const kvs_backend *backend);

class Engine final : public abi::BackendEngine
{
  public:
    /* `backend`: as for options(). Where nothing could be opened, initErr is set and the log says why. */
    Engine(const abi::InitParams *init, const char *backend);
    /* Drains, then abandons. */
    ~Engine() override;

    bool supportsRemote() const override;
    bool supportsLocal() const override;
    bool supportsNotif() const override;
    abi::MemList getSupportedMems() const override;
    abi::Status connect(const std::string &agent) override;
    abi::Status disconnect(const std::string &agent) override;

    abi::Status registerMem(const abi::BlobDesc &desc, const abi::MemType &type,
                            abi::BackendMD *&out) override;
    abi::Status deregisterMem(abi::BackendMD *md) override;
    abi::Status loadLocalMD(abi::BackendMD *in, abi::BackendMD *&out) override;
    abi::Status unloadMD(abi::BackendMD *md) override;

    abi::Status prepXfer(const abi::XferOp &op, const abi::MetaList &local, const abi::MetaList &remote,
                         const std::string &agent, abi::BackendReq *&req,
                         const abi::OptArgs *args) const override;
    abi::Status postXfer(const abi::XferOp &op, const abi::MetaList &local, const abi::MetaList &remote,
                         const std::string &agent, abi::BackendReq *&req,
                         const abi::OptArgs *args) const override;
    abi::Status checkXfer(abi::BackendReq *req) const override;
    abi::Status releaseReqH(abi::BackendReq *req) const override;

    abi::Status estimateXferCost(const abi::XferOp &op, const abi::MetaList &local,
                                 const abi::MetaList &remote, const std::string &agent,
                                 abi::BackendReq *const &req, std::chrono::microseconds &duration,
                                 std::chrono::microseconds &margin, abi::CostMethod &method,
                                 const abi::AgentArgs *args) const override;

    abi::Status queryMem(const abi::RegList &descs, std::vector<abi::QueryAnswer> &answers) const override;

  private:
    struct Sides;

    bool open(const abi::Params &from, const char *backend);
    const char *who() const noexcept
    {
        return who_.c_str();
    }

    int sides(const abi::MetaList &local, const abi::MetaList &remote, bool keys_given, Sides &to,
              kvs_error *err) const;
    int local_side(const abi::MetaList &list, Sides &to, kvs_error *err) const;
    int remote_side(const abi::MetaList &list, Sides &to, kvs_error *err) const;
    int resolve(const abi::MetaList &list, const abi::MetaDesc &desc, const char *side, Registration *&found,
                kvs_error *err) const;
    bool is_dead(abi::MemType type, std::uint64_t dev_id) const;
    abi::Status enter(std::unique_ptr<Request> made, abi::BackendReq *&req) const;
    abi::Status refuse(const char *call, int rc, const kvs_error &err) const;

    abi::Status ended(Request &r, int rc) const;
    void give_up(const Request &r, const char *why) const;
    void bury() const;

    int query_some(const abi::RegList &descs, std::size_t from, std::size_t n,
                   std::vector<abi::QueryAnswer> &answers, kvs_error *err) const;

    std::string who_; /* how the log calls it */
    kvs_engine *engine_ = nullptr;
    kvs_limits limits_ = {};
    std::uint64_t release_timeout_ns_ = 0;
    std::uint64_t drain_timeout_ns_ = 0;

    /* Guards the tables and what objects.h says. The SDK's locks come after it; no callback of ours runs
     * under it. */
    mutable RwLock lock_;
    mutable Table<Registration, abi::BackendMD> registrations_;
    mutable Table<Request, abi::BackendReq> requests_;
    mutable std::vector<Registration *> dead_; /* of registrations_; guarded by lock_ */
};

} // namespace kvslot::nixl

#endif
