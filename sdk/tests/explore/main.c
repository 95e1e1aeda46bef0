/* SPDX-License-Identifier: Apache-2.0 */
/* The explorer's program. */
#include "arena.h"
#include "model.h"
#include "scheduler.h"
#include "schedules.h"

#include <getopt.h>
#include <inttypes.h>
#include <kvslot/kvslot.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define WITH_ASAN 1
#endif

static bool expect_failure;
static const struct scenario *current;

static const char usage[] =
    "usage: explore [--scenario NAME]... [--bound N] [--limit N] [--seconds N] [--random N [--seed S]]\n"
    "               [--replay SCHEDULE [--trace]] [--expect-failure] [--list]\n";

/* A rule was broken: how to see it again. */
static void report(void)
{
    fprintf(stderr, "  threads:\n");
    explore_print_threads();
    search_print();
    fflush(stderr);
}

static void finish(void)
{
    _exit(expect_failure ? 0 : 1);
}

void explore_fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "FAILED %s: ", current ? current->name : "");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    report();
    finish();
    abort();
}

static void on_signal(int number)
{
    fprintf(stderr, "FAILED %s: signal %d\n", current ? current->name : "", number);
    report();
    finish();
}

#ifdef WITH_ASAN
static void on_death(void)
{
    fprintf(stderr, "FAILED %s: AddressSanitizer, above\n", current ? current->name : "");
    report();
    finish();
}
#endif

static void no_log(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    if (explore_trace)
        fprintf(stderr, "     log: %s\n", text);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct options {
    const char *names[64];
    unsigned nnames;
    unsigned bound;
    bool bound_given;
    uint64_t limit, seconds, random, seed;
    const char *replay;
};

static bool wanted(const struct options *o, const char *name)
{
    for (unsigned i = 0; i < o->nnames; i++)
        if (strcmp(o->names[i], name) == 0)
            return true;
    return o->nnames == 0;
}

static uint64_t explore(const struct options *o, const struct scenario *s)
{
    struct search search = {.run = model_run,
                            .arg = (void *)(uintptr_t)s,
                            .name = s->name,
                            .limit = o->limit,
                            .seconds = o->seconds};
    double start = seconds();
    uint64_t n;
    current = s;
    if (o->replay) {
        if (!search_replay(&search, o->replay)) {
            fprintf(stderr, "'%s' is no schedule\n", o->replay);
            exit(2);
        }
        printf("%s: the schedule broke no rule\n", s->name);
        return 1;
    }
    unsigned bound = o->bound_given ? o->bound : s->bound ? s->bound : 2;
    if (o->random)
        n = search_random(&search, o->seed, o->random);
    else
        n = search_all(&search, bound);
    double took = seconds() - start;
    char how[64];
    if (o->random)
        snprintf(how, sizeof how, "random from seed %" PRIu64, o->seed);
    else
        snprintf(how, sizeof how, "%s to %u preemptions", search.cut ? "NOT all" : "all", bound);
    printf("%-24s %9" PRIu64 " schedules, %s, %.2f s\n", s->name, n, how, took);
    fflush(stdout);
    return n;
}

static void list(void)
{
    for (unsigned i = 0; i < scenario_count; i++) {
        const struct scenario *s = &scenarios[i];
        printf("%-24s %s", s->name, s->script[0]);
        for (unsigned j = 1; j < 3 && s->script[j]; j++)
            printf(" | %s", s->script[j]);
        printf("\n");
    }
}

static void watch(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
#ifdef WITH_ASAN
        if (signals[i] != SIGABRT)
            continue;
#endif
        struct sigaction a = {.sa_handler = on_signal};
        sigaction(signals[i], &a, NULL);
    }
#ifdef WITH_ASAN
    __sanitizer_set_death_callback(on_death);
#endif
}

static void parse(int argc, char **argv, struct options *o)
{
    static const struct option options[] = {{"scenario", required_argument, NULL, 's'},
                                            {"bound", required_argument, NULL, 'b'},
                                            {"limit", required_argument, NULL, 'l'},
                                            {"seconds", required_argument, NULL, 't'},
                                            {"random", required_argument, NULL, 'r'},
                                            {"seed", required_argument, NULL, 'e'},
                                            {"replay", required_argument, NULL, 'p'},
                                            {"trace", no_argument, NULL, 'v'},
                                            {"expect-failure", no_argument, NULL, 'x'},
                                            {"list", no_argument, NULL, 'L'},
                                            {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 's':
            if (o->nnames < 64)
                o->names[o->nnames++] = optarg;
            break;
        case 'b':
            o->bound = (unsigned)strtoul(optarg, NULL, 10);
            o->bound_given = true;
            break;
        case 'l':
            o->limit = strtoull(optarg, NULL, 10);
            break;
        case 't':
            o->seconds = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            o->random = strtoull(optarg, NULL, 10);
            break;
        case 'e':
            o->seed = strtoull(optarg, NULL, 10);
            break;
        case 'p':
            o->replay = optarg;
            break;
        case 'v':
            explore_trace = true;
            break;
        case 'x':
            expect_failure = true;
            break;
        case 'L':
            list();
            exit(0);
        default:
            fputs(usage, stderr);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    struct options o = {.seed = (uint64_t)time(NULL)};
    parse(argc, argv, &o);
    watch();
    kvs_set_log(no_log, NULL, KVS_LOG_ERROR);
    model_warm_up();
    uint64_t total = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < scenario_count; i++)
        if (wanted(&o, scenarios[i].name)) {
            total += explore(&o, &scenarios[i]);
            n++;
        }
    if (n == 0) {
        fprintf(stderr, "there is no such scenario; --list names them\n");
        return 2;
    }
    printf("%u scenarios, %" PRIu64 " schedules\n", n, total);
    if (expect_failure)
        fprintf(stderr, "a failure was expected, and none was found\n");
    return expect_failure ? 1 : 0;
}
