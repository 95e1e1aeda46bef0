/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_ARGS  64
#define LOOKS      30000 /* times 2 ms: far more than a start takes on the busiest machine */
#define MOST_TRIES 5     /* for a port */

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* A free port, kept by a socket that is bound to it: nothing else is given it meanwhile, and no client that
 * looks for a dead server can come to be connected with itself. The server binds beside it, since both have
 * SO_REUSEADDR. */
static int reserve(int *fd)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(in);
    int yes = 1;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0 || setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        bind(*fd, (struct sockaddr *)&in, len) != 0 || getsockname(*fd, (struct sockaddr *)&in, &len) != 0) {
        perror("a port of 127.0.0.1");
        return 0;
    }
    return ntohs(in.sin_port);
}

static void let_go(struct server *s)
{
    if (s->reserved >= 0)
        close(s->reserved);
    if (s->tls_reserved >= 0)
        close(s->tls_reserved);
    s->reserved = s->tls_reserved = -1;
}

static bool take_ports(struct server *s)
{
    let_go(s);
    s->port = reserve(&s->reserved);
    s->tls_port = s->options.tls ? reserve(&s->tls_reserved) : 0;
    return s->port != 0 && (s->tls_port != 0 || !s->options.tls);
}

/* In a file, since others can see arguments, and it is what people do with passwords. */
static bool write_config(const struct server *s)
{
    char name[128];
    snprintf(name, sizeof(name), "%s/redis.conf", s->folder);
    FILE *f = fopen(name, "w");
    if (f == NULL)
        return false;
    fprintf(f,
            "port %d\nbind 127.0.0.1\nprotected-mode no\nunixsocket %s\ndir %s\nsave \"\"\nappendonly %s\n"
            "appendfsync no\nenable-debug-command yes\n",
            s->port, s->socket, s->folder, s->options.durable ? "yes" : "no");
    if (s->options.password != NULL)
        fprintf(f, "requirepass \"%s\"\n", s->options.password);
    if (s->options.tls)
        fprintf(f,
                "tls-port %d\ntls-ca-cert-file %s/ca.pem\ntls-cert-file %s/server.pem\ntls-key-file "
                "%s/server.key\n"
                "tls-auth-clients %s\n",
                s->tls_port, s->folder, s->folder, s->folder, s->options.tls_clients ? "yes" : "no");
    return fclose(f) == 0;
}

static void copy_log(const struct server *s, FILE *out)
{
    char name[128], line[512];
    snprintf(name, sizeof(name), "%s/log", s->folder);
    FILE *f = fopen(name, "r");
    if (f == NULL)
        return;
    while (fgets(line, sizeof(line), f) != NULL)
        fputs(line, out);
    fclose(f);
}

static bool logged(const struct server *s, const char *text)
{
    char *all = NULL;
    size_t len;
    FILE *f = open_memstream(&all, &len);
    copy_log(s, f);
    fclose(f);
    bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

/* Only what may be called between fork and exec; the parent may have threads. */
static void become_server(char **argv, const char *log, pid_t parent)
{
    sigset_t none;
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (getppid() != parent || fd < 0 || dup2(null, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(126);
    execvp(argv[0], argv);
    _exit(127);
}

static bool launch(struct server *s)
{
    static char program[] = "redis-server";
    char config[128], log[128], *argv[MOST_ARGS + 3] = {program, config};
    union {
        const char *in;
        char *out;
    } text;
    snprintf(config, sizeof(config), "%s/redis.conf", s->folder);
    snprintf(log, sizeof(log), "%s/log", s->folder);
    for (size_t i = 0; s->options.args != NULL && s->options.args[i] != NULL && i < MOST_ARGS; i++) {
        text.in = s->options.args[i];
        argv[i + 2] = text.out;
    }
    if (!write_config(s))
        return false;
    unlink(s->socket);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become_server(argv, log, parent);
    s->pid = pid > 0 ? pid : 0;
    s->paused = false;
    return pid > 0;
}

/* The child's end, if it has come to one. */
static bool ended(struct server *s, int *wstatus)
{
    if (waitpid(s->pid, wstatus, WNOHANG) != s->pid)
        return false;
    s->pid = 0;
    return true;
}

enum outcome { RUNS, PORT_TAKEN, FAILED };

static enum outcome try_to_start(struct server *s)
{
    char answer[64];
    int wstatus;
    if (!launch(s)) {
        perror("redis-server");
        return FAILED;
    }
    for (int i = 0; i < LOOKS; i++) {
        if (ended(s, &wstatus)) {
            if (logged(s, "Address already in use"))
                return PORT_TAKEN;
            if (WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 127)
                fputs("redis-server is not installed (Debian: apt-get install redis-server)\n", stderr);
            else
                copy_log(s, stderr);
            return FAILED;
        }
        if (access(s->socket, F_OK) == 0 && server_ask(s, answer, sizeof(answer), "PING") &&
            strncmp(answer, "-LOADING", 8) != 0)
            return RUNS;
        rest();
    }
    copy_log(s, stderr);
    fputs("redis-server does not answer\n", stderr);
    return FAILED;
}

static bool make_folder(struct server *s)
{
    const char *tmp = getenv("TMPDIR");
    /* The name of a socket has 107 bytes at most. */
    if (tmp == NULL || strlen(tmp) + sizeof("/redis-XXXXXX") > sizeof(s->folder))
        tmp = "/tmp";
    snprintf(s->folder, sizeof(s->folder), "%s/redis-XXXXXX", tmp);
    if (mkdtemp(s->folder) == NULL) {
        perror(s->folder);
        return false;
    }
    snprintf(s->socket, sizeof(s->socket), "%s/socket", s->folder);
    return true;
}

bool server_start(struct server *s, const struct server_options *options)
{
    *s = (struct server){.reserved = -1, .tls_reserved = -1};
    if (options != NULL)
        s->options = *options;
    if (!make_folder(s) || (s->options.tls && !server_make_certificates(s->folder)))
        return false;
    for (int i = 0; i < MOST_TRIES; i++) {
        enum outcome outcome = take_ports(s) ? try_to_start(s) : FAILED;
        if (outcome != PORT_TAKEN)
            return outcome == RUNS;
    }
    fputs("redis-server: each port was taken meanwhile\n", stderr);
    return false;
}

bool server_restart(struct server *s)
{
    if (s->pid != 0)
        return true;
    if (try_to_start(s) == RUNS)
        return true;
    fprintf(stderr, "redis-server cannot be started again on port %d\n", s->port);
    return false;
}

void server_kill(struct server *s)
{
    if (s->pid == 0)
        return;
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    s->pid = 0;
    s->paused = false;
}

void server_stop(struct server *s)
{
    int wstatus;
    if (s->pid == 0)
        return;
    server_resume(s);
    kill(s->pid, SIGTERM);
    for (int i = 0; i < LOOKS; i++) {
        if (ended(s, &wstatus))
            return;
        rest();
    }
    server_kill(s);
}

void server_pause(struct server *s)
{
    int wstatus;
    if (s->pid == 0)
        return;
    kill(s->pid, SIGSTOP);
    waitpid(s->pid, &wstatus, WUNTRACED);
    s->paused = true;
}

void server_resume(struct server *s)
{
    if (s->pid == 0 || !s->paused)
        return;
    kill(s->pid, SIGCONT);
    s->paused = false;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

void server_end(struct server *s)
{
    server_kill(s);
    let_go(s);
    nftw(s->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
