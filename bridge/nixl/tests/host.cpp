/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <dlfcn.h>
#include <mutex>
#include <sched.h>

namespace host
{
namespace
{

std::string log_text;
std::mutex log_lock;

void take_line(void *, int, const char *text)
{
    std::lock_guard hold(log_lock);
    log_text += text;
    log_text += '\n';
}

} // namespace

Plugin *load(const char *name)
{
    std::string file = std::string(PLUGIN_FOLDER "/libplugin_") + name + ".so";
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        print_error("%s\n", dlerror());
    assert_non_null(library);
    auto init = reinterpret_cast<Plugin *(*)()>(dlsym(library, "nixl_plugin_init"));
    assert_non_null(reinterpret_cast<void *>(init));
    Plugin *table = init();
    assert_non_null(table);
    return table;
}

std::string &log()
{
    return log_text;
}

void watch_log()
{
    log_text.clear();
    kvs_set_log(take_line, nullptr, KVS_LOG_WARN);
}

Host::Host(const char *plugin, const Params &params) : table(load(plugin)), none_(mem_dram)
{
    Params given = params;
    InitParams init;
    init.local_agent = self;
    init.type = plugin;
    init.custom = &given;
    engine = table->create_engine(&init);
    assert_non_null(engine);
}

Host::~Host()
{
    destroy();
}

void Host::destroy()
{
    if (engine)
        table->destroy_engine(engine);
    engine = nullptr;
}

BackendMD *Host::add(MemType type, const void *addr, std::size_t len, std::uint64_t dev_id,
                     const std::string &meta_info)
{
    BackendMD *md = nullptr, *loaded = nullptr;
    if (engine->failed())
        print_error("%s", log().c_str());
    assert_is(engine->registerMem(blob(addr, len, dev_id, meta_info), type, md), success);
    assert_non_null(md);
    assert_is(engine->loadLocalMD(md, loaded), success);
    assert_ptr_equal(md, loaded);
    return md;
}

Status Host::prep(XferOp op, const MetaList &local, const MetaList &remote, BackendReq *&req,
                  const std::string &custom)
{
    OptArgs args;
    args.custom = custom;
    req = nullptr;
    Status rc = engine->prepXfer(op, local, remote, self, req, &args);
    assert_is(rc == success, req != nullptr);
    return rc;
}

BackendReq *Host::prepared(XferOp op, const MetaList &local, const MetaList &remote,
                           const std::string &custom)
{
    BackendReq *req = nullptr;
    assert_is(prep(op, local, remote, req, custom), success);
    return req;
}

Status Host::post(BackendReq *req)
{
    return engine->postXfer(op_read, none_, none_, self, req, nullptr);
}

Status Host::wait(BackendReq *req)
{
    Status rc;
    while ((rc = engine->checkXfer(req)) == in_prog)
        sched_yield();
    return rc;
}

Status Host::run(XferOp op, const MetaList &local, const MetaList &remote, const std::string &custom)
{
    BackendReq *req = nullptr;
    Status rc = prep(op, local, remote, req, custom);
    if (rc != success)
        return rc;
    rc = post(req);
    if (rc == in_prog)
        rc = wait(req);
    assert_is(engine->releaseReqH(req), success);
    return rc;
}

MetaList list(MemType type, std::initializer_list<MetaDesc> descs)
{
    MetaList l(type);
    l.descs = descs;
    return l;
}

MetaDesc desc(const void *addr, std::size_t len, std::uint64_t dev_id, BackendMD *md)
{
    MetaDesc d;
    d.addr = reinterpret_cast<std::uintptr_t>(addr);
    d.len = len;
    d.dev_id = dev_id;
    d.md = md;
    return d;
}

BlobDesc blob(const void *addr, std::size_t len, std::uint64_t dev_id, const std::string &meta_info)
{
    BlobDesc b;
    b.addr = reinterpret_cast<std::uintptr_t>(addr);
    b.len = len;
    b.dev_id = dev_id;
    b.meta_info = meta_info;
    return b;
}

kvs_mock_counts counts(const char *store)
{
    kvs_mock_counts c = {};
    c.size = sizeof c;
    assert_int_equal(kvs_mock_get_counts(store, &c), KVS_OK);
    return c;
}

} // namespace host
