/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether another process has an environment open. LMDB waits for the writer of another process, and cannot
 * be asked whether it would have to. But each process that has an environment open shares a lock on the first
 * byte of lock.mdb, and whoever opens it waits for one: who has that lock alone has no other process to wait
 * for. To take it and to give it back takes half the time of a small write: who writes one after the other
 * keeps it, for a short time (writer.c), and then does without for a few writes, in which others get in.
 */
#ifndef KVS_LMDB_ALONE_H
#define KVS_LMDB_ALONE_H

#include <stdatomic.h>
#include <stdbool.h>

struct alone {
    int fd;            /* of lock.mdb; -1: it is not known who has it open; written with the gate closed */
    bool sure;         /* LMDB has that lock for this process; guarded by whoever may write, with writes */
    unsigned writes;   /* since the lock was kept */
    _Atomic bool kept; /* the lock stays between writes; written inside the gate by whoever may write */
    _Atomic bool over; /* it has been kept long enough; set by the writer's thread */
};

/* Once LMDB has the environment open. */
void alone_open(struct alone *alone, const char *path);
/* Once LMDB has it closed, and not before: to close lock.mdb drops all locks that the process has on it. */
void alone_close(struct alone *alone);

/* Keeps other processes from having it open until alone_end; false: one has, or that is not known. Never
 * waits. */
bool alone_begin(struct alone *alone);
/* May they come back? Not yet, where many writes follow each other: then *alone is kept. `keep`: there is
 * someone to see to its end. */
void alone_end(struct alone *alone, bool keep);
/* The next alone_end with `keep` may keep it. */
bool alone_is_due(const struct alone *alone);
/* Ends it if it is kept. */
void alone_let_go(struct alone *alone);

#endif
