/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that is none: submit touches each io's memory and completes it at once, on the thread that posts.
 * What a transfer of it takes is the SDK's own time.
 */
#ifndef KVS_BENCH_NULL_H
#define KVS_BENCH_NULL_H

#include <kvslot/kvslot.h>

/* Registers it under a name. Of each name the process has slots of its own. */
int null_register(const char *name, struct kvs_error *err);

#endif
