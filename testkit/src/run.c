/* SPDX-License-Identifier: Apache-2.0 */
/* The runner: what a run is made of, from its configuration to its verdict. */
#include "run.h"
#include "expect.h"
#include "launch.h"
#include "registry.h"
#include "say.h"
#include "script.h"
#include "waiver.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

void kvs_conform_config_init(struct kvs_conform_config *cfg)
{
    memset(cfg, 0, sizeof(*cfg));
    cfg->size = sizeof(*cfg);
}

static int check_config(const struct kvs_conform_config *cfg, struct kvs_error *err)
{
    if (!cfg || cfg->size != sizeof(*cfg))
        return say(err, KVS_INVALID_PARAM, "the configuration is NULL, or its size is not %zu", sizeof(*cfg));
    if (!cfg->target && !cfg->plugin_file)
        return say(err, KVS_INVALID_PARAM, "a target or a plugin file is needed");
    if (!(cfg->timeout_multiplier >= 0 && cfg->timeout_multiplier <= 1e6))
        return say(err, KVS_INVALID_PARAM, "timeout_multiplier is %g; a number from 0 to 1000000 is needed",
                   cfg->timeout_multiplier);
    for (size_t i = 0; i < cfg->nparams; i++)
        if (!cfg->params || !cfg->params[i].name || !cfg->params[i].value)
            return say(err, KVS_INVALID_PARAM, "parameter %zu has no name or no value", i);
    return waivers_check(cfg->waivers, cfg->nwaivers, err);
}

/* Every part of a list must name something: a slip of the pen must not test less than was meant. */
static int check_list(const char *list, const char *what, struct kvs_error *err)
{
    for (const char *p = list ? list : ""; *p;) {
        char one[128];
        size_t n = strcspn(p, ","), i = 0;
        const struct kit_case *row;
        snprintf(one, sizeof(one), "%.*s", (int)(n < sizeof(one) ? n : sizeof(one) - 1), p);
        while ((row = registry_at(i)) != NULL && !select_matches(one, row))
            i++;
        if (!row)
            return say(err, KVS_INVALID_PARAM, "%s '%s' matches no case; the nearest id is %s", what, one,
                       registry_nearest(one));
        p += n + (p[n] == ',');
    }
    return KVS_OK;
}

/* The file's steps become the script of the one case that replays them. */
static int select_replay(struct run *r, struct kvs_error *err)
{
    struct script script;
    int rc = script_load(r->cfg->replay_file, &script, err);
    if (rc != KVS_OK)
        return rc;
    r->script = script_text(&script);
    script_free(&script);
    r->rows = calloc(1, sizeof(*r->rows));
    if (!r->rows || !r->script)
        return say(err, KVS_NO_MEMORY, "no memory for the script");
    r->rows[r->nrows++].row = &case_replay;
    return KVS_OK;
}

static int select_rows(struct run *r, struct kvs_error *err)
{
    const struct kit_case *row;
    if (r->cfg->replay_file)
        return select_replay(r, err);
    const char *filter = r->cfg->filter;
    int rc = check_list(filter, "filter", err);
    if (rc == KVS_OK)
        rc = check_list(r->cfg->skip, "skip", err);
    if (rc != KVS_OK)
        return rc;
    r->rows = calloc(registry_count(), sizeof(*r->rows));
    if (!r->rows)
        return say(err, KVS_NO_MEMORY, "no memory for %zu cases", registry_count());
    for (size_t i = 0; (row = registry_at(i)) != NULL; i++)
        if (!filter || select_matches(filter, row) ||
            (r->cfg->expect_file && strcmp(row->id, EXPECT_CASE) == 0))
            r->rows[r->nrows++].row = row;
    if (r->nrows == 0)
        return say(err, KVS_INVALID_PARAM, "filter '%s' matches no case", filter ? filter : "");
    return KVS_OK;
}

static int draw(void *to, size_t len, struct kvs_error *err)
{
    if (getrandom(to, len, 0) != (ssize_t)len)
        return say(err, KVS_BACKEND, "no random numbers from the system: %s", strerror(errno));
    return KVS_OK;
}

static void put_command(json_t *hooks, const char *name, const char *command)
{
    if (command)
        json_object_set_new(hooks, name, json_string(command));
}

