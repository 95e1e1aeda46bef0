/* SPDX-License-Identifier: Apache-2.0 */
/* A NIXL plugin that does nothing: what a transfer of it takes is the agent's own time. */
#include "abi.h"

using namespace kvslot::nixl::abi;

namespace
{

struct Memory final : BackendMD {
    Memory() : BackendMD(true) {}
};

class Nothing final : public BackendEngine
{
  public:
    using BackendEngine::BackendEngine;
    bool supportsRemote() const override
    {
        return false;
    }
    bool supportsLocal() const override
    {
        return true;
    }
    bool supportsNotif() const override
    {
        return false;
    }
    MemList getSupportedMems() const override
    {
        return {mem_dram};
    }
    Status registerMem(const BlobDesc &, const MemType &, BackendMD *&out) override
    {
        out = new Memory;
        return success;
    }
    Status deregisterMem(BackendMD *md) override
    {
        delete md;
        return success;
    }
    Status connect(const std::string &) override
    {
        return success;
    }
    Status disconnect(const std::string &) override
    {
        return success;
    }
    Status unloadMD(BackendMD *) override
    {
        return success;
    }
    Status loadLocalMD(BackendMD *in, BackendMD *&out) override
    {
        out = in;
        return success;
    }
    Status prepXfer(const XferOp &, const MetaList &, const MetaList &, const std::string &, BackendReq *&req,
                    const OptArgs *) const override
    {
        req = new BackendReq;
        return success;
    }
    Status postXfer(const XferOp &, const MetaList &, const MetaList &, const std::string &, BackendReq *&,
                    const OptArgs *) const override
    {
        return success;
    }
    Status checkXfer(BackendReq *) const override
    {
        return success;
    }
    Status releaseReqH(BackendReq *req) const override
    {
        delete req;
        return success;
    }
};

BackendEngine *create(const InitParams *init)
{
    return new Nothing(init);
}

void destroy(BackendEngine *engine)
{
    delete engine;
}

const char *name()
{
    return "NOTHING";
}

const char *version()
{
    return "1";
}

Params options()
{
    return {};
}

MemList mems()
{
    return {mem_dram};
}

Plugin table = {plugin_api, create, destroy, name, version, options, mems};

} // namespace

extern "C" __attribute__((visibility("default"))) void *nixl_plugin_init();
extern "C" __attribute__((visibility("default"))) void *nixl_plugin_init()
{
    return &table;
}

extern "C" __attribute__((visibility("default"))) void nixl_plugin_fini();
extern "C" __attribute__((visibility("default"))) void nixl_plugin_fini() {}
