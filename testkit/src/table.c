/* SPDX-License-Identifier: Apache-2.0 */
/* The run as text for people. */
#include "run.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const outcome_names[] = {"PASS", "FAIL", "SKIPPED", "NOT_SUPPORTED", "CRASH", "TIMEOUT"};
static const char *const verdict_names[] = {"pass", "partial", "fail"};

const char *kvs_conform_outcome_name(uint32_t outcome)
{
    return outcome < sizeof(outcome_names) / sizeof(outcome_names[0]) ? outcome_names[outcome] : "?";
}

const char *kvs_conform_verdict_name(uint32_t verdict)
{
    return verdict < sizeof(verdict_names) / sizeof(verdict_names[0]) ? verdict_names[verdict] : "?";
}

void table_head(const struct run *r)
{
    FILE *out = r->cfg->out;
    if (!out)
        return;
    fprintf(out, "kvslot conformance suite %s: %s, backend %s %s%s\n", KVS_VERSION_TEXT, r->shown_target,
            json_string_value(json_object_get(r->probe, "name")),
            json_string_value(json_object_get(r->probe, "version")),
            r->limits.flags & KVS_F_EMULATED ? " (not the real store)" : "");
    fprintf(out, "seed %llu, keys under %s\n\n", (unsigned long long)r->seed, r->run_prefix);
    fflush(out);
}

void table_note(const struct run *r, const char *fmt, ...)
{
    va_list ap;
    if (!r->cfg->out)
        return;
    va_start(ap, fmt);
    vfprintf(r->cfg->out, fmt, ap);
    va_end(ap);
    fputc('\n', r->cfg->out);
    fflush(r->cfg->out);
}

/* Every line of a text, moved in. */
static void indented(FILE *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        fprintf(out, "      | %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* A word as a shell takes it. */
static void quoted(FILE *out, const char *word)
{
    if (word[0] && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@+%") ==
                       strlen(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
    fputc('\'', out);
}

/* The command with the run's target and parameters; `script`: one that replays a script. */
static char *command(const struct run *r, const struct run_row *row, const char *script)
{
    char *line = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&line, &len);
    if (!f)
        return NULL;
    fputs("kvslot conform ", f);
    quoted(f, r->cfg->plugin_file ? r->cfg->plugin_file : r->shown_target);
    if (script) {
        fputs(" --replay ", f);
        quoted(f, script);
    } else {
        fprintf(f, " --filter %s --seed %llu", row->row->id, (unsigned long long)r->seed);
    }
    if (r->cfg->config_file) {
        fputs(" --config ", f);
        quoted(f, r->cfg->config_file);
    }
    if (r->cfg->expect_file && !script) {
        fputs(" --expect ", f);
        quoted(f, r->cfg->expect_file);
    }
    if (r->cfg->repeat > 1)
        fprintf(f, " --repeat %u", r->cfg->repeat);
    for (size_t i = 0; i < r->cfg->nparams; i++) {
        fputs(" -p ", f);
        fprintf(f, "%s=", r->cfg->params[i].name);
        quoted(f, mask_value(&r->mask, &r->cfg->params[i]));
    }
    if (fclose(f) != 0) {
        free(line);
        return NULL;
    }
    return line;
}

char *table_reproduce(const struct run *r, const struct run_row *row)
{
    return command(r, row, r->cfg->replay_file);
}

void table_row(const struct run *r, const struct run_row *row)
{
    FILE *out = r->cfg->out;
    if (!out)
        return;
    fprintf(out, "%-13s %-29s %s (%llu ms)\n", kvs_conform_outcome_name(row->outcome), row->row->id,
            row->row->title, (unsigned long long)row->duration_ms);
    if (row->outcome != KVS_CONFORM_PASS && row->reason)
        fprintf(out, "      %s\n", row->reason);
    if (row->outcome == KVS_CONFORM_FAIL || row->outcome == KVS_CONFORM_CRASH ||
        row->outcome == KVS_CONFORM_TIMEOUT) {
        char *again = table_reproduce(r, row);
        if (row->output)
            indented(out, row->output);
        if (row->threads)
            indented(out, row->threads);
        fprintf(out, "      requirements: %s\n", row->row->requirements);
        fprintf(out, "      again: %s\n", again ? again : "?");
        free(again);
        if (row->row->replays && (again = command(r, row, "FILE")) != NULL) {
            fprintf(out, "      its steps, kept as FILE: %s\n", again);
            free(again);
        }
    }
    fflush(out);
}

int table_end(const struct run *r)
{
    FILE *out = r->cfg->out;
    if (!out)
        return KVS_OK;
    fprintf(out, "\n%u passed, %u failed, %u crashed, %u timed out, %u not supported, %u skipped in %.1f s\n",
            r->counts[KVS_CONFORM_PASS], r->counts[KVS_CONFORM_FAIL], r->counts[KVS_CONFORM_CRASH],
            r->counts[KVS_CONFORM_TIMEOUT], r->counts[KVS_CONFORM_NOT_SUPPORTED],
            r->counts[KVS_CONFORM_SKIPPED], (double)r->duration_ms / 1e3);
    fprintf(out, "verdict: %s%s\n", kvs_conform_verdict_name(r->verdict),
            r->conformant                            ? ", conformant"
            : r->verdict != KVS_CONFORM_VERDICT_PASS ? ""
            : r->limits.flags & KVS_F_EMULATED       ? " (not called conformant: this is not the real store)"
                                                     : " (not called conformant: not the whole suite ran)");
    return fflush(out) != 0 || ferror(out) ? KVS_IO : KVS_OK;
}
