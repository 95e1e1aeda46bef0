/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of transfers that is guarded once they are released: for a while it can be neither read nor written,
 * so that a backend that still uses it is caught in the act. On where the environment variable
 * KVSLOT_QUARANTINE is 1, as it is in the testkit's cases; it costs system calls for each transfer.
 */
#ifndef KVS_SRC_QUARANTINE_H
#define KVS_SRC_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>

/* Does the environment ask for it. */
bool kvs_quarantine_asked(void);
/* Pages of their own; NULL: there is no memory. */
void *kvs_quarantine_alloc(size_t size);
/* Guards a block of these, and unmaps one that was guarded long enough. */
void kvs_quarantine_free(void *block);

#endif
