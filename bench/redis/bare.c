/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program could do that has nothing but sockets, and knows what it wants: two connections that never
 * block, worked by one thread; gathering writes straight from the values, reads straight into them; at most a
 * window of bytes asked for and not answered; small values copied, in few large writes, with MSET and MGET.
 */
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LINKS = 2, IOVS = 256, ROOM = 64 * 1024, HEAD = 64 };

#define COPIED 1024u         /* values up to here are copied beside their command's head */
#define SPLIT  (64u * 1024u) /* bytes of a batch from which on both connections work */
#define AHEAD  4096u         /* read beyond a large value */

struct link {
    int fd;
    struct iovec iov[IOVS]; /* to send */
    unsigned iovs, sent;
    char out[ROOM]; /* heads and small values, which iov points to */
    size_t used;
    uint32_t *open; /* values that were sent or asked for, in order; `count` of the case */
    uint32_t first, last;
    size_t outstanding; /* bytes of those */
    char in[ROOM];      /* what was read and is no large value */
    size_t at, end;
    char *to;             /* a value that is on its way: where to, how much is missing */
    size_t missing, skip; /* skip: CR LF that follows */
    uint32_t replies;     /* of a MGET that has begun: values to come */
};

static struct link links[2][LINKS];

static void put(struct link *l, const void *bytes, size_t len)
{
    struct iovec *last = l->iovs > 0 ? &l->iov[l->iovs - 1] : NULL;
    char *to = l->out + l->used;
    memcpy(to, bytes, len);
    l->used += len;
    if (last != NULL && (char *)last->iov_base + last->iov_len == to)
        last->iov_len += len;
    else
        l->iov[l->iovs++] = (struct iovec){to, len};
}

static size_t number(char *to, char kind, size_t n)
{
    char digits[24];
    size_t k = 0, len = 0;
    to[len++] = kind;
    do
        digits[k++] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    while (k > 0)
        to[len++] = digits[--k];
    to[len++] = '\r';
    to[len++] = '\n';
    return len;
}

static void put_number(struct link *l, char kind, size_t n)
{
    char text[32];
    put(l, text, number(text, kind, n));
}

static void put_key(struct link *l, const struct redis_case *c, uint32_t i)
{
    put(l, "$16\r\n", 5);
    put(l, key_at(c, i), KEY);
    put(l, "\r\n", 2);
}

static void put_value(struct link *l, const struct redis_case *c, struct part part, uint32_t i)
{
    put_number(l, '$', part.size);
    if (part.size <= COPIED)
        put(l, value_at(c, i), part.size);
    else
        l->iov[l->iovs++] = (struct iovec){value_at(c, i), part.size};
    put(l, "\r\n", 2);
}

/* Commands for as many values as there is room for, from *next on; one command for all where they are small.
 */
static void ask(struct link *l, const struct redis_case *c, struct part part, uint32_t *next, uint32_t end)
{
    size_t each = part.size <= COPIED ? part.size + 2 * HEAD : 2 * HEAD;
    while (*next < end && (l->outstanding == 0 || l->outstanding + part.size <= WINDOW) &&
           l->iovs + 4 < IOVS && l->used + each < ROOM) {
        uint32_t n = 1;
        if (part.size <= COPIED) {
            n = end - *next;
            if (n > (ROOM - l->used) / each)
                n = (uint32_t)((ROOM - l->used) / each);
        }
        if (n > 1) {
            put_number(l, '*', 1 + (c->get ? n : 2 * n));
            put(l, c->get ? "$4\r\nMGET\r\n" : "$4\r\nMSET\r\n", 10);
        } else {
            put(l, c->get ? "*2\r\n$3\r\nGET\r\n" : "*3\r\n$3\r\nSET\r\n", 13);
        }
        for (uint32_t i = 0; i < n; i++, ++*next) {
            put_key(l, c, *next);
            if (!c->get)
                put_value(l, c, part, *next);
            if (c->get || i == 0) /* what there is an answer to */
                l->open[l->last++] = !c->get && n > 1 ? n : *next;
        }
        l->outstanding += (size_t)n * part.size;
        if (!c->get && n > 1)
            l->open[l->last - 1] |= 1u << 31;
    }
}

