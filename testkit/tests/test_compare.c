/* SPDX-License-Identifier: Apache-2.0 */
/* kvs_conform_compare: what is worse, what is only different, and what is no report. */
#include <jansson.h>
#include <kvslot/testkit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char base[] =
    "{\"report_format\": 1, \"suite\": {\"name\": \"kvslot\", \"version\": \"0.1.0\"}, \"verdict\": \"pass\","
    "\"backend\": {\"name\": \"x\", \"version\": \"1\", \"file\": {\"name\": \"kvslot-x.so\", \"size\": 1, "
    "\"sha256\": \"aa\"}}, \"seed\": \"18446744073709551615\","
    "\"capabilities\": {\"read\": \"native\", \"query\": \"emulated\", \"ttl\": \"none\"},"
    "\"limits\": {\"min_key\": 1, \"max_key\": 500, \"max_value\": 9007199254740993, \"max_batch\": 0, "
    "\"thread_model\": \"parallel\"},"
    "\"cases\": [{\"id\": \"a.one\", \"outcome\": \"PASS\", \"duration_ms\": 50},"
    "{\"id\": \"a.two\", \"outcome\": \"FAIL\", \"reason\": \"old\", \"duration_ms\": 5},"
    "{\"id\": \"b.one\", \"outcome\": \"NOT_SUPPORTED\", \"duration_ms\": 0}]}";

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* The base with one part of its text replaced, which stands there once. */
static void write_changed(const char *name, const char *from, const char *to)
{
    const char *at = strstr(base, from);
    char *text = NULL;
    assert_non_null(at);
    assert_null(strstr(at + 1, from));
    assert_true(asprintf(&text, "%.*s%s%s", (int)(at - base), base, to, at + strlen(from)) > 0);
    write_text(name, text);
    free(text);
}

static int compare(double ratio, char **table, struct kvs_error *err)
{
    size_t len = 0;
    FILE *f = open_memstream(table, &len);
    assert_non_null(f);
    memset(err, 0, sizeof(*err));
    int rc = kvs_conform_compare("a.json", "b.json", ratio, f, err);
    assert_int_equal(fclose(f), 0);
    return rc;
}

static void test_the_same(void **state)
{
    struct kvs_error err;
    char *table;
    (void)state;
    write_text("a.json", base);
    write_text("b.json", base);
    assert_int_equal(compare(0, &table, &err), KVS_OK);
    assert_non_null(strstr(table, "\n0 worse, 0 better, 0 differ otherwise\n"));
    free(table);
    assert_int_equal(kvs_conform_compare("a.json", "b.json", 2, NULL, NULL), KVS_OK);
}

/* A change that is worse, or with the files swapped better; or neither. */
static const struct {
    const char *from, *to;
    const char *line; /* a part of the table */
    char kind; /* w: worse, and better the other way round; W: worse, the other way round it differs; d */
} changes[] = {
    {"\"outcome\": \"PASS\"", "\"outcome\": \"FAIL\", \"reason\": \"gone\\nbad \\u001b[2J\"", "a.one", 'w'},
    {"\"outcome\": \"PASS\"", "\"outcome\": \"NOT_SUPPORTED\"", "NOT_SUPPORTED", 'w'},
    {"\"outcome\": \"PASS\"", "\"outcome\": \"SKIPPED\"", "SKIPPED", 'w'},
    {"\"outcome\": \"NOT_SUPPORTED\"", "\"outcome\": \"TIMEOUT\"", "TIMEOUT", 'w'},
    {"\"outcome\": \"NOT_SUPPORTED\"", "\"outcome\": \"SKIPPED\"", "b.one", 'd'},
    {"\"outcome\": \"FAIL\"", "\"outcome\": \"CRASH\"", "CRASH: old", 'd'},
    {"{\"id\": \"a.one\", \"outcome\": \"PASS\", \"duration_ms\": 50},", "", "(is gone)", 'W'},
    {",{\"id\": \"b.one\", \"outcome\": \"NOT_SUPPORTED\", \"duration_ms\": 0}", "", "b.one", 'd'},
    {"{\"id\": \"a.one\"",
     "{\"id\": \"c.one\", \"outcome\": \"CRASH\", \"duration_ms\": 5}, {\"id\": \"a.one\"", "(is new)", 'W'},
    {"\"verdict\": \"pass\"", "\"verdict\": \"partial\"", "verdict", 'w'},
    {"\"query\": \"emulated\"", "\"query\": \"none\"", "capability query", 'w'},
    {"\"read\": \"native\"", "\"read\": \"emulated\"", "capability read", 'w'},
    {", \"ttl\": \"none\"", "", "0 worse", ' '}, /* what is not named is none */
    {"\"max_key\": 500", "\"max_key\": 499", "limit max_key", 'w'},
    {"\"max_batch\": 0", "\"max_batch\": 100000", "limit max_batch", 'w'},
    {"\"min_key\": 1", "\"min_key\": 2", "limit min_key", 'w'},
    {"9007199254740993", "9007199254740992", "9007199254740992",
     'w'}, /* a double holds one of the two only */
    {"\"parallel\"", "\"serial\"", "limit thread_model", 'w'},
    {"\"max_key\": 500, ", "", "limit max_key", 'd'},
    {"\"sha256\": \"aa\"", "\"sha256\": \"bb\"", "backend.file", 'd'},
    {"\"version\": \"1\"", "\"version\": \"2\"", "backend.version", 'd'},
    {"\"18446744073709551615\"", "\"1\"", "seed", 'd'},
    {"\"duration_ms\": 50", "\"duration_ms\": 400", "400 ms", 'd'},
    {"\"duration_ms\": 50", "\"duration_ms\": 140", "0 worse", ' '},
};

