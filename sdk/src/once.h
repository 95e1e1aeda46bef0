/* SPDX-License-Identifier: Apache-2.0 */
/* Backends that take one configuration a process (KVS_F_ONCE_PER_PROCESS). */
#ifndef KVS_SRC_ONCE_H
#define KVS_SRC_ONCE_H

#include "params.h"

/*
 * May an engine of this backend be opened with these parameters, in this process: KVS_OK; INVALID_PARAM where
 * the process has another configuration already, NOT_ALLOWED in a forked child. The first configuration stays
 * for the life of the process once an open with it has succeeded.
 */
int kvs_once_begin(const struct kvs_backend *backend, const struct kvs_params *params, uint64_t epoch,
                   struct kvs_error *err);
/* How the open went that kvs_once_begin allowed: a mistyped configuration that nothing was opened with is
 * forgotten. */
void kvs_once_end(const struct kvs_backend *backend, bool opened);

#endif
