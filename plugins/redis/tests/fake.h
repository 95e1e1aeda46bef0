/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server by the test's own script, for what a real one will not do. It reads commands and calls the script
 * for each; a script says bytes, as slowly or as wrongly as it likes. Every connection has a thread of its
 * own.
 */
#ifndef KVS_REDIS_TESTS_FAKE_H
#define KVS_REDIS_TESTS_FAKE_H

#include <stdbool.h>
#include <stddef.h>

struct fake;

/* One connection; the script's, on its thread. */
struct fake_conn {
    struct fake *fake;
    int fd;
    unsigned number; /* connections are counted from 0 */
    void *priv;
};

#define FAKE_ARGS 64 /* of a command that are kept */

struct fake_command {
    const char *name; /* in capitals */
    size_t argc;      /* all, the name included */
    const char *argv[FAKE_ARGS];
    size_t len[FAKE_ARGS];
};

/* Answers a command; false: the connection is closed. */
typedef bool (*fake_answer)(struct fake_conn *c, const struct fake_command *command, void *arg);

/* Listens on loopback, or on a unix socket. NULL, with a line on standard error: it cannot. */
struct fake *fake_start(bool unix_socket, fake_answer answer, void *arg);
/* Closes all, and waits for the threads. */
void fake_end(struct fake *f);
int fake_port(const struct fake *f);
const char *fake_socket(const struct fake *f);
/* A target's beginning: "redis://127.0.0.1:PORT/" or "redis+unix:PATH". */
const char *fake_target(const struct fake *f);
/* How many connections it has accepted, and commands it has read, so far. */
unsigned fake_connections(struct fake *f);
unsigned fake_commands(struct fake *f);
/* Waits until there were so many of them. */
void fake_await_connections(struct fake *f, unsigned n);
void fake_await_commands(struct fake *f, unsigned n);

/* ---- For scripts ---- */

/* What an empty server says, to any command: OK to AUTH, SELECT, CLIENT, PING and SET, nothing to GET and
 * MGET, 0 to the rest. */
bool fake_answer_empty(struct fake_conn *c, const struct fake_command *command, void *arg);
/* Whether it is one of those that a client may send before data. */
bool fake_is_handshake(const struct fake_command *command);
/* All of these: false, once the connection is gone. */
bool fake_say(struct fake_conn *c, const char *text);
bool fake_say_bytes(struct fake_conn *c, const void *bytes, size_t len);
/* As many pieces as bytes, each sent alone. */
bool fake_say_slowly(struct fake_conn *c, const void *bytes, size_t len);
/* The first bytes, and then a reset. */
bool fake_say_part(struct fake_conn *c, const void *bytes, size_t len);
/* Says no more; what the client says is read. */
bool fake_half_close(struct fake_conn *c);
/* Reads and says nothing until the client closes, or the fake ends. */
bool fake_hang(struct fake_conn *c);

#endif
