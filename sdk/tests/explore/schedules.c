/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stateless search: a run is a list of choices; the next one repeats the choices up to the last that has an
 * untried alternative within the bound, takes that, and from there on always the first. A bound on
 * preemptions is tried after the smaller ones, so that what is found first is found with the fewest.
 */
#include "schedules.h"
#include "happened.h"
#include "scheduler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHOICES 20000

enum mode { FIRST, ALL, RANDOM, GIVEN };

/* One program runs one search at a time. */
static struct {
    const struct search *s;
    enum mode mode;
    struct {
        uint8_t n, at;
    } path[CHOICES];
    uint32_t depth;  /* choices made in this run */
    uint32_t prefix; /* of them repeated */
    unsigned bound, spent;
    uint64_t count;
    /* RANDOM */
    uint64_t seed, state;
    unsigned one_in; /* a switch for so many choices; 0: by priorities */
    uint32_t priority[EXPLORE_THREADS];
    uint32_t change_at[4], last_depth;
} now;

static uint64_t next_random(void)
{
    uint64_t z = now.state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- Where runs have been ---- */

#define SEEN (1u << 21) /* a power of 2; what finds no place is explored again */

/* States of this scenario with the most preemptions that were left there, + 1. */
static struct {
    uint64_t state;
    uint32_t left;
} seen[SEEN];

static uint64_t state_of(const struct explore_way *ways, int n)
{
    uint64_t h = happened_hash();
    for (int i = 0; i < n; i++)
        h = (h ^ (uint64_t)(ways[i].thread * 4 + ways[i].timer * 2) ^ ways[i].cost) * UINT64_C(0x100000001b3);
    return h;
}

/* Was all that can come from here tried already? From now on it is. */
static bool been_here(uint64_t state, unsigned left)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t at = (uint32_t)((state >> 20) + i) & (SEEN - 1);
        if (seen[at].left && seen[at].state != state)
            continue;
        if (seen[at].left > left)
            return true;
        seen[at].state = state;
        seen[at].left = left + 1;
        return false;
    }
    return false;
}

/* ---- One choice ---- */

static int choose_all(const struct explore_way *ways, int n)
{
    int open = 0;
    while (open < n && now.spent + ways[open].cost <= now.bound)
        open++;
    if (open == 0)
        open = 1; /* what comes first costs nothing */
    int at = 0;
    if (now.depth < now.prefix) {
        at = now.path[now.depth].at;
        if (now.path[now.depth].n != open)
            explore_fail("a schedule went another way when it was repeated: choice %u has %d ways, not %u",
                         now.depth, open, now.path[now.depth].n);
    } else if (been_here(state_of(ways, n), now.bound - now.spent)) {
        explore_straight_on = true;
        open = 1;
    }
    now.path[now.depth].n = (uint8_t)open;
    now.spent += ways[at].cost;
    return at;
}

/* The thread with the highest priority runs, until one of a few moments at which it gets the lowest. */
static int choose_by_priority(const struct explore_way *ways, int n)
{
    int at = 0;
    uint32_t best = 0;
    bool timers = next_random() % 8 == 0 || ways[0].timer;
    for (int i = 0; i < n; i++) {
        uint32_t p = now.priority[ways[i].thread];
        if (ways[i].timer && !timers)
            continue;
        if (p > best) {
            best = p;
            at = i;
        }
    }
    for (unsigned i = 0; i < 4; i++)
        if (now.change_at[i] == now.depth)
            now.priority[ways[at].thread] = i + 1;
    return at;
}

static int choose_random(const struct explore_way *ways, int n)
{
    if (now.one_in == 0)
        return choose_by_priority(ways, n);
    if (ways[0].cost == 0 && n > 1 && ways[1].cost == 0) /* it has to go on somewhere else */
        return (int)(next_random() % (unsigned)n);
    return next_random() % now.one_in == 0 ? (int)(next_random() % (unsigned)n) : 0;
}

