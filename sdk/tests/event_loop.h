/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that sleep on an engine's descriptor. */
#ifndef KVS_TESTS_EVENT_LOOP_H
#define KVS_TESTS_EVENT_LOOP_H

#include "engine.h"
#include "engine_test.h"

#include <poll.h>

static inline int fd_of(kvs_engine *e)
{
    int fd = -7;
    expect_rc(kvs_engine_fd(e, &fd), KVS_OK);
    assert_true(fd >= 0);
    return fd;
}

static inline bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* Sleeps until it is readable; false: it never was. */
static inline bool sleep_on(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, (int)(LONG / 1000000u)) == 1;
}

/* One round of a caller's loop. */
static inline void round_of(kvs_engine *e, int fd)
{
    assert_true(sleep_on(fd));
    expect_rc(kvs_engine_progress(e), KVS_OK);
}

/* Nothing is left to do: it stays so. What is under way on other threads may take a round or two, and while
 * one of them is late inside the backend, many. */
static inline void expect_quiet(kvs_engine *e, int fd)
{
    uint64_t until = now_ns() + LONG / 4;
    for (int rounds = 0; is_readable(fd); rounds++) {
        assert_true(rounds < 50 || now_ns() < until);
        expect_rc(kvs_engine_progress(e), KVS_OK);
        if (rounds >= 50)
            pause_briefly();
    }
}

/* A look that makes no progress, as check would. */
static inline bool has_ended(kvs_xfer *x)
{
    return kvs_xfer_ended(kvs_a64_load(&x->word));
}

/* The transfer's end, by a caller who only sleeps on the descriptor. */
static inline int end_by_loop(kvs_engine *e, int fd, kvs_xfer *x)
{
    while (!has_ended(x))
        round_of(e, fd);
    return kvs_xfer_check(x);
}

#endif
