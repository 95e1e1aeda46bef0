/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program would do that moved its values by hand: records in an array, one function called through a
 * pointer for each, and one count for all that are open. Of the values and of its records, which are as large
 * as the SDK's and laid out alike, the same cache lines are touched; it validates, settles and times nothing.
 */
#ifndef KVS_BENCH_LOOP_H
#define KVS_BENCH_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop_rec {
    const void *key;
    uint32_t key_len;
    uint64_t actual;
    _Alignas(64) void *at; /* as the SDK's iov and result, in the second of two cache lines */
    uint64_t len, bytes;
    int status;
};

struct loop {
    uint32_t count;
    struct loop_rec *recs;
    char *keys;
    atomic_uint open;
};

/* A registration, as a table by hand would have it. */
struct loop_mem {
    uint64_t addr, len, dev_id;
    uint32_t key_len;
    char key[100];
};

struct loop_pair {
    void *at;
    const struct loop_mem *mem;
    uint64_t len;
};

/* One allocation with a record for each pair, and their keys; NULL: no memory. */
struct loop *loop_prep(const struct loop_pair *pairs, uint32_t count);
/* Runs it to its end; answers its status. */
int loop_post(struct loop *l);
void loop_release(struct loop *l);

#endif
