/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator's own header of the WDS KVCache client library, written from what is known of its calls. The
 * real one is private: nothing here was copied from it, and only shim.cpp and the emulator include it. */
#ifndef KV_INTERFACE_H
#define KV_INTERFACE_H

#include <cstddef>
#include <string>
#include <sys/uio.h>
#include <vector>

#define WDS_API __attribute__((visibility("default")))

enum KVCacheThreadMode { KVCACHE_THREAD_POLL, KVCACHE_THREAD_EVENT };

struct KVCacheOptions {
    unsigned poolid = 0;
    int thread_num = 1;
    KVCacheThreadMode thread_mode = KVCACHE_THREAD_EVENT;
    std::string conf;
    unsigned nid = 0;
    unsigned bvar_dummy_port = 0;
    std::vector<int> bind_cpus;
    unsigned mem_size = 0; /* MiB */
    unsigned mempool_obj_sz = 0;
    unsigned mempool_obj_num = 0;
    bool use_round_robin = false;
    bool debug_log = false;
};

using KVCacheCallback = void (*)(int rc, void *arg);

/* At most once a process; 0: it worked. */
WDS_API int wds_kvcache_init(KVCacheOptions options);
/* 0: cb will be called once, from a thread of the library's; key and iov are used until then. Else it will
 * not. */
WDS_API int wds_kvcache_put(const std::string &key, const std::vector<iovec> &iov, KVCacheCallback cb,
                            void *arg);
WDS_API int wds_kvcache_get_vec(const std::string &key, const std::vector<iovec> &iov, size_t len,
                                KVCacheCallback cb, void *arg);

#endif
