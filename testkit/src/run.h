/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the suite, as its parts share it. Only the thread that runs it touches it. */
#ifndef KVSLOT_TESTKIT_RUN_H
#define KVSLOT_TESTKIT_RUN_H

#include "case.h"
#include "mask.h"
#include "wire.h"

/** How one selected case went. */
struct run_row {
    const struct kit_case *row;
    bool done;
    uint32_t outcome; /* enum kvs_conform_outcome */
    unsigned round;   /* the last one that ran, from 1 */
    uint64_t duration_ms;
    char *reason;  /* a sentence, or NULL */
    char *output;  /* what the process printed, or NULL; both without secrets */
    char *threads; /* their states when its time was up, or NULL */
};

struct run {
    const struct kvs_conform_config *cfg;
    double multiplier;
    unsigned jobs, repeat;
    uint64_t seed;
    char run_prefix[24]; /* of all keys of the run */
    char *program;
    struct kvs_param_value *params; /* cfg's, with @fd:N replaced by what was read there */
    char **read_values;             /* those, owned; as many as params */
    json_t *secrets;                /* names of the secret parameters */
    json_t *probe;                  /* what the probe reported */
    struct kvs_limits limits;
    struct mask mask;
    char *shown_target;
    struct run_row *rows;
    size_t nrows;
    uint32_t counts[6];
    uint32_t verdict;
    bool conformant;
    uint64_t started_ns, duration_ms;
};

/** Looks at the target in a process of its own: names of secrets, name, version, limits. */
int run_look(struct run *r, struct kvs_error *err);
/** Runs all rows and prints them as they end. */
int run_rows(struct run *r, struct kvs_error *err);
/** The request for one process; to be freed. NULL: not encodable. */
char *run_request(const struct run *r, const char *case_id, const char *prefix, unsigned round,
                  uint64_t timeout_ns, const json_t *keys);
uint64_t run_timeout(const struct run *r, uint64_t seconds);

/* table.c */
void table_head(const struct run *r);
void table_row(const struct run *r, const struct run_row *row);
int table_end(const struct run *r);
/** The command that runs one case again; to be freed. */
char *table_reproduce(const struct run *r, const struct run_row *row);

/* report.c */
/** Writes the JSON report. `file` is replaced whole, if it is a regular one. */
int report_write(const struct run *r, const char *file, struct kvs_error *err);
/** Can the report be written there. */
int report_check(const char *file, struct kvs_error *err);

#endif
