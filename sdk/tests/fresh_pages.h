/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that shows who touches it first: each page costs the thread that does a page fault. */
#ifndef KVS_TESTS_FRESH_PAGES_H
#define KVS_TESTS_FRESH_PAGES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define FRESH_PAGES 4096L

static inline size_t fresh_size(void)
{
    return (size_t)(FRESH_PAGES * sysconf(_SC_PAGESIZE));
}

/* fresh_size() bytes that nobody has touched, in pages of the usual size; NULL: there is no memory. */
static inline void *fresh_map(void)
{
    void *at = mmap(NULL, fresh_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, fresh_size(), MADV_NOHUGEPAGE);
    return at;
}

/* Nobody has touched them any more. */
static inline void fresh_again(void *at)
{
    madvise(at, fresh_size(), MADV_DONTNEED);
}

static inline void fresh_unmap(void *at)
{
    munmap(at, fresh_size());
}

/* Page faults of this thread so far. */
static inline long faults_here(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

#endif
