/* SPDX-License-Identifier: Apache-2.0 */
/* What stands for moving a value, the same in the backend and in the loop: every cache line is written. */
#ifndef KVS_BENCH_TOUCH_H
#define KVS_BENCH_TOUCH_H

#include <stddef.h>

static inline void touch(void *at, size_t len)
{
    volatile unsigned char *p = at;
    for (size_t i = 0; i < len; i += 64)
        p[i] = (unsigned char)len;
}

#endif
