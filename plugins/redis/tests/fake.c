/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ROOM 65536u

struct talk { /* a connection and its thread */
    struct talk *next;
    pthread_t thread;
    struct fake_conn conn;
    fake_answer answer;
    void *arg;
    char *buf; /* what was read, ROOM bytes, and after it what was not taken out yet */
    size_t at, end;
    bool closed; /* lock */
};

struct fake {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct talk *talks;             /* lock */
    unsigned connections, commands; /* lock */
    bool ending;                    /* lock */
    fake_answer answer;
    void *arg;
    pthread_t thread;
    int fd, port;
    char folder[64], socket[80], target[128];
};

/* ---- Commands ---- */

static bool fill(struct talk *t)
{
    if (t->at > 0) {
        memmove(t->buf, t->buf + t->at, t->end - t->at);
        t->end -= t->at;
        t->at = 0;
    }
    if (t->end == ROOM)
        return false;
    ssize_t n = recv(t->conn.fd, t->buf + t->end, ROOM - t->end, 0);
    if (n <= 0)
        return false;
    t->end += (size_t)n;
    return true;
}

/* A line "*3" or "$5": its number. */
static bool read_number(struct talk *t, char kind, size_t *n)
{
    char *line, *stop;
    while ((stop = memchr(t->buf + t->at, '\n', t->end - t->at)) == NULL)
        if (!fill(t))
            return false;
    line = t->buf + t->at;
    if (*line != kind)
        return false;
    *n = strtoul(line + 1, NULL, 10);
    t->at = (size_t)(stop + 1 - t->buf);
    return true;
}

/* Reads len bytes and CR LF; what fits is kept. */
static bool read_argument(struct talk *t, size_t len, char *keep, size_t room)
{
    size_t kept = 0;
    for (size_t left = len + 2; left > 0;) {
        if (t->at == t->end && !fill(t))
            return false;
        size_t n = t->end - t->at < left ? t->end - t->at : left;
        size_t k = n < room - kept ? n : room - kept;
        memcpy(keep + kept, t->buf + t->at, k);
        kept += k;
        t->at += n;
        left -= n;
    }
    return true;
}

#define KEEP 600u /* bytes of an argument, the name's end among them */

static bool read_command(struct talk *t, struct fake_command *c, char *keep)
{
    if (!read_number(t, '*', &c->argc) || c->argc == 0)
        return false;
    for (size_t i = 0; i < c->argc; i++) {
        char *to = keep + (i < FAKE_ARGS ? i : FAKE_ARGS) * KEEP;
        size_t len;
        if (!read_number(t, '$', &len) || !read_argument(t, len, to, KEEP - 1))
            return false;
        if (i >= FAKE_ARGS)
            continue;
        to[len < KEEP - 1 ? len : KEEP - 1] = '\0';
        c->argv[i] = to;
        c->len[i] = len;
    }
    for (char *p = keep; *p != '\0'; p++)
        *p = (char)toupper((unsigned char)*p);
    c->name = keep;
    return true;
}

