/* SPDX-License-Identifier: Apache-2.0 */
/* queryMem: which keys there are, and how long their values. */
#include "engine.h"

#include "guard.h"
#include "status.h"

#include <algorithm>

namespace kvslot::nixl
{
namespace
{

/* A transfer that goes with its scope. What is asked moves nothing, so that no memory is at stake. */
class Transfer
{
  public:
    Transfer() = default;
    Transfer(const Transfer &) = delete;
    Transfer &operator=(const Transfer &) = delete;
    ~Transfer()
    {
        if (xfer && kvs_xfer_release(xfer, 0) != KVS_OK)
            kvs_xfer_abandon(xfer);
    }
    kvs_xfer *xfer = nullptr;
};

/* Absent is what the store says, and nothing that went wrong. */
int answer(kvs_xfer *xfer, std::size_t i, abi::QueryAnswer &to, kvs_error *err)
{
    int status = KVS_OK;
    std::uint64_t size = 0;
    const char *text = "";
    int rc = kvs_xfer_result(xfer, i, &status, &size, &text);
    if (rc != KVS_OK)
        return rc;
    if (status == KVS_NOT_FOUND)
        return KVS_OK;
    if (status != KVS_OK)
        return fail(err, status, "%s", text);
    to.emplace();
    if (size != KVS_SIZE_UNKNOWN)
        (*to)["size"] = std::to_string(size);
    return KVS_OK;
}

} // namespace

int Engine::query_some(const abi::RegList &descs, std::size_t from, std::size_t n,
                       std::vector<abi::QueryAnswer> &answers, kvs_error *err) const
{
    std::vector<std::string> decimal(n);
    std::vector<kvs_key> keys(n);
    for (std::size_t i = 0; i < n; i++) {
        const abi::BlobDesc &desc = descs.descs[from + i];
        const std::string *key = &desc.meta_info;
        if (key->empty()) {
            decimal[i] = std::to_string(desc.dev_id);
            key = &decimal[i];
        }
        keys[i] = {key->data(), key->size()};
    }
    kvs_xfer_req what = {};
    what.size = sizeof what;
    what.op = KVS_QUERY;
    what.keys = keys.data();
    what.nkeys = n;
    Transfer t;
    int rc = kvs_xfer_prep(engine_, &what, &t.xfer, err);
    if (rc != KVS_OK)
        return rc;
    rc = kvs_xfer_post(t.xfer);
    if (rc == KVS_IN_PROG)
        rc = kvs_xfer_wait(t.xfer, KVS_FOREVER);
    if (rc != KVS_OK)
        return fail(err, rc, "%s", kvs_xfer_error(t.xfer));
    for (std::size_t i = 0; i < n && rc == KVS_OK; i++)
        rc = answer(t.xfer, i, answers[from + i], err);
    return rc;
}

abi::Status Engine::queryMem(const abi::RegList &descs, std::vector<abi::QueryAnswer> &answers) const
{
    return guarded(who(), "queryMem", abi::backend_failed, [&] {
        answers.clear();
        if (!engine_)
            return abi::not_allowed;
        if (descs.type != abi::mem_dram && descs.type != abi::mem_object)
            return abi::not_supported;
        std::size_t all = descs.descs.size();
        answers.resize(all);
        kvs_error err;
        int rc = KVS_OK;
        for (std::size_t at = 0; at < all && rc == KVS_OK; at += limits_.max_batch)
            rc = query_some(descs, at, std::min<std::size_t>(limits_.max_batch, all - at), answers, &err);
        if (rc == KVS_OK)
            return abi::success;
        answers.clear();
        return refuse("queryMem", rc, err);
    });
}

} // namespace kvslot::nixl
