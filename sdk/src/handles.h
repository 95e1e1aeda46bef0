/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which handles of transfers and engines there are, in builds without NDEBUG: so that one that was given
 * back, or never was one, is found out before its memory is looked at. Elsewhere all of it is nothing.
 */
#ifndef KVS_SRC_HANDLES_H
#define KVS_SRC_HANDLES_H

#include <stdbool.h>
#include <stdlib.h>

/* A test build that schedules every atomic operation has no use for these. */
#if !defined(NDEBUG) && !defined(KVS_EXPLORE)
#define KVS_HANDLES_CHECKED 1

void kvs_handle_add(const void *handle);
/* Once for each that was added. */
void kvs_handle_remove(const void *handle);
/* Is it one; `kind` is for the line that is logged where it is none. */
bool kvs_handle_live(const void *handle, const char *kind);
/* Frees the block that the handle is in, some handles later, so that the next one does not have the same
 * address. */
void kvs_handle_free(void *handle, size_t size, void *block);

#else

static inline void kvs_handle_add(const void *handle)
{
    (void)handle;
}
static inline void kvs_handle_remove(const void *handle)
{
    (void)handle;
}
static inline bool kvs_handle_live(const void *handle, const char *kind)
{
    (void)handle;
    (void)kind;
    return true;
}
static inline void kvs_handle_free(void *handle, size_t size, void *block)
{
    (void)handle;
    (void)size;
    free(block);
}

#endif
#endif
