/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real redis-server of the test's own: in a private folder, on a unix socket and on loopback, on ports that
 * nobody else can have as long as it is there. It dies with the thread that started it, whatever becomes of
 * that.
 */
#ifndef KVS_REDIS_TESTS_SERVER_H
#define KVS_REDIS_TESTS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All texts stay the caller's, and have to be valid as long as the server is there. */
struct server_options {
    const char *const *args; /* further options, "--maxclients", "5", ..., NULL at the end; or NULL */
    const char *password;    /* of the default user; NULL: none */
    bool durable;            /* what was written is there after a restart, also after kill -9 */
    bool tls;                /* listens with TLS as well, with a certificate for localhost and 127.0.0.1 */
    bool tls_clients;        /* and asks for the client's certificate */
};

struct server {
    struct server_options options;
    char folder[64];
    char socket[80];
    int port, tls_port;         /* on 127.0.0.1; tls_port is 0 without TLS */
    int reserved, tls_reserved; /* sockets that are bound to the ports and do not listen */
    pid_t pid;                  /* 0: it does not run */
    bool paused;
};

/* Returns when it answers PING. false, with a line on standard error: it cannot be started. */
bool server_start(struct server *s, const struct server_options *options);
/* Starts it once more on the same addresses, after stop or kill; empty unless it is durable. */
bool server_restart(struct server *s);
/* In good order. All of these return when it has happened. */
void server_stop(struct server *s);
/* As a crash. */
void server_kill(struct server *s);
/* It keeps its connections and does nothing, until it is resumed. */
void server_pause(struct server *s);
void server_resume(struct server *s);
/* Ends it and removes its folder. */
void server_end(struct server *s);

/* Sends a command as one would type it, on a connection of its own, and writes the answer as text: what
 * stands in it, errors with their '-', the parts of an array apart by newlines. false: no answer came. */
bool server_ask(const struct server *s, char *out, size_t room, const char *command, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, where the answer has to be `answer`; says on standard error what it is instead. */
bool server_says(const struct server *s, const char *answer, const char *command, ...)
    __attribute__((format(printf, 3, 4)));
/* A number that INFO tells, "evicted_keys"; -1 where it does not. */
long long server_info(const struct server *s, const char *name);
/* A file of a server with TLS: "ca.pem", "server.pem", "client.pem", "client.key", or "other-ca.pem", which
 * has signed nothing. Static memory, good until the next call. */
const char *server_file(const struct server *s, const char *name);

/* Makes these files; in tls.c. */
bool server_make_certificates(const char *folder);
/* Runs a program of the PATH, with its output going to a file; in tls.c. Its exit code, -1: it could not be
 * run. */
int server_run_tool(const char *const *argv, const char *output);

#endif
