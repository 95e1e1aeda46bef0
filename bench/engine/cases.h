/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the benches, by file. */
#ifndef KVS_BENCH_CASES_H
#define KVS_BENCH_CASES_H

#include "../harness.h"
#include "world.h"

/* ---- From post to the end (post.c) ---- */

struct post_case {
    uint32_t count; /* descriptors */
    bool done;      /* with a done function */
    kvs_xfer *x;
    struct loop *loop;
};

bool post_setup(void *arg, bool small);
uint64_t post_ours(void *arg, uint64_t n);
uint64_t post_loop(void *arg, uint64_t n);
void post_end(struct post_case *c);

/* ---- Prep and release (prep.c) ---- */

struct prep_case {
    uint32_t count;
    enum way way;
    enum order order;
    uint32_t at; /* the next registration */
};

bool prep_setup(void *arg, bool small);
uint64_t prep_ours(void *arg, uint64_t n);
uint64_t prep_loop(void *arg, uint64_t n);
uint64_t release_ours(void *arg, uint64_t n);
uint64_t release_loop(void *arg, uint64_t n);

/* ---- What is counted (count.c) ---- */

double count_clock_reads(void *arg);
double count_bytes(void *arg);

#endif
