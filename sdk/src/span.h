/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths and counts as callers give them: none of them is taken to fit before it was looked at. */
#ifndef KVS_SRC_SPAN_H
#define KVS_SRC_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Can there be n things of `size` bytes at `at`, each `stride` bytes after the one before. */
static inline bool kvs_array_fits(const void *at, size_t n, size_t stride, size_t size)
{
    size_t bytes;
    return n == 0 ||
           (!__builtin_mul_overflow(n - 1, stride, &bytes) && !__builtin_add_overflow(bytes, size, &bytes) &&
            bytes <= PTRDIFF_MAX && bytes <= UINTPTR_MAX - (uintptr_t)at);
}

/* Can there be so many bytes at `at`. */
static inline bool kvs_bytes_fit(const void *at, size_t len)
{
    return len <= PTRDIFF_MAX && len <= UINTPTR_MAX - (uintptr_t)at;
}

/* a + b, or the largest number where that is beyond it. */
static inline size_t kvs_add_most(size_t a, size_t b)
{
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

#endif