/* Hooks and variants, as the cases' processes get them. */
static int collect_store(struct run *r, struct kvs_error *err)
{
    const struct kvs_conform_hooks *h = &r->cfg->hooks;
    json_t *hooks = json_object(), *variants = json_object();
    put_command(hooks, "start", h->start);
    put_command(hooks, "stop", h->stop);
    put_command(hooks, "kill", h->kill);
    put_command(hooks, "pause", h->pause);
    put_command(hooks, "resume", h->resume);
    for (size_t i = 0; i < r->cfg->nvariants; i++) {
        const struct kvs_conform_variant *v = &r->cfg->variants[i];
        json_t *pairs = json_array();
        for (size_t j = 0; j < v->nparams; j++)
            json_array_append_new(pairs, json_pack("[s, s]", v->params[j].name, v->params[j].value));
        json_object_set_new(variants, v->name, pairs);
    }
    r->store = json_pack("{s:o, s:o}", "hooks", hooks, "variants", variants);
    if (!r->store)
        return say(err, KVS_INVALID_PARAM, "a hook or a variant is not UTF-8");
    json_t *expected = NULL;
    int rc = r->cfg->expect_file ? expect_read(r->cfg->expect_file, &expected, err) : KVS_OK;
    if (expected)
        json_object_set_new(r->store, "expect", expected);
    return rc;
}

static int prepare(struct run *r, const struct kvs_conform_config *cfg, struct kvs_error *err)
{
    uint64_t drawn[2] = {0};
    memset(r, 0, sizeof(*r));
    r->journal.fd = -1;
    int rc = check_config(cfg, err);
    r->cfg = cfg;
    if (rc == KVS_OK)
        rc = select_rows(r, err);
    if (rc == KVS_OK)
        rc = launch_find_program(cfg->case_program, &r->program, err);
    if (rc == KVS_OK && cfg->json_file)
        rc = report_check(cfg->json_file, err);
    if (rc == KVS_OK && cfg->junit_file)
        rc = report_check(cfg->junit_file, err);
    if (rc == KVS_OK && cfg->html_file)
        rc = report_check(cfg->html_file, err);
    if (rc == KVS_OK)
        rc = collect_store(r, err);
    if (rc == KVS_OK)
        rc = draw(drawn, sizeof(drawn), err);
    if (rc != KVS_OK)
        return rc;
    r->multiplier = cfg->timeout_multiplier > 0 ? cfg->timeout_multiplier : 1;
    r->jobs = cfg->jobs ? cfg->jobs : 1;
    r->repeat = cfg->repeat ? cfg->repeat : 1;
    /* Short enough for people to type, and for a JSON number to hold. */
    r->seed = cfg->seed ? cfg->seed : 1 + drawn[0] % 999999999;
    snprintf(r->run_prefix, sizeof(r->run_prefix), "kc%08x.", (unsigned)drawn[1]);
    return KVS_OK;
}

uint64_t run_timeout(const struct run *r, uint64_t seconds)
{
    return (uint64_t)((double)KVS_SEC(seconds) * r->multiplier);
}

static void judge(struct run *r)
{
    bool failed = false, partial = false;
    for (size_t i = 0; i < r->nrows; i++) {
        const struct run_row *row = &r->rows[i];
        r->counts[row->outcome]++;
        failed |= row->outcome == KVS_CONFORM_FAIL || row->outcome == KVS_CONFORM_CRASH ||
                  row->outcome == KVS_CONFORM_TIMEOUT;
        partial |= row->outcome == KVS_CONFORM_SKIPPED ||
                   (row->outcome == KVS_CONFORM_NOT_SUPPORTED && row->row->profile == KVS_CONFORM_CORE);
    }
    partial |= r->counts[KVS_CONFORM_PASS] == 0;
    r->verdict = failed    ? KVS_CONFORM_VERDICT_FAIL
                 : partial ? KVS_CONFORM_VERDICT_PARTIAL
                           : KVS_CONFORM_VERDICT_PASS;
    r->conformant = r->verdict == KVS_CONFORM_VERDICT_PASS && r->nrows == registry_count() &&
                    !(r->limits.flags & KVS_F_EMULATED);
}

static void summarise(const struct run *r, struct kvs_conform_summary *out)
{
    if (!out)
        return;
    size_t size = out->size;
    struct kvs_conform_summary sum = {.size = size,
                                      .verdict = r->verdict,
                                      .total = (uint32_t)r->nrows,
                                      .conformant = r->conformant,
                                      .seed = r->seed,
                                      .duration_ms = r->duration_ms};
    memcpy(sum.counts, r->counts, sizeof(sum.counts));
    memcpy(out, &sum, size < sizeof(sum) ? size : sizeof(sum));
}