int explore_choose(const struct explore_way *ways, int n)
{
    if (now.depth == CHOICES)
        explore_fail("livelock: more than %d choices", CHOICES);
    int at = 0;
    if (now.mode == ALL)
        at = choose_all(ways, n);
    else if (now.mode == RANDOM)
        at = choose_random(ways, n);
    else if (now.mode == GIVEN && now.depth < now.prefix)
        at = now.path[now.depth].at < n ? now.path[now.depth].at : 0;
    now.path[now.depth].at = (uint8_t)at;
    now.depth++;
    return at;
}

/* ---- Runs ---- */

static void run_one(void)
{
    now.depth = 0;
    now.spent = 0;
    explore_straight_on = false;
    now.count++;
    now.s->run(now.s->arg);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool at_limit(struct search *s, double start)
{
    s->cut = (s->limit && now.count >= s->limit) ||
             (s->seconds && now.count % 64 == 0 && seconds() - start > (double)s->seconds);
    return s->cut;
}

static void begin(struct search *s, enum mode mode)
{
    now.s = s;
    now.mode = mode;
    now.prefix = 0;
    now.count = 0;
    s->cut = false;
}

/* Goes to the next list of choices; false: there is none. */
static bool advance(void)
{
    while (now.depth > 0) {
        now.depth--;
        if (now.path[now.depth].at + 1 < now.path[now.depth].n) {
            now.path[now.depth].at++;
            now.prefix = now.depth + 1;
            return true;
        }
    }
    return false;
}

uint64_t search_all(struct search *s, unsigned bound)
{
    double start = seconds();
    begin(s, ALL);
    memset(seen, 0, sizeof seen);
    for (now.bound = 0; now.bound <= bound; now.bound++) {
        now.prefix = 0;
        do {
            if (at_limit(s, start))
                return now.count;
            run_one();
        } while (advance());
    }
    return now.count;
}

static void seed_run(uint64_t seed)
{
    now.seed = seed;
    now.state = seed;
    static const unsigned often[] = {0, 2, 0, 5, 0, 12, 0, 30};
    now.one_in = often[next_random() % 8];
    for (int i = 0; i < EXPLORE_THREADS; i++)
        now.priority[i] = (uint32_t)(next_random() % 1000000) + 10;
    for (int i = 0; i < 4; i++)
        now.change_at[i] = (uint32_t)(next_random() % 300);
    run_one();
}

uint64_t search_random(struct search *s, uint64_t seed, uint64_t n)
{
    double start = seconds();
    begin(s, RANDOM);
    for (uint64_t i = 0; i < n && !at_limit(s, start); i++)
        seed_run(seed + i);
    return now.count;
}

bool search_replay(struct search *s, const char *schedule)
{
    begin(s, GIVEN);
    uint64_t seed;
    if (sscanf(schedule, "seed=%" SCNu64, &seed) == 1) {
        begin(s, RANDOM);
        seed_run(seed);
        return true;
    }
    memset(now.path, 0, sizeof now.path);
    while (*schedule && strcmp(schedule, "-") != 0) {
        unsigned at, take;
        int used = 0;
        if (sscanf(schedule, "%u=%u%n", &at, &take, &used) != 2 || at >= CHOICES || take > 255)
            return false;
        now.path[at].at = (uint8_t)take;
        now.prefix = at + 1 > now.prefix ? at + 1 : now.prefix;
        schedule += used;
        schedule += *schedule == ',';
    }
    run_one();
    return true;
}

void search_print(void)
{
    char text[8192];
    size_t len = 0;
    for (uint32_t i = 0; i < now.depth && len + 24 < sizeof text; i++)
        if (now.path[i].at)
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%s%u=%u", len ? "," : "", i, now.path[i].at);
    if (len == 0)
        snprintf(text, sizeof text, "-");
    fprintf(stderr, "  schedule %" PRIu64 " of this search, %u choices\n", now.count, now.depth);
    if (now.mode == RANDOM)
        fprintf(stderr, "  reproduce: --scenario %s --replay seed=%" PRIu64 "\n", now.s->name, now.seed);
    fprintf(stderr, "  reproduce: --scenario %s --replay %s --trace\n", now.s->name, text);
}
