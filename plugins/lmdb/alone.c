/* SPDX-License-Identifier: Apache-2.0 */
#include "alone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* So many writes give the lock back at once before it is kept (again). */
#define APART 16u

static int lock_op(int fd, int op, struct flock *lock, short type)
{
    int rc;
    *lock = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    do {
        rc = fcntl(fd, op, lock);
    } while (rc != 0 && errno == EINTR);
    return rc;
}

void alone_open(struct alone *alone, const char *path)
{
    char *file;
    alone->fd = -1;
    alone->sure = false;
    atomic_store_explicit(&alone->kept, false, memory_order_relaxed);
    if (asprintf(&file, "%s/lock.mdb", path) < 0)
        return;
    alone->fd = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    free(file);
}

void alone_close(struct alone *alone)
{
    if (alone->fd >= 0)
        close(alone->fd);
    alone->fd = -1;
    atomic_store_explicit(&alone->kept, false, memory_order_relaxed);
}

/* A lock of a process is not in its own way, but in that of a descriptor: asked so, the kernel tells what
 * LMDB has locked for us. Without that lock there is another LMDB, or another lock.mdb, than we know. */
static bool is_locked(int fd)
{
    struct flock lock;
    return lock_op(fd, F_OFD_GETLK, &lock, F_WRLCK) == 0 && lock.l_type == F_RDLCK && lock.l_pid == getpid();
}

bool alone_begin(struct alone *alone)
{
    struct flock lock;
    if (alone->fd < 0)
        return false;
    if (atomic_load_explicit(&alone->kept, memory_order_relaxed))
        return true;
    if (!alone->sure && !(alone->sure = is_locked(alone->fd)))
        return false;
    return lock_op(alone->fd, F_SETLK, &lock, F_WRLCK) == 0;
}

static void give_back(struct alone *alone)
{
    struct flock lock;
    atomic_store_explicit(&alone->kept, false, memory_order_relaxed);
    lock_op(alone->fd, F_SETLK, &lock, F_RDLCK); /* to take less than one has is always granted */
}

bool alone_is_due(const struct alone *alone)
{
    return alone->writes + 1 >= APART;
}

void alone_end(struct alone *alone, bool keep)
{
    bool kept = atomic_load_explicit(&alone->kept, memory_order_relaxed);
    if (kept && !atomic_load_explicit(&alone->over, memory_order_relaxed))
        return;
    if (!kept && keep && alone_is_due(alone)) {
        alone->writes = 0;
        atomic_store_explicit(&alone->over, false, memory_order_relaxed);
        atomic_store_explicit(&alone->kept, true, memory_order_relaxed);
        return;
    }
    alone->writes++;
    give_back(alone);
}

void alone_let_go(struct alone *alone)
{
    if (atomic_load_explicit(&alone->kept, memory_order_relaxed))
        give_back(alone);
}
