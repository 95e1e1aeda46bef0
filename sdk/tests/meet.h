/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that go through the rounds of a race side by side, now the one and now the other a seeded
 * little earlier: so that over many rounds every order of their steps comes up, without a sleep. Neither
 * waits for long for the other but at the end of a group of rounds, as on a busy machine that may not be
 * running.
 */
#ifndef KVS_TESTS_MEET_H
#define KVS_TESTS_MEET_H

#include "expect.h"

#include <sched.h>
#include <stdatomic.h>

#define GROUP       200  /* rounds */
#define MEET_YIELD  400  /* looks before the processor is given away */
#define MEET_ALONE  2000 /* and before a round is begun alone */
#define MEET_SPREAD 12   /* one starts up to 2^12 steps before the other: for longer than a call takes */

struct meet {
    atomic_uint at[2];    /* the round that each side has come to */
    atomic_uint group[2]; /* and the group */
};

struct side {
    struct meet *meet;
    unsigned me; /* 0 or 1 */
    unsigned round, group;
    uint64_t seed;
};

/* KVSLOT_TEST_SEED, else one that is always the same. */
static inline uint64_t race_seed(const char *test)
{
    const char *given = getenv("KVSLOT_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    print_message("%s: seed %llu; the same again: KVSLOT_TEST_SEED=%llu\n", test, (unsigned long long)seed,
                  (unsigned long long)seed);
    return seed;
}

/* Takes a moment and orders nothing: from none to 2^MEET_SPREAD steps, each power of two as often as another.
 */
static inline void dawdle(uint64_t *seed)
{
    uint32_t most = 1u << next_random(seed) % (MEET_SPREAD + 1);
    for (uint32_t i = next_random(seed) % most; i > 0; i--)
        __asm__ volatile("");
}

/* Until the other side has come to this group too. */
static inline void meet_group(struct side *s)
{
    unsigned group = ++s->group;
    atomic_store(&s->meet->group[s->me], group);
    for (unsigned i = 0; atomic_load(&s->meet->group[1 - s->me]) < group; i++)
        if (i >= MEET_YIELD)
            sched_yield();
}

/* Until the other side has come to this round too, if it does so soon. In even rounds side 0 then goes first,
 * in odd ones side 1. */
static inline void meet_round(struct side *s)
{
    unsigned round = ++s->round;
    atomic_store_explicit(&s->meet->at[s->me], round, memory_order_relaxed);
    for (unsigned i = 0; i < MEET_ALONE; i++)
        if (atomic_load_explicit(&s->meet->at[1 - s->me], memory_order_relaxed) >= round)
            break;
    if (round % 2 != s->me)
        dawdle(&s->seed);
}

#endif
