/* SPDX-License-Identifier: Apache-2.0 */
/* Getting a value's bytes from a file, a pipe or a terminal. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mapping, for the signal handler; written before the handler is set, by the only thread there is then.
 */
static const char *mapped;
static size_t mapped_len;

/* A file that is cut while it is mapped: reading past its new end is SIGBUS. Anybody else's SIGBUS stays
 * fatal. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
    static const char text[] = "kvslot: the file became shorter while it was read\n";
    const char *at = info->si_addr;

    (void)context;
    if (at < mapped || at >= mapped + mapped_len) {
        signal(number, SIG_DFL);
        return;
    }
    ssize_t done = write(STDERR_FILENO, text, sizeof text - 1);
    (void)done;
    _exit(CMD_FAILED);
}

static int unreadable(const struct cmd_input *in)
{
    return kvs_cmd_fail(CMD_FAILED, "%s cannot be read: %s", in->name, strerror(errno));
}

int kvs_cmd_input_open(const char *file, struct cmd_input *in)
{
    *in = (struct cmd_input){.name = "standard input", .fd = STDIN_FILENO};
    if (!file || strcmp(file, "-") == 0)
        return CMD_OK;
    in->name = file;
    in->fd = open(file, O_RDONLY | O_CLOEXEC);
    return in->fd == -1 ? unreadable(in) : CMD_OK;
}

static int map(struct cmd_input *in, size_t size, size_t from)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    void *start = mmap(NULL, size, PROT_READ, MAP_PRIVATE, in->fd, 0);

    if (start == MAP_FAILED)
        return unreadable(in);
    in->map = start;
    in->map_len = size;
    in->data = (char *)start + from;
    in->len = size - from;
    mapped = start;
    mapped_len = size;
    sigaction(SIGBUS, &action, NULL);
    return CMD_OK;
}

static int read_all(struct cmd_input *in)
{
    size_t room = 0;

    for (;;) {
        if (in->len == room) {
            room = room ? 2 * room : 65536;
            void *more = realloc(in->data, room);
            if (!more)
                return kvs_cmd_fail(CMD_FAILED, "%s is longer than memory can hold", in->name);
            in->data = more;
        }
        ssize_t got = read(in->fd, (char *)in->data + in->len, room - in->len);
        if (got == 0)
            return CMD_OK;
        if (got > 0)
            in->len += (size_t)got;
        else if (errno != EINTR)
            return unreadable(in);
    }
}

int kvs_cmd_input_load(struct cmd_input *in)
{
    struct stat st;

    if (fstat(in->fd, &st) != 0)
        return unreadable(in);
    if (S_ISREG(st.st_mode)) {
        off_t from = lseek(in->fd, 0, SEEK_CUR); /* `{ head -c 10; kvslot put ...; } < file` */
        /* Files of /proc say that they are empty, and are not. */
        if (from >= 0 && from < st.st_size)
            return map(in, (size_t)st.st_size, (size_t)from);
    }
    return read_all(in);
}

void kvs_cmd_input_close(struct cmd_input *in)
{
    if (in->map)
        munmap(in->map, in->map_len);
    else
        free(in->data);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
}