static void check_change(size_t i, bool swapped)
{
    struct kvs_error err;
    char *table;
    write_text(swapped ? "b.json" : "a.json", base);
    write_changed(swapped ? "a.json" : "b.json", changes[i].from, changes[i].to);
    bool worse = changes[i].kind == 'w' || changes[i].kind == 'W';
    int want = worse && !swapped ? KVS_MISMATCH : KVS_OK;
    int rc = compare(0, &table, &err);
    const char *line = changes[i].kind == ' '   ? "0 worse, 0 better, 0 differ"
                       : changes[i].kind == 'd' ? "\n0 worse, 0 better, 1 differ"
                       : !swapped               ? "\n1 worse, 0 better, 0 differ"
                       : changes[i].kind == 'w' ? "\n0 worse, 1 better, 0 differ"
                                                : "\n0 worse, 0 better, 1 differ";
    if (rc != want || !strstr(table, line) || (!swapped && !strstr(table, changes[i].line)))
        fail_msg("change %zu%s: status %d, not %d, or no '%s' or '%s' in: %s", i, swapped ? " swapped" : "",
                 rc, want, line, changes[i].line, table);
    assert_null(strchr(table, '\x1b'));
    if (rc != KVS_OK)
        assert_non_null(strstr(err.text, "b.json is worse than a.json in 1 of 1 differences"));
    free(table);
}

static void test_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        check_change(i, false);
        check_change(i, true);
    }
}

/* A case that no longer applies is not worse where the store can do more than before: without a limit there
 * is nothing to test at one. */
static void test_less_to_test(void **state)
{
    static const struct {
        const char *from, *to;
        int rc;
    } rows[] = {{"\"max_key\": 500", "\"max_key\": 0", KVS_OK},
                {"\"ttl\": \"none\"", "\"ttl\": \"native\"", KVS_OK},
                {"\"max_key\": 500", "\"max_key\": 400", KVS_MISMATCH},
                {"\"max_key\": 500", "\"max_key\": 500", KVS_MISMATCH}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct kvs_error err;
        char *table, *text = NULL;
        const char *pass = "\"outcome\": \"PASS\"", *at = strstr(base, pass),
                   *more = strstr(base, rows[i].from);
        assert_true(more && at && more < at);
        assert_true(asprintf(&text, "%.*s%s%.*s\"outcome\": \"NOT_SUPPORTED\"%s", (int)(more - base), base,
                             rows[i].to, (int)(at - more - (ptrdiff_t)strlen(rows[i].from)),
                             more + strlen(rows[i].from), at + strlen(pass)) > 0);
        write_text("a.json", base);
        write_text("b.json", text);
        assert_int_equal(compare(0, &table, &err), rows[i].rc);
        free(table);
        free(text);
    }
}

