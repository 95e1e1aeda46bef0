/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"
#include "say.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX_LEN 11 /* of "kc01234567." */
#define SUFFIX     "run"

/* Makes the folder and those above it. */
static int make_folder(const char *folder)
{
    char *path = strdup(folder);
    if (!path)
        return -1;
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    int rc = mkdir(path, 0700);
    free(path);
    return rc == 0 || errno == EEXIST ? 0 : -1;
}

/* Locked before it has its name: no other run sees it unlocked while this one lives. */
static int create(struct journal *j, const char *temporary)
{
    j->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (j->fd < 0 || flock(j->fd, LOCK_EX | LOCK_NB) != 0 || rename(temporary, j->path) != 0)
        return -1;
    return 0;
}

int journal_open(struct journal *j, const char *folder, const char *prefix, const char *target,
                 struct kvs_error *err)
{
    char *temporary = NULL;
    j->fd = -1;
    j->path = NULL;
    if (make_folder(folder) != 0)
        return say(err, KVS_IO, "the folder %s for the run's notes cannot be made: %s", folder,
                   strerror(errno));
    if (asprintf(&j->path, "%s/%s" SUFFIX, folder, prefix) < 0 || asprintf(&temporary, "%s.new", j->path) < 0)
        return say(err, KVS_NO_MEMORY, "no memory for the run's notes");
    int rc = KVS_OK;
    if (create(j, temporary) != 0 || dprintf(j->fd, "%s\n", target) < 0) {
        rc = say(err, KVS_IO, "the run's notes %s cannot be written: %s", j->path, strerror(errno));
        unlink(temporary);
    }
    free(temporary);
    return rc;
}

void journal_key(struct journal *j, const char *hex)
{
    if (j->fd >= 0)
        dprintf(j->fd, "%s\n", hex); /* what cannot be noted is still removed by this run */
}

void journal_close(struct journal *j, bool done)
{
    if (j->path && done)
        unlink(j->path);
    if (j->fd >= 0)
        close(j->fd);
    free(j->path);
    j->fd = -1;
    j->path = NULL;
}

/* "kc01234567.run" */
static bool is_notes(const char *name)
{
    return strlen(name) == PREFIX_LEN + sizeof(SUFFIX) - 1 && strncmp(name, "kc", 2) == 0 &&
           strspn(name + 2, "0123456789abcdef") == PREFIX_LEN - 3 &&
           strcmp(name + PREFIX_LEN - 1, "." SUFFIX) == 0;
}

/* The keys of a dead run on the target; NULL: it is another target's. */
static json_t *read_notes(int fd, const char *target)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    json_t *keys = NULL;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = own >= 0 ? fdopen(own, "r") : NULL;
    while (f && (n = getline(&line, &room, f)) > 0) {
        bool whole = line[n - 1] == '\n'; /* else the run died while it wrote it */
        line[n - whole] = '\0';
        if (!keys && (!whole || strcmp(line, target) != 0))
            break;
        if (!keys)
            keys = json_array();
        else if (whole)
            json_array_append_new(keys, json_string(line));
    }
    free(line);
    if (f)
        fclose(f);
    else if (own >= 0)
        close(own);
    return keys;
}

void journal_sweep(const char *folder, const char *target,
                   bool (*sweep)(void *arg, const char *prefix, json_t *keys), void *arg)
{
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
        char prefix[PREFIX_LEN + 1] = "";
        int fd = is_notes(d->d_name) ? openat(dirfd(dir), d->d_name, O_RDWR | O_CLOEXEC) : -1;
        if (fd < 0)
            continue;
        memcpy(prefix, d->d_name, PREFIX_LEN);
        json_t *keys = flock(fd, LOCK_EX | LOCK_NB) == 0 ? read_notes(fd, target) : NULL;
        if (keys && sweep(arg, prefix, keys))
            unlinkat(dirfd(dir), d->d_name, 0);
        json_decref(keys);
        close(fd);
    }
    if (dir)
        closedir(dir);
}
