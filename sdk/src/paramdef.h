/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of parameters: what the reader of a table (adopt_params.c) and the reader of values (params.c)
 * share. */
#ifndef KVS_SRC_PARAMDEF_H
#define KVS_SRC_PARAMDEF_H

#include "uri.h"

#include <kvslot/backend.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of a declaration that ends before what was appended to it; shorter ones never existed. */
#define KVS_PARAM_LEAST offsetof(struct kvs_param, type)

/* One word of kvs_param.uri: "path", "unix:path". */
struct kvs_claim {
    const char *variant; /* not ended by NUL; NULL: of every variant that has no claim of its own */
    size_t variant_len;
    int part; /* enum kvs_uri_part; -1: no such part */
};

/* The next one; *at starts as kvs_param.uri, which may be NULL. */
bool kvs_claim_next(const char **at, struct kvs_claim *claim);

/* The part of kvs_param_parse that goes beyond the type, for the SDK's own parameters. */
int kvs_param_check(const struct kvs_param *param, const char *text, int64_t number, struct kvs_error *err);

/* Names that a parameter may have: at(arg, i) for each i below count. */
struct kvs_param_names {
    const char *(*at)(const void *arg, size_t i);
    const void *arg;
    size_t count;
};

/* Says that `whose` ("backend 'lmdb'") has no parameter of that name, and what it has. KVS-REQ-509 */
int kvs_param_unknown(const char *whose, const char *name, const struct kvs_param_names *all,
                      struct kvs_error *err);

#endif
