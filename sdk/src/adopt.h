/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of kvs_backend_adopt. */
#ifndef KVS_SRC_ADOPT_H
#define KVS_SRC_ADOPT_H

#include "backends.h"

/* Where a table comes from, for messages, and the error they go into. */
struct kvs_adopt {
    const char *where;
    struct kvs_error *err;
};

/* "WHERE: ..."; answers KVS_INVALID_PARAM. */
int kvs_adopt_refuse(const struct kvs_adopt *adopt, const char *fmt, ...) KVS_PRINTF(2, 3);

/* Checks the declared parameters and schemes of the host's copy (adopt_params.c). */
int kvs_adopt_params(const struct kvs_backend *backend, const struct kvs_adopt *adopt);
/* Checks the capabilities against the functions, and brings them to the form of the host's copy: native,
 * none, or neither where the SDK emulates (adopt_caps.c). */
int kvs_adopt_caps(struct kvs_backend *backend, const struct kvs_adopt *adopt);

/* Frees a copy that nobody has seen yet. */
void kvs_backend_disown(const struct kvs_backend *ours);

#endif
