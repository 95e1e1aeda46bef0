/* SPDX-License-Identifier: Apache-2.0 */
/* One io on its way through the library. */
#ifndef KVS_WQSKV_REQUEST_H
#define KVS_WQSKV_REQUEST_H

#include "pending.h"
#include "shim.h"

#include <kvslot/backend.h>

/* Private space of an io, made by prep and there until unprep, which comes after the callback: a transfer
 * whose callback was lost is held for ever. */
struct request {
    struct pending pending;
    union {
        void *align;
        unsigned char space[WQSKV_SHIM_SPACE]; /* the shim's: key and pieces of memory */
    };
};

bool request_make(struct kvs_io *io);
void request_unmake(struct kvs_io *io);
/* Hands it to the library, or completes it with the library's refusal. */
void request_write(struct written *written, struct kvs_io *io);
void request_read(struct kvs_io *io);

#endif
