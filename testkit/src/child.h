/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case's process, seen from the runner: started in its own process group, its output captured, its
 * reports collected, killed after its deadline. All functions are for the one thread that runs the suite.
 */
#ifndef KVSLOT_TESTKIT_CHILD_H
#define KVSLOT_TESTKIT_CHILD_H

#include <jansson.h>
#include <kvslot/kvslot.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a child's output, the first and the last bytes are kept. */
#define CHILD_HEAD 16384
#define CHILD_TAIL 32768

struct child_output {
    uint64_t total; /* bytes that came */
    char head[CHILD_HEAD];
    char tail[CHILD_TAIL]; /* a ring: byte number CHILD_HEAD + n is at n % CHILD_TAIL */
};

enum child_stage { CHILD_RUNS, CHILD_TERMINATED, CHILD_KILLED, CHILD_GIVEN_UP };

struct child {
    pid_t pid;     /* also its process group; 0: none */
    int config_fd; /* -1 once all is written */
    int out_fd;    /* -1 at its end */
    int result_fd; /* -1 at its end */
    char *config;  /* what it is told */
    size_t config_len, config_at;
    uint64_t started_ns, ended_ns, deadline_ns, grace_ns;
    enum child_stage stage;
    bool exited;
    bool status_lost; /* somebody else reaped it */
    int status;       /* as waitpid gives it, once exited */
    char *threads;    /* their states when the deadline passed, or NULL */
    struct child_output out;
    char *line; /* the report that is coming in */
    size_t line_len, line_room;
    json_t *reports; /* array of the objects that came */
};

/** Starts the program for one case. Takes config, also on failure. */
int child_start(struct child *c, const char *program, const char *case_id, char *config, uint64_t timeout_ns,
                uint64_t grace_ns, struct kvs_error *err);
/** Adds what is to be polled for; up to 3. Returns how many. */
size_t child_poll(const struct child *c, struct pollfd *fds);
/** Milliseconds in which child_step should be called again at the latest. */
int child_tick(const struct child *c);
/** Reads, writes, and kills what is due, without waiting. True once it is over. */
bool child_step(struct child *c);
/** The first report that has such a member, or NULL; borrowed. */
const json_t *child_report(const struct child *c, const char *member);
/** Its output as text, with a note where bytes were left out; to be freed. */
char *child_output_text(const struct child *c, size_t *len);
void child_free(struct child *c);

#endif
