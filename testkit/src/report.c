/* SPDX-License-Identifier: Apache-2.0 */
/* The run as JSON for programs. */
#include "about.h"
#include "caps.h"
#include "run.h"
#include "saved.h"
#include "say.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static json_t *text_json(const char *text)
{
    return text ? wire_text(text, strlen(text)) : json_null();
}

static void put_cap(void *arg, const char *name, uint64_t cap)
{
    void **both = arg;
    json_object_set_new(both[0], name, json_string(caps_state(both[1], cap)));
}

static json_t *capabilities(const struct kvs_limits *limits)
{
    struct kvs_limits copy = *limits;
    json_t *json = json_object();
    void *both[2] = {json, &copy};
    caps_each(put_cap, both);
    return json;
}

static json_t *limits_json(const struct kvs_limits *l)
{
    /* More than JSON's readers take is no limit that anybody will meet. */
    uint64_t max_value = l->max_value < INT64_MAX ? l->max_value : INT64_MAX;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s}", "min_key", (json_int_t)l->min_key, "max_key",
                     (json_int_t)l->max_key, "max_value", (json_int_t)max_value, "max_batch",
                     (json_int_t)l->max_batch, "max_iov", (json_int_t)l->max_iov, "thread_model",
                     l->thread_model == KVS_THREADS_PARALLEL ? "parallel" : "serial");
}

static json_t *words(const char *text)
{
    json_t *list = json_array();
    while (*(text += strspn(text, " "))) {
        size_t n = strcspn(text, " ");
        json_array_append_new(list, json_stringn(text, n));
        text += n;
    }
    return list;
}

static json_t *row_json(const struct run *r, const struct run_row *row)
{
    bool bad = row->outcome == KVS_CONFORM_FAIL || row->outcome == KVS_CONFORM_CRASH ||
               row->outcome == KVS_CONFORM_TIMEOUT;
    json_t *json = json_pack("{s:s, s:s, s:o, s:o, s:s, s:s, s:I, s:i}", "id", row->row->id, "title",
                             row->row->title, "requirements", words(row->row->requirements), "tags",
                             words(row->row->tags ? row->row->tags : ""), "profile",
                             row->row->profile == KVS_CONFORM_CORE ? "core" : "extended", "outcome",
                             kvs_conform_outcome_name(row->outcome), "duration_ms",
                             (json_int_t)row->duration_ms, "rounds", (int)row->round);
    if (row->outcome != KVS_CONFORM_PASS)
        json_object_set_new(json, "reason", text_json(row->reason));
    if (bad) {
        char *again = table_reproduce(r, row);
        json_object_set_new(json, "output", text_json(row->output));
        json_object_set_new(json, "threads", text_json(row->threads));
        json_object_set_new(json, "reproduce", text_json(again));
        free(again);
    }
    return json;
}

static json_t *parameters(const struct run *r)
{
    json_t *json = json_object();
    for (size_t i = 0; i < r->cfg->nparams; i++)
        json_object_set_new(json, r->cfg->params[i].name,
                            text_json(mask_value(&r->mask, &r->cfg->params[i])));
    return json;
}

/* How many cases of a profile (or of all: -1) have each outcome. */
static json_t *counts_json(const struct run *r, int profile)
{
    uint32_t counts[6] = {0}, total = 0;
    for (size_t i = 0; i < r->nrows; i++) {
        if (profile >= 0 && r->rows[i].row->profile != (uint32_t)profile)
            continue;
        counts[r->rows[i].outcome]++;
        total++;
    }
    json_t *json = json_pack("{s:i}", "total", (int)total);
    for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        json_object_set_new(json, kvs_conform_outcome_name(i), json_integer(counts[i]));
    return json;
}

static void put(json_t *json, const char *name, json_t *value)
{
    json_object_set_new(json, name, value ? value : json_null());
}

