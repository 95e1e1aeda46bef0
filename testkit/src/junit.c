/* SPDX-License-Identifier: Apache-2.0 */
/* The run as JUnit XML, which CI systems read. */
#include "run.h"
#include "say.h"
#include <stdio.h>
#include <stdlib.h>

/* A text in an attribute or an element; what XML 1.0 has no place for becomes '?'. */
void report_escape(FILE *f, const char *text)
{
    json_t *clean = wire_text(text ? text : "", text ? strlen(text) : 0); /* as UTF-8 */
    for (const char *p = json_string_value(clean); p && *p; p++) {
        switch (*p) {
        case '&':
            fputs("&amp;", f);
            break;
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        case '\n':
            fputs("&#10;", f);
            break;
        default:
            fputc((unsigned char)*p < 0x20 && *p != '\t' ? '?' : *p, f);
        }
    }
    json_decref(clean);
}

static void put_row(FILE *f, const struct run *r, const struct run_row *row)
{
    const char *dot = strchr(row->row->id, '.');
    const char *outcome = kvs_conform_outcome_name(row->outcome);
    bool skipped = row->outcome == KVS_CONFORM_SKIPPED || row->outcome == KVS_CONFORM_NOT_SUPPORTED;
    fprintf(f, "  <testcase classname=\"kvslot.%.*s\" name=\"%s\" time=\"%.3f\">\n",
            (int)(dot - row->row->id), row->row->id, row->row->id, (double)row->duration_ms / 1e3);
    if (row->outcome == KVS_CONFORM_PASS) {
        fputs("  </testcase>\n", f);
        return;
    }
    const char *element = skipped ? "skipped" : row->outcome == KVS_CONFORM_FAIL ? "failure" : "error";
    fprintf(f, "    <%s message=\"%s: ", element, outcome);
    report_escape(f, row->reason);
    fputs("\"", f);
    if (skipped) {
        fputs("/>\n  </testcase>\n", f);
        return;
    }
    char *again = table_reproduce(r, row);
    fprintf(f, " type=\"%s\">requirements: %s\nagain: ", outcome, row->row->requirements);
    report_escape(f, again);
    fprintf(f, "</%s>\n    <system-out>", element);
    report_escape(f, row->output);
    report_escape(f, row->threads);
    fputs("</system-out>\n  </testcase>\n", f);
    free(again);
}

int report_print_junit(const struct run *r, FILE *f)
{
    const uint32_t *n = r->counts;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kvslot conformance: ", f);
    report_escape(f, r->shown_target);
    fprintf(f, "\" tests=\"%zu\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\">\n", r->nrows,
            n[KVS_CONFORM_FAIL], n[KVS_CONFORM_CRASH] + n[KVS_CONFORM_TIMEOUT],
            n[KVS_CONFORM_SKIPPED] + n[KVS_CONFORM_NOT_SUPPORTED], (double)r->duration_ms / 1e3);
    fprintf(f,
            "  <properties>\n    <property name=\"verdict\" value=\"%s\"/>\n    <property name=\"seed\" "
            "value=\"%llu\"/>\n    <property name=\"suite\" value=\"%s\"/>\n  </properties>\n",
            kvs_conform_verdict_name(r->verdict), (unsigned long long)r->seed, KVS_VERSION_TEXT);
    for (size_t i = 0; i < r->nrows; i++)
        put_row(f, r, &r->rows[i]);
    fputs("</testsuite>\n", f);
    return ferror(f) ? -1 : 0;
}
