/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that a seed repeats (splitmix64). */
#ifndef KVS_CONNECTOR_RANDOM_H
#define KVS_CONNECTOR_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state;

static inline uint64_t draw(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline unsigned below(size_t n)
{
    return (unsigned)(draw() % n);
}

#endif
