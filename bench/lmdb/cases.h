/* SPDX-License-Identifier: Apache-2.0 */
/* What both sides of the benches of lmdb have: the values, their keys, and a folder for each. */
#ifndef KVS_BENCH_LMDB_CASES_H
#define KVS_BENCH_LMDB_CASES_H

#include "../harness.h"

#include <kvslot/kvslot.h>

enum { KEY = 16, ENGINES = 8 };

struct lmdb_case {
    const char *sync; /* value of the parameter */
    bool get, several;
    uint32_t size, count; /* bytes of a value, values of a batch */
    kvs_xfer *xfers[ENGINES];
};

/* Sizes that --small has made less. */
struct part {
    uint32_t size, count;
};
struct part part_of(const struct lmdb_case *c);

void bench_fail(const char *what, const char *why);
/* The values, one after the other, and key i, of KEY bytes; in no order. */
char *space(void);
const char *key_at(uint32_t i);
/* A folder that goes when the program ends. Where TMPDIR says: that disk is measured. */
const char *folder(const char *name, const char *sync);

/* By kvslot (ours.c) and by LMDB's own functions (plain.c). */
bool ours_setup(struct lmdb_case *c);
uint64_t ours_run(void *arg, uint64_t n);
uint64_t ours_one_run(void *arg, uint64_t n);
bool plain_setup(const struct lmdb_case *c);
uint64_t plain_run(void *arg, uint64_t n);

#endif
