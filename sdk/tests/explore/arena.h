/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a run: what the SDK and the scenario allocate while one is under way. Nothing is used again
 * before the run is over; what is freed gets a pattern, and is poisoned where the build has AddressSanitizer.
 */
#ifndef KVS_TESTS_EXPLORE_ARENA_H
#define KVS_TESTS_EXPLORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything gone: a new run begins. */
void arena_reset(void);
bool arena_has(const void *p);
/* A distance from the arena's start, the same in each run of a schedule. */
size_t arena_offset(const void *p);
/* NULL, or what is wrong with n bytes there: used after they were freed, or never allocated. */
const char *arena_fault(const void *p, size_t n);
/* NULL, or what is wrong: something was written into freed memory. */
const char *arena_check_freed(void);
/* Blocks that were not freed, and where the first of them is from. */
size_t arena_live(const char **where);

#endif
