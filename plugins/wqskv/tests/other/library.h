/* SPDX-License-Identifier: Apache-2.0 */
/* What the second library was called with. */
#ifndef OTHER_LIBRARY_H
#define OTHER_LIBRARY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seen {
    uint32_t poolid, nid, bvar, mem_size, objsz, objnum;
    int thread_num, thread_mode, round_robin, debug_log, ncpus, cpus[4];
    char conf[32];
};
extern struct seen seen;
extern int throws; /* every call throws */
extern int answer; /* of put and get_vec */

struct call {
    const char *key; /* as it lies in the string that was given */
    size_t key_len;
    const struct iovec *iov; /* the same of the vector */
    size_t niov, len;
    void (*cb)(int rc, void *arg);
    void *arg;
};
extern struct call last_put, last_get;

#ifdef __cplusplus
}
#endif

#endif
