/* SPDX-License-Identifier: Apache-2.0 */
/* redis-benchmark, with one connection and as deep a pipeline as the batch. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The requests a second of n of them. */
static double tool(const struct redis_case *c, struct part part, bool get, unsigned long long n)
{
    char command[512], line[512], address[256];
    double rate = 0;
    if (c->unix_socket)
        snprintf(address, sizeof(address), "-s %s", server_path());
    else
        snprintf(address, sizeof(address), "-h 127.0.0.1 -p %d", server_number());
    snprintf(command, sizeof(command), "redis-benchmark %s -t %s -c 1 -P %u -d %u -n %llu --csv 2>/dev/null",
             address, get ? "get" : "set", part.count, part.size, n);
    FILE *f = popen(command, "r");
    if (f == NULL)
        bench_fail("redis-benchmark", "it cannot be run");
    while (fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, get ? "\"GET\",\"" : "\"SET\",\"", 7) == 0)
            rate = strtod(line + 7, NULL);
    if (pclose(f) != 0)
        bench_fail("redis-benchmark", "it failed");
    return rate;
}

uint64_t tool_run(void *arg, uint64_t n)
{
    const struct redis_case *c = arg;
    struct part part = part_of(c);
    if (c->get)
        tool(c, part, false, 1); /* all use one key */
    double rate = tool(c, part, c->get, (unsigned long long)n * part.count);
    /* It counts in milliseconds: where it was quicker than one, it says that no time has passed, or infinity.
     */
    double took = rate > 0 ? (double)n * part.count / rate * 1e9 : 0;
    return took < 1e6 ? 1000000 : (uint64_t)took;
}
