/* SPDX-License-Identifier: Apache-2.0 */
/*
 * with-server tcp|unix|tls COMMAND ARGUMENT...: runs a command beside a redis-server of its own, and exits
 * with its status. Where an argument has @CONFIG@ in it, that is a file for `kvslot conform --config`: the
 * target, the hooks that stop, kill, pause and start the server, and the variants, one of them a second
 * server that is soon full.
 *
 * with-server --do SOCKET WORD: a hook. The program that started the server does it, so that it stays its
 * child.
 */
#include "server.h"

#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PASSWORD "a password of the test"

static int control_socket(const char *path, bool listening)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
    if (fd < 0 || (listening ? bind(fd, (struct sockaddr *)&un, sizeof(un)) != 0 || listen(fd, 8) != 0
                             : connect(fd, (struct sockaddr *)&un, sizeof(un)) != 0)) {
        perror(path);
        exit(2);
    }
    return fd;
}

static int ask_for(const char *path, const char *word)
{
    char done = 0;
    int fd = control_socket(path, false);
    if (send(fd, word, strlen(word), MSG_NOSIGNAL) < 0 || recv(fd, &done, 1, 0) != 1 || done != 'y') {
        fprintf(stderr, "the server could not %s\n", word);
        return 1;
    }
    return 0;
}

static bool act(struct server *s, const char *word)
{
    if (strcmp(word, "start") == 0)
        return server_restart(s);
    if (strcmp(word, "stop") == 0)
        server_stop(s);
    else if (strcmp(word, "kill") == 0)
        server_kill(s);
    else if (strcmp(word, "pause") == 0)
        server_pause(s);
    else if (strcmp(word, "resume") == 0)
        server_resume(s);
    else
        return false;
    return true;
}

static void serve_one(int listener, struct server *s)
{
    char word[16] = "";
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = recv(fd, word, sizeof(word) - 1, 0);
    if (n > 0)
        send(fd, act(s, word) ? "y" : "n", 1, MSG_NOSIGNAL);
    close(fd);
}

static void address(FILE *f, const char *way, const struct server *s)
{
    if (strcmp(way, "unix") == 0)
        fprintf(f, "\"unix_socket\": \"%s\"", s->socket);
    else
        fprintf(f, "\"port\": \"%d\"", s->tls_port != 0 ? s->tls_port : s->port);
}

static bool write_config(const char *name, const char *way, const char *self, const char *control,
                         const struct server *s, const struct server *full)
{
    static const char *const hooks[] = {"start", "stop", "kill", "pause", "resume"};
    bool tls = s->tls_port != 0, un = strcmp(way, "unix") == 0;
    FILE *f = fopen(name, "w");
    if (f == NULL)
        return false;
    fputs("{\"target\": \"redis\",\n \"params\": {", f);
    address(f, way, s);
    fprintf(f, ", \"password\": \"%s\"", PASSWORD);
    if (!un)
        fprintf(f, ", \"host\": \"%s\"", tls ? "localhost" : "127.0.0.1");
    if (tls)
        fprintf(f, ", \"tls\": \"yes\", \"tls_ca\": \"%s\"", server_file(s, "ca.pem"));
    fputs("},\n \"hooks\": {", f);
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        fprintf(f, "%s\"%s\": \"exec '%s' --do '%s' %s\"", i > 0 ? ",\n   " : "", hooks[i], self, control,
                hooks[i]);
    fputs("},\n \"variants\": {\"denied\": {\"password\": \"a wrong one\"},\n   \"unreachable\": {", f);
    if (un)
        fprintf(f, "\"unix_socket\": \"%s.not-there\"", s->socket);
    else
        fputs("\"port\": \"1\"", f); /* below those that servers of tests can have */
    fputs("},\n   \"full\": {", f);
    address(f, way, full);
    if (tls)
        fprintf(f, ", \"tls_ca\": \"%s\"", server_file(full, "ca.pem"));
    fputs("}}}\n", f);
    return fclose(f) == 0;
}

/* With @CONFIG@ replaced; never freed, since the program runs one command. */
static char *argument(const char *text, const char *config)
{
    const char *at = strstr(text, "@CONFIG@");
    char *out = NULL;
    int n = at == NULL ? asprintf(&out, "%s", text)
                       : asprintf(&out, "%.*s%s%s", (int)(at - text), text, config, at + strlen("@CONFIG@"));
    if (n < 0)
        abort();
    return out;
}

/* A descriptor that comes to its end with the command, since all its processes have the other one. */
static pid_t run(char **argv, const char *config, int *end)
{
    char **args = calloc(64, sizeof(*args));
    int ends[2];
    pid_t pid;
    if (args == NULL || pipe2(ends, 0) != 0)
        abort();
    for (int i = 0; argv[i] != NULL && i < 63; i++)
        args[i] = argument(argv[i], config);
    int rc = posix_spawnp(&pid, args[0], NULL, NULL, args, environ);
    if (rc != 0) {
        fprintf(stderr, "%s: %s\n", args[0], strerror(rc));
        exit(2);
    }
    close(ends[1]);
    *end = ends[0];
    return pid;
}

int main(int argc, char **argv)
{
    static const char *const little[] = {"--maxmemory", "8mb", "--maxmemory-policy", "noeviction", NULL};
    struct server s, full;
    char control[128], config[128], self[4096];
    int end, wstatus;
    if (argc == 4 && strcmp(argv[1], "--do") == 0)
        return ask_for(argv[2], argv[3]);
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (argc < 3 || n < 0) {
        fputs("usage: with-server tcp|unix|tls COMMAND ARGUMENT...\n", stderr);
        return 2;
    }
    self[n] = '\0';
    struct server_options options = {
        .password = PASSWORD, .durable = true, .tls = strcmp(argv[1], "tls") == 0};
    if (!server_start(&s, &options))
        return 2;
    options.args = little;
    options.durable = false;
    if (!server_start(&full, &options))
        return 2;
    snprintf(control, sizeof(control), "%s/control", s.folder);
    snprintf(config, sizeof(config), "%s/conform.json", s.folder);
    int listener = control_socket(control, true);
    if (!write_config(config, argv[1], self, control, &s, &full))
        return 2;
    pid_t pid = run(argv + 2, config, &end);
    struct pollfd p[2] = {{.fd = listener, .events = POLLIN}, {.fd = end, .events = POLLIN}};
    while (poll(p, 2, -1) >= 0 && p[1].revents == 0)
        if (p[0].revents != 0)
            serve_one(listener, &s);
    waitpid(pid, &wstatus, 0);
    server_end(&full);
    server_end(&s);
    return WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : 1;
}
