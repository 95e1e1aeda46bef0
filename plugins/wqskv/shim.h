/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor's C++ calls for C. shim.cpp alone includes the vendor's header. */
#ifndef KVS_WQSKV_SHIM_H
#define KVS_WQSKV_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What KVCacheOptions is made from. Members that has_ says are not there keep the library's own default. */
struct wqskv_options {
    uint32_t poolid;
    int32_t thread_num;
    bool event; /* thread_mode: event, not poll */
    const char *conf;
    uint32_t node_id;
    uint32_t bvar_port;
    const int *cpus;
    size_t ncpus;
    uint32_t mem_size; /* MiB */
    bool has_objsz, has_objnum, has_round_robin;
    uint32_t objsz, objnum;
    bool round_robin;
    bool debug_log;
};

/* Room for what a request needs to have in C++, the key and the pieces of memory, aligned as a pointer is. */
#define WQSKV_SHIM_SPACE 64
/* Answer of a call in which an exception was thrown. */
#define WQSKV_SHIM_THREW INT_MIN

typedef void (*wqskv_callback)(int rc, void *arg);

int wqskv_shim_init(const struct wqskv_options *options);
/* Makes a request in space, with the key and room for n pieces; false: no memory. */
bool wqskv_shim_make(void *space, const void *key, size_t key_len, size_t n);
/* Not while the library may still call back. */
void wqskv_shim_unmake(void *space);
/* The library's put and get_vec, by what it answers; the request is its own until the callback. */
int wqskv_shim_put(void *space, const struct iovec *iov, size_t n, wqskv_callback cb, void *arg);
int wqskv_shim_get(void *space, const struct iovec *iov, size_t n, size_t len, wqskv_callback cb, void *arg);
/* Is it the emulator that was loaded, and are its values shared? */
bool wqskv_shim_emulated(bool *shared);

#ifdef __cplusplus
}
#endif

#endif
