/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a value to a file, a pipe or a device. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The unfinished file, for the signal handler; set before the handler is, by the only thread that writes. */
static char unfinished[PATH_MAX];

static void on_end(int number)
{
    unlink(unfinished);
    raise(number); /* SA_RESETHAND: now it ends the process */
}

static void catch_ends(void (*handler)(int))
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction old;
        /* Whoever started us may have them ignored (nohup): that stays. */
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
}

static int unwritable(const char *name)
{
    return kvs_cmd_fail(CMD_FAILED, "%s cannot be written: %s", name, strerror(errno));
}

static bool write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, data, len);
        if (done >= 0) {
            data += done;
            len -= (size_t)done;
        } else if (errno == EAGAIN) { /* somebody made our standard output non-blocking */
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            if (poll(&ready, 1, -1) < 0 && errno != EINTR)
                return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static int to_descriptor(int fd, const char *name, const void *data, size_t len)
{
    return write_all(fd, data, len) ? CMD_OK : unwritable(name);
}

/* Pipes, devices: what is there is written to, not replaced. */
static int into(const char *file, const void *data, size_t len)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);

    if (fd == -1)
        return unwritable(file);
    int code = to_descriptor(fd, file, data, len);
    if (close(fd) != 0 && code == CMD_OK)
        code = unwritable(file);
    return code;
}

static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* `path` is free of symbolic links; `mode` is that of the file to be replaced. */
static int replace(const char *file, const char *path, mode_t mode, const void *data, size_t len)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;

    if (snprintf(unfinished, sizeof unfinished, "%.*s.kvslot-XXXXXX", folder, path) >=
        (int)sizeof unfinished) {
        errno = ENAMETOOLONG;
        return unwritable(file);
    }
    int fd = mkstemp(unfinished);
    if (fd == -1)
        return unwritable(file);
    catch_ends(on_end);
    bool ok = write_all(fd, data, len) && fchmod(fd, mode) == 0;
    int error = errno;
    if (close(fd) != 0 && ok) {
        error = errno;
        ok = false;
    }
    if (ok && rename(unfinished, path) != 0) {
        error = errno;
        ok = false;
    }
    catch_ends(SIG_DFL);
    if (ok)
        return CMD_OK;
    unlink(unfinished);
    errno = error;
    return unwritable(file);
}

int kvs_cmd_output(const char *file, const void *data, size_t len)
{
    struct stat st, out;
    char path[PATH_MAX];

    if (!file || strcmp(file, "-") == 0)
        return to_descriptor(STDOUT_FILENO, "standard output", data, len);
    if (stat(file, &st) != 0) {
        /* A link that leads nowhere would be replaced where its target is meant. */
        if (errno != ENOENT || (lstat(file, &out) == 0 && S_ISLNK(out.st_mode)))
            return unwritable(file);
        return replace(file, file, new_file_mode(), data, len);
    }
    /* /dev/stdout, redirected to a file: the shell's own file it is, not a new one in its place. */
    if (fstat(STDOUT_FILENO, &out) == 0 && st.st_dev == out.st_dev && st.st_ino == out.st_ino)
        return to_descriptor(STDOUT_FILENO, file, data, len);
    if (!S_ISREG(st.st_mode))
        return into(file, data, len);
    if (!realpath(file, path) || access(path, W_OK) != 0) /* what is read-only stays */
        return unwritable(file);
    return replace(file, path, st.st_mode & 07777, data, len);
}
