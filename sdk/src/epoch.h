/* SPDX-License-Identifier: Apache-2.0 */
/* Which process a handle was made in: after fork() the child's epoch differs from its parent's. */
#ifndef KVS_SRC_EPOCH_H
#define KVS_SRC_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

/* The word that the kernel clears in a forked child; NULL until kvs_epoch_begin. */
extern const volatile uint64_t *kvs_epoch_word;

/* Makes the epoch of this process known, a new one in a child. Answers it, or 0 where there is no memory. */
uint64_t kvs_epoch_begin(void);

static inline bool kvs_epoch_is(uint64_t epoch)
{
    return kvs_epoch_word && *kvs_epoch_word == epoch;
}

#endif
