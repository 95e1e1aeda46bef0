/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A harness for benches: pairs of functions, ours and a baseline, that run by turns in one process, so that
 * what the machine does meanwhile meets both. bench/README.md has the options and what the figures mean.
 */
#ifndef KVS_BENCH_HARNESS_H
#define KVS_BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does its work n times, and answers how many nanoseconds the part that is measured took. */
typedef uint64_t (*bench_run)(void *arg, uint64_t n);

enum bench_kind {
    BENCH_TIMED,   /* ours and baseline are nanoseconds of n times */
    BENCH_COUNTED, /* `count` answers the value; nothing is timed, and there is no baseline */
};

enum bench_limit {
    BENCH_NO_LIMIT,
    BENCH_VALUE, /* the value is at most `limit` */
    BENCH_RATIO, /* the ratio to the baseline is at most `limit` */
};

struct bench {
    const char *name; /* parts apart by '/' */
    const char *unit; /* of the value */
    enum bench_kind kind;
    bench_run ours, baseline;
    double (*count)(void *arg); /* below 0: it cannot be counted in this build */
    void *arg;                  /* of all functions */
    uint64_t units;             /* of the value, in one time of the work */
    enum bench_limit limited;
    double limit;
    /* Makes ready what the functions work on; false, with a line on standard error: it cannot. `small`: as
     * little as shows that it runs. What is made stays for the benches after it. */
    bool (*setup)(void *arg, bool small);
};

/* Nanoseconds on a clock that only goes forward; with --cpu-time, of this thread's processor time. */
uint64_t bench_now(void);

/* Keeps the compiler from leaving out what nobody looks at. */
static inline void bench_use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Reads the options, runs the benches and prints their figures. Answers the program's exit code: 0; 1:
 * --check and a limit was missed, or a bench failed; 2: wrong options. */
int bench_main(int argc, char **argv, const struct bench *benches, size_t n);

#endif
