/* SPDX-License-Identifier: Apache-2.0 */
/* The backends known to the process: registered, or loaded from plugins. */
#ifndef KVS_SRC_BACKENDS_H
#define KVS_SRC_BACKENDS_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>

/* Checks a foreign table and makes the host's own of it: zeroed, then the smaller of both sizes copied,
 * arrays brought to the host's strides, zeros replaced by what they stand for. `where` (the file, or "built
 * in") is for messages. The copy is never freed: engines, and plugins opened NODELETE, may point into it for
 * the life of the process. */
int kvs_backend_adopt(const struct kvs_backend *theirs, const char *where, const struct kvs_backend **ours,
                      struct kvs_error *err);

/* The table of host services (host.c). */
extern const struct kvs_host kvs_host_table;

#endif
