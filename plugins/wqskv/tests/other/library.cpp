// SPDX-License-Identifier: Apache-2.0
#include "library.h"
#include <kv_interface.h>

#include <cstdio>
#include <stdexcept>

struct seen seen;
int throws, answer;
struct call last_put, last_get;

int wds_kvcache_init(KVCacheOptions o)
{
    if (throws)
        throw std::runtime_error("init");
    seen = {};
    seen.poolid = o.poolid;
    seen.nid = o.nid;
    seen.bvar = o.bvar_dummy_port;
    seen.mem_size = o.mem_size;
    seen.objsz = o.mempool_obj_sz;
    seen.objnum = o.mempool_obj_num;
    seen.thread_num = o.thread_num;
    seen.thread_mode = o.thread_mode;
    seen.round_robin = o.use_round_robin;
    seen.debug_log = o.debug_log;
    for (int cpu : o.bind_cpus)
        seen.cpus[seen.ncpus++] = cpu;
    std::snprintf(seen.conf, sizeof seen.conf, "%s", o.conf.c_str());
    return answer;
}

int wds_kvcache_put(const std::string &key, const std::vector<iovec> &iov, void (*cb)(int, void *), void *arg)
{
    if (throws)
        throw 7;
    last_put = {key.data(), key.size(), iov.data(), iov.size(), 0, cb, arg};
    return answer;
}

int wds_kvcache_get_vec(const std::string &key, const std::vector<iovec> &iov, size_t len,
                        void (*cb)(int, void *), void *arg)
{
    if (throws)
        throw std::bad_alloc();
    last_get = {key.data(), key.size(), iov.data(), iov.size(), len, cb, arg};
    return answer;
}
