/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of an engine: where their values come from, and what is refused. */
#include "log.h"
#include "resolve.h"

static const struct kvs_param strict_params[] = {
    {.name = "path", .uri = "path", .env = "TEST_PATH", .flags = KVS_PARAM_REQUIRED},
};
static const struct kvs_backend strict = {.name = "strict", .params = strict_params, .nparams = 1};
static const struct kvs_backend plain = {.name = "plain"};

/* KVS-REQ-500 KVS-REQ-502 KVS-REQ-530 */
static void the_sdk_has_its_own(void **state)
{
    (void)state;
    struct kvs_params *params = resolve(&plain, "plain", NULL);
    expect_i64(params, "timeout", INT64_C(30000000000));
    expect_i64(params, "cancel_grace", INT64_C(1000000000));
    expect_i64(params, "ttl", 0);
    expect_str(params, "prefix", "");
    expect_i64(params, "threads", 4);
    expect_i64(params, "inline_bytes", 65536);
    expect_i64(params, "bounce", 0);
    expect_i64(params, "progress", 0);
    expect_i64(params, "connect", 0);
    expect_i64(params, "trace", 0);
    int64_t n;
    const char *text = "x";
    assert_int_equal(kvs_params_i64(params, "prefix", &n), KVS_NOT_FOUND);
    assert_int_equal(kvs_params_i64(params, "nothing", &n), KVS_NOT_FOUND);
    assert_int_equal(kvs_params_i64(params, NULL, &n), KVS_NOT_FOUND);
    assert_int_equal(kvs_params_str(params, "nothing", &text, NULL), KVS_NOT_FOUND);
    assert_null(text);
    kvs_params_free(params);
    kvs_params_free(NULL);

    params =
        resolve(&plain, "plain:?timeout=500ms&ttl=2s&trace=1", GIVEN({"connect", "lazy"}, {"prefix", "a/"}));
    expect_i64(params, "timeout", 500000000);
    expect_i64(params, "ttl", INT64_C(2000000000));
    expect_i64(params, "trace", 1);
    expect_i64(params, "connect", 1);
    expect_str(params, "connect", "lazy");
    expect_str(params, "prefix", "a/");
    kvs_params_free(params);

    size_t count_of_all;
    const struct kvs_param *all = kvs_sdk_params(&count_of_all);
    assert_int_equal(count_of_all, 10);
    for (size_t i = 0; i < count_of_all; i++) {
        assert_true(kvs_param_reserved(all[i].name));
        assert_non_null(all[i].help);
        assert_non_null(all[i].def);
    }
    assert_true(kvs_param_reserved("bounce"));
    assert_false(kvs_param_reserved("path"));
}

/* KVS-REQ-505 KVS-REQ-506 */
static void the_sdks_own_are_checked(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"timeout", "30", "a duration"},          {"timeout", "-1s", "a duration"},
        {"cancel_grace", "", "a duration"},       {"threads", "0", "from 1 to 256"},
        {"threads", "257", "from 1 to 256"},      {"threads", "4.", "from 1 to 256"},
        {"inline_bytes", "1.5MiB", "a size"},     {"connect", "soon", "eager|lazy"},
        {"trace", "maybe", "yes or no"},          {"ttl", "500us", "whole milliseconds"},
        {"ttl", "1500us", "whole milliseconds"},  {"bounce", "maybe", "yes or no"},
        {"progress", "threads", "caller|thread"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kvs_error err = refused(&plain, "plain", GIVEN({rows[i][0], rows[i][1]}));
        expect_text(err.text, rows[i][0]);
        expect_text(err.text, rows[i][2]);
        expect_text(err.text, rows[i][1]);
    }
    kvs_params_free(resolve(&plain, "plain:?ttl=1ms&threads=256", NULL));
}

