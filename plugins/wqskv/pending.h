/* SPDX-License-Identifier: Apache-2.0 */
/* WRITEs that the library has in hand, by token: a callback brings nothing else that is safe to look at,
 * since it may come twice, or after its transfer has gone. */
#ifndef KVS_WQSKV_PENDING_H
#define KVS_WQSKV_PENDING_H

#include "written.h"

/* In the io's private space. An io stays open, and its space with it, as long as its token is here: whoever
 * completes it takes the token out first. */
struct pending {
    struct pending *next; /* guarded by its bucket's lock, as all here once it was added */
    uint64_t token;
    struct written *written; /* the engine's */
    const void *key;         /* the host's */
    size_t key_len;
    uint64_t size;
};

/* Once a process, before all else. */
void pending_setup(void);
/* Before the library can know of it. */
void pending_add(struct pending *pending);
/* The WRITE of that token has ended, with success or not; nothing happens for a token that is not here. */
void pending_end(uint64_t token, bool success);

#endif
