/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a page for people: one file that needs no other and runs no script. */
#include "run.h"
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--line:#8884;--soft:#8881;--good:#176f2c;--bad:#b3261e;--some:#8a5a00}"
    "@media(prefers-color-scheme:dark){:root{--good:#6fcf85;--bad:#ff8a80;--some:#f0b849}}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}"
    "code,pre,.id{font-family:ui-monospace,monospace;font-size:.86em}"
    "pre{background:var(--soft);border:1px solid var(--line);border-radius:4px;padding:.6rem;margin:.4rem "
    "0;overflow-x:auto;"
    "white-space:pre-wrap;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.28rem .8rem "
    ".28rem 0;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{font-weight:600}"
    ".facts "
    "th{width:11rem;font-weight:400;opacity:.75}.caps{display:grid;grid-template-columns:repeat(auto-fill,"
    "minmax(11rem,1fr));gap:0 1.5rem}.caps div{display:flex;justify-content:space-between;border-bottom:1px "
    "solid "
    "var(--line);padding:.2rem 0}.time{text-align:right;white-space:nowrap}.id,.outcome{white-space:nowrap}"
    ".verdict{display:inline-block;font-weight:700;font-size:1.15rem;border:2px "
    "solid;border-radius:6px;padding:.1rem "
    ".7rem;margin:.8rem .8rem .2rem "
    "0}.pass,.PASS,.native{color:var(--good)}.fail,.FAIL,.CRASH,.TIMEOUT{color:var(--bad)}"
    ".partial,.SKIPPED,.emulated{color:var(--some)}.NOT_SUPPORTED,.none{opacity:.65}.outcome{font-weight:600}"
    ".why{font-size:.9em;opacity:.85}section.bad{border-left:4px solid var(--bad);padding:.1rem 0 .1rem "
    "1rem;margin:1rem 0}"
    "section.bad h3{margin:.2rem "
    "0;font-size:1rem}@media(max-width:40rem){.time{display:none}.id{white-space:normal}}";

static const json_t *at(const json_t *json, const char *outer, const char *inner)
{
    const json_t *value = json_object_get(json, outer);
    return inner ? json_object_get(value, inner) : value;
}

static const char *text_at(const json_t *json, const char *outer, const char *inner)
{
    const char *text = json_string_value(at(json, outer, inner));
    return text ? text : "";
}

static long long number_at(const json_t *json, const char *outer, const char *inner)
{
    return (long long)json_integer_value(at(json, outer, inner));
}

/* What opens an element; its text; what closes it. */
static void put(FILE *f, const char *before, const char *text, const char *after)
{
    fputs(before, f);
    report_escape(f, text);
    fputs(after, f);
}

static void fact(FILE *f, const char *name, const char *value)
{
    if (!value[0])
        return;
    put(f, "<tr><th>", name, "</th>");
    put(f, "<td>", value, "</td></tr>\n");
}

static void put_head(FILE *f, const json_t *r)
{
    const char *verdict = text_at(r, "verdict", NULL), *name = text_at(r, "backend", "name");
    bool conformant = json_is_true(at(r, "conformant", NULL));
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
          f);
    put(f, "<title>kvslot conformance: ", name, "");
    put(f, " ", verdict, "</title>\n<style>");
    fprintf(f, "%s</style>\n</head>\n<body>\n", style);
    put(f, "<h1>Conformance of ", name, "");
    put(f, " ", text_at(r, "backend", "version"), "</h1>\n");
    put(f, "<span class=\"verdict ", verdict, "\">");
    put(f, "", verdict, conformant ? ", conformant</span>" : "</span>");
    put(f, "kvslot suite ", text_at(r, "suite", "version"), ", ");
    put(f, "", text_at(r, "date", NULL), "\n<p>");
    static const char *const names[] = {"PASS", "FAIL", "CRASH", "TIMEOUT", "NOT_SUPPORTED", "SKIPPED"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        long long n = number_at(r, "counts", names[i]);
        if (n > 0)
            fprintf(f, "<span class=\"outcome %s\">%lld %s</span> &nbsp; ", names[i], n, names[i]);
    }
    fprintf(f, "of %lld cases</p>\n", number_at(r, "counts", "total"));
    if (strcmp(verdict, "pass") == 0 && !conformant)
        fputs(json_is_true(at(r, "backend", "emulated"))
                  ? "<p>Not called conformant: this is not the real store.</p>\n"
                  : "<p>Not called conformant: not the whole suite ran.</p>\n",
              f);
}

