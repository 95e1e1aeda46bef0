/* SPDX-License-Identifier: Apache-2.0 */
/* The runner itself: what it refuses, what it keeps apart, what it cleans up, and what it never shows. */
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

static struct kvs_conform_config with(const char *rogue, const char *filter)
{
    struct kvs_conform_config cfg;
    kvs_conform_config_init(&cfg);
    cfg.target = rogue ? suite_rogue(rogue) : NULL;
    cfg.filter = filter;
    return cfg;
}

static void test_configuration_is_checked(void **state)
{
    struct kvs_conform_config cfg = with("none", "open.limits");
    struct kvs_error err;
    (void)state;
    assert_int_equal(kvs_conform_run(NULL, NULL, &err), KVS_INVALID_PARAM);
    cfg.size--;
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_INVALID_PARAM);
    cfg = with(NULL, NULL);
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_INVALID_PARAM);
    cfg = with("none", "open.limits");
    cfg.timeout_multiplier = -1;
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_INVALID_PARAM);
    cfg.timeout_multiplier = 0;
    assert_int_equal(kvs_conform_run(&cfg, NULL, NULL), KVS_OK);
}

static void test_zero_cases_is_an_error(void **state)
{
    static const char *const filters[] = {"no.such.case", "open.limits,no.such.case", "tag:nothing",
                                          "roundtrip.odd_size", ""};
    (void)state;
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct kvs_conform_config cfg = with("none", filters[i]);
        struct suite s;
        suite_run(&s, &cfg);
        assert_int_equal(s.rc, KVS_INVALID_PARAM);
        assert_non_null(strstr(s.err.text, "case"));
        assert_null(s.report);
        assert_int_equal(s.table_len, 0);
        suite_free(&s);
    }
}

static void test_filter_selects(void **state)
{
    struct kvs_conform_config cfg = with("none", "keys.n*,open.limits,tag:timing");
    struct suite s;
    (void)state;
    cfg.skip = "keys.*";
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_OK);
    assert_int_equal(s.sum.total, 7);
    assert_string_equal(suite_case(&s, "keys.nested", "outcome"), "SKIPPED");
    assert_string_equal(suite_case(&s, "open.limits", "outcome"), "PASS");
    assert_string_equal(suite_case(&s, "ttl.expires", "outcome"), "NOT_SUPPORTED");
    assert_string_equal(suite_case(&s, "ttl.expires", "reason"),
                        "the store does not have the capability ttl");
    /* What was left out never makes a pass. */
    assert_int_equal(s.sum.verdict, KVS_CONFORM_VERDICT_PARTIAL);
    assert_int_equal(s.sum.counts[KVS_CONFORM_SKIPPED], 1);
    suite_free(&s);
    cfg = with("none", "ttl.expires");
    suite_run(&s, &cfg);
    assert_int_equal(s.sum.verdict, KVS_CONFORM_VERDICT_PARTIAL);
    suite_free(&s);
}

static void test_target_that_does_not_open(void **state)
{
    struct kvs_conform_config cfg = with("open_fails", NULL);
    struct suite s;
    (void)state;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_ACCESS);
    assert_non_null(strstr(s.err.text, "the rogue does not open"));
    assert_int_equal(s.table_len, 0);
    assert_null(s.report);
    suite_free(&s);
    cfg = with(NULL, NULL);
    cfg.target = "no-such-backend";
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_NOT_FOUND);
    assert_non_null(strstr(s.err.text, "no-such-backend"));
    suite_free(&s);
    const struct kvs_param_value unknown = {"colour", "red"};
    cfg = with("none", NULL);
    cfg.params = &unknown;
    cfg.nparams = 1;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_INVALID_PARAM);
    assert_non_null(strstr(s.err.text, "colour"));
    suite_free(&s);
}

#define LARGE (16u << 20) /* more than a socket holds */

static void test_case_program(void **state)
{
    struct kvs_conform_config cfg = with("none", "open.limits");
    struct suite s;
    (void)state;
    cfg.case_program = "/no/such/program";
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_NOT_FOUND);
    suite_free(&s);
    /* Exit code 0 alone says nothing. */
    cfg = with("none", "open.limits");
    cfg.case_program = "/bin/true";
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_BACKEND);
    assert_non_null(strstr(s.err.text, "without an answer"));
    suite_free(&s);
    /* One that is gone before it has read its whole request is no SIGPIPE for the runner. */
    char *large = malloc(LARGE + 1);
    assert_non_null(large);
    memset(large, 'x', LARGE);
    large[LARGE] = '\0';
    const struct kvs_param_value param = {"password", large};
    cfg.params = &param;
    cfg.nparams = 1;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_BACKEND);
    suite_free(&s);
    free(large);
}

