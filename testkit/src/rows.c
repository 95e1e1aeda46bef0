/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of a run: started up to `jobs` at once, judged by report and end, swept after, printed in order.
 */
#include "caps.h"
#include "child.h"
#include "judge.h"
#include "registry.h"
#include "run.h"
#include "say.h"
#include "waiver.h"
#include <stdio.h>
#include <stdlib.h>

#define SWEEP_TIMEOUT_S 15
#define GRACE_S         2 /* between TERM and KILL */

/* A place for one process at a time. */
struct slot {
    struct run_row *row; /* NULL: free */
    bool sweeping;
    size_t nnoted; /* of the child's reports: what the journal has seen */
    char prefix[40];
    json_t *keys; /* to sweep beside the prefix */
    struct child child;
};

static void set_reason(struct run_row *row, const char *fmt, ...) KVS_PRINTF(2, 3);
static void set_reason(struct run_row *row, const char *fmt, ...)
{
    va_list ap;
    free(row->reason);
    va_start(ap, fmt);
    if (vasprintf(&row->reason, fmt, ap) < 0)
        row->reason = NULL;
    va_end(ap);
}

bool run_leaves_out(const struct run *r, const struct run_row *row)
{
    return (r->cfg->skip && select_matches(r->cfg->skip, row->row)) ||
           waiver_of(r->cfg->waivers, r->cfg->nwaivers, row->row->id);
}

/* A case that the capabilities rule out needs no process. */
static bool ruled_out(const struct run *r, struct run_row *row)
{
    char names[256];
    if (r->cfg->skip && !r->cfg->replay_file && select_matches(r->cfg->skip, row->row)) {
        row->outcome = KVS_CONFORM_SKIPPED;
        set_reason(row, "asked for");
        return true;
    }
    const struct kvs_conform_waiver *w = waiver_of(r->cfg->waivers, r->cfg->nwaivers, row->row->id);
    if (w) {
        row->outcome = KVS_CONFORM_SKIPPED;
        set_reason(row, "waived up to %s: %s", w->expires, w->reason);
        return true;
    }
    if (row->row->foreign && r->foreign_why) {
        row->outcome = KVS_CONFORM_FAIL;
        set_reason(row, "%s", r->foreign_why);
        return true;
    }
    uint64_t missing = row->row->needs & ~caps_present(&r->limits, row->row->needs);
    uint64_t unwanted = caps_present(&r->limits, row->row->absent);
    if (missing || unwanted) {
        caps_names(missing ? missing : unwanted, names, sizeof(names));
        set_reason(row,
                   missing ? "the store does not have the capability %s" : "the store has the capability %s",
                   names);
        row->outcome = KVS_CONFORM_NOT_SUPPORTED;
        return true;
    }
    return false;
}

static char *without_secrets(const struct run *r, char *text, size_t len)
{
    char *clean = text ? mask_text(&r->mask, text, &len) : NULL;
    free(text);
    return clean;
}

static void keep_texts(const struct run *r, struct run_row *row, const struct child *c)
{
    size_t len = 0;
    char *text = child_output_text(c, &len);
    free(row->output);
    free(row->threads);
    for (size_t i = 0; text && i < len; i++)
        if (text[i] == '\0')
            text[i] = '?';
    row->output = without_secrets(r, text, len);
    row->threads = c->threads ? strdup(c->threads) : NULL;
    if (row->reason)
        row->reason = without_secrets(r, row->reason, strlen(row->reason));
}

static json_t *reported_keys(const struct child *c)
{
    json_t *keys = json_array(), *report;
    size_t i;
    json_array_foreach(c->reports, i, report)
    {
        json_t *key = json_object_get(report, "key");
        if (key)
            json_array_append(keys, key);
    }
    return keys;
}

/* Notes the keys that a case has announced, before anything can go wrong with the runner. */
static void note_keys(struct run *r, struct slot *s)
{
    for (; s->nnoted < json_array_size(s->child.reports); s->nnoted++) {
        const char *hex =
            json_string_value(json_object_get(json_array_get(s->child.reports, s->nnoted), "key"));
        if (hex)
            journal_key(&r->journal, hex);
    }
}

