/* SPDX-License-Identifier: Apache-2.0 */
/* The runner's configuration: the file, waivers, rounds until one fails, an early end, JUnit. */
#include "suite.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "conform.conf"

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static struct kvs_conform_config with(const char *defect, const char *filter)
{
    struct kvs_conform_config cfg;
    kvs_conform_config_init(&cfg);
    cfg.target = suite_rogue(defect);
    cfg.filter = filter;
    return cfg;
}

static void test_all_members_are_read(void **state)
{
    struct kvs_conform_config cfg;
    struct kvs_conform_file *file = NULL;
    struct kvs_error err = {0};
    (void)state;
    write_file(
        FILE_NAME,
        "{\"target\": \"rogue\", \"params\": {\"level\": \"3\", \"notes\": \"n\"}, \"filter\": \"a\",\n"
        "\"skip\": \"b\", \"jobs\": 3, \"timeout_multiplier\": 1.5, \"seed\": \"18446744073709551615\",\n"
        "\"repeat\": 2, \"until_fail\": true, \"strict\": true, \"json_file\": \"j\", \"junit_file\": "
        "\"x\", \"html_file\": \"h\",\n"
        "\"case_program\": \"c\", \"state_dir\": \"s\", \"plugin_file\": \"p\",\n"
        "\"hooks\": {\"start\": \"1\", \"stop\": \"2\", \"kill\": \"3\", \"pause\": \"4\", \"resume\": "
        "\"5\"},\n"
        "\"variants\": {\"denied\": {\"password\": \"wrong\"}, \"full\": {\"capacity\": \"1MiB\"}},\n"
        "\"waivers\": [{\"id\": \"i\", \"reason\": \"r\", \"expires\": \"2030-01-01\"}]}");
    kvs_conform_config_init(&cfg);
    assert_int_equal(kvs_conform_config_read(FILE_NAME, &cfg, &file, &err), KVS_OK);
    assert_string_equal(cfg.target, "rogue");
    assert_int_equal(cfg.nparams, 2);
    assert_string_equal(cfg.params[0].name, "level");
    assert_string_equal(cfg.params[1].value, "n");
    assert_string_equal(cfg.filter, "a");
    assert_string_equal(cfg.skip, "b");
    assert_int_equal(cfg.jobs, 3);
    assert_true(cfg.timeout_multiplier > 1.4 && cfg.timeout_multiplier < 1.6);
    assert_true(cfg.seed == UINT64_MAX);
    assert_int_equal(cfg.repeat, 2);
    assert_true(cfg.until_fail);
    assert_true(cfg.strict);
    assert_string_equal(cfg.json_file, "j");
    assert_string_equal(cfg.junit_file, "x");
    assert_string_equal(cfg.html_file, "h");
    assert_string_equal(cfg.case_program, "c");
    assert_string_equal(cfg.state_dir, "s");
    assert_string_equal(cfg.plugin_file, "p");
    assert_string_equal(cfg.hooks.start, "1");
    assert_string_equal(cfg.hooks.resume, "5");
    assert_int_equal(cfg.nvariants, 2);
    assert_string_equal(cfg.variants[1].name, "full");
    assert_string_equal(cfg.variants[1].params[0].value, "1MiB");
    assert_int_equal(cfg.nwaivers, 1);
    assert_string_equal(cfg.waivers[0].expires, "2030-01-01");
    kvs_conform_file_free(file);
}

static void test_a_bad_file_is_refused(void **state)
{
    static const char *const bad[][2] = {
        {"{\"colour\": 1}", "colour"},
        {"{\"target\": 1}", "target"},
        {"{\"target\": \"a\\u0000b\"}", "line 1"},
        {"{\"jobs\": 0}", "jobs"},
        {"{\"repeat\": 1.5}", "repeat"},
        {"{\"seed\": \"1x\"}", "seed"},
        {"{\"seed\": \"18446744073709551616\"}", "seed"},
        {"{\"timeout_multiplier\": 0}", "timeout_multiplier"},
        {"{\"until_fail\": 1}", "until_fail"},
        {"{\"strict\": \"yes\"}", "strict"},
        {"{\"params\": []}", "params"},
        {"{\"params\": {\"a\": 1}}", "a has to be"},
        {"{\"hooks\": {\"explode\": \"x\"}}", "explode"},
        {"{\"variants\": {\"odd\": {}}}", "odd"},
        {"{\"waivers\": [{\"why\": \"x\"}]}", "why"},
        {"{\"waivers\": {}}", "waivers"},
        {"{\n\"jobs\": 1,\n}", "line 3"},
        {"{\"jobs\": 1, \"jobs\": 2}", "line 1"},
        {"[]", "object"},
    };
    struct kvs_conform_config cfg;
    struct kvs_conform_file *file;
    struct kvs_error err;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_file(FILE_NAME, bad[i][0]);
        kvs_conform_config_init(&cfg);
        file = (struct kvs_conform_file *)(uintptr_t)1;
        assert_int_equal(kvs_conform_config_read(FILE_NAME, &cfg, &file, &err), KVS_INVALID_PARAM);
        assert_null(file);
        assert_int_equal(cfg.jobs, 0); /* as it was */
        if (!strstr(err.text, bad[i][1]) || !strstr(err.text, FILE_NAME))
            fail_msg("the text for %s has no '%s': %s", bad[i][0], bad[i][1], err.text);
    }
    assert_int_equal(kvs_conform_config_read("no-such-file", &cfg, &file, &err), KVS_IO);
    assert_int_equal(kvs_conform_config_read(NULL, &cfg, &file, &err), KVS_INVALID_PARAM);
    kvs_conform_file_free(NULL);
}

