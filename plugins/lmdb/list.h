/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the keys of an environment. */
#ifndef KVS_LMDB_LIST_H
#define KVS_LMDB_LIST_H

#include "env.h"

struct list_request {
    const void *prefix;
    size_t len;
    int (*each)(void *arg, const void *key, size_t len, uint64_t size);
    void *arg;
    uint64_t deadline_ns; /* 0: none */
    uint64_t (*now_ns)(void);
};

/* Calls each for the keys that start with the prefix, with no transaction open meanwhile. *result: the answer
 * of each that ended it, KVS_TIMEOUT, or KVS_OK. The answer is LMDB's. */
int list_keys(struct env *env, const struct env_db *db, const struct list_request *request, int *result);

#endif
