// SPDX-License-Identifier: Apache-2.0
// The second kv_interface.h: as little of one as the documented names and types allow, written without a look
// at the emulator's. The shim has to compile against it, so that nothing of the emulator gets into the shim.
#pragma once

#include <cstdint>
#include <string>
#include <sys/uio.h>
#include <vector>

#define KVCACHE_THREAD_EVENT 11
#define KVCACHE_THREAD_POLL  22

class KVCacheOptions
{
  public:
    std::vector<int> bind_cpus;
    bool debug_log, use_round_robin{true};
    std::uint32_t mempool_obj_num{77}, mempool_obj_sz{88}, mem_size, bvar_dummy_port, nid, poolid;
    std::string conf;
    int thread_mode, thread_num;
};

int wds_kvcache_init(KVCacheOptions);
int wds_kvcache_put(const std::string &, const std::vector<iovec> &, void (*)(int, void *), void *);
int wds_kvcache_get_vec(const std::string &, const std::vector<iovec> &, size_t, void (*)(int, void *),
                        void *);
