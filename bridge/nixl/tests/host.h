/* SPDX-License-Identifier: Apache-2.0 */
/* A host as the agent is one: it loads a plugin file and knows nothing of it but abi.h. The store is the mock
 * that is linked into the test, so that ios can be held and failed at will. */
#ifndef KVSLOT_NIXL_TESTS_HOST_H
#define KVSLOT_NIXL_TESTS_HOST_H

#include "abi.h"

#include <kvslot/kvslot.h>
#include <kvslot/mock.h>

/* Out of namespace std before cmocka makes a macro of fail. */
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "expect.h"
}

namespace host
{

using namespace kvslot::nixl::abi;

constexpr const char *self = "agent";

/* The table of libplugin_NAME.so. */
Plugin *load(const char *name);

/* What the log got since it was last emptied. */
std::string &log();
/* Sends the log there; warnings and worse. */
void watch_log();

class Host
{
  public:
    Host(const char *plugin, const Params &params);
    ~Host();
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;
    void destroy();
    BackendEngine *operator->() const
    {
        return engine;
    }

    /* registerMem and loadLocalMD, which have to work. */
    BackendMD *add(MemType type, const void *addr, std::size_t len, std::uint64_t dev_id,
                   const std::string &meta_info = "");
    Status prep(XferOp op, const MetaList &local, const MetaList &remote, BackendReq *&req,
                const std::string &custom = "");
    /* Which has to work. */
    BackendReq *prepared(XferOp op, const MetaList &local, const MetaList &remote,
                         const std::string &custom = "");
    Status post(BackendReq *req);
    /* Until it has ended. */
    Status wait(BackendReq *req);
    /* prep, post, wait, release. */
    Status run(XferOp op, const MetaList &local, const MetaList &remote, const std::string &custom = "");

    Plugin *table;
    BackendEngine *engine;

  private:
    MetaList none_;
};

MetaList list(MemType type, std::initializer_list<MetaDesc> descs);
MetaDesc desc(const void *addr, std::size_t len, std::uint64_t dev_id, BackendMD *md);
BlobDesc blob(const void *addr, std::size_t len, std::uint64_t dev_id, const std::string &meta_info = "");

/* The mock's counts. */
kvs_mock_counts counts(const char *store);

/* As cmocka's, with both numbers shown. */
#define assert_is(got, want) assert_int_equal(static_cast<int>(got), static_cast<int>(want))

} // namespace host

#endif
