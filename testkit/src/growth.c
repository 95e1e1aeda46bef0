/* SPDX-License-Identifier: Apache-2.0 */
/* What the process has of what can leak. */
#include "case.h"
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static size_t entries(const char *folder)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    KIT_CHECK(d, "%s cannot be read", folder);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

struct kit_usage kit_usage(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    KIT_CHECK(f && fscanf(f, "%lu", &pages) == 1, "/proc/self/statm cannot be read");
    fclose(f);
    struct mallinfo2 m = mallinfo2();
    return (struct kit_usage){.descriptors = (int64_t)entries("/proc/self/fd") - 1, /* that of the folder */
                              .threads = (int64_t)entries("/proc/self/task"),
                              .mapped = (int64_t)(pages * (unsigned long)sysconf(_SC_PAGESIZE)),
                              .used = (int64_t)m.uordblks};
}

bool kit_usage_has_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    const char *preload = getenv("LD_PRELOAD");
    return !preload || !strstr(preload, "vgpreload");
#endif
}

bool kit_usage_settles(int64_t descriptors, int64_t threads, uint64_t wait_ns)
{
    uint64_t end = kit_now() + wait_ns;
    for (;;) {
        struct kit_usage u = kit_usage();
        if (u.descriptors <= descriptors && u.threads <= threads)
            return true;
        if (kit_now() > end)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