static int start_case(struct run *r, struct slot *s, struct run_row *row, struct kvs_error *err)
{
    uint64_t timeout = run_timeout(r, row->row->timeout_s ? row->row->timeout_s : KIT_TIMEOUT_S);
    row->round++;
    s->row = row;
    s->sweeping = false;
    s->nnoted = 0;
    snprintf(s->prefix, sizeof(s->prefix), "%s%zx.", r->run_prefix, (size_t)(row - r->rows));
    json_object_set_new(r->store, "foreign", json_boolean(row->row->foreign && r->foreign_waits));
    r->foreign_waits &= !row->row->foreign; /* it removes them: a further round puts its own */
    char *request = run_request(r, row->row->id, NULL, s->prefix, row->round, timeout, NULL);
    if (!request)
        return say(err, KVS_NO_MEMORY, "no memory for case %s", row->row->id);
    return child_start(&s->child, r->program, row->row->id, request, timeout, run_timeout(r, GRACE_S), err);
}

/* Starts the removal of what a case left behind. False where there is nothing that can be done. */
static bool start_sweep(struct run *r, struct slot *s)
{
    uint64_t timeout = run_timeout(r, SWEEP_TIMEOUT_S);
    bool listable = caps_have(&r->limits, KVS_CAP_LIST), restore = s->row->row->alone;
    bool removable = caps_have(&r->limits, KVS_CAP_REMOVE) && (listable || json_array_size(s->keys) > 0);
    if (!removable && !restore)
        return false;
    json_object_set_new(r->store, "restore", json_boolean(restore));
    char *request = run_request(r, WIRE_SWEEP, NULL, s->prefix, 0, timeout, s->keys);
    struct kvs_error err;
    s->sweeping = true;
    return request && child_start(&s->child, r->program, WIRE_SWEEP, request, timeout,
                                  run_timeout(r, GRACE_S), &err) == KVS_OK;
}

static void note_sweep(struct run *r, struct run_row *row, const struct child *c)
{
    const json_t *said = child_report(c, "outcome");
    if (said && json_integer_value(said) == KVS_CONFORM_PASS)
        return;
    const char *why = json_string_value(json_object_get(child_report(c, "error"), "text"));
    r->keys_left = true;
    char *reason = row->reason;
    row->reason = NULL;
    set_reason(row, "%s; its keys may still be in the store: the process that removes them %s",
               reason ? reason : "",
               why                      ? why
               : c->stage != CHILD_RUNS ? "did not end in its time"
                                        : "died");
    row->reason = without_secrets(r, row->reason, row->reason ? strlen(row->reason) : 0);
    free(reason);
}

static void interrupted(struct run *r, struct run_row *row)
{
    row->outcome = KVS_CONFORM_SKIPPED;
    set_reason(row, "the run was ended early");
    row->done = true;
    r->nunstarted++;
}

/* One process of a slot is over: what comes next in it. False: the slot is free. */
static bool go_on(struct run *r, struct slot *s, struct kvs_error *err, int *rc)
{
    struct run_row *row = s->row;
    struct child *c = &s->child;
    bool again = false;
    if (s->sweeping) {
        note_sweep(r, row, c);
        child_free(c);
    } else {
        row->duration_ms += (c->ended_ns - c->started_ns) / 1000000u;
        note_keys(r, s);
        free(row->reason);
        row->outcome = judge_child(c, &row->reason);
        keep_texts(r, row, c);
        if (r->stopped && row->outcome == KVS_CONFORM_TIMEOUT)
            interrupted(r, row);
        s->keys = reported_keys(c);
        child_free(c);
        bool clean = row->outcome == KVS_CONFORM_PASS || row->outcome == KVS_CONFORM_NOT_SUPPORTED;
        if (!clean && start_sweep(r, s))
            return true;
        again =
            row->outcome == KVS_CONFORM_PASS && row->round < r->repeat && !r->cfg->until_fail && !r->stopped;
    }
    json_decref(s->keys);
    s->keys = NULL;
    if (again && (*rc = start_case(r, s, row, err)) == KVS_OK)
        return true;
    if ((r->repeat > 1 || r->cfg->until_fail) && row->outcome != KVS_CONFORM_PASS && row->reason) {
        char *reason = row->reason;
        row->reason = NULL;
        set_reason(row, "in round %u: %s", row->round, reason);
        free(reason);
    }
    row->done = true;
    s->row = NULL;
    return false;
}

static bool is_failure(const struct run_row *row)
{
    return row->outcome == KVS_CONFORM_FAIL || row->outcome == KVS_CONFORM_CRASH ||
           row->outcome == KVS_CONFORM_TIMEOUT;
}

