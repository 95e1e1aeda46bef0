/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of one engine: the backend's and the SDK's own, from URI, caller, environment and defaults. */
#ifndef KVS_SRC_PARAMS_H
#define KVS_SRC_PARAMS_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <stdbool.h>

/* Resolved values; immutable after kvs_params_resolve, so any thread may read. */
struct kvs_params;

/* Parses `target` (a name or URI whose scheme belongs to `backend`) and the caller's values. */
int kvs_params_resolve(const struct kvs_backend *backend, const char *target,
                       const struct kvs_param_value *values, size_t n, struct kvs_params **out,
                       struct kvs_error *err);
/* NULL is fine. Secrets are wiped. */
void kvs_params_free(struct kvs_params *params);

/* As kvs_host's param_str and param_i64. */
int kvs_params_str(const struct kvs_params *params, const char *name, const char **out, size_t *len);
int kvs_params_i64(const struct kvs_params *params, const char *name, int64_t *out);

/* Is `name` one of the SDK's parameters, or kept for one: no backend may declare it. */
bool kvs_param_reserved(const char *name);

/* The scheme or name of a target ("lmdb" of "lmdb:/dir" and of "lmdb"; "redis" of "redis+unix:/s"): how long
 * it is, or 0 where the target is no well-formed name or URI. */
size_t kvs_target_scheme(const char *target);

#endif
