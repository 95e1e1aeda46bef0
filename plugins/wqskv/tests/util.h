/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of wqskv share. They call it as an integrator does; the library is initialised once a
 * process, so that a program has one configuration and one set of the emulator's rules, and picks among these
 * by the names of its keys. */
#ifndef KVS_WQSKV_TESTS_UTIL_H
#define KVS_WQSKV_TESTS_UTIL_H

#include <kvslot/kvslot.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WAIT KVS_SEC(60)

/* A configuration that is right, with these members in place of those of their names ("\"poolid\": 7"), or
 * NULL; its path, in static memory. `file` is its name in TMPDIR. */
const char *write_config(const char *file, const char *members);
/* The same, with this text. */
const char *write_text(const char *file, const char *text);
/* Opens "wqskv" with that config_path and further parameters ("timeout=1s&bounce=yes" or ""): a status. */
int try_open(const char *config, const char *more, kvs_engine **engine, struct kvs_error *err);
kvs_engine *open_with(const char *config, const char *more);
void close_engine(kvs_engine *engine);
/* put, get and query with a key of text; the status. */
int put_text(kvs_engine *engine, const char *key, const void *data, size_t len);
int get_text(kvs_engine *engine, const char *key, void *data, size_t len);
int query_text(kvs_engine *engine, const char *key);
/* Prepares a transfer of n keys of text, with len bytes for each in space. */
kvs_xfer *prep_keys(kvs_engine *engine, uint32_t op, const char *const *keys, size_t n, char *space,
                    size_t len);
/* Status of one descriptor. */
int result_of(kvs_xfer *xfer, size_t index, const char **text);
/* Runs this program again with these arguments, waits, and answers its exit code. */
int run_self(const char *what, const char *arg);
extern const char *self; /* argv[0] */
/* Catches what is logged from WARN on. */
extern char logged[4096];
void catch_log(void);

#endif
