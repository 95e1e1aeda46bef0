/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is counted: reads of the clock, and bytes allocated. This program's clock_gettime, malloc and so on
 * stand before libc's, also for libkvslot.
 */
#include "../baselines/null.h"
#include "cases.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define VISIBLE __attribute__((visibility("default")))

static atomic_bool counting;
static atomic_ulong clock_reads;

VISIBLE int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*_Atomic libc)(clockid_t, struct timespec *);
    int (*next)(clockid_t, struct timespec *) = atomic_load_explicit(&libc, memory_order_relaxed);
    if (!next) {
        /* As POSIX has it, a pointer to a function is taken from dlsym through one to data. */
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
        atomic_store(&libc, next);
    }
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add(&clock_reads, 1);
    return next(clock, t);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined(SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&                \
    defined(__GLIBC__)
#include <malloc.h>
#define COUNTS_BYTES 1

static atomic_long bytes; /* asked for, less what was given back */

/* glibc's own names of what stands behind the functions below. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *p);

static void took(void *p, size_t size)
{
    if (p && atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add(&bytes, (long)size);
}

static void gave(void *p)
{
    if (p && atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_sub(&bytes, (long)malloc_usable_size(p));
}

VISIBLE void *malloc(size_t size)
{
    void *p = __libc_malloc(size);
    took(p, size);
    return p;
}

VISIBLE void *calloc(size_t n, size_t size)
{
    void *p = __libc_calloc(n, size);
    took(p, n * size);
    return p;
}

VISIBLE void *realloc(void *old, size_t size)
{
    gave(old);
    void *p = __libc_realloc(old, size);
    took(p, size);
    return p;
}

VISIBLE void *aligned_alloc(size_t align, size_t size)
{
    void *p = __libc_memalign(align, size);
    took(p, size);
    return p;
}

VISIBLE void free(void *p)
{
    gave(p);
    __libc_free(p);
}
#endif

double count_clock_reads(void *arg)
{
    struct post_case *c = arg;
    enum { TRANSFERS = 1000 };
    (void)post_ours(c, 1); /* starts what is started once */
    atomic_store(&clock_reads, 0);
    atomic_store(&counting, true);
    (void)post_ours(c, TRANSFERS);
    atomic_store(&counting, false);
    return ((double)atomic_load(&clock_reads) - 2) / TRANSFERS; /* two are of the harness */
}

#if defined(COUNTS_BYTES)
#define KEY "key"

/* What a transfer of so many descriptors takes, with slots that nobody had before. */
static double bytes_of(kvs_engine *e, uint32_t count, kvs_xfer **x)
{
    struct kvs_key *keys = world_alloc(count, sizeof *keys);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (struct kvs_key){KEY, sizeof KEY - 1};
    struct kvs_dlist local = {world.locals, count, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = KVS_READ, .local = &local, .keys = keys, .nkeys = count};
    struct kvs_desc *d = world_alloc(count, sizeof *d);
    for (uint32_t i = 0; i < count; i++) {
        d[i] = world.locals[i];
        d[i].mem = NULL;
    }
    local.descs = d;
    struct kvs_error err = {KVS_OK, ""};
    atomic_store(&bytes, 0);
    atomic_store(&counting, true);
    int rc = kvs_xfer_prep(e, &req, x, &err);
    atomic_store(&counting, false);
    if (rc != KVS_OK)
        world_fail("prep", err.text);
    free(keys);
    free(d);
    return (double)atomic_load(&bytes) - (double)count * (sizeof KEY - 1);
}

/* The transfer's own head, which is there once, drops out. */
double count_bytes(void *arg)
{
    (void)arg;
    struct kvs_error err = {KVS_OK, ""};
    kvs_engine *e;
    kvs_xfer *half, *all;
    static unsigned times;
    if (times++ > 0) /* its slots would not be new */
        return -1;
    if (null_register("null-fresh", &err) != KVS_OK ||
        kvs_engine_open("null-fresh", NULL, 0, &e, &err) != KVS_OK)
        world_fail("backend null-fresh", err.text);
    double first = bytes_of(e, MOST / 2, &half), second = bytes_of(e, MOST, &all);
    kvs_xfer_release(half, 0);
    kvs_xfer_release(all, 0);
    if (kvs_engine_close(e, KVS_SEC(10), &err) != KVS_OK)
        world_fail("close", err.text);
    return (second - first) / (MOST / 2);
}
#else
double count_bytes(void *arg)
{
    (void)arg;
    return -1;
}
#endif
