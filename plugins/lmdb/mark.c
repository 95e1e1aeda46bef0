/* SPDX-License-Identifier: Apache-2.0 */
#include "mark.h"
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define ID_ROOM 64 /* the number has 36 characters */

/* The number of the machine's present start; empty where the kernel has none. */
static void this_start(char id[ID_ROOM])
{
    memset(id, 0, ID_ROOM);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, id, ID_ROOM - 1) < 0)
        id[0] = '\0';
    close(fd);
    id[strcspn(id, "\n")] = '\0';
}

static int say(const char *file, struct env_text *text)
{
    int err = errno;
    env_say(text, "cannot use the mark of sync=none, '%s': %s", file, strerror(err));
    return env_status(err);
}

/* Is it of an earlier start? An empty one is being written. -1: an error, in errno. */
static int is_old(int fd)
{
    char now[ID_ROOM], then[ID_ROOM] = "";
    this_start(now);
    if (pread(fd, then, ID_ROOM - 1, 0) < 0)
        return -1;
    return then[0] != '\0' && strcmp(now, then) != 0;
}

/* Opens the mark and keeps a share of it. Whoever closed last may have taken it away meanwhile: then once
 * more. */
static int open_shared(const char *file)
{
    for (;;) {
        struct stat mine, there;
        int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return -1;
        int rc;
        do {
            rc = flock(fd, LOCK_SH);
        } while (rc != 0 && errno == EINTR);
        if (rc == 0 && fstat(fd, &mine) == 0 && stat(file, &there) == 0 && mine.st_ino == there.st_ino)
            return fd;
        int err = rc != 0 ? errno : 0;
        close(fd);
        if (err != 0) {
            errno = err;
            return -1;
        }
    }
}

/* Alone, since nobody of this start shares a mark that is old: whoever came before us has mended it. */
static int make_anew(const char *path, int fd)
{
    static const char *const names[] = {"data.mdb", "lock.mdb"};
    int rc;
    do {
        rc = flock(fd, LOCK_EX);
    } while (rc != 0 && errno == EINTR);
    if (rc == 0)
        rc = is_old(fd);
    if (rc <= 0)
        return rc;
    for (int i = 0; i < 2; i++) {
        char *file;
        if (asprintf(&file, "%s/%s", path, names[i]) < 0)
            return -1;
        rc = unlink(file);
        int err = errno;
        free(file);
        if (rc != 0 && err != ENOENT) {
            errno = err;
            return -1;
        }
    }
    lmdb_host->log(
        NULL, KVS_LOG_WARN,
        "'%s' was open with sync=none when the machine went down: its content may be damaged, and it is made "
        "anew, empty",
        path);
    return ftruncate(fd, 0);
}

static int open_unsynced(const char *path, const char *file, int *out, struct env_text *text)
{
    char id[ID_ROOM];
    int fd = open_shared(file);
    if (fd < 0)
        return say(file, text);
    int old = is_old(fd);
    if (old > 0)
        old = make_anew(path, fd);
    this_start(id);
    if (old < 0 || pwrite(fd, id, strlen(id), 0) < 0 || fsync(fd) != 0 || flock(fd, LOCK_SH) != 0) {
        int status = say(file, text);
        close(fd);
        return status;
    }
    *out = fd;
    return KVS_OK;
}

int mark_open(const char *path, const struct env_config *config, int *out, struct env_text *text)
{
    char *file;
    int status = KVS_OK;
    if (asprintf(&file, "%s/%s", path, MARK_NAME) < 0)
        return KVS_NO_MEMORY;
    if (config->sync == SYNC_NONE && !config->read_only) {
        status = open_unsynced(path, file, out, text);
    } else {
        int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0 && is_old(fd) > 0) {
            env_say(text,
                    "'%s' was open with sync=none when the machine went down, and may be damaged: open it "
                    "with sync=none, "
                    "which makes it anew, or remove '%s' to use it as it is",
                    path, file);
            status = KVS_BACKEND;
        }
        if (fd >= 0)
            close(fd);
    }
    free(file);
    return status;
}

void mark_close(const char *path, int fd, bool flushed)
{
    char *file;
    if (fd < 0)
        return;
    /* Others that have it open may not have flushed. */
    if (flushed && flock(fd, LOCK_EX | LOCK_NB) == 0 && asprintf(&file, "%s/%s", path, MARK_NAME) >= 0) {
        unlink(file);
        free(file);
    }
    close(fd);
}
