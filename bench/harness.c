/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_ROUNDS     999
#define USUAL_ROUNDS    15
#define USUAL_SAMPLE    10000000u /* ns */
#define MOST_TIMES      (UINT64_C(1) << 40)
#define WARM_UP_TIMES   2
#define MOST_UNMEASURED 5

struct options {
    const char *filter; /* NULL: all */
    uint32_t rounds;
    uint64_t sample; /* ns */
    bool json, list, check, small;
};

static clockid_t bench_clock = CLOCK_MONOTONIC; /* set once, by the options */

uint64_t bench_now(void)
{
    struct timespec t;
    clock_gettime(bench_clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void usage(FILE *out, const char *program)
{
    fprintf(
        out,
        "usage: %s [option...]\n"
        "  --filter TEXT     only benches whose name has TEXT in it\n"
        "  --rounds N        rounds, each with one sample of ours and one of the baseline (%d)\n"
        "  --sample-ms N     about so long a sample (%u)\n"
        "  --json            rows as JSON in place of the table\n"
        "  --check           exit 1 where a limit is missed\n"
        "  --small           little data and short samples: shows that it runs, the figures mean nothing\n"
        "  --list            names, and nothing is run\n",
        program, USUAL_ROUNDS, USUAL_SAMPLE / 1000000);
}

static bool number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || n < min || n > max) {
        fprintf(stderr, "--%s is '%s'; a whole number from %llu to %llu is needed\n", option, text,
                (unsigned long long)min, (unsigned long long)max);
        return false;
    }
    *out = n;
    return true;
}

/* 0: go on; else the exit code, and one more. */
static int read_options(int argc, char **argv, struct options *o)
{
    static const struct option known[] = {{"filter", required_argument, NULL, 'f'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"sample-ms", required_argument, NULL, 'm'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"cpu-time", no_argument, NULL, 't'},
                                          {"small", no_argument, NULL, 's'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    *o = (struct options){.rounds = USUAL_ROUNDS, .sample = USUAL_SAMPLE};
    uint64_t n = 0;
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (c) {
        case 'f':
            o->filter = optarg;
            break;
        case 'r':
            if (!number("rounds", optarg, 1, MOST_ROUNDS, &n))
                return 3;
            o->rounds = (uint32_t)n;
            break;
        case 'm':
            if (!number("sample-ms", optarg, 0, 60000, &n))
                return 3;
            o->sample = n * 1000000;
            break;
        case 'j':
            o->json = true;
            break;
        case 't':
            bench_clock = CLOCK_THREAD_CPUTIME_ID;
            break;
        case 'c':
            o->check = true;
            break;
        case 's':
            o->small = true;
            break;
        case 'l':
            o->list = true;
            break;
        case 'h':
            usage(stdout, argv[0]);
            return 1;
        default: /* getopt has named it */
            usage(stderr, argv[0]);
            return 3;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "'%s' is no option\n", argv[optind]);
        usage(stderr, argv[0]);
        return 3;
    }
    return 0;
}

/* How often the work is done in one sample; these first runs are the warm-up as well. What is not measured
 * takes its time too: the sample is shorter where that would be most of it. */
static uint64_t calibrate(bench_run run, void *arg, uint64_t sample)
{
    uint64_t n = 1;
    for (int i = 0; i < WARM_UP_TIMES; i++)
        (void)run(arg, 1);
    for (;;) {
        uint64_t start = bench_now(), took = run(arg, n);
        if (took >= sample || bench_now() - start >= MOST_UNMEASURED * sample || n >= MOST_TIMES)
            return n;
        /* At once near to it where the clock can tell, else twice as much. */
        n = took > sample / 8 ? n * sample / took + 1 : n * 2;
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which `part` of them lie; sorts them. */
static double quantile(double *v, uint32_t n, double part)
{
    qsort(v, n, sizeof *v, by_size);
    double at = part * (n - 1);
    uint32_t low = (uint32_t)at;
    return low + 1 < n ? v[low] + (at - low) * (v[low + 1] - v[low]) : v[low];
}

static double per_unit(bench_run run, const struct bench *b, uint64_t n)
{
    return (double)run(b->arg, n) / ((double)n * (double)b->units);
}

static void run_timed(const struct bench *b, const struct options *o, struct bench_row *row)
{
    double ours[MOST_ROUNDS], baseline[MOST_ROUNDS], ratio[MOST_ROUNDS];
    uint64_t n = calibrate(b->ours, b->arg, o->sample), m = calibrate(b->baseline, b->arg, o->sample);
    for (uint32_t i = 0; i < o->rounds; i++) {
        if (i % 2 == 0)
            ours[i] = per_unit(b->ours, b, n);
        baseline[i] = per_unit(b->baseline, b, m);
        if (i % 2 == 1)
            ours[i] = per_unit(b->ours, b, n);
        ratio[i] = ours[i] / baseline[i];
    }
    row->value = quantile(ours, o->rounds, 0.5);
    row->baseline = quantile(baseline, o->rounds, 0.5);
    row->ratio = quantile(ratio, o->rounds, 0.5);
    row->spread = (quantile(ratio, o->rounds, 0.75) - quantile(ratio, o->rounds, 0.25)) / row->ratio;
}

static bool run_one(const struct bench *b, const struct options *o, struct bench_row *row)
{
    *row = (struct bench_row){.bench = b};
    if (b->setup && !b->setup(b->arg, o->small))
        return false;
    if (b->kind == BENCH_TIMED) {
        run_timed(b, o, row);
        return true;
    }
    row->value = b->count(b->arg);
    row->missing = row->value < 0;
    return true;
}

static int run_all(const struct bench **chosen, size_t n, const struct options *o)
{
    struct bench_row *rows = calloc(n, sizeof *rows);
    bool missed = false;
    int rc = 0;
    if (!rows)
        return 1;
    if (!o->json)
        bench_table_head(stdout);
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (!run_one(chosen[i], o, &rows[i])) {
            fprintf(stderr, "bench %s could not be run\n", chosen[i]->name);
            rc = 1;
            break;
        }
        missed |= !rows[i].missing && !bench_meets(&rows[i]);
        if (!o->json)
            bench_table_row(stdout, &rows[i]);
    }
    if (rc == 0 && o->json)
        bench_json(stdout, rows, n);
    else if (rc == 0)
        bench_table_end(stdout, rows, n);
    free(rows);
    return rc == 0 && o->check && missed ? 1 : rc;
}

int bench_main(int argc, char **argv, const struct bench *benches, size_t n)
{
    struct options o;
    int stop = read_options(argc, argv, &o);
    if (stop)
        return stop - 1;
    if (o.small) {
        o.rounds = o.rounds < 2 ? o.rounds : 2;
        o.sample = 0;
    }
    const struct bench **chosen = calloc(n + 1, sizeof *chosen);
    size_t count = 0;
    if (!chosen)
        return 1;
    for (size_t i = 0; i < n; i++)
        if (!o.filter || strstr(benches[i].name, o.filter))
            chosen[count++] = &benches[i];
    int rc = 0;
    if (count == 0) {
        fprintf(stderr, "no bench has '%s' in its name; --list shows them\n", o.filter);
        rc = 2;
    } else if (o.list) {
        for (size_t i = 0; i < count; i++)
            puts(chosen[i]->name);
    } else {
        rc = run_all(chosen, count, &o);
    }
    free(chosen);
    return rc;
}
