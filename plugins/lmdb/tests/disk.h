/* SPDX-License-Identifier: Apache-2.0 */
/* What LMDB and the plugin ask of the disk, passed through a test: a program that has these in it is asked
 * before libc. */
#ifndef KVS_LMDB_TESTS_DISK_H
#define KVS_LMDB_TESTS_DISK_H

#include <stdbool.h>

/* All at once: everything goes through again. */
void disk_mend(void);
/* From now on a commit stops where its pages are to reach the disk, until disk_go. */
void disk_stop(void);
/* Waits until a commit has stopped. */
void disk_stopped(void);
void disk_go(void);
/* How many commits have had their pages flushed, or tried, since disk_mend. */
int disk_flushes(void);
/* How many folders were flushed since. */
int disk_folders(void);
/* The n-th of these flushes of pages (from 1) fails with `err`. */
void disk_fail_flush(int n, int err);
/* Writes to files fail with `err`; of `only_meta` those of the page that makes a commit count. */
void disk_fail_writes(int err, bool only_meta);
/* Writes end before their end, and the disk says that it is full, as it does where the last block went
 * meanwhile. */
void disk_short_writes(void);
/* To give a file its space ahead fails with `err`. */
void disk_fail_allocation(int err);
/* There is no space for files of more than so many bytes. */
void disk_limit_allocation(long long bytes);

#endif