/* KVS-REQ-521 KVS-REQ-523 */
static void parts_of_a_uri_fill_parameters(void **state)
{
    (void)state;
    struct kvs_params *params = resolve(&redis, "redis://me:pw@[::1]:7000/3?tls=on", NULL);
    expect_str(params, "user", "me");
    expect_str(params, "password", "pw");
    expect_str(params, "host", "::1");
    expect_i64(params, "port", 7000);
    expect_i64(params, "db", 3);
    expect_i64(params, "tls", 1);
    expect_str(params, "socket", NULL);
    expect_str(params, "window", NULL);
    int64_t n;
    assert_int_equal(kvs_params_i64(params, "window", &n), KVS_NOT_FOUND);
    kvs_params_free(params);

    params = resolve(&redis, "redis+unix:/run/s?db=2", NULL);
    expect_str(params, "socket", "/run/s");
    expect_i64(params, "db", 2);
    expect_str(params, "host", "localhost");
    kvs_params_free(params);
    params = resolve(&redis, "redis+other:///x", NULL);
    expect_str(params, "socket", "/x");
    kvs_params_free(params);
    params = resolve(&redis, "redis:9", NULL);
    expect_i64(params, "db", 9);
    kvs_params_free(params);
    kvs_params_free(resolve(&plain, "plain:", NULL));

    /* Declared in either order, the one for the variant goes before the one for all. */
    static const struct kvs_param both_params[] = {{.name = "folder", .uri = "path"},
                                                   {.name = "socket", .uri = "unix:path"}};
    static const struct kvs_backend both = {.name = "both", .params = both_params, .nparams = 2};
    params = resolve(&both, "both+unix:/s", NULL);
    expect_str(params, "folder", NULL);
    expect_str(params, "socket", "/s");
    kvs_params_free(params);
    params = resolve(&both, "both:/f", NULL);
    expect_str(params, "folder", "/f");
    expect_str(params, "socket", NULL);
    kvs_params_free(params);
}

/* KVS-REQ-524 */
static void parts_that_nobody_takes(void **state)
{
    (void)state;
    struct kvs_error err = refused(&plain, "plain:/x", NULL);
    expect_text(err.text, "a path, which backend 'plain' does not take");
    err = refused(&strict, "strict://h/x", NULL);
    expect_text(err.text, "a host");
    err = refused(&strict, "strict://:1/x", NULL);
    expect_text(err.text, "a port");
    err = refused(&strict, "strict://u@/x", NULL);
    expect_text(err.text, "a user");
    err = refused(&strict, "strict://:hunter2@/x", NULL);
    expect_text(err.text, "a password");
    expect_no_text(err.text, "hunter2");
    err = refused(&redis, "redis+tls://h", NULL);
    expect_text(err.text, "no variant 'tls'");
    err = refused(&redis, "redis://h/sixteen", NULL);
    expect_text(err.text, "parameter 'db' is 'sixteen'");
    err = refused(&redis, "other://h", NULL);
    expect_text(err.text, "no scheme 'other'");
}