static void test_report_file(void **state)
{
    struct kvs_conform_config cfg = with("none", "open.limits");
    struct kvs_error err;
    (void)state;
    cfg.json_file = "no/such/folder/report.json";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
    assert_non_null(strstr(err.text, "no/such/folder/report.json"));
    cfg.json_file = ".";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
    cfg.json_file = "/dev/full";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
    cfg.json_file = "/dev/null";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_OK);
    cfg.json_file = NULL;
    cfg.out = fopen("/dev/full", "w");
    assert_non_null(cfg.out);
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
    fclose(cfg.out);
}

static void test_report_members(void **state)
{
    struct kvs_conform_config cfg = with("lost_write", "roundtrip.one_byte,open.limits");
    struct suite s;
    (void)state;
    cfg.seed = UINT64_C(18446744073709551615);
    suite_run(&s, &cfg);
    json_t *r = s.report;
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_string_equal(json_string_value(json_object_get(r, "verdict")), "fail");
    assert_true(json_is_false(json_object_get(r, "conformant")));
    assert_string_equal(json_string_value(json_object_get(r, "seed")), "18446744073709551615");
    assert_string_equal(json_string_value(json_object_get(r, "filter")), cfg.filter);
    assert_string_equal(json_string_value(json_object_get(json_object_get(r, "suite"), "version")),
                        KVS_VERSION_TEXT);
    assert_string_equal(json_string_value(json_object_get(json_object_get(r, "backend"), "name")), "rogue");
    assert_true(json_is_true(json_object_get(json_object_get(r, "backend"), "emulated")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(r, "capabilities"), "ttl")),
                        "none");
    assert_string_equal(json_string_value(json_object_get(json_object_get(r, "capabilities"), "read")),
                        "native");
    assert_true(json_is_integer(json_object_get(json_object_get(r, "limits"), "max_batch")));
    json_t *file =
        json_object_get(json_object_get(r, "backend"), "file"); /* the rogue is in the kit's library */
    assert_non_null(strstr(json_string_value(json_object_get(file, "name")), "kvslot-testkit"));
    assert_int_equal(json_string_length(json_object_get(file, "sha256")), 64);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(r, "counts"), "PASS")), 1);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(r, "counts"), "FAIL")), 1);
    assert_int_equal(json_array_size(json_object_get(r, "cases")), 2);
    const char *again = suite_case(&s, "roundtrip.one_byte", "reproduce");
    assert_non_null(strstr(again, "kvslot conform "));
    assert_non_null(strstr(again, "--filter roundtrip.one_byte --seed 18446744073709551615"));
    assert_non_null(strstr(s.table, again));
    assert_non_null(
        strstr(s.table, "1 passed, 1 failed, 0 crashed, 0 timed out, 0 not supported, 0 skipped"));
    assert_non_null(strstr(s.table, "verdict: fail"));
    suite_free(&s);
}

static int count_case(void *arg, const struct kvs_conform_case *info)
{
    unsigned *n = arg;
    assert_non_null(strchr(info->id, '.'));
    assert_true(strlen(info->explain) > 40);
    assert_non_null(strstr(info->requirements, "KVS-REQ-"));
    n[info->profile]++;
    return 0;
}

static void test_list_and_explain(void **state)
{
    unsigned n[2] = {0};
    char *text = NULL;
    size_t len = 0;
    struct kvs_error err;
    (void)state;
    assert_int_equal(kvs_conform_list(count_case, n), KVS_OK);
    assert_true(n[KVS_CONFORM_CORE] >= 30);
    assert_true(n[KVS_CONFORM_CORE] + n[KVS_CONFORM_EXTENDED] >= 40);
    FILE *f = open_memstream(&text, &len);
    assert_int_equal(kvs_conform_explain("size.shorter", f, &err), KVS_OK);
    fclose(f);
    assert_non_null(strstr(text, "KVS-REQ-350"));
    assert_non_null(strstr(text, "size_check"));
    free(text);
    f = fopen("/dev/null", "w");
    assert_int_equal(kvs_conform_explain("size.shortest", f, &err), KVS_NOT_FOUND);
    fclose(f);
    assert_non_null(strstr(err.text, "size.shorter"));
}

