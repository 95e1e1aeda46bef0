/* SPDX-License-Identifier: Apache-2.0 */
/* What a store is expected to be: the file, and the case that judges by it. */
#include "suite.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILE_NAME "expected"

static void write_file(const char *text)
{
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void run(struct suite *s, const char *filter)
{
    struct kvs_conform_config cfg;
    kvs_conform_config_init(&cfg);
    cfg.target = "rogue-small";
    cfg.filter = filter;
    cfg.expect_file = FILE_NAME;
    suite_run(s, &cfg);
}

static void test_as_expected(void **state)
{
    struct suite s;
    (void)state;
    write_file("# a store\n\n  ttl none # none\nlist\tnative\r\nemulated yes\nthread_model serial\nmin_key "
               "1\nmax_key 34\n"
               "max_value 100\nmax_batch 2");
    run(&s, "open.limits"); /* the case need not be asked for */
    assert_int_equal(s.rc, KVS_OK);
    assert_int_equal(s.sum.total, 2);
    assert_string_equal(suite_case(&s, "expected.capabilities", "outcome"), "PASS");
    suite_free(&s);
}

static void test_otherwise(void **state)
{
    static const char *const lines[][2] = {
        {"ttl native", "ttl is expected to be native and is none"},
        {"list none", "list is expected to be none and is native"},
        {"query emulated", "query is expected to be emulated and is native"},
        {"emulated no", "emulated is expected to be no and is yes"},
        {"thread_model parallel", "thread_model is expected to be parallel and is serial"},
        {"max_value 101", "max_value is expected to be 101 and is 100"},
        {"max_key 0", "max_key is expected to be 0 and is 34"},
        {"max_value 18446744073709551615", "max_value is expected to be 18446744073709551615 and is 100"},
    };
    struct suite s;
    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        write_file(lines[i][0]);
        run(&s, "expected.*");
        const char *reason = suite_case(&s, "expected.capabilities", "reason");
        assert_int_equal(s.rc, KVS_MISMATCH);
        if (!strstr(reason, lines[i][1]))
            fail_msg("the reason for '%s' has no '%s': %s", lines[i][0], lines[i][1], reason);
        assert_non_null(strstr(suite_case(&s, "expected.capabilities", "reproduce"), "--expect " FILE_NAME));
        suite_free(&s);
    }
    write_file("ttl native\nread native\ncancel native\n");
    run(&s, "expected.*");
    assert_non_null(
        strstr(suite_case(&s, "expected.capabilities", "reason"),
               "ttl is expected to be native and is none; cancel is expected to be native and is none"));
    suite_free(&s);
}

static void test_a_bad_file(void **state)
{
    static const char *const bad[][2] = {
        {"tll native", "line 1: 'tll' is no capability"},
        {"\nttl yes", "line 2: ttl has to be followed by native|emulated|none"},
        {"ttl", "line 1: ttl has to be followed by"},
        {"ttl nat", "line 1: ttl has to be followed by"},
        {"ttl native|emulated", "line 1: ttl has to be followed by"},
        {"ttl none none", "line 1: ttl has to be followed by"},
        {"emulated native", "emulated has to be followed by yes|no"},
        {"thread_model 1", "thread_model has to be followed by serial|parallel"},
        {"max_key -1", "max_key has to be followed by one whole number"},
        {"max_key 1KiB", "max_key has to be followed by one whole number"},
        {"max_key 010", "max_key has to be followed by one whole number"},
        {"max_value 18446744073709551616", "max_value has to be followed by one whole number"},
        {"ttl none\nttl none", "line 2: ttl is there twice"},
        {"# nothing\n", "expects nothing"},
    };
    struct kvs_conform_config cfg;
    struct kvs_error err;
    char text[1000];
    (void)state;
    kvs_conform_config_init(&cfg);
    cfg.target = "rogue-small";
    cfg.expect_file = FILE_NAME;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_file(bad[i][0]);
        assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_INVALID_PARAM);
        if (!strstr(err.text, bad[i][1]) || !strstr(err.text, "the expectation " FILE_NAME))
            fail_msg("the text for '%s' has no '%s': %s", bad[i][0], bad[i][1], err.text);
    }
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    write_file(text);
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_INVALID_PARAM);
    assert_non_null(strstr(err.text, "line 1: it has more than"));
    cfg.expect_file = "no-such-file";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
    assert_non_null(strstr(err.text, "no-such-file cannot be read: No such file"));
    cfg.expect_file = ".";
    assert_int_equal(kvs_conform_run(&cfg, NULL, &err), KVS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_expected),
        cmocka_unit_test(test_otherwise),
        cmocka_unit_test(test_a_bad_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
