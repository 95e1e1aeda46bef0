/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of lmdb share. They call it as an integrator does, in a fresh folder each. */
#ifndef KVS_LMDB_TESTS_UTIL_H
#define KVS_LMDB_TESTS_UTIL_H

#include <kvslot/kvslot.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT KVS_SEC(60)

/* A fresh folder below TMPDIR or /tmp; static memory, good until the next call. */
const char *fresh_folder(void);
/* Opens "lmdb:FOLDER?sync=none" with further parameters ("&map_size=1MiB" or ""); must work. */
kvs_engine *open_at(const char *folder, const char *more);
/* The same, where it must not work: the status, and the text in *err. */
int open_fails(const char *folder, const char *more, struct kvs_error *err);
void close_engine(kvs_engine *engine);
/* put and get with a key of text; the status. */
int put_text(kvs_engine *engine, const char *key, const void *data, size_t len);
int get_text(kvs_engine *engine, const char *key, void *data, size_t len);
/* Prepares a transfer of n keys with buffers of len bytes each. `op` READ or WRITE. */
kvs_xfer *prep_batch(kvs_engine *engine, uint32_t op, const struct kvs_key *keys, size_t n, char *space,
                     size_t len, kvs_done_fn done, void *arg);
/* Runs this program again with these arguments and waits; its exit code. */
int run_self(const char *what, const char *folder);
/* How many times the process has the data file mapped; *bytes: how much of it, all told. */
int mapped(const char *folder, size_t *bytes);
int times_mapped(const char *folder);
/* Set by main: argv[0]. */
extern const char *self;

#endif
