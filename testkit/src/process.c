/* SPDX-License-Identifier: Apache-2.0 */
/* Further processes of a case: the same program, with a role. */
#include "kit.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int spawn_helper(struct kit *k, struct kit_process *p, int config, int words)
{
    posix_spawn_file_actions_t fa;
    char program[PATH_MAX] = "";
    char *const argv[] = {program, (char *)(uintptr_t)k->row->id, NULL};
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) <= 0)
        return errno;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, config, WIRE_CONFIG_FD);
    posix_spawn_file_actions_adddup2(&fa, words, WIRE_RESULT_FD);
    posix_spawn_file_actions_addclosefrom_np(&fa, WIRE_RESULT_FD + 1);
    int rc = posix_spawn(&p->pid, program, &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    return rc;
}

static bool send_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* The pipes' own numbers have to lie above those that they get in the child. */
static int above(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    return high;
}

void kit_process_start_at(struct kit_at at, struct kit *k, struct kit_process *p, const char *role)
{
    struct wire_config cfg = *k->cfg;
    int config[2], words[2];
    cfg.role = (char *)(uintptr_t)role;
    char *text = wire_config_encode(&cfg, NULL);
    memset(p, 0, sizeof(*p));
    if (!text || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, config) != 0 ||
        pipe2(words, O_CLOEXEC) != 0)
        kit_fail_at(at, "a pipe for a second process cannot be made: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        config[i] = above(config[i]);
        words[i] = above(words[i]);
    }
    int rc = spawn_helper(k, p, config[0], words[1]);
    if (rc != 0)
        kit_fail_at(at, "a second process cannot be started: %s", strerror(rc));
    close(config[0]);
    close(words[1]);
    send_all(config[1], text, strlen(text)); /* one that does not read it says so by its end */
    close(config[1]);
    free(text);
    p->words = words[0];
}

void kit_process_say(uint64_t number)
{
    char line[64];
    snprintf(line, sizeof(line), "{\"say\": %llu}\n", (unsigned long long)number);
    report_line(line);
}

/* A line of the helper's: its number, or -2 for what is no number. */
static int64_t read_line(struct kit_at at, const char *line, size_t len)
{
    json_t *said = json_loadb(line, len, 0, NULL);
    const json_t *number = json_object_get(said, "say"), *outcome = json_object_get(said, "outcome");
    const char *text = json_string_value(json_object_get(said, "text"));
    const json_t *error = json_object_get(said, "error");
    int64_t answer = number ? json_integer_value(number) : -2;
    if (error)
        kit_fail_at(at, "the second process could not begin: %s",
                    json_string_value(json_object_get(error, "text")));
    if (outcome && json_integer_value(outcome) != KVS_CONFORM_PASS)
        kit_fail_at(at, "in the second process: %s", text ? text : "");
    json_decref(said);
    return answer;
}

int64_t kit_process_hear_at(struct kit_at at, struct kit *k, struct kit_process *p)
{
    uint64_t end = kit_now() + kit_wait_ns(k);
    for (;;) {
        char *newline = memchr(p->line, '\n', p->len);
        if (newline) {
            size_t len = (size_t)(newline - p->line);
            int64_t number = read_line(at, p->line, len);
            p->len -= len + 1;
            memmove(p->line, newline + 1, p->len);
            if (number >= 0)
                return number;
            continue;
        }
        struct pollfd fd = {p->words, POLLIN, 0};
        if (p->len == sizeof(p->line))
            p->len = 0; /* no number is so long: a key, say */
        if (poll(&fd, 1, 20) > 0) {
            ssize_t n = read(p->words, p->line + p->len, sizeof(p->line) - p->len);
            if (n <= 0)
                return -1;
            p->len += (size_t)n;
        } else if (kit_now() > end) {
            kit_hang_at(at, "the second process says nothing, and does not end");
        }
    }
}

void kit_process_kill(struct kit_process *p)
{
    kill(p->pid, SIGKILL);
}

void kit_process_end_at(struct kit_at at, struct kit *k, struct kit_process *p, bool killed)
{
    uint64_t end = kit_now() + kit_wait_ns(k);
    int status = 0;
    while (kit_process_hear_at(at, k, p) >= 0)
        ;
    while (waitpid(p->pid, &status, WNOHANG) == 0) {
        if (kit_now() > end)
            kit_hang_at(at, "the second process does not end");
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    close(p->words);
    if (killed)
        return;
    if (WIFSIGNALED(status))
        kit_fail_at(at, "the second process died of SIG%s", sigabbrev_np(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        kit_fail_at(at, "the second process ended with exit code %d", WEXITSTATUS(status));
}