json_t *report_json(const struct run *r)
{
    char seed[24];
    json_t *json = json_object(), *cases = json_array();
    snprintf(seed, sizeof(seed), "%llu",
             (unsigned long long)r->seed); /* a double would not hold every seed */
    for (size_t i = 0; i < r->nrows; i++)
        json_array_append_new(cases, row_json(r, &r->rows[i]));
    put(json, "report_format", json_integer(SAVED_FORMAT));
    put(json, "suite", json_pack("{s:s, s:s}", "name", "kvslot", "version", KVS_VERSION_TEXT));
    put(json, "sdk", json_pack("{s:s}", "version", kvs_version()));
    put(json, "date", about_now());
    put(json, "verdict", json_string(kvs_conform_verdict_name(r->verdict)));
    put(json, "profile", json_string("core"));
    put(json, "conformant", json_boolean(r->conformant));
    put(json, "target", text_json(r->shown_target));
    put(json, "plugin", text_json(r->cfg->plugin_file));
    put(json, "parameters", parameters(r));
    put(json, "backend",
        json_pack("{s:O, s:O, s:b, s:o}", "name", json_object_get(r->probe, "name"), "version",
                  json_object_get(r->probe, "version"), "emulated", (r->limits.flags & KVS_F_EMULATED) != 0,
                  "file", about_file(json_string_value(json_object_get(r->probe, "file")))));
    put(json, "machine", about_machine());
    put(json, "capabilities", capabilities(&r->limits));
    put(json, "limits", limits_json(&r->limits));
    put(json, "seed", json_string(seed));
    put(json, "timeout_multiplier", json_real(r->multiplier));
    put(json, "filter", text_json(r->cfg->filter));
    put(json, "skip", text_json(r->cfg->skip));
    put(json, "duration_ms", json_integer((json_int_t)r->duration_ms));
    put(json, "counts", counts_json(r, -1));
    put(json, "profiles",
        json_pack("{s:o, s:o}", "core", counts_json(r, KVS_CONFORM_CORE), "extended",
                  counts_json(r, KVS_CONFORM_EXTENDED)));
    put(json, "cases", cases);
    return json;
}

static bool is_replaceable(const char *file)
{
    struct stat st;
    return stat(file, &st) != 0 || S_ISREG(st.st_mode);
}

int report_check(const char *file, struct kvs_error *err)
{
    char *folder = strdup(file);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    int rc = KVS_OK;
    if (!folder)
        return say(err, KVS_NO_MEMORY, "no memory for the report's name");
    if (slash)
        slash[slash == folder] = '\0';
    if (access(is_replaceable(file) ? (slash ? folder : ".") : file, W_OK) != 0)
        rc = say(err, KVS_IO, "the report %s cannot be written: %s", file, strerror(errno));
    struct stat st;
    if (rc == KVS_OK && stat(file, &st) == 0 && S_ISDIR(st.st_mode))
        rc = say(err, KVS_IO, "the report %s cannot be written: it is a directory", file);
    free(folder);
    return rc;
}

static int print_json(const struct run *r, FILE *f)
{
    json_t *json = report_json(r);
    bool bad = !json || json_dumpf(json, f, JSON_INDENT(2)) != 0 || fputc('\n', f) == EOF;
    json_decref(json);
    return bad ? -1 : 0;
}

static int write_with(int (*print)(const struct run *r, FILE *f), const struct run *r, const char *file,
                      struct kvs_error *err)
{
    char *temporary = NULL;
    int rc = KVS_OK;
    bool replace = is_replaceable(file);
    if (asprintf(&temporary, "%s.%d.new", file, (int)getpid()) < 0)
        temporary = NULL;
    const char *to = replace && temporary ? temporary : file;
    FILE *f = fopen(to, "we");
    bool bad = !f || print(r, f) != 0;
    if (f)
        bad |= fclose(f) != 0;
    if (bad || (to == temporary && rename(temporary, file) != 0)) {
        rc = say(err, KVS_IO, "the report %s cannot be written: %s", file, strerror(errno));
        if (to == temporary)
            unlink(temporary);
    }
    free(temporary);
    return rc;
}

int report_write(const struct run *r, const char *file, struct kvs_error *err)
{
    return write_with(print_json, r, file, err);
}

int report_write_junit(const struct run *r, const char *file, struct kvs_error *err)
{
    return write_with(report_print_junit, r, file, err);
}

int report_write_html(const struct run *r, const char *file, struct kvs_error *err)
{
    return write_with(report_print_html, r, file, err);
}