/* Until one fails, only what fails is worth a line. */
static void print_done(struct run *r, size_t *printed)
{
    for (; *printed < r->nrows && r->rows[*printed].done; (*printed)++)
        if (!r->cfg->until_fail || is_failure(&r->rows[*printed]))
            table_row(r, &r->rows[*printed]);
}

/* May the next case start while so many run. */
static bool has_turn(const struct slot *slots, unsigned jobs, const struct run_row *next)
{
    for (unsigned i = 0; i < jobs; i++)
        if (slots[i].row && (next->row->alone || slots[i].row->row->alone))
            return false;
    return true;
}

/* Ends what runs, once the caller asks for it. */
static void look_for_stop(struct run *r, struct slot *slots)
{
    if (r->stopped || !r->cfg->stop || !*r->cfg->stop)
        return;
    r->stopped = true;
    for (unsigned i = 0; i < r->jobs; i++)
        if (slots[i].row && !slots[i].sweeping)
            slots[i].child.deadline_ns = kit_now();
}

/* Gives free slots their next case. How many slots are in use. */
static size_t fill(struct run *r, struct slot *slots, size_t *next, struct kvs_error *err, int *rc)
{
    size_t used = 0;
    for (unsigned i = 0; i < r->jobs; i++) {
        while (!slots[i].row && *next < r->nrows && *rc == KVS_OK &&
               (r->stopped || has_turn(slots, r->jobs, &r->rows[*next]))) {
            struct run_row *row = &r->rows[(*next)++];
            if (r->stopped)
                interrupted(r, row);
            else if (ruled_out(r, row))
                row->done = true;
            else if ((*rc = start_case(r, &slots[i], row, err)) != KVS_OK) {
                child_free(&slots[i].child);
                slots[i].row = NULL;
            }
        }
        used += slots[i].row != NULL;
    }
    return used;
}

static void wait_any(struct run *r, struct slot *slots, struct pollfd *fds)
{
    size_t n = 0;
    int tick = 20;
    for (unsigned i = 0; i < r->jobs; i++) {
        if (!slots[i].row)
            continue;
        n += child_poll(&slots[i].child, fds + n);
        int t = child_tick(&slots[i].child);
        tick = t < tick ? t : tick;
    }
    poll(fds, n, tick);
}

/* All cases once, or each of them `repeat` times. */
static int run_pass(struct run *r, struct slot *slots, struct pollfd *fds, struct kvs_error *err)
{
    size_t next = 0, printed = 0;
    int rc = KVS_OK;
    look_for_stop(r, slots);
    run_put_foreign(r);
    while (look_for_stop(r, slots), fill(r, slots, &next, err, &rc) > 0) {
        wait_any(r, slots, fds);
        for (unsigned i = 0; i < r->jobs; i++) {
            bool over = slots[i].row && child_step(&slots[i].child);
            if (slots[i].row && !slots[i].sweeping)
                note_keys(r, &slots[i]);
            if (over && !go_on(r, &slots[i], err, &rc))
                slots[i].row = NULL;
        }
        print_done(r, &printed);
    }
    print_done(r, &printed);
    return rc;
}

/* Has a pass of --until-fail to be followed by another one. */
static bool goes_on(struct run *r, unsigned pass)
{
    if (!r->cfg->until_fail || r->stopped || (r->repeat > 1 && pass >= r->repeat))
        return false;
    for (size_t i = 0; i < r->nrows; i++)
        if (is_failure(&r->rows[i]))
            return false;
    table_note(r, "round %u: nothing failed", pass);
    for (size_t i = 0; i < r->nrows; i++)
        r->rows[i].done = false;
    return true;
}

int run_rows(struct run *r, struct kvs_error *err)
{
    if (r->jobs > r->nrows)
        r->jobs = (unsigned)r->nrows;
    struct slot *slots = calloc(r->jobs, sizeof(*slots));
    struct pollfd *fds = calloc(3 * (size_t)r->jobs, sizeof(*fds));
    int rc = slots && fds ? KVS_OK : say(err, KVS_NO_MEMORY, "no memory for %u cases at once", r->jobs);
    unsigned pass = 0;
    do
        pass++;
    while (rc == KVS_OK && (rc = run_pass(r, slots, fds, err)) == KVS_OK && goes_on(r, pass));
    run_remove_foreign(r);
    free(slots);
    free(fds);
    return rc;
}