static void put_facts(FILE *f, const json_t *r)
{
    char line[600];
    const char *name;
    json_t *value;
    fputs("<h2>What was tested</h2>\n<table class=\"facts\">\n", f);
    fact(f, "target", text_at(r, "target", NULL));
    json_object_foreach((json_t *)(uintptr_t)at(r, "parameters", NULL), name, value)
    {
        snprintf(line, sizeof(line), "%.64s=%.400s", name, json_string_value(value));
        fact(f, "parameter", line);
    }
    const json_t *file = at(r, "backend", "file");
    if (json_is_object(file)) {
        snprintf(line, sizeof(line), "%.200s, %lld bytes", text_at(file, "name", NULL),
                 number_at(file, "size", NULL));
        fact(f, "file", line);
        fact(f, "SHA-256", text_at(file, "sha256", NULL));
    }
    fact(f, "SDK", text_at(r, "sdk", "version"));
    snprintf(line, sizeof(line), "%.200s, %lld cores, %.80s, %.60s", text_at(r, "machine", "processor"),
             number_at(r, "machine", "cores"), text_at(r, "machine", "kernel"),
             text_at(r, "machine", "architecture"));
    fact(f, "machine", line[0] == ',' ? line + 2 : line);
    fact(f, "seed", text_at(r, "seed", NULL));
    fact(f, "only these cases", text_at(r, "filter", NULL));
    fact(f, "not these cases", text_at(r, "skip", NULL));
    snprintf(line, sizeof(line), "%.1f s", (double)number_at(r, "duration_ms", NULL) / 1e3);
    fact(f, "time", line);
    fputs("</table>\n", f);
}

static void put_abilities(FILE *f, const json_t *r)
{
    const char *name;
    json_t *value;
    fputs("<h2>Capabilities and limits</h2>\n<div class=\"caps\">\n", f);
    json_object_foreach((json_t *)(uintptr_t)at(r, "capabilities", NULL), name, value)
    {
        put(f, "<div><span>", name, "</span>");
        put(f, "<span class=\"", json_string_value(value), "\">");
        put(f, "", json_string_value(value), "</span></div>\n");
    }
    json_object_foreach((json_t *)(uintptr_t)at(r, "limits", NULL), name, value)
    {
        char number[32];
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
        put(f, "<div><span>", name, "</span>");
        put(f, "<span>",
            json_is_string(value)      ? json_string_value(value)
            : strcmp(number, "0") == 0 ? "no limit"
                                       : number,
            "</span></div>\n");
    }
    fputs("</div>\n", f);
}

static bool is_bad(const json_t *one)
{
    const char *outcome = text_at(one, "outcome", NULL);
    return strcmp(outcome, "FAIL") == 0 || strcmp(outcome, "CRASH") == 0 || strcmp(outcome, "TIMEOUT") == 0;
}

static void put_requirements(FILE *f, const json_t *one)
{
    size_t i;
    json_t *id;
    json_array_foreach(at(one, "requirements", NULL), i, id)
    {
        put(f, i ? ", " : "<p>Requirements: ", json_string_value(id), "");
    }
    fputs("</p>\n", f);
}

static void put_failures(FILE *f, const json_t *cases)
{
    size_t i, n = 0;
    json_t *one;
    json_array_foreach(cases, i, one)
    {
        if (!is_bad(one))
            continue;
        if (n++ == 0)
            fputs("<h2>What failed</h2>\n", f);
        put(f, "<section class=\"bad\" id=\"", text_at(one, "id", NULL), "\">\n<h3>");
        put(f, "<span class=\"outcome ", text_at(one, "outcome", NULL), "\">");
        put(f, "", text_at(one, "outcome", NULL), "</span> ");
        put(f, "<span class=\"id\">", text_at(one, "id", NULL), "</span>: ");
        put(f, "", text_at(one, "title", NULL), "</h3>\n");
        put(f, "<p>", text_at(one, "reason", NULL), "</p>\n");
        put_requirements(f, one);
        put(f, "<p>Again:</p><pre>", text_at(one, "reproduce", NULL), "</pre>\n");
        if (text_at(one, "output", NULL)[0])
            put(f, "<details open><summary>Output</summary><pre>", text_at(one, "output", NULL),
                "</pre></details>\n");
        if (text_at(one, "threads", NULL)[0])
            put(f, "<details open><summary>Threads</summary><pre>", text_at(one, "threads", NULL),
                "</pre></details>\n");
        fputs("</section>\n", f);
    }
}

static void put_cases(FILE *f, const json_t *cases)
{
    size_t i;
    json_t *one;
    fputs("<h2>All cases</h2>\n<table>\n<tr><th>case</th><th></th><th>outcome</th><th "
          "class=\"time\">time</th></tr>\n",
          f);
    json_array_foreach(cases, i, one)
    {
        const char *outcome = text_at(one, "outcome", NULL), *id = text_at(one, "id", NULL);
        const char *reason = text_at(one, "reason", NULL);
        put(f, "<tr><td class=\"id\">", "", "");
        if (is_bad(one))
            put(f, "<a href=\"#", id, "\">");
        put(f, "", id, is_bad(one) ? "</a></td>" : "</td>");
        put(f, "<td>", text_at(one, "title", NULL), "");
        if (reason[0] && !is_bad(one))
            put(f, "<br><span class=\"why\">", reason, "</span>");
        put(f, "</td><td class=\"outcome ", outcome, "\">");
        put(f, "", outcome, "</td>");
        fprintf(f, "<td class=\"time\">%lld ms</td></tr>\n", number_at(one, "duration_ms", NULL));
    }
    fputs("</table>\n</body>\n</html>\n", f);
}

int report_print_html(const struct run *r, FILE *f)
{
    json_t *json = report_json(r);
    if (!json)
        return -1;
    put_head(f, json);
    put_failures(f, at(json, "cases", NULL));
    put_facts(f, json);
    put_abilities(f, json);
    put_cases(f, at(json, "cases", NULL));
    json_decref(json);
    return ferror(f) ? -1 : 0;
}
