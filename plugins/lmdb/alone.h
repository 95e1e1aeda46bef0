/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether another process has an environment open. LMDB waits for the writer of another process, and cannot
 * be asked whether it would have to. But each process that has an environment open shares a lock on the first
 * byte of lock.mdb, and whoever opens it waits for one: who has that lock alone has no other process to wait
 * for.
 */
#ifndef KVS_LMDB_ALONE_H
#define KVS_LMDB_ALONE_H

#include <stdbool.h>

struct alone {
    int fd;    /* of lock.mdb; -1: it is not known who has it open */
    bool sure; /* LMDB has that lock for this process; guarded by whoever may write */
};

/* Once LMDB has the environment open. */
void alone_open(struct alone *alone, const char *path);
/* Once LMDB has it closed, and not before: to close lock.mdb drops all locks that the process has on it. */
void alone_close(struct alone *alone);

/* Keeps other processes from having it open until alone_end; false: one has, or that is not known. Never
 * waits. */
bool alone_begin(struct alone *alone);
void alone_end(const struct alone *alone);

#endif
