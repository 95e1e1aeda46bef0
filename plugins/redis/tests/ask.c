/* SPDX-License-Identifier: Apache-2.0 */
/* What a test asks of its server beside the backend: one command, one answer, by the protocol's simplest
 * means. */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_COMMAND 4096
#define PATIENCE     60 /* seconds, for a server that has stopped */

static FILE *connected(const struct server *s)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = PATIENCE};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FILE *f;
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", s->socket);
    if (fd < 0)
        return NULL;
    if (connect(fd, (struct sockaddr *)&un, sizeof(un)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
        (f = fdopen(fd, "r")) == NULL) {
        close(fd);
        return NULL;
    }
    return f;
}

/* Where the text of an answer goes, as far as there is room. */
struct text {
    char *out;
    size_t room, len;
};

static void add(struct text *t, const char *bytes, size_t len)
{
    if (len > t->room - t->len - 1)
        len = t->room - t->len - 1;
    memcpy(t->out + t->len, bytes, len);
    t->len += len;
    t->out[t->len] = '\0';
}

static bool read_bulk(FILE *f, size_t len, struct text *t)
{
    char *value = malloc(len + 2);
    bool ok = value != NULL && fread(value, 1, len + 2, f) == len + 2;
    if (ok)
        add(t, value, len);
    free(value);
    return ok;
}

static bool read_answer(FILE *f, struct text *t)
{
    char line[MOST_COMMAND];
    long long n = 0;
    if (fgets(line, sizeof(line), f) == NULL)
        return false;
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '$' || line[0] == '*')
        n = strtoll(line + 1, NULL, 10);
    switch (line[0]) {
    case '+':
    case ':':
        add(t, line + 1, strlen(line + 1));
        return true;
    case '$':
        return n < 0 || read_bulk(f, (size_t)n, t);
    case '*':
        for (long long i = 0; i < n; i++) {
            if (i > 0)
                add(t, "\n", 1);
            if (!read_answer(f, t))
                return false;
        }
        return true;
    default:
        add(t, line, strlen(line));
        return line[0] == '-';
    }
}

/* Not through the FILE: a server that is gone must not end the test with SIGPIPE. */
static bool send_line(FILE *f, const char *first, const char *second)
{
    char line[MOST_COMMAND + 2];
    int n = snprintf(line, sizeof(line), "%s%s\r\n", first, second);
    return n > 0 && (size_t)n < sizeof(line) && send(fileno(f), line, (size_t)n, MSG_NOSIGNAL) == n;
}

static bool ask(const struct server *s, char *out, size_t room, const char *command)
{
    struct text text = {out, room, 0};
    FILE *f = connected(s);
    out[0] = '\0';
    if (f == NULL)
        return false;
    bool ok = true;
    /* AUTH is refused where the server has no password or another one by now; what is asked then says so. */
    if (s->options.password != NULL)
        ok = send_line(f, "AUTH ", s->options.password) && read_answer(f, &text);
    text.len = 0;
    out[0] = '\0';
    ok = ok && send_line(f, command, "") && read_answer(f, &text);
    fclose(f);
    return ok;
}

bool server_ask(const struct server *s, char *out, size_t room, const char *command, ...)
{
    char line[MOST_COMMAND];
    va_list args;
    va_start(args, command);
    vsnprintf(line, sizeof(line), command, args);
    va_end(args);
    return ask(s, out, room, line);
}

bool server_says(const struct server *s, const char *answer, const char *command, ...)
{
    char line[MOST_COMMAND], got[MOST_COMMAND];
    va_list args;
    va_start(args, command);
    vsnprintf(line, sizeof(line), command, args);
    va_end(args);
    if (!ask(s, got, sizeof(got), line)) {
        fprintf(stderr, "'%s': the server does not answer\n", line);
        return false;
    }
    if (strcmp(got, answer) != 0)
        fprintf(stderr, "'%s': the server says '%s', not '%s'\n", line, got, answer);
    return strcmp(got, answer) == 0;
}

long long server_info(const struct server *s, const char *name)
{
    char all[16384], wanted[64];
    snprintf(wanted, sizeof(wanted), "\n%s:", name);
    if (!server_ask(s, all, sizeof(all), "INFO"))
        return -1;
    const char *at = strstr(all, wanted);
    return at != NULL ? strtoll(at + strlen(wanted), NULL, 10) : -1;
}
