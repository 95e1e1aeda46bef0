/* SPDX-License-Identifier: Apache-2.0 */
/* Which schedules are run: all with few preemptions, random ones, or one that is given. */
#ifndef KVS_TESTS_EXPLORE_SEARCH_H
#define KVS_TESTS_EXPLORE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct search {
    void (*run)(void *arg); /* one run of the scenario, from the start */
    void *arg;
    const char *name; /* the scenario's */
    uint64_t limit;   /* schedules at most; 0: no limit */
    uint64_t seconds; /* at most; 0: no limit */
    bool cut;         /* out: a limit came before the end */
};

/* Every schedule of at most `bound` preemptions, those with fewer first. Answers how many there were. */
uint64_t search_all(struct search *s, unsigned bound);
/* n schedules, each from a seed of its own that begins with `seed`. */
uint64_t search_random(struct search *s, uint64_t seed, uint64_t n);
/* The schedule that was printed for a failure: "12=1,40=2", or "seed=N". False: it is none. */
bool search_replay(struct search *s, const char *schedule);

/* Of the run that is under way, for its report. */
void search_print(void);
#endif