/* Whether anything went. */
static bool push(struct link *l)
{
    bool moved = false;
    while (l->sent < l->iovs) {
        struct msghdr m = {.msg_iov = l->iov + l->sent, .msg_iovlen = l->iovs - l->sent};
        ssize_t n = sendmsg(l->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return moved;
        if (n <= 0)
            bench_fail("bare client", "the server is gone");
        moved = true;
        while (n > 0 && (size_t)n >= l->iov[l->sent].iov_len)
            n -= (ssize_t)l->iov[l->sent++].iov_len;
        if (n > 0) {
            l->iov[l->sent].iov_base = (char *)l->iov[l->sent].iov_base + n;
            l->iov[l->sent].iov_len -= (size_t)n;
        }
    }
    l->iovs = l->sent = 0;
    l->used = 0;
    return moved;
}

/* What is in `in`; how many values ended. */
static uint32_t parse(struct link *l, const struct redis_case *c, struct part part)
{
    uint32_t ended = 0;
    for (;;) {
        if (l->to != NULL) {
            size_t n = l->end - l->at < l->missing ? l->end - l->at : l->missing;
            memcpy(l->to, l->in + l->at, n);
            l->to += n;
            l->missing -= n;
            l->at += n;
            if (l->missing > 0)
                return ended;
            l->to = NULL;
            l->skip = 2;
        }
        if (l->skip > 0) {
            size_t n = l->end - l->at < l->skip ? l->end - l->at : l->skip;
            l->at += n;
            l->skip -= n;
            if (l->skip > 0)
                return ended;
            ended++;
            l->first++;
            l->outstanding -= part.size;
        }
        const char *line = l->in + l->at, *stop = memchr(line, '\n', l->end - l->at);
        if (stop == NULL)
            return ended;
        l->at += (size_t)(stop + 1 - line);
        if (*line == '*')
            continue;
        if (c->get && *line == '$' && strtoul(line + 1, NULL, 10) == part.size) {
            l->to = value_at(c, l->open[l->first]);
            l->missing = part.size;
        } else if (!c->get && *line == '+') {
            uint32_t open = l->open[l->first++], n = open >> 31 ? open & ~(1u << 31) : 1;
            l->outstanding -= (size_t)n * part.size;
            ended += n;
        } else {
            bench_fail("bare client: the server says", line);
        }
    }
}

/* Reads what there is; straight into a large value. How many values ended; *moved: whether anything came. */
static uint32_t pull(struct link *l, const struct redis_case *c, struct part part, bool *moved)
{
    uint32_t ended = 0;
    while (l->first < l->last) {
        if (l->at > 0) {
            memmove(l->in, l->in + l->at, l->end - l->at);
            l->end -= l->at;
            l->at = 0;
        }
        bool direct = l->to != NULL && l->missing >= AHEAD;
        struct iovec iov[2] = {{l->to, l->missing}, {l->in + l->end, direct ? AHEAD : ROOM - l->end}};
        ssize_t n = direct ? readv(l->fd, iov, 2) : read(l->fd, iov[1].iov_base, iov[1].iov_len);
        size_t room = (direct ? l->missing : 0) + iov[1].iov_len;
        if (n < 0 && errno == EAGAIN)
            return ended;
        if (n <= 0)
            bench_fail("bare client", "the server is gone");
        *moved = true;
        size_t got = (size_t)n;
        if (direct) {
            size_t into = got < l->missing ? got : l->missing;
            l->to += into;
            l->missing -= into;
            got -= into;
        }
        l->end += got;
        ended += parse(l, c, part);
        if ((size_t)n < room && part.size <= COPIED)
            return ended; /* the socket is empty */
    }
    return ended;
}

static void connect_links(struct link *set, bool unix_socket)
{
    for (int i = 0; i < LINKS && set[i].open == NULL; i++) {
        set[i].fd = server_socket(unix_socket);
        fcntl(set[i].fd, F_SETFL, O_NONBLOCK);
        set[i].open = calloc(65536, sizeof(*set[i].open));
    }
}

static void batch(struct link *set, const struct redis_case *c, struct part part)
{
    uint32_t next = 0, ended = 0;
    int n = c->one || (uint64_t)part.size * part.count < SPLIT ? 1 : LINKS;
    for (int i = 0; i < n; i++)
        set[i].first = set[i].last = 0;
    while (ended < part.count) {
        struct pollfd p[LINKS];
        bool moved = false;
        for (int i = 0; i < n; i++) {
            struct link *l = &set[i];
            if (l->iovs == 0)
                ask(l, c, part, &next, part.count);
            if (l->iovs > 0)
                moved |= push(l);
            ended += pull(l, c, part, &moved);
            p[i] = (struct pollfd){
                .fd = l->fd,
                .events = (short)((l->first < l->last ? POLLIN : 0) | (l->iovs > 0 ? POLLOUT : 0))};
        }
        if (!moved && ended < part.count)
            poll(p, (nfds_t)n, -1);
    }
}

uint64_t bare_run(void *arg, uint64_t n)
{
    const struct redis_case *c = arg;
    struct link *set = links[c->unix_socket];
    struct part part = part_of(c);
    connect_links(set, c->unix_socket);
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++)
        batch(set, c, part);
    return bench_now() - start;
}