static int conclude(struct run *r, struct kvs_conform_summary *out, struct kvs_error *err)
{
    r->duration_ms = (kit_now() - r->started_ns) / 1000000u;
    judge(r);
    summarise(r, out);
    int rc = table_end(r);
    if (rc != KVS_OK)
        say(err, rc, "the table cannot be written");
    const struct {
        const char *file;
        int (*write)(const struct run *r, const char *file, struct kvs_error *err);
    } reports[] = {{r->cfg->json_file, report_write},
                   {r->cfg->junit_file, report_write_junit},
                   {r->cfg->html_file, report_write_html}};
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
        int written = reports[i].file ? reports[i].write(r, reports[i].file, err) : KVS_OK;
        rc = written != KVS_OK ? written : rc;
    }
    if (rc == KVS_OK && r->verdict == KVS_CONFORM_VERDICT_FAIL)
        rc = say(err, KVS_MISMATCH, "%u of %zu cases failed",
                 r->counts[KVS_CONFORM_FAIL] + r->counts[KVS_CONFORM_CRASH] + r->counts[KVS_CONFORM_TIMEOUT],
                 r->nrows);
    else if (rc == KVS_OK && r->cfg->strict && r->verdict == KVS_CONFORM_VERDICT_PARTIAL && !r->stopped)
        rc = say(err, KVS_MISMATCH,
                 "the verdict is partial: %u of %zu cases passed, %u are not supported, %u were skipped",
                 r->counts[KVS_CONFORM_PASS], r->nrows, r->counts[KVS_CONFORM_NOT_SUPPORTED],
                 r->counts[KVS_CONFORM_SKIPPED]);
    else if (rc == KVS_OK && r->stopped)
        rc = say(err, KVS_CANCELED, "the run was ended early; %zu of %zu cases did not run to their end",
                 r->nunstarted, r->nrows);
    return rc;
}

static void dispose(struct run *r)
{
    for (size_t i = 0; i < r->nrows; i++) {
        free(r->rows[i].reason);
        free(r->rows[i].output);
        free(r->rows[i].threads);
    }
    for (size_t i = 0; r->read_values && i < r->cfg->nparams; i++)
        free(r->read_values[i]);
    free(r->read_values);
    free(r->params);
    free(r->rows);
    free(r->program);
    free(r->script);
    free(r->shown_target);
    mask_free(&r->mask);
    json_decref(r->secrets);
    json_decref(r->probe);
    json_decref(r->store);
    json_decref(r->foreign_keys);
    free(r->foreign_why);
    free(r->identity);
}

int run_suite(const struct kvs_conform_config *cfg, struct kvs_conform_summary *out, struct kvs_error *err,
              void (*each)(void *arg, const struct run_row *row), void *arg)
{
    struct run r;
    if (out && out->size < sizeof(out->size))
        return say(err, KVS_INVALID_PARAM, "the summary's size is not set");
    int rc = prepare(&r, cfg, err);
    r.started_ns = kit_now();
    if (rc == KVS_OK)
        rc = run_look(&r, err);
    if (rc == KVS_OK && cfg->state_dir) {
        struct kvs_error why = {0};
        run_sweep_dead(&r);
        if (journal_open(&r.journal, cfg->state_dir, r.run_prefix, r.identity, &why) != KVS_OK)
            table_note(&r, "%s; should this run be killed, its keys stay", why.text);
    }
    if (rc == KVS_OK) {
        table_head(&r);
        for (size_t i = 0; i < cfg->nwaivers; i++)
            if (waiver_expired(&cfg->waivers[i]))
                table_note(&r, "the waiver of %s expired on %s: it runs", cfg->waivers[i].id,
                           cfg->waivers[i].expires);
        rc = run_rows(&r, err);
    }
    journal_close(&r.journal, rc == KVS_OK && !r.keys_left);
    if (rc == KVS_OK)
        rc = conclude(&r, out, err);
    for (size_t i = 0; each && r.started_ns && i < r.nrows; i++)
        each(arg, &r.rows[i]);
    if (cfg)
        dispose(&r);
    return rc;
}

int kvs_conform_run(const struct kvs_conform_config *cfg, struct kvs_conform_summary *out,
                    struct kvs_error *err)
{
    return run_suite(cfg, out, err, NULL, NULL);
}
