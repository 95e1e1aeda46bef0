/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Makes one folder; whether it is one in the end is seen later. */
static int make(const char *folder, const char *path, struct env_text *text)
{
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
        return KVS_OK;
    int err = errno;
    struct stat st;
    if (stat(folder, &st) == 0) /* on a read-only file system even a folder that is there cannot be "made" */
        return KVS_OK;
    env_say(text, "cannot create folder '%s' of path '%s': %s", folder, path, strerror(err));
    return env_status(err);
}

static int make_all(const char *path, struct env_text *text)
{
    char *folder = strdup(path);
    if (folder == NULL)
        return KVS_NO_MEMORY;
    int status = KVS_OK;
    for (char *at = folder + 1; status == KVS_OK && *at != '\0'; at++) {
        if (*at != '/' || at[-1] == '/')
            continue;
        *at = '\0';
        status = make(folder, path, text);
        *at = '/';
    }
    if (status == KVS_OK)
        status = make(folder, path, text);
    free(folder);
    return status;
}

int path_prepare(const char *path, bool create, struct env_text *text)
{
    struct stat st;
    if (stat(path, &st) != 0 && errno == ENOENT && create) {
        int status = make_all(path, text);
        if (status != KVS_OK)
            return status;
    }
    if (stat(path, &st) != 0) {
        int err = errno;
        env_say(text, "cannot open path '%s': %s%s", path, strerror(err),
                err == ENOENT && !create ? ", and create=no" : "");
        return env_status(err);
    }
    if (!S_ISDIR(st.st_mode)) {
        env_say(text, "path '%s' is not a folder: an environment is a folder with data.mdb in it", path);
        return KVS_IO;
    }
    return KVS_OK;
}

bool path_data(const char *path, struct stat *out)
{
    char *file;
    if (asprintf(&file, "%s/data.mdb", path) < 0)
        return false;
    bool there = stat(file, out) == 0;
    free(file);
    return there;
}

int path_reserve_lock(const char *path, size_t bytes, mode_t mode)
{
    char *file;
    struct stat st;
    int rc = 0;
    if (asprintf(&file, "%s/lock.mdb", path) < 0)
        return ENOMEM;
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        size_t whole = (size_t)st.st_size > bytes ? (size_t)st.st_size : bytes;
        if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)whole) != 0 && (errno == ENOSPC || errno == EDQUOT))
            rc = errno;
    }
    if (fd >= 0)
        close(fd);
    free(file);
    return rc;
}

static int sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int rc = fsync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: a file system that has no need of it */
    close(fd);
    return rc;
}

int path_sync(const char *path)
{
    char *above;
    int rc = sync_folder(path);
    if (rc != 0)
        return rc;
    if (asprintf(&above, "%s/..", path) < 0)
        return ENOMEM;
    rc = sync_folder(above);
    free(above);
    return rc == EACCES ? 0 : rc; /* then it was there before us */
}

bool path_flush(const char *path)
{
    char *file;
    if (asprintf(&file, "%s/data.mdb", path) < 0)
        return false;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool done = fd >= 0 ? fsync(fd) == 0 : errno == ENOENT;
    if (fd >= 0)
        close(fd);
    free(file);
    return done;
}

bool path_mapped(const struct stat *file)
{
    bool found = false;
    char *line = NULL;
    size_t room = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL)
        return false;
    while (!found && getline(&line, &room, maps) > 0) {
        unsigned major_number, minor_number;
        unsigned long inode;
        found = sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) == 3 &&
                inode == file->st_ino && makedev(major_number, minor_number) == file->st_dev;
    }
    free(line);
    fclose(maps);
    return found;
}

const char *path_remote(const char *path, int (*look)(const char *path, struct statfs *out))
{
    static const struct {
        unsigned type;
        const char *name;
    } remote[] = {{0x6969, "nfs"},      {0x517b, "smb"},     {0xff534d42, "cifs"},
                  {0xfe534d42, "smb2"}, {0x01021997, "9p"},  {0x00c36400, "ceph"},
                  {0x65735546, "fuse"}, {0x5346414f, "afs"}, {0x0bd00bd0, "lustre"}};
    struct statfs fs;
    if (look(path, &fs) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
        if (remote[i].type == (unsigned)fs.f_type)
            return remote[i].name;
    }
    return NULL;
}
