/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has happened in a run, as a number: the same for two orders of the same operations that differ only in
 * the order of those that have nothing to do with each other. Threads that share nothing but through the
 * operations that are told here go on the same way from there.
 */
#ifndef KVS_TESTS_EXPLORE_HAPPENED_H
#define KVS_TESTS_EXPLORE_HAPPENED_H

#include <stdbool.h>
#include <stdint.h>

void happened_reset(void);
/* A thread has looked at an object, or changed it. */
void happened(int thread, const void *object, bool change);
/* A thread was told a number: the time. */
void happened_value(int thread, uint64_t value);
uint64_t happened_hash(void);

#endif
