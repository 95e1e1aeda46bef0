/* SPDX-License-Identifier: Apache-2.0 */
/* bench-redis: what kvslot takes of what a socket gives, and how it compares with other clients of redis. */
#include "cases.h"
#include "server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MOST_KEYS  65536u
#define MOST_BYTES ((size_t)256 * 4 * MIB)

static bool little;
static struct server server;

struct part part_of(const struct redis_case *c)
{
    struct part part = {c->size, c->count};
    if (little && part.size > 4 * KIB)
        part.size = 4 * KIB;
    if (little && part.count > 4)
        part.count = 4;
    return part;
}

void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

char *value_at(const struct redis_case *c, uint32_t i)
{
    static char *all;
    if (all == NULL) {
        all = malloc(MOST_BYTES);
        if (all == NULL)
            bench_fail("bench", "no memory");
        memset(all, 'v', little ? MIB : MOST_BYTES); /* so that no page of it is made while it is measured */
    }
    return all + (size_t)(c->keys != 0 ? i % c->keys : i) * part_of(c).size;
}

const char *key_at(const struct redis_case *c, uint32_t i)
{
    static char keys[MOST_KEYS][KEY + 1];
    if (c->keys != 0)
        i %= c->keys;
    if (keys[i][0] == '\0')
        snprintf(keys[i], sizeof(keys[i]), "%016x",
                 (unsigned)(i * 2654435761u)); /* one to one, and in no order */
    return keys[i];
}

static void end_server(void)
{
    server_end(&server);
}

static const struct server *the_server(void)
{
    if (server.pid == 0) {
        if (!server_start(&server, NULL))
            exit(1);
        atexit(end_server);
    }
    return &server;
}

const char *server_path(void)
{
    return the_server()->socket;
}

int server_number(void)
{
    return the_server()->port;
}

int server_socket(bool unix_socket)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)server_number())};
    int yes = 1, fd = socket(unix_socket ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", server_path());
    if (fd < 0 || (unix_socket ? connect(fd, (struct sockaddr *)&un, sizeof(un))
                               : connect(fd, (struct sockaddr *)&in, sizeof(in))) != 0)
        bench_fail("redis-server", "it cannot be reached");
    if (!unix_socket)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return fd;
}

/* What is there has the length that is asked for. */
static bool setup_values(void *arg, bool small)
{
    const struct redis_case *c = arg;
    little = small;
    if (c->get)
        write_values(c);
    return true;
}

static bool setup(void *arg, bool small)
{
    return setup_values(arg, small) && ours_setup(arg);
}

/* At least 0.9 of the bare client. */
#define BARE (1 / 0.9)
/* Over the old design, batches of 64: at least 1.6 times up to 1 KiB, 1.3 times at 64 KiB, 4 times (SET) and
 * 3 times (GET) above. */
#define OLD(gets, bytes)                                                                                     \
    ((bytes) <= KIB ? 1 / 1.6 : (bytes) <= 64 * KIB ? 1 / 1.3 : (gets) ? 1 / 3.0 : 1 / 4.0)

#define ROW(text, us, them, most, ready, ...)                                                                \
    {                                                                                                        \
        .name = text, .unit = "ns/batch", .ours = us, .baseline = them,                                      \
        .arg = &(struct redis_case){__VA_ARGS__}, .units = 1,                                                \
        .limited = (most) > 0 ? BENCH_RATIO : BENCH_NO_LIMIT, .limit = (most), .setup = ready                \
    }
#define CASE(against, them, most, way, un, op, gets, text, bytes, n)                                         \
    ROW(against "/" way "/" op "/" text "/" #n, ours_run, them, most, setup, .unix_socket = (un),            \
        .get = (gets), .size = (bytes), .count = (n))
#define SIZES(rows, way, un, op, gets)                                                                       \
    rows(way, un, op, gets, "64B", 64), rows(way, un, op, gets, "1KiB", KIB),                                \
        rows(way, un, op, gets, "64KiB", 64 * KIB), rows(way, un, op, gets, "1MiB", MIB),                    \
        rows(way, un, op, gets, "4MiB", 4 * MIB)
#define WAYS(rows)                                                                                           \
    SIZES(rows, "unix", true, "set", false), SIZES(rows, "unix", true, "get", true),                         \
        SIZES(rows, "tcp", false, "set", false), SIZES(rows, "tcp", false, "get", true)
#define BARE_ROWS(way, un, op, gets, text, bytes)                                                            \
    CASE("bare", bare_run, BARE, way, un, op, gets, text, bytes, 1),                                         \
        CASE("bare", bare_run, BARE, way, un, op, gets, text, bytes, 64),                                    \
        CASE("bare", bare_run, BARE, way, un, op, gets, text, bytes, 256)
#define OLD_ROWS(way, un, op, gets, text, bytes)                                                             \
    CASE("old", old_run, OLD(gets, bytes), way, un, op, gets, text, bytes, 64)
#define PLAIN_ROWS(way, un, op, gets, text, bytes)                                                           \
    CASE("plain", plain_run, 0, way, un, op, gets, text, bytes, 64)
#define TOOL_ROWS(way, un, op, gets, text, bytes)                                                            \
    CASE("tool", tool_run, 0, way, un, op, gets, text, bytes, 64)
/* Baselines with each other: what the machine gives. */
#define MACHINE_ROWS(way, un, op, gets, text, bytes)                                                         \
    ROW("machine/" way "/" op "/" text, bare_run, old_run, 0, setup_values, .unix_socket = (un),             \
        .get = (gets), .size = (bytes), .count = 64)
/* 16 batches in flight, against one after the other. */
#define FLIGHT_ROW(way, un, op, gets)                                                                        \
    ROW("flight/" way "/" op, ours_run, ours_single_run, 1 / 2.0, setup, .unix_socket = (un), .get = (gets), \
        .size = 64, .count = 64, .batches = 16)
/* One descriptor, whose caller waits. */
#define LATENCY_ROW(way, un, op, gets)                                                                       \
    ROW("latency/" way "/" op, ours_run, plain_single_run, 1.15, setup, .unix_socket = (un), .get = (gets),  \
        .size = 64, .count = 1)
/* 256 values of 16 MiB, against 32 times eight of them. */
#define DEEP_ROW(way, un, op, gets)                                                                          \
    ROW("deep/" way "/" op, ours_run, ours_single_run, 1.1, setup, .unix_socket = (un), .get = (gets),       \
        .size = 16 * MIB, .count = 256, .keys = 8, .one = true)

static const struct bench benches[] = {
    WAYS(BARE_ROWS),
    WAYS(OLD_ROWS),
    WAYS(PLAIN_ROWS),
    WAYS(TOOL_ROWS),
    WAYS(MACHINE_ROWS),
    FLIGHT_ROW("unix", true, "set", false),
    FLIGHT_ROW("unix", true, "get", true),
    FLIGHT_ROW("tcp", false, "set", false),
    FLIGHT_ROW("tcp", false, "get", true),
    LATENCY_ROW("unix", true, "set", false),
    LATENCY_ROW("unix", true, "get", true),
    LATENCY_ROW("tcp", false, "set", false),
    LATENCY_ROW("tcp", false, "get", true),
    DEEP_ROW("unix", true, "set", false),
    DEEP_ROW("unix", true, "get", true),
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, benches, sizeof(benches) / sizeof(benches[0]));
}
