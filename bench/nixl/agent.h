/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real NIXL agent, through the C functions of libnixl_capi.so, which NIXL's wheels have. The file is named
 * by the environment variable NIXL_CAPI; bench/nixl/run.sh sets it.
 */
#ifndef KVS_BENCH_NIXL_AGENT_H
#define KVS_BENCH_NIXL_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An agent with one backend: the plugin of that name, with one parameter, or none where `name` is NULL. NULL:
 * said on standard error. */
struct agent *agent_make(const char *plugin, const char *name, const char *value);
void agent_end(struct agent *a);

/* `count` values of `size` bytes, one behind the other in memory, and a registration for each of their
 * places. */
bool agent_register(struct agent *a, char *memory, size_t size, size_t count);
/* A READ of all that was registered. NULL: said on standard error. */
void *agent_prep(struct agent *a);
/* Posts, and checks until it has ended; ends the program where that is not well. */
void agent_post(struct agent *a, void *request);
void agent_release(struct agent *a, void *request);

#endif