static void count(struct fake *f, unsigned *what)
{
    pthread_mutex_lock(&f->lock);
    ++*what;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void *talk(void *arg)
{
    struct talk *t = arg;
    struct fake *f = t->conn.fake;
    char *keep = malloc((FAKE_ARGS + 1) * KEEP);
    struct fake_command command;
    while (read_command(t, &command, keep)) {
        count(f, &f->commands);
        if (!t->answer(&t->conn, &command, t->arg))
            break;
    }
    free(keep);
    pthread_mutex_lock(&f->lock);
    if (t->conn.fd >= 0)
        close(t->conn.fd);
    t->closed = true;
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* ---- Connections ---- */

static void welcome(struct fake *f, int fd)
{
    int yes = 1;
    struct talk *t = calloc(1, sizeof(*t));
    if (t == NULL || (t->buf = malloc(ROOM)) == NULL)
        abort();
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); /* where it is TCP */
    *t = (struct talk){.buf = t->buf, .answer = f->answer, .arg = f->arg, .conn = {.fake = f, .fd = fd}};
    pthread_mutex_lock(&f->lock);
    t->conn.number = f->connections++;
    t->next = f->talks;
    f->talks = t;
    if (pthread_create(&t->thread, NULL, talk, t) != 0)
        abort();
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void *accept_all(void *arg)
{
    struct fake *f = arg;
    int fd;
    while ((fd = accept4(f->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        welcome(f, fd);
    return NULL;
}

static bool listen_inet(struct fake *f)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(in);
    f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (f->fd < 0 || bind(f->fd, (struct sockaddr *)&in, len) != 0 ||
        getsockname(f->fd, (struct sockaddr *)&in, &len) != 0 || listen(f->fd, 128) != 0)
        return false;
    f->port = ntohs(in.sin_port);
    snprintf(f->target, sizeof(f->target), "redis://127.0.0.1:%d/", f->port);
    return true;
}

static bool listen_unix(struct fake *f)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || strlen(tmp) + sizeof("/fake-XXXXXX") > sizeof(f->folder))
        tmp = "/tmp";
    snprintf(f->folder, sizeof(f->folder), "%s/fake-XXXXXX", tmp);
    if (mkdtemp(f->folder) == NULL)
        return false;
    snprintf(f->socket, sizeof(f->socket), "%s/socket", f->folder);
    snprintf(f->target, sizeof(f->target), "redis+unix:%s", f->socket);
    memcpy(un.sun_path, f->socket, sizeof(f->socket));
    f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return f->fd >= 0 && bind(f->fd, (struct sockaddr *)&un, sizeof(un)) == 0 && listen(f->fd, 128) == 0;
}

struct fake *fake_start(bool unix_socket, fake_answer answer, void *arg)
{
    struct fake *f = calloc(1, sizeof(*f));
    if (f == NULL)
        abort();
    f->answer = answer;
    f->arg = arg;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    if (!(unix_socket ? listen_unix(f) : listen_inet(f)) ||
        pthread_create(&f->thread, NULL, accept_all, f) != 0) {
        perror("the fake server");
        free(f);
        return NULL;
    }
    return f;
}

void fake_end(struct fake *f)
{
    shutdown(f->fd, SHUT_RDWR);
    pthread_join(f->thread, NULL);
    close(f->fd);
    pthread_mutex_lock(&f->lock);
    f->ending = true;
    pthread_cond_broadcast(&f->changed);
    for (struct talk *t = f->talks; t != NULL; t = t->next)
        if (!t->closed && t->conn.fd >= 0)
            shutdown(t->conn.fd, SHUT_RDWR);
    pthread_mutex_unlock(&f->lock);
    while (f->talks != NULL) {
        struct talk *t = f->talks;
        f->talks = t->next;
        pthread_join(t->thread, NULL);
        free(t->buf);
        free(t);
    }
    if (f->folder[0] != '\0') {
        unlink(f->socket);
        rmdir(f->folder);
    }
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

int fake_port(const struct fake *f)
{
    return f->port;
}

const char *fake_socket(const struct fake *f)
{
    return f->socket;
}

const char *fake_target(const struct fake *f)
{
    return f->target;
}

static unsigned look(struct fake *f, const unsigned *what, unsigned at_least)
{
    pthread_mutex_lock(&f->lock);
    while (*what < at_least)
        pthread_cond_wait(&f->changed, &f->lock);
    unsigned n = *what;
    pthread_mutex_unlock(&f->lock);
    return n;
}

unsigned fake_connections(struct fake *f)
{
    return look(f, &f->connections, 0);
}

unsigned fake_commands(struct fake *f)
{
    return look(f, &f->commands, 0);
}

void fake_await_connections(struct fake *f, unsigned n)
{
    look(f, &f->connections, n);
}

void fake_await_commands(struct fake *f, unsigned n)
{
    look(f, &f->commands, n);
}

/* ---- For scripts ---- */

bool fake_is_handshake(const struct fake_command *command)
{
    static const char *const names[] = {"AUTH",  "SELECT", "CLIENT", "PING",
                                        "HELLO", "CONFIG", "INFO",   "COMMAND"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(command->name, names[i]) == 0)
            return true;
    return false;
}

bool fake_answer_empty(struct fake_conn *c, const struct fake_command *command, void *arg)
{
    (void)arg;
    if (strcmp(command->name, "GET") == 0)
        return fake_say(c, "$-1\r\n");
    if (strcmp(command->name, "MGET") == 0) {
        char head[32];
        snprintf(head, sizeof(head), "*%zu\r\n", command->argc - 1);
        bool ok = fake_say(c, head);
        for (size_t i = 1; ok && i < command->argc; i++)
            ok = fake_say(c, "$-1\r\n");
        return ok;
    }
    if (strcmp(command->name, "HELLO") == 0 || strcmp(command->name, "CONFIG") == 0)
        return fake_say(c, "-ERR unknown command\r\n");
    if (strcmp(command->name, "PING") == 0)
        return fake_say(c, "+PONG\r\n");
    if (fake_is_handshake(command) || strcmp(command->name, "SET") == 0 || strcmp(command->name, "MSET") == 0)
        return fake_say(c, "+OK\r\n");
    return fake_say(c, ":0\r\n");
}

bool fake_say_bytes(struct fake_conn *c, const void *bytes, size_t len)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t n = send(c->fd, at, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

bool fake_say(struct fake_conn *c, const char *text)
{
    return fake_say_bytes(c, text, strlen(text));
}

bool fake_say_slowly(struct fake_conn *c, const void *bytes, size_t len)
{
    const char *at = bytes;
    for (size_t i = 0; i < len; i++) {
        if (!fake_say_bytes(c, at + i, 1))
            return false;
        sched_yield();
    }
    return true;
}

bool fake_say_part(struct fake_conn *c, const void *bytes, size_t len)
{
    struct linger none = {.l_onoff = 1};
    if (len > 0)
        fake_say_bytes(c, bytes, len);
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    return false;
}

bool fake_half_close(struct fake_conn *c)
{
    char part[4096];
    shutdown(c->fd, SHUT_WR);
    while (recv(c->fd, part, sizeof(part), 0) > 0)
        ;
    return false;
}

bool fake_hang(struct fake_conn *c)
{
    struct fake *f = c->fake;
    struct pollfd p = {.fd = c->fd, .events = POLLRDHUP}; /* not POLLIN: what was sent stays unread */
    bool ending = false;
    while (!ending && poll(&p, 1, 20) == 0) {
        pthread_mutex_lock(&f->lock);
        ending = f->ending;
        pthread_mutex_unlock(&f->lock);
    }
    return false;
}