/* KVS-REQ-509 */
static void unknown_names_are_refused(void **state)
{
    (void)state;
    struct kvs_error err = refused(&redis, "redis://h?tiemout=hunter2", NULL);
    expect_text(err.text, "no parameter 'tiemout'; did you mean 'timeout'?");
    expect_text(err.text, "window");
    expect_no_text(err.text, "hunter2");
    err = refused(&redis, "redis", GIVEN({"pasword", "hunter2"}));
    expect_text(err.text, "did you mean 'password'?");
    expect_no_text(err.text, "hunter2");
    err = refused(&plain, "plain", GIVEN({"zzz\n", "1"}));
    expect_text(err.text, "no parameter 'zzz\\x0a'; it takes timeout, cancel_grace");
    expect_no_text(err.text, "did you mean");
    err = refused(&plain, "plain", GIVEN({"timeout", NULL}));
    expect_text(err.text, "has no value");
    struct kvs_params *params;
    struct kvs_param_value nameless = {NULL, "1"};
    expect_status(kvs_params_resolve(&plain, "plain", &nameless, 1, &params, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_params_resolve(&plain, "plain", NULL, 1, &params, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_params_resolve(&plain, NULL, NULL, 0, &params, &err), KVS_INVALID_PARAM, &err);
}

/* KVS-REQ-525 */
static void nothing_is_given_twice(void **state)
{
    (void)state;
    struct kvs_error err = refused(&redis, "redis://h?tls=no&tls=no", NULL);
    expect_text(err.text, "parameter 'tls' is given twice, both in the target");
    err = refused(&redis, "redis://h?host=h", NULL);
    expect_text(err.text, "parameter 'host' is given twice, both in the target");
    err = refused(&redis, "redis://h", GIVEN({"host", "h"}));
    expect_text(err.text, "parameter 'host' is given twice, in the target and beside it");
    err = refused(&redis, "redis", GIVEN({"db", "1"}, {"db", "1"}));
    expect_text(err.text, "parameter 'db' is given twice, both beside the target");
    err = refused(&redis, "redis://:hunter2@h", GIVEN({"password", "hunter2"}));
    expect_text(err.text, "'password'");
    expect_no_text(err.text, "hunter2");
}

/* KVS-REQ-522 */
static void further_schemes_set_values(void **state)
{
    (void)state;
    setenv("TEST_TLS", "no", 1);
    struct kvs_params *params = resolve(&redis, "rediss://h", NULL);
    expect_i64(params, "tls", 1);
    expect_i64(params, "mode", 1);
    kvs_params_free(params);
    params = resolve(&redis, "rediss", NULL);
    expect_i64(params, "tls", 1);
    kvs_params_free(params);
    params = resolve(&redis, "valkey://h", NULL);
    expect_i64(params, "tls", 0);
    kvs_params_free(params);
    params = resolve(&redis, "rediss://h?tls=true", GIVEN({"mode", "safe"}));
    expect_i64(params, "tls", 1);
    kvs_params_free(params);
    struct kvs_error err = refused(&redis, "rediss://h?tls=off", NULL);
    expect_text(err.text, "parameter 'tls' is 'off', but the target's scheme sets 'yes'");
    err = refused(&redis, "rediss://h", GIVEN({"mode", "fast"}));
    expect_text(err.text, "'mode'");
    unsetenv("TEST_TLS");
}

struct seen {
    int count;
    char text[2000];
};

static void see(void *arg, int level, const char *text)
{
    struct seen *seen = arg;
    assert_int_equal(level, KVS_LOG_WARN);
    seen->count++;
    snprintf(seen->text, sizeof seen->text, "%s", text);
}

/* KVS-REQ-507 KVS-REQ-508 KVS-REQ-513 KVS-REQ-515 */
static void the_environment_comes_before_the_default(void **state)
{
    (void)state;
    struct seen seen = {0};
    kvs_set_log(see, &seen, KVS_LOG_WARN);
    setenv("TEST_DB", "5", 1);
    setenv("TEST_PASSWORD", "from the environment", 1);
    setenv("KVSLOT_THREADS", "9", 1);
    struct kvs_params *params = resolve(&redis, "redis", NULL);
    expect_i64(params, "db", 5);
    expect_str(params, "password", "from the environment");
    expect_i64(params, "threads", 9);
    kvs_params_free(params);
    params = resolve(&redis, "redis://h/6", NULL);
    expect_i64(params, "db", 6);
    kvs_params_free(params);
    params = resolve(&redis, "redis", GIVEN({"db", "7"}));
    expect_i64(params, "db", 7);
    kvs_params_free(params);
    assert_int_equal(seen.count, 0);

    setenv("TEST_DB", "many", 1);
    params = resolve(&redis, "redis", NULL);
    expect_i64(params, "db", 0);
    kvs_params_free(params);
    assert_int_equal(seen.count, 1);
    expect_text(seen.text, "TEST_DB");
    expect_text(seen.text, "'many'");
    unsetenv("TEST_DB");

    setenv("TEST_WINDOW", "", 1);
    params = resolve(&redis, "redis", NULL);
    expect_str(params, "window", NULL);
    kvs_params_free(params);
    assert_int_equal(seen.count, 2);
    unsetenv("TEST_WINDOW");

    setenv("TEST_PIN", "hunter2", 1);
    params = resolve(&redis, "redis", NULL);
    expect_i64(params, "pin", 7);
    kvs_params_free(params);
    assert_int_equal(seen.count, 3);
    expect_text(seen.text, "TEST_PIN");
    expect_no_text(seen.text, "hunter2");
    unsetenv("TEST_PIN");
    unsetenv("TEST_PASSWORD");
    unsetenv("KVSLOT_THREADS");
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
}

static void required_parameters(void **state)
{
    (void)state;
    struct kvs_error err = refused(&strict, "strict", NULL);
    expect_text(err.text, "backend 'strict' needs parameter 'path'");
    expect_text(err.text, "TEST_PATH");
    refused(&strict, "strict:", NULL);
    kvs_params_free(resolve(&strict, "strict:x", NULL));
    kvs_params_free(resolve(&strict, "strict", GIVEN({"path", ""})));
    setenv("TEST_PATH", "x", 1);
    kvs_params_free(resolve(&strict, "strict", NULL));
    unsetenv("TEST_PATH");
}

/* Random queries over the names that matter: no crash, no leak; secrets are wiped by way of their one owner.
 */
static void random_parameters(void **state)
{
    (void)state;
    static const char *const names[] = {"tls",     "db",   "password", "window", "nothing",
                                        "timeout", "user", "ttl",      "mode"};
    static const char *const texts[] = {"",   "1",   "yes", "10us",       "4KiB", "safe",
                                        "-1", "%41", "%",   "@/dev/null", "x"};
    static const char *const starts[] = {"redis://h", "rediss:", "redis+unix:/s", "valkey://u:p@h/1",
                                         "redis:3"};
    uint64_t seed = 11;
    int good = 0, bad = 0;
    kvs_set_log(NULL, NULL, KVS_LOG_ERROR);
    for (int i = 0; i < 5000; i++) {
        char target[400];
        strcpy(target, starts[next_random(&seed) % 5]);
        for (uint32_t n = next_random(&seed) % 4, k = 0; k < n; k++)
            snprintf(target + strlen(target), sizeof target - strlen(target), "%c%s=%s", k ? '&' : '?',
                     names[next_random(&seed) % 9], texts[next_random(&seed) % 11]);
        struct kvs_params *params;
        struct kvs_error err = {0};
        int rc = kvs_params_resolve(&redis, target, NULL, 0, &params, &err);
        assert_true(rc == KVS_OK || (rc == KVS_INVALID_PARAM && err.text[0] && !params));
        *(rc == KVS_OK ? &good : &bad) += 1;
        kvs_params_free(params);
    }
    assert_true(good > 100 && bad > 100);
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
}

/* KVS-REQ-535: a program's own parameters beside the SDK's, declared in structures larger than ours */
static void a_programs_own(void **state)
{
    (void)state;
    static const struct {
        struct kvs_param param;
        char more[24];
    } own[] = {{{.name = "mode", .type = KVS_PARAM_ENUM, .choices = "fast|slow"}, "kept"},
               {{.name = "wait", .type = KVS_PARAM_DURATION, .min = 1, .max = INT64_MAX}, "kept"},
               {{.name = "label"}, "kept"}};
    struct kvs_param_list lists[] = {{&own[0].param, 3, sizeof own[0]}, {NULL, 0, 0}, {NULL, 0, 0}};
    lists[2].params = kvs_sdk_params(&lists[2].count);
    static const struct {
        struct kvs_param_value given;
        int64_t number;
        const char *error; /* NULL: none */
    } rows[] = {
        {{"mode", "slow"}, 1, NULL},
        {{"wait", "20ms"}, 20000000, NULL},
        {{"label", "any text"}, 0, NULL},
        {{"threads", "9"}, 9, NULL},
        {{"mode", "soon"}, 0, "parameter 'mode' is 'soon'; it must be one of fast|slow"},
        {{"wait", "0"}, 0, "parameter 'wait' is '0'; it must be a duration"},
        {{"threads", "257"}, 0, "from 1 to 256"},
        {{"ttl", "1us"}, 0, "whole milliseconds"},
        {{"wiat", "1s"},
         0,
         "the program has no parameter 'wiat'; did you mean 'wait'? It takes mode, wait, label,"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kvs_error err = {0, ""};
        int64_t number = 77;
        int rc = kvs_param_read("the program", lists, 3, &rows[i].given, &number, &err);
        expect_status(rc, rows[i].error ? KVS_INVALID_PARAM : KVS_OK, &err);
        assert_int_equal(number, rows[i].number);
        expect_text(err.text, rows[i].error ? rows[i].error : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_programs_own),
        cmocka_unit_test(the_sdk_has_its_own),
        cmocka_unit_test(the_sdks_own_are_checked),
        cmocka_unit_test(parts_of_a_uri_fill_parameters),
        cmocka_unit_test(parts_that_nobody_takes),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(nothing_is_given_twice),
        cmocka_unit_test(further_schemes_set_values),
        cmocka_unit_test(the_environment_comes_before_the_default),
        cmocka_unit_test(required_parameters),
        cmocka_unit_test(random_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
