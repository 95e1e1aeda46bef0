/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"
#include "case.h"
#include "hang.h"
#include "launch.h"
#include "wire.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_BYTES (1u << 20)
/* How long the pipes of an ended child may stay open in hands that are not in its group. */
#define DRAIN_NS KVS_SEC(1)
/* How long a process may outlive SIGKILL before the runner goes on without it. */
#define GIVE_UP_NS KVS_SEC(10)

int child_start(struct child *c, const char *program, const char *case_id, char *config, uint64_t timeout_ns,
                uint64_t grace_ns, struct kvs_error *err)
{
    memset(c, 0, sizeof(*c));
    c->config_fd = c->out_fd = c->result_fd = -1;
    c->config = config;
    c->config_len = strlen(config);
    c->reports = json_array();
    c->started_ns = kit_now();
    c->deadline_ns = c->started_ns + timeout_ns;
    c->grace_ns = grace_ns;
    return launch_case(c, program, case_id, err);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void feed(struct child *c)
{
    while (c->config_fd >= 0 && c->config_at < c->config_len) {
        ssize_t n = send(c->config_fd, c->config + c->config_at, c->config_len - c->config_at, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0)
            break; /* it has gone, or does not read */
        c->config_at += (size_t)n;
    }
    close_fd(&c->config_fd);
}

static void keep_output(struct child_output *o, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++, o->total++) {
        if (o->total < CHILD_HEAD)
            o->head[o->total] = bytes[i];
        else
            o->tail[(o->total - CHILD_HEAD) % CHILD_TAIL] = bytes[i];
    }
}

static void keep_reports(struct child *c, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (c->line_len + 1 >= c->line_room) {
            size_t room = c->line_room ? 2 * c->line_room : 512;
            char *grown = room <= LINE_MAX_BYTES ? realloc(c->line, room) : NULL;
            if (!grown) {
                c->line_len = 0; /* no report of ours is so long: drop it, and what follows is no JSON */
                continue;
            }
            c->line = grown;
            c->line_room = room;
        }
        if (bytes[i] != '\n') {
            c->line[c->line_len++] = bytes[i];
            continue;
        }
        json_t *report = json_loadb(c->line, c->line_len, JSON_REJECT_DUPLICATES, NULL);
        c->line_len = 0;
        if (report)
            json_array_append_new(c->reports, report);
    }
}

/* Reads what is there; at most so much at once that other children get their turn. */
static void drain(struct child *c, int *fd, bool is_output)
{
    char buf[16384];
    for (int round = 0; *fd >= 0 && round < 16; round++) {
        ssize_t n = read(*fd, buf, sizeof(buf));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close_fd(fd);
            return;
        }
        if (is_output)
            keep_output(&c->out, buf, (size_t)n);
        else
            keep_reports(c, buf, (size_t)n);
    }
}

static void look_for_exit(struct child *c, uint64_t now)
{
    siginfo_t info = {0};
    /* The zombie keeps the number of the group from being used again until the group is killed. */
    int rc = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (rc == 0 && info.si_pid == 0)
        return;
    if (rc != 0 && errno == EINTR)
        return;
    kill(-c->pid, SIGKILL);
    if (rc != 0 || waitpid(c->pid, &c->status, 0) != c->pid)
        c->status_lost = true;
    c->exited = true;
    c->ended_ns = now;
}

static void note_threads(struct child *c)
{
    size_t len = 0;
    FILE *f = open_memstream(&c->threads, &len);
    if (!f)
        return;
    hang_states(c->pid, f);
    fclose(f);
}

static void enforce(struct child *c, uint64_t now)
{
    if (now < c->deadline_ns)
        return;
    switch (c->stage) {
    case CHILD_RUNS:
        note_threads(c);
        kill(-c->pid, SIGTERM);
        c->stage = CHILD_TERMINATED;
        c->deadline_ns = now + c->grace_ns;
        break;
    case CHILD_TERMINATED:
        kill(-c->pid, SIGKILL);
        c->stage = CHILD_KILLED;
        c->deadline_ns = now + GIVE_UP_NS;
        break;
    case CHILD_KILLED:
    case CHILD_GIVEN_UP:
        c->stage = CHILD_GIVEN_UP;
        break;
    }
}

bool child_step(struct child *c)
{
    feed(c);
    drain(c, &c->out_fd, true);
    drain(c, &c->result_fd, false);
    uint64_t now = kit_now();
    if (!c->exited)
        look_for_exit(c, now);
    if (!c->exited) {
        enforce(c, now);
        if (c->stage != CHILD_GIVEN_UP)
            return false;
        c->ended_ns = now;
        return true;
    }
    return (c->out_fd < 0 && c->result_fd < 0) || now > c->ended_ns + DRAIN_NS;
}

size_t child_poll(const struct child *c, struct pollfd *fds)
{
    size_t n = 0;
    if (c->out_fd >= 0)
        fds[n++] = (struct pollfd){c->out_fd, POLLIN, 0};
    if (c->result_fd >= 0)
        fds[n++] = (struct pollfd){c->result_fd, POLLIN, 0};
    if (c->config_fd >= 0)
        fds[n++] = (struct pollfd){c->config_fd, POLLOUT, 0};
    return n;
}

int child_tick(const struct child *c)
{
    return c->result_fd < 0 || c->exited ? 1 : 20;
}

const json_t *child_report(const struct child *c, const char *member)
{
    size_t i;
    json_t *report;
    json_array_foreach(c->reports, i, report)
    {
        if (json_object_get(report, member))
            return json_object_get(report, member);
    }
    return NULL;
}

char *child_output_text(const struct child *c, size_t *len)
{
    const struct child_output *o = &c->out;
    uint64_t head = o->total < CHILD_HEAD ? o->total : CHILD_HEAD, rest = o->total - head;
    uint64_t tail = rest < CHILD_TAIL ? rest : CHILD_TAIL;
    char *text = malloc(head + tail + 80);
    if (!text)
        return NULL;
    memcpy(text, o->head, head);
    size_t at = head;
    if (rest > tail)
        at += (size_t)sprintf(text + at, "\n[%llu bytes left out]\n", (unsigned long long)(rest - tail));
    for (uint64_t i = rest - tail; i < rest; i++)
        text[at++] = o->tail[i % CHILD_TAIL];
    text[at] = '\0';
    *len = at;
    return text;
}

void child_free(struct child *c)
{
    close_fd(&c->config_fd);
    close_fd(&c->out_fd);
    close_fd(&c->result_fd);
    free(c->config);
    free(c->threads);
    free(c->line);
    json_decref(c->reports);
    memset(c, 0, sizeof(*c));
}
