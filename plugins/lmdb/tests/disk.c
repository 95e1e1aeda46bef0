/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <kvslot/types.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* LMDB writes whole pages, but for what it changes of its first two. */
#define PAGE 4096u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool stop, stopped, only_meta, short_writes;
static int flushes, folders, failing_flush, flush_error, write_error, allocation_error;
static long long allocation_limit; /* 0: none */

void disk_mend(void)
{
    pthread_mutex_lock(&lock);
    stop = stopped = only_meta = short_writes = false;
    flushes = folders = failing_flush = flush_error = write_error = allocation_error = 0;
    allocation_limit = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void disk_stop(void)
{
    pthread_mutex_lock(&lock);
    stop = true;
    stopped = false;
    pthread_mutex_unlock(&lock);
}

void disk_stopped(void)
{
    pthread_mutex_lock(&lock);
    while (!stopped)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

void disk_go(void)
{
    pthread_mutex_lock(&lock);
    stop = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int disk_flushes(void)
{
    pthread_mutex_lock(&lock);
    int n = flushes;
    pthread_mutex_unlock(&lock);
    return n;
}

int disk_folders(void)
{
    pthread_mutex_lock(&lock);
    int n = folders;
    pthread_mutex_unlock(&lock);
    return n;
}

void disk_fail_flush(int n, int err)
{
    pthread_mutex_lock(&lock);
    failing_flush = n;
    flush_error = err;
    pthread_mutex_unlock(&lock);
}

void disk_fail_writes(int err, bool meta)
{
    pthread_mutex_lock(&lock);
    write_error = err;
    only_meta = meta;
    pthread_mutex_unlock(&lock);
}

void disk_short_writes(void)
{
    pthread_mutex_lock(&lock);
    short_writes = true;
    pthread_mutex_unlock(&lock);
}

void disk_fail_allocation(int err)
{
    pthread_mutex_lock(&lock);
    allocation_error = err;
    pthread_mutex_unlock(&lock);
}

void disk_limit_allocation(long long bytes)
{
    pthread_mutex_lock(&lock);
    allocation_limit = bytes;
    pthread_mutex_unlock(&lock);
}

static bool is_short(void)
{
    pthread_mutex_lock(&lock);
    bool is = short_writes;
    pthread_mutex_unlock(&lock);
    return is;
}

static bool write_fails(size_t len)
{
    pthread_mutex_lock(&lock);
    int err = !only_meta || len < PAGE ? write_error : 0;
    pthread_mutex_unlock(&lock);
    errno = err;
    return err != 0;
}

KVS_EXPORT int fdatasync(int fd)
{
    pthread_mutex_lock(&lock);
    int err = ++flushes == failing_flush ? flush_error : 0;
    while (stop) {
        stopped = true;
        pthread_cond_broadcast(&changed);
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    errno = err;
    return err != 0 ? -1 : (int)syscall(SYS_fdatasync, fd);
}

KVS_EXPORT int fsync(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        pthread_mutex_lock(&lock);
        folders++;
        pthread_mutex_unlock(&lock);
    }
    return (int)syscall(SYS_fsync, fd);
}

KVS_EXPORT ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    if (write_fails(len))
        return -1;
    return syscall(SYS_pwrite64, fd, bytes, is_short() ? len / 2 : len, at);
}

KVS_EXPORT ssize_t writev(int fd, const struct iovec *iov, int n)
{
    if (write_fails(PAGE))
        return -1;
    return syscall(SYS_writev, fd, iov, is_short() ? 1 : n);
}

KVS_EXPORT int fallocate(int fd, int mode, off_t from, off_t len)
{
    pthread_mutex_lock(&lock);
    int err = allocation_limit != 0 && from + len > allocation_limit ? ENOSPC : allocation_error;
    pthread_mutex_unlock(&lock);
    errno = err;
    return err != 0 ? -1 : (int)syscall(SYS_fallocate, fd, mode, from, len);
}

KVS_EXPORT int fstatvfs(int fd, struct statvfs *out)
{
    (void)fd;
    *out = (struct statvfs){.f_bsize = PAGE, .f_frsize = PAGE, .f_bavail = is_short() ? 1 : 1000000};
    return 0;
}