static void test_waivers(void **state)
{
    struct kvs_conform_waiver w[] = {{"roundtrip.one_byte", "the store forgets", "2999-12-31"},
                                     {"roundtrip.empty", "it should be mended", "2001-01-01"}};
    struct kvs_conform_config cfg = with("lost_write", "roundtrip.one_byte,roundtrip.empty");
    struct suite s;
    (void)state;
    cfg.waivers = w;
    cfg.nwaivers = 2;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_string_equal(suite_case(&s, "roundtrip.one_byte", "outcome"), "SKIPPED");
    assert_string_equal(suite_case(&s, "roundtrip.one_byte", "reason"),
                        "waived up to 2999-12-31: the store forgets");
    assert_string_equal(suite_case(&s, "roundtrip.empty", "outcome"), "FAIL");
    assert_non_null(strstr(s.table, "the waiver of roundtrip.empty expired on 2001-01-01"));
    suite_free(&s);
    /* A waiver never makes a pass. */
    cfg.filter = "roundtrip.one_byte,open.limits";
    suite_run(&s, &cfg);
    assert_int_equal(s.sum.verdict, KVS_CONFORM_VERDICT_PARTIAL);
    assert_int_equal(s.rc, KVS_OK);
    suite_free(&s);
    cfg.strict = 1;
    suite_run(&s, &cfg);
    assert_int_equal(s.sum.verdict, KVS_CONFORM_VERDICT_PARTIAL);
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_non_null(strstr(s.err.text, "partial: 1 of 2 cases passed, 0 are not supported, 1 were skipped"));
    suite_free(&s);
    cfg.strict = 0;
    static const struct kvs_conform_waiver bad[] = {
        {"roundtrip.one_bite", "r", "2030-01-01"}, {NULL, "r", "2030-01-01"},
        {"roundtrip.empty", "", "2030-01-01"},     {"roundtrip.empty", "r", "2030-02-30"},
        {"roundtrip.empty", "r", "30.6.2030"},     {"roundtrip.empty", "r", NULL}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cfg.waivers = &bad[i];
        cfg.nwaivers = 1;
        suite_run(&s, &cfg);
        assert_int_equal(s.rc, KVS_INVALID_PARAM);
        assert_non_null(strstr(s.err.text, bad[i].id && strcmp(bad[i].id, "roundtrip.one_bite") != 0
                                               ? "the waiver of roundtrip.empty"
                                               : "which is no case"));
        suite_free(&s);
    }
}

static void test_until_one_fails(void **state)
{
    struct kvs_conform_config cfg = with("none", "roundtrip.empty,open.limits");
    struct suite s;
    (void)state;
    cfg.until_fail = 1;
    cfg.repeat = 3;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_OK);
    assert_int_equal(s.sum.counts[KVS_CONFORM_PASS], 2);
    json_t *entry = json_array_get(json_object_get(s.report, "cases"), 1);
    assert_int_equal(json_integer_value(json_object_get(entry, "rounds")), 3);
    assert_non_null(strstr(s.table, "round 2: nothing failed"));
    suite_free(&s);
    /* It writes a line into its notes at each new key, and loses the one of the third process. */
    cfg = with("fails_sometimes", "roundtrip.empty,open.limits");
    char notes[4096];
    assert_non_null(getcwd(notes, sizeof(notes) - 16));
    strcat(notes, "/rounds");
    struct kvs_param_value param = {"notes", notes};
    unlink("rounds");
    cfg.params = &param;
    cfg.nparams = 1;
    cfg.until_fail = 1;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_non_null(strstr(s.table, "round 2: nothing failed"));
    assert_null(strstr(s.table, "round 3: nothing failed"));
    assert_non_null(strstr(suite_case(&s, "roundtrip.empty", "reason"), "in round 3: "));
    suite_free(&s);
}