static void test_times(void **state)
{
    struct kvs_error err;
    char *table;
    (void)state;
    write_text("a.json", base);
    write_changed("b.json", "\"duration_ms\": 50", "\"duration_ms\": 400");
    assert_int_equal(compare(9, &table, &err), KVS_OK);
    free(table);
    assert_int_equal(compare(7.5, &table, &err), KVS_MISMATCH);
    assert_non_null(strstr(table, "400 ms"));
    free(table);
    assert_int_equal(kvs_conform_compare("b.json", "a.json", 7.5, NULL, &err), KVS_OK);
    assert_int_equal(kvs_conform_compare("a.json", "b.json", 1, NULL, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_conform_compare("a.json", NULL, 0, NULL, &err), KVS_INVALID_PARAM);
}

static void test_no_report(void **state)
{
    static const char *const bad[][3] = {
        {"{\"report_format\": 1", "{\"report_format\": 2", "report_format is 2, and this release reads 1"},
        {"{\"report_format\": 1", "{\"report_format\": \"1\"", "it is no report"},
        {"\"verdict\": \"pass\"", "\"verdict\": \"great\"", "verdict has to be"},
        {"\"read\": \"native\"", "\"read\": \"yes\"", "capability read"},
        {"\"read\": \"native\"", "\"read\": 1", "capability read"},
        {"\"max_key\": 500", "\"max_key\": -1", "limit max_key"},
        {"\"max_key\": 500", "\"max_key\": 1.5", "limit max_key"},
        {"\"max_key\": 500", "\"max_key\": 9223372036854775808", "line 1"},
        {"\"parallel\"", "\"both\"", "thread_model"},
        {"\"outcome\": \"PASS\"", "\"outcome\": \"OK\"", "case a.one has no outcome"},
        {"{\"id\": \"a.one\", ", "{", "case 0 has no id"},
        {"\"id\": \"a.two\"", "\"id\": \"a.one\"", "case a.one is there twice"},
        {"\"duration_ms\": 50", "\"duration_ms\": \"long\"", "case a.one has no duration_ms"},
        {"{\"id\": \"a.one\"", "7, {\"id\": \"a.one\"", "case 0 has no id"},
        {"\"seed\"", "\"verdict\"", "line 1"}, /* twice */
        {"{\"report_format\"", "\n{,", "no JSON: line 2"},
        {"\"version\": \"1\"", "\"version\": 1", "backend has to be"},
        {"\"version\": \"0.1.0\"", "\"version\": null", "suite has to be"},
        {"\"cases\": [", "\"casus\": [", "cases has to be an array"},
        {"\"limits\"", "\"limit\"", "limits has to be an object"},
        {"\"capabilities\": {", "\"capabilities\": 1, \"x\": {", "capabilities has to be an object"},
    };
    struct kvs_error err;
    char *table;
    (void)state;
    write_text("a.json", base);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_changed("b.json", bad[i][0], bad[i][1]);
        int rc = compare(0, &table, &err);
        if (rc != KVS_INVALID_PARAM || !strstr(err.text, bad[i][2]) || !strstr(err.text, "report b.json") ||
            table[0])
            fail_msg("change %zu: status %d, text: %s, table: %s", i, rc, err.text, table);
        free(table);
    }
    /* Each beginning of a report is none, and none of them does harm. */
    for (size_t n = 0; n + 1 < strlen(base); n++) {
        char *part = strndup(base, n);
        write_text("b.json", part);
        assert_int_equal(kvs_conform_compare("a.json", "b.json", 0, NULL, &err), KVS_INVALID_PARAM);
        free(part);
    }
    write_text("b.json", "[]");
    assert_int_equal(kvs_conform_compare("a.json", "b.json", 0, NULL, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_conform_compare("a.json", "none.json", 0, NULL, &err), KVS_IO);
    assert_non_null(strstr(err.text, "none.json cannot be read: No such file"));
    assert_int_equal(kvs_conform_compare(".", "a.json", 0, NULL, &err), KVS_IO);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(kvs_conform_compare("a.json", "a.json", 0, full, &err), KVS_IO);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same),     cmocka_unit_test(test_changes),
        cmocka_unit_test(test_less_to_test), cmocka_unit_test(test_times),
        cmocka_unit_test(test_no_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
