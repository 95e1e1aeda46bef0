/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that fork with threads about. AddressSanitizer's allocator (gcc 12) has locks that a fork does
 * not take first: a child of a moment when another thread was inside one never gets it. Nothing of ours is at
 * stake, so the fork waits until every other thread sleeps.
 */
#ifndef KVS_TESTS_QUIET_H
#define KVS_TESTS_QUIET_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline bool thread_sleeps(const char *id)
{
    char path[300], line[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", id);
    FILE *f = fopen(path, "re");
    if (!f)
        return true; /* it has ended meanwhile */
    size_t len = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[len] = '\0';
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] && name_end[2] == 'S';
}

static inline bool others_sleep(void)
{
    DIR *dir = opendir("/proc/self/task");
    bool all = dir != NULL;
    for (struct dirent *entry; all && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != getpid())
            all = thread_sleeps(entry->d_name);
    if (dir)
        closedir(dir);
    return all;
}

/* Until the other threads have slept at two looks in a row; on the main thread. Only where it matters. */
static inline void let_others_sleep(void)
{
#ifdef __SANITIZE_ADDRESS__
    for (int looks = 0; looks < 2; looks = others_sleep() ? looks + 1 : 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
#endif
}

#endif