static void test_an_early_end(void **state)
{
    volatile sig_atomic_t stop = 1;
    struct kvs_conform_config cfg = with("none", "roundtrip.*");
    struct suite s;
    (void)state;
    cfg.stop = &stop;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_CANCELED);
    assert_int_equal(s.sum.counts[KVS_CONFORM_SKIPPED], s.sum.total);
    assert_int_equal(s.sum.verdict, KVS_CONFORM_VERDICT_PARTIAL);
    assert_string_equal(suite_case(&s, "roundtrip.empty", "reason"), "the run was ended early");
    suite_free(&s);
}

static char *read_text(const char *name)
{
    static char text[65536];
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void test_junit(void **state)
{
    struct kvs_conform_config cfg = with("lost_write", "roundtrip.one_byte,open.limits,ttl.expires");
    struct suite s;
    (void)state;
    cfg.junit_file = "junit.xml";
    cfg.seed = 5;
    suite_run(&s, &cfg);
    char *text = read_text("junit.xml");
    assert_non_null(strstr(text, "tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""));
    assert_non_null(strstr(text, "<testcase classname=\"kvslot.open\" name=\"open.limits\""));
    assert_non_null(strstr(text, "<failure message=\"FAIL: roundtrip.c:"));
    assert_non_null(
        strstr(text, "<skipped message=\"NOT_SUPPORTED: the store does not have the capability ttl"));
    assert_non_null(strstr(text, "--seed 5"));
    assert_null(strchr(text, '\x1b'));
    suite_free(&s);
    /* What a reason says is text, whatever characters it has. */
    struct kvs_conform_waiver w = {"open.limits", "<&\">\n\x01\xff", "2999-12-31"};
    cfg.waivers = &w;
    cfg.nwaivers = 1;
    suite_run(&s, &cfg);
    text = read_text("junit.xml");
    assert_non_null(strstr(text, "2999-12-31: &lt;&amp;&quot;&gt;&#10;\\x01\\xff\"/>"));
    suite_free(&s);
    struct kvs_error err;
    cfg.junit_file = "no/such/folder/junit.xml";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
}

static void test_html(void **state)
{
    struct kvs_conform_config cfg = with("lost_write", "roundtrip.one_byte,open.limits,ttl.expires");
    struct kvs_conform_waiver w = {"open.limits", "<script>&\"", "2999-12-31"};
    struct suite s;
    (void)state;
    cfg.html_file = "report.html";
    cfg.waivers = &w;
    cfg.nwaivers = 1;
    suite_run(&s, &cfg);
    char *text = read_text("report.html");
    const json_t *file = json_object_get(json_object_get(s.report, "backend"), "file");
    assert_int_equal(strncmp(text, "<!doctype html>", 15), 0);
    assert_non_null(strstr(text, "<span class=\"verdict fail\">fail</span>"));
    assert_non_null(strstr(text, "<section class=\"bad\" id=\"roundtrip.one_byte\">"));
    assert_non_null(strstr(text, "<td class=\"outcome NOT_SUPPORTED\">NOT_SUPPORTED</td>"));
    assert_non_null(strstr(text, "2999-12-31: &lt;script&gt;&amp;&quot;</span>"));
    assert_non_null(strstr(text, json_string_value(json_object_get(file, "sha256"))));
    /* It needs nothing else, and runs nothing. */
    static const char *const foreign[] = {
        "<script", "<link", "<img", "src=", "http:", "https:", "@import", "url("};
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        assert_null(strstr(text, foreign[i]));
    suite_free(&s);
    struct kvs_error err;
    cfg.html_file = "no/such/folder/report.html";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
}

/* A crash says where it was. */
static void test_a_crash_has_a_backtrace(void **state)
{
    struct kvs_conform_config cfg = with("crash_in_submit", "roundtrip.one_byte");
    struct suite s;
    (void)state;
    suite_run(&s, &cfg);
    assert_string_equal(suite_case(&s, "roundtrip.one_byte", "outcome"), "CRASH");
    const char *output = suite_case(&s, "roundtrip.one_byte", "output");
    assert_non_null(strstr(output, "SIGSEGV at address 0x0000000000000008 in thread kvslot-case"));
    assert_non_null(strstr(output, "kvs_xfer_post"));
    suite_free(&s);
    cfg = with("crash_in_own_thread", "roundtrip.one_byte");
    suite_run(&s, &cfg);
    assert_non_null(strstr(suite_case(&s, "roundtrip.one_byte", "output"), "SIGSEGV at address"));
    suite_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_members_are_read),
        cmocka_unit_test(test_a_bad_file_is_refused),
        cmocka_unit_test(test_waivers),
        cmocka_unit_test(test_until_one_fails),
        cmocka_unit_test(test_an_early_end),
        cmocka_unit_test(test_junit),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_a_crash_has_a_backtrace),
    };
    suite_let_signals_kill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
