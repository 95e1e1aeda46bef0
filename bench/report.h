/* SPDX-License-Identifier: Apache-2.0 */
/* What a bench came to, as a table and as JSON. */
#ifndef KVS_BENCH_REPORT_H
#define KVS_BENCH_REPORT_H

#include "harness.h"

#include <stdio.h>

struct bench_row {
    const struct bench *bench;
    double value;    /* median of ours, for one unit */
    double baseline; /* the same of the baseline */
    double ratio;    /* median of the rounds' ratios */
    double spread;   /* interquartile range of the rounds' ratios, as a part of their median */
    bool missing;    /* it cannot be had in this build */
};

/* As it is shown: what is compared with a limit is what the reader sees. */
bool bench_meets(const struct bench_row *row);
void bench_table_head(FILE *out);
void bench_table_row(FILE *out, const struct bench_row *row);
void bench_table_end(FILE *out, const struct bench_row *rows, size_t n);
void bench_json(FILE *out, const struct bench_row *rows, size_t n);

#endif
