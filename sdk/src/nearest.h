/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?" */
#ifndef KVS_SRC_NEAREST_H
#define KVS_SRC_NEAREST_H

#include <stddef.h>

/* Zero it, set `wanted`, offer names, then look at best. */
struct kvs_nearest {
    const char *wanted;
    char best[64];  /* "" where none is near: at most two edits away, or one the beginning of the other */
    unsigned score; /* of best; less is nearer */
};

void kvs_nearest_offer(struct kvs_nearest *nearest, const char *name, size_t len);

#endif
