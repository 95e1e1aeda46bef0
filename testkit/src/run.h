/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the suite, as its parts share it. Only the thread that runs it touches it. */
#ifndef KVSLOT_TESTKIT_RUN_H
#define KVSLOT_TESTKIT_RUN_H

#include "case.h"
#include "journal.h"
#include "mask.h"
#include "wire.h"
#include <stdio.h>

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
    char *script;                   /* of --replay, or NULL */
    struct kvs_param_value *params; /* cfg's, with @fd:N replaced by what was read there */
    char **read_values;             /* those, owned; as many as params */
    json_t *secrets;                /* names of the secret parameters */
    json_t *probe;                  /* what the probe reported */
    json_t *store;                  /* hooks and variants, for the wire; NULL: none */
    struct journal journal;
    char *identity;       /* of the target, for the journal */
    bool keys_left;       /* a sweep has failed */
    bool stopped;         /* the caller has asked for it */
    size_t nunstarted;    /* then: cases that did not run, or not to their end */
    bool foreign_waits;   /* keys of others are in the store, for the case that looks for them */
    char *foreign_why;    /* why they could not be put, or NULL */
    json_t *foreign_keys; /* those that were put, as a sweep takes them; or NULL */
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

/** kvs_conform_run, which also tells each of what came of every selected case. */
int run_suite(const struct kvs_conform_config *cfg, struct kvs_conform_summary *out, struct kvs_error *err,
              void (*each)(void *arg, const struct run_row *row), void *arg);
/** Looks at the target in a process of its own: names of secrets, name, version, limits. */
int run_look(struct run *r, struct kvs_error *err);
/** Runs all rows and prints them as they end. */
int run_rows(struct run *r, struct kvs_error *err);
/** The request for one process; to be freed. role: of a helper, or NULL. NULL: not encodable. */
char *run_request(const struct run *r, const char *case_id, const char *role, const char *prefix,
                  unsigned round, uint64_t timeout_ns, const json_t *keys);
/** Runs an errand for keys under a prefix and gives the member of its report that it is sent for. */
int run_errand(const struct run *r, const char *prefix, const json_t *keys, const char *id,
               const char *member, const char *what, json_t **answer, struct kvs_error *err);
struct child;
/** Waits for the child's end. */
void run_wait(struct child *c);
/** Why a child ended that reported neither success nor an error. */
int run_say_silent(const struct run *r, const struct child *c, const char *what, struct kvs_error *err);
/** Is the row skipped or waived; it then has its reason. */
bool run_leaves_out(const struct run *r, const struct run_row *row);
/** Removes what runs on this target have left that were killed. */
void run_sweep_dead(struct run *r);
uint64_t run_timeout(const struct run *r, uint64_t seconds);

/* foreign.c */
/** Puts keys of others into a store that keeps them, where the case that looks for them will run. */
void run_put_foreign(struct run *r);
/** Removes those that this case has not removed. */
void run_remove_foreign(struct run *r);

/* table.c */
void table_head(const struct run *r);
void table_row(const struct run *r, const struct run_row *row);
/** A sentence about the run. */
void table_note(const struct run *r, const char *fmt, ...) KVS_PRINTF(2, 3);
int table_end(const struct run *r);
/** The command that runs one case again; to be freed. */
char *table_reproduce(const struct run *r, const struct run_row *row);

/* report.c */
/** Writes the JSON report, or the same as JUnit XML. `file` is replaced whole, if it is a regular one. */
int report_write(const struct run *r, const char *file, struct kvs_error *err);
int report_write_junit(const struct run *r, const char *file, struct kvs_error *err);
int report_write_html(const struct run *r, const char *file, struct kvs_error *err);
/** The report; NULL: no memory. */
json_t *report_json(const struct run *r);
/** Prints it (junit.c, html.c); not 0 where that fails. */
int report_print_junit(const struct run *r, FILE *f);
int report_print_html(const struct run *r, FILE *f);
/** A text inside an element or an attribute of XML or HTML. */
void report_escape(FILE *f, const char *text);
/** Can the report be written there. */
int report_check(const char *file, struct kvs_error *err);

#endif
