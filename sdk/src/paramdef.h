/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of parameters: what the reader of a table (adopt_params.c) and the reader of values (params.c)
 * share. */
#ifndef KVS_SRC_PARAMDEF_H
#define KVS_SRC_PARAMDEF_H

#include "uri.h"

#include <kvslot/backend.h>
#include <stdbool.h>

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

#endif
