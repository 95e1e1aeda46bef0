/* SPDX-License-Identifier: Apache-2.0 */
/* What all sides of the benches of redis have: servers, values and their keys. */
#ifndef KVS_BENCH_REDIS_CASES_H
#define KVS_BENCH_REDIS_CASES_H

#include "../harness.h"

#include <stddef.h>

enum { KEY = 16 };

#define KIB 1024u
#define MIB (1024u * 1024u)
#define WINDOW                                                                                               \
    MIB /* of the clients that have one: most bytes that are sent or asked for and not answered              \
         */

struct redis_case {
    bool unix_socket, get;
    uint32_t size, count; /* bytes of a value, values of a batch */
    uint32_t batches;     /* in flight at once; 0: one */
    uint32_t keys;        /* so many values, again and again; 0: as many as there are in a batch */
    bool one;             /* one connection */
    void *ours;           /* of ours.c: transfers */
};

/* Sizes that --small has made less. */
struct part {
    uint32_t size, count;
};
struct part part_of(const struct redis_case *c);

void bench_fail(const char *what, const char *why);
/* The memory of value i, and its key, of KEY bytes. */
char *value_at(const struct redis_case *c, uint32_t i);
const char *key_at(const struct redis_case *c, uint32_t i);
/* One server for all; the first call starts it. */
const char *server_path(void);
int server_number(void); /* the port */
/* Connects and sets what every client here sets; blocking. */
int server_socket(bool unix_socket);
/* Writes all values of the case, so that there is something to read. */
void write_values(const struct redis_case *c);

/* Through kvslot (ours.c); a bare client that copies nothing (bare.c); hiredis, with blocking calls (plain.c)
 * and with callbacks on a thread of libevent (old.c); redis-benchmark (tool.c). n batches each. */
bool ours_setup(struct redis_case *c);
uint64_t ours_run(void *arg, uint64_t n);
uint64_t ours_single_run(void *arg, uint64_t n);
uint64_t bare_run(void *arg, uint64_t n);
uint64_t plain_run(void *arg, uint64_t n);
uint64_t plain_single_run(void *arg, uint64_t n);
uint64_t old_run(void *arg, uint64_t n);
uint64_t tool_run(void *arg, uint64_t n);

#endif