/* KVS-REQ-514 (the rogue itself looks at its arguments and environment), KVS-REQ-517 */
static void test_secrets_are_not_shown(void **state)
{
    static const char secret[] = "hunter2-\xc3\xa4\"\\";
    struct kvs_param_value param = {"password", secret};
    struct kvs_conform_config cfg = with("leaks_secret", "roundtrip.one_byte");
    struct suite s;
    (void)state;
    cfg.params = &param;
    cfg.nparams = 1;
    for (int round = 0; round < 3; round++) {
        if (round == 1) { /* from a descriptor: read once, though every process opens the target */
            int fds[2];
            assert_int_equal(pipe(fds), 0);
            assert_int_equal(write(fds[1], secret, strlen(secret)), (int)strlen(secret));
            close(fds[1]);
            static char value[32];
            snprintf(value, sizeof(value), "@fd:%d", fds[0]);
            param.value = value;
        }
        if (round == 2) { /* percent-encoded in a URI */
            cfg = with("leaks_secret", "roundtrip.one_byte");
            cfg.target = "rogue:?defect=leaks_secret&password=hunter%32-%c3%a4%22%5c&timeout=20s";
        }
        suite_run(&s, &cfg);
        assert_int_equal(s.rc, KVS_MISMATCH);
        assert_string_equal(suite_case(&s, "roundtrip.one_byte", "outcome"), "FAIL");
        if (round == 2)
            assert_string_equal(json_string_value(json_object_get(s.report, "target")),
                                "rogue:?defect=leaks_secret&password=***&timeout=20s");
        assert_non_null(strstr(suite_case(&s, "roundtrip.one_byte", "reason"), "refused the password ***"));
        assert_non_null(strstr(suite_case(&s, "roundtrip.one_byte", "output"), "connecting with ***"));
        assert_null(strstr(s.table, "hunter"));
        assert_null(strstr(s.report_text, "hunter"));
        suite_free(&s);
    }
}

static void test_repeat_stops_at_the_first_failure(void **state)
{
    struct kvs_conform_config cfg = with("none", "roundtrip.empty");
    struct suite s;
    (void)state;
    cfg.repeat = 5;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_OK);
    json_t *entry = json_array_get(json_object_get(s.report, "cases"), 0);
    assert_int_equal(json_integer_value(json_object_get(entry, "rounds")), 5);
    suite_free(&s);
    cfg = with("lost_write", "roundtrip.empty");
    cfg.repeat = 5;
    suite_run(&s, &cfg);
    entry = json_array_get(json_object_get(s.report, "cases"), 0);
    assert_int_equal(json_integer_value(json_object_get(entry, "rounds")), 1);
    assert_non_null(strstr(suite_case(&s, "roundtrip.empty", "reason"), "in round 1"));
    suite_free(&s);
}

/* The order of the table is the order of the cases, whatever ends first. */
static void test_jobs(void **state)
{
    struct kvs_conform_config cfg = with("none", NULL);
    struct suite s;
    unsigned n[2] = {0};
    (void)state;
    cfg.jobs = 7;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_OK);
    kvs_conform_list(count_case, n);
    assert_int_equal(s.sum.total, n[0] + n[1]);
    assert_true(strstr(s.table, "open.cycles") < strstr(s.table, "roundtrip.empty"));
    assert_true(strstr(s.table, "roundtrip.empty") < strstr(s.table, "concurrent.readers"));
    suite_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configuration_is_checked),
        cmocka_unit_test(test_zero_cases_is_an_error),
        cmocka_unit_test(test_filter_selects),
        cmocka_unit_test(test_target_that_does_not_open),
        cmocka_unit_test(test_case_program),
        cmocka_unit_test(test_report_file),
        cmocka_unit_test(test_report_members),
        cmocka_unit_test(test_list_and_explain),
        cmocka_unit_test(test_secrets_are_not_shown),
        cmocka_unit_test(test_repeat_stops_at_the_first_failure),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
