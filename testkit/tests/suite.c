/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* cmocka wants the headers above before it. */
#include <cmocka.h>

#define REPORT "report.json"

static char *read_file(const char *name)
{
    char *text = NULL, buf[4096];
    size_t len = 0, n;
    FILE *f = fopen(name, "r"), *to = f ? open_memstream(&text, &len) : NULL;
    while (to && (n = fread(buf, 1, sizeof(buf), f)) > 0)
        fwrite(buf, 1, n, to);
    if (to)
        fclose(to);
    if (f)
        fclose(f);
    return text;
}

void suite_let_signals_kill(void)
{
    static const char *const names[] = {"ASAN_OPTIONS", "TSAN_OPTIONS"};
    for (size_t i = 0; i < 2; i++) {
        char value[1024];
        const char *old = getenv(names[i]);
        snprintf(value, sizeof(value), "%s:handle_segv=0:handle_sigbus=0:handle_abort=0", old ? old : "");
        setenv(names[i], old ? value : value + 1, 1);
    }
}

void suite_run(struct suite *s, struct kvs_conform_config *cfg)
{
    memset(s, 0, sizeof(*s));
    s->sum.size = sizeof(s->sum);
    unlink(REPORT);
    cfg->json_file = REPORT;
    const double multiplier = cfg->timeout_multiplier; /* one configuration may run again and again */
    cfg->timeout_multiplier = (multiplier > 0 ? multiplier : 1) * KVSLOT_TIMEOUT_MULTIPLIER;
    cfg->out = open_memstream(&s->table, &s->table_len);
    assert_non_null(cfg->out);
    s->rc = kvs_conform_run(cfg, &s->sum, &s->err);
    cfg->timeout_multiplier = multiplier;
    assert_int_equal(fclose(cfg->out), 0);
    s->report_text = read_file(REPORT);
    if (s->report_text) {
        json_error_t error;
        s->report = json_loads(s->report_text, JSON_REJECT_DUPLICATES, &error);
        if (!s->report)
            fail_msg("the report is no JSON: line %d: %s", error.line, error.text);
    }
}

void suite_free(struct suite *s)
{
    free(s->table);
    free(s->report_text);
    json_decref(s->report);
}

const char *suite_rogue(const char *defect)
{
    static char target[128];
    snprintf(target, sizeof(target), "rogue:?defect=%s", defect);
    return target;
}

const char *suite_case(const struct suite *s, const char *id, const char *member)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(s->report, "cases"), i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "id")), id) == 0) {
            const char *text = json_string_value(json_object_get(entry, member));
            return text ? text : "";
        }
    }
    return "";
}
