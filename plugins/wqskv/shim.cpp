// SPDX-License-Identifier: Apache-2.0
// No exception leaves it: the callers are C.
#include "shim.h"

#include <kv_interface.h>

#include <exception>
#include <new>
#include <string>
#include <vector>

// The emulator's sign. Weak: null where the library is the real one, whichever it was built against.
extern "C" __attribute__((weak, visibility("default"))) unsigned wds_emulator_kind(void);

namespace
{

struct Request {
    std::string key;
    std::vector<iovec> iov;
};
static_assert(sizeof(Request) <= WQSKV_SHIM_SPACE, "WQSKV_SHIM_SPACE is too small");
static_assert(alignof(Request) <= alignof(void *), "a request needs more alignment");

Request *request(void *space)
{
    return std::launder(static_cast<Request *>(space));
}

} // namespace

int wqskv_shim_init(const wqskv_options *from)
try {
    KVCacheOptions to{};
    to.poolid = from->poolid;
    to.thread_num = from->thread_num;
    to.thread_mode = from->event ? KVCACHE_THREAD_EVENT : KVCACHE_THREAD_POLL;
    to.conf = from->conf;
    to.nid = from->node_id;
    to.bvar_dummy_port = from->bvar_port;
    to.bind_cpus.assign(from->cpus, from->cpus + from->ncpus);
    to.mem_size = from->mem_size;
    if (from->has_objsz)
        to.mempool_obj_sz = from->objsz;
    if (from->has_objnum)
        to.mempool_obj_num = from->objnum;
    if (from->has_round_robin)
        to.use_round_robin = from->round_robin;
    to.debug_log = from->debug_log;
    return wds_kvcache_init(to);
} catch (...) {
    return WQSKV_SHIM_THREW;
}

bool wqskv_shim_make(void *space, const void *key, size_t key_len, size_t n)
try {
    std::string copy(static_cast<const char *>(key), key_len);
    std::vector<iovec> iov;
    iov.reserve(n); // so that a post allocates nothing
    new (space) Request{std::move(copy), std::move(iov)};
    return true;
} catch (...) {
    return false;
}

void wqskv_shim_unmake(void *space)
{
    request(space)->~Request();
}

int wqskv_shim_put(void *space, const iovec *iov, size_t n, wqskv_callback cb, void *arg)
try {
    Request *r = request(space);
    r->iov.assign(iov, iov + n);
    return wds_kvcache_put(r->key, r->iov, cb, arg);
} catch (...) {
    return WQSKV_SHIM_THREW;
}

int wqskv_shim_get(void *space, const iovec *iov, size_t n, size_t len, wqskv_callback cb, void *arg)
try {
    Request *r = request(space);
    r->iov.assign(iov, iov + n);
    return wds_kvcache_get_vec(r->key, r->iov, len, cb, arg);
} catch (...) {
    return WQSKV_SHIM_THREW;
}

bool wqskv_shim_emulated(bool *shared)
{
    unsigned kind = wds_emulator_kind ? wds_emulator_kind() : 0;
    *shared = (kind & 2u) != 0;
    return kind != 0;
}
