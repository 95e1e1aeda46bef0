/* SPDX-License-Identifier: Apache-2.0 */
#include "handles.h"

#ifdef KVS_HANDLES_CHECKED

#include "log.h"
#include "sync.h"

#include <kvslot/kvslot.h>
#include <string.h>

/*
 * A table without lock, so that looking at it orders nothing between threads, and a race stays one for those
 * who look for races. A handle is in one of WINDOW places from where its address says.
 */
#define PLACES (1u << 15)
#define WINDOW 64u
static kvs_a64 places[PLACES + WINDOW];
static kvs_a64 strays; /* handles that found no place: while there are any, none is taken for a wrong one */

static kvs_a64 *window_of(const void *handle)
{
    uint64_t h = (uint64_t)(uintptr_t)handle >> 4;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return &places[h >> 49];
}

void kvs_handle_add(const void *handle)
{
    kvs_a64 *at = window_of(handle);
    for (uint32_t i = 0; i < WINDOW; i++) {
        uint64_t none = 0;
        if (kvs_a64_load_relaxed(&at[i]) == 0 && kvs_a64_cas(&at[i], &none, (uint64_t)(uintptr_t)handle))
            return;
    }
    kvs_a64_add(&strays, 1);
}

static kvs_a64 *find(const void *handle)
{
    kvs_a64 *at = window_of(handle);
    for (uint32_t i = 0; i < WINDOW; i++)
        if (kvs_a64_load_relaxed(&at[i]) == (uint64_t)(uintptr_t)handle)
            return &at[i];
    return NULL;
}

void kvs_handle_remove(const void *handle)
{
    kvs_a64 *at = find(handle);
    if (at)
        kvs_a64_store(at, 0);
    else
        kvs_a64_sub(&strays, 1);
}

bool kvs_handle_live(const void *handle, const char *kind)
{
    if (find(handle) || kvs_a64_load_relaxed(&strays) > 0)
        return true;
    kvs_log(KVS_LOG_ERROR, "sdk", "%p is no valid handle of %s: it was given back, or never was one", handle,
            kind);
    return false;
}

/* A sanitizer, which keeps what is freed for a while by itself, is to see it freed at once. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEPT 0u
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEPT 0u
#endif
#endif
#ifndef KEPT
#define KEPT 64u
#endif
#define KEPT_SIZE (64u * 1024) /* larger ones are not kept */

void kvs_handle_free(void *handle, size_t size, void *block)
{
    static kvs_a64 kept[64];
    static kvs_a32 next;
    if (KEPT == 0 || size > KEPT_SIZE) {
        free(block);
        return;
    }
    memset(handle, 0xdb, size); /* nothing of it is to be used by mistake */
    kvs_a64 *at = &kept[kvs_a32_add(&next, 1) % 64];
    uint64_t old = kvs_a64_load(at);
    while (!kvs_a64_cas(at, &old, (uint64_t)(uintptr_t)block))
        ;
    free((void *)(uintptr_t)old);
}

#else
typedef int kvs_handles_not_checked; /* a translation unit has to declare something */
#endif
