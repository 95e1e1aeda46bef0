/* SPDX-License-Identifier: Apache-2.0 */
#include "hang.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The start of a file below /proc/PID/task/TID, as one line; "" where it cannot be read. */
static void read_line(int task, const char *tid, const char *name, char *to, size_t size)
{
    char path[64];
    to[0] = '\0';
    snprintf(path, sizeof(path), "%.20s/%s", tid, name);
    int fd = openat(task, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, to, size - 1);
    to[n > 0 ? n : 0] = '\0';
    to[strcspn(to, "\n")] = '\0';
    close(fd);
}

/* The state in a line of /proc: a thread's name may hold blanks and parentheses, and it stands after the last
 * of these. */
static char state_of(const char *stat)
{
    const char *state = strrchr(stat, ')');
    return state && state[1] && state[2] ? state[2] : '?';
}

bool hang_others_sleep(void)
{
    char stat[512];
    DIR *dir = opendir("/proc/self/task");
    bool all = dir != NULL;
    for (struct dirent *d; all && (d = readdir(dir)) != NULL;) {
        if (d->d_name[0] == '.' || strtol(d->d_name, NULL, 10) == getpid())
            continue;
        read_line(dirfd(dir), d->d_name, "stat", stat, sizeof(stat));
        all = !stat[0] || state_of(stat) == 'S'; /* without a line it has ended meanwhile */
    }
    if (dir)
        closedir(dir);
    return all;
}

void hang_states(pid_t pid, FILE *out)
{
    char path[64], comm[64], stat[512], wchan[128], call[256];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    int task = dirfd(dir);
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        if (d->d_name[0] == '.')
            continue;
        read_line(task, d->d_name, "comm", comm, sizeof(comm));
        read_line(task, d->d_name, "stat", stat, sizeof(stat));
        read_line(task, d->d_name, "wchan", wchan, sizeof(wchan));
        read_line(task, d->d_name, "syscall", call, sizeof(call));
        call[strcspn(call, " ")] = '\0';
        fprintf(out, "thread %s (%s): state %c, waits in %s, system call %s\n", d->d_name, comm,
                state_of(stat), wchan[0] && strcmp(wchan, "0") != 0 ? wchan : "?", call[0] ? call : "?");
    }
    closedir(dir);
}
