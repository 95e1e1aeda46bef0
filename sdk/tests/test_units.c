/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, durations, whole numbers, yes and no, choices. KVS-REQ-505 KVS-REQ-506 KVS-REQ-510 */
#include "expect.h"
#include "units.h"

typedef enum kvs_parse parse_fn(const char *text, int64_t *number);

struct row {
    const char *text;
    enum kvs_parse rc;
    int64_t number;
};

static void check_rows(parse_fn *parse, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t number = -99;
        enum kvs_parse rc = parse(rows[i].text, &number);
        if (rc != rows[i].rc || number != (rc == KVS_PARSE_OK ? rows[i].number : -99))
            fail_msg("'%s' gave %d, %lld", rows[i].text, rc, (long long)number);
    }
}
#define CHECK_ROWS(parse, rows) check_rows(parse, rows, sizeof(rows) / sizeof(rows[0]))

#define BAD(text)                                                                                            \
    {                                                                                                        \
        text, KVS_PARSE_MALFORMED, 0                                                                         \
    }
#define OVER(text)                                                                                           \
    {                                                                                                        \
        text, KVS_PARSE_OVERFLOW, 0                                                                          \
    }
#define GOOD(text, n)                                                                                        \
    {                                                                                                        \
        text, KVS_PARSE_OK, n                                                                                \
    }

static void sizes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        GOOD("0", 0),
        GOOD("4096", 4096),
        GOOD("64KiB", 65536),
        GOOD("1MiB", 1 << 20),
        GOOD("2GiB", INT64_C(2) << 30),
        GOOD("1TiB", INT64_C(1) << 40),
        GOOD("10kB", 10000),
        GOOD("10MB", 10000000),
        GOOD("1GB", 1000000000),
        GOOD("3TB", INT64_C(3000000000000)),
        GOOD("007", 7),
        GOOD("9223372036854775807", INT64_MAX),
        GOOD("8388607TiB", INT64_C(8388607) << 40),
        BAD(""),
        BAD("KiB"),
        BAD("1.5MiB"),
        BAD("-1"),
        BAD("+1"),
        BAD(" 1"),
        BAD("1 "),
        BAD("1 KiB"),
        BAD("1K"),
        BAD("1KB"),
        BAD("1kb"),
        BAD("1mib"),
        BAD("1B"),
        BAD("0x10"),
        BAD("1e3"),
        BAD("1KiBx"),
        BAD("99999999999999999999x"),
        OVER("9223372036854775808"),
        OVER("18446744073709551617"),
        OVER("99999999999999999999999999TiB"),
        OVER("8388608TiB"),
        OVER("9223372036854775807kB"),
    };
    CHECK_ROWS(kvs_parse_size, rows);
}

static void durations(void **state)
{
    (void)state;
    static const struct row rows[] = {
        GOOD("0", 0),
        GOOD("5ns", 5),
        GOOD("10us", 10000),
        GOOD("500ms", 500000000),
        GOOD("30s", INT64_C(30000000000)),
        GOOD("2m", INT64_C(120000000000)),
        GOOD("1h", INT64_C(3600000000000)),
        GOOD("0s", 0),
        GOOD("2562047h", INT64_C(2562047) * 3600 * 1000000000),
        BAD(""),
        BAD("1"),
        BAD("00"),
        BAD("30"),
        BAD("s"),
        BAD("1.5s"),
        BAD("-1s"),
        BAD("1sec"),
        BAD("1S"),
        BAD("1d"),
        BAD("1 s"),
        BAD("1m30s"),
        BAD("30s "),
        OVER("2562048h"),
        OVER("9223372036854775808ns"),
        OVER("99999999999999999999h"),
    };
    CHECK_ROWS(kvs_parse_duration, rows);
}

static void whole_numbers(void **state)
{
    (void)state;
    static const struct row rows[] = {
        GOOD("0", 0),
        GOOD("-0", 0),
        GOOD("42", 42),
        GOOD("-42", -42),
        GOOD("9223372036854775807", INT64_MAX),
        GOOD("-9223372036854775808", INT64_MIN),
        BAD(""),
        BAD("-"),
        BAD("--1"),
        BAD("+1"),
        BAD("1.0"),
        BAD("0x1"),
        BAD(" 1"),
        BAD("1 "),
        BAD("one"),
        OVER("9223372036854775808"),
        OVER("-9223372036854775809"),
        OVER("-99999999999999999999"),
    };
    CHECK_ROWS(kvs_parse_int, rows);
}

static void yes_and_no(void **state)
{
    (void)state;
    static const struct row rows[] = {
        GOOD("yes", 1), GOOD("no", 0), GOOD("true", 1), GOOD("false", 0), GOOD("on", 1),
        GOOD("off", 0), GOOD("1", 1),  GOOD("0", 0),    BAD(""),          BAD("Yes"),
        BAD("y"),       BAD("2"),      BAD("yes "),     BAD("01"),
    };
    CHECK_ROWS(kvs_parse_bool, rows);
}

static enum kvs_parse colour(const char *text, int64_t *place)
{
    return kvs_parse_enum("red|green|blue", text, place);
}

static void choices(void **state)
{
    (void)state;
    static const struct row rows[] = {
        GOOD("red", 0), GOOD("green", 1), GOOD("blue", 2), BAD(""),    BAD("re"),
        BAD("redd"),    BAD("red|green"), BAD("|"),        BAD("Red"),
    };
    CHECK_ROWS(colour, rows);
    int64_t place;
    assert_int_equal(kvs_parse_enum(NULL, "x", &place), KVS_PARSE_MALFORMED);
}

/* What is shown parses back. */
static void numbers_are_formatted(void **state)
{
    (void)state;
    char buf[32];
    assert_string_equal(kvs_format_size(buf, sizeof buf, 65536), "64KiB");
    assert_string_equal(kvs_format_size(buf, sizeof buf, 10000000), "10MB");
    assert_string_equal(kvs_format_size(buf, sizeof buf, 4097), "4097");
    assert_string_equal(kvs_format_size(buf, sizeof buf, 0), "0");
    assert_string_equal(kvs_format_duration(buf, sizeof buf, 0), "0");
    assert_string_equal(kvs_format_duration(buf, sizeof buf, INT64_C(90000000000)), "90s");
    assert_string_equal(kvs_format_duration(buf, sizeof buf, INT64_C(120000000000)), "2m");
    uint64_t seed = 20;
    for (int i = 0; i < 2000; i++) {
        int64_t n = (int64_t)((uint64_t)next_random(&seed) << (next_random(&seed) % 32)) & INT64_MAX,
                back = -1;
        assert_int_equal(kvs_parse_size(kvs_format_size(buf, sizeof buf, n), &back), KVS_PARSE_OK);
        assert_true(back == n);
        assert_int_equal(kvs_parse_duration(kvs_format_duration(buf, sizeof buf, n), &back), KVS_PARSE_OK);
        assert_true(back == n);
    }
}

static void errors_name_value_and_what_is_allowed(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    int64_t number;
    struct kvs_param p = {.name = "map_size", .type = KVS_PARAM_SIZE, .min = 4096, .max = INT64_C(1) << 40};
    expect_status(kvs_param_parse(&p, "5parsec", &number, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "parameter 'map_size' is '5parsec'");
    expect_text(err.text, "a size");
    expect_text(err.text, "from 4KiB to 1TiB");
    expect_status(kvs_param_parse(&p, "4095", &number, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "'4095'");
    expect_status(kvs_param_parse(&p, "2TiB", &number, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_param_parse(&p, "4096", &number, &err), KVS_OK, &err);
    expect_status(kvs_param_parse(&p, "1TiB", &number, &err), KVS_OK, &err);
    p = (struct kvs_param){.name = "n", .type = KVS_PARAM_INT, .min = -2, .max = INT64_MAX};
    expect_status(kvs_param_parse(&p, "-3", &number, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "at least -2");
    expect_status(kvs_param_parse(&p, "99999999999999999999", &number, &err), KVS_INVALID_PARAM, &err);
    p = (struct kvs_param){.name = "wait", .type = KVS_PARAM_DURATION};
    expect_status(kvs_param_parse(&p, "9999999999h", &number, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "63 bits");
    expect_status(kvs_param_parse(&p, "99", &number, &err), KVS_INVALID_PARAM, &err);
    expect_no_text(err.text, "63 bits");
    p = (struct kvs_param){.name = "mode", .type = KVS_PARAM_ENUM, .choices = "a|b"};
    expect_status(kvs_param_parse(&p, "c\n", &number, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "'c\\x0a'");
    expect_text(err.text, "one of a|b");
    p = (struct kvs_param){.name = "on", .type = KVS_PARAM_BOOL};
    expect_status(kvs_param_parse(&p, "", &number, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "yes or no");
    p = (struct kvs_param){.name = "text", .type = KVS_PARAM_STRING};
    expect_status(kvs_param_parse(&p, "", &number, &err), KVS_OK, &err);
    p = (struct kvs_param){.name = "odd", .type = 77};
    expect_status(kvs_param_parse(&p, "1", &number, &err), KVS_INVALID_PARAM, &err);
    /* KVS-REQ-516 */
    p = (struct kvs_param){.name = "pin", .type = KVS_PARAM_INT, .flags = KVS_PARAM_SECRET};
    expect_status(kvs_param_parse(&p, "hunter2", &number, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "'pin'");
    expect_no_text(err.text, "hunter2");
}

/* Random texts over the characters that matter: no crash, and what parses is in range and formats back. */
static void random_texts(void **state)
{
    (void)state;
    static const char letters[] = "0123456789999kKMGTiBnumsh.-+ x";
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        char text[33];
        size_t len = next_random(&seed) % (sizeof text - 1);
        for (size_t j = 0; j < len; j++)
            text[j] = letters[next_random(&seed) % (sizeof letters - 1)];
        text[len] = '\0';
        char *heap = strdup(text); /* so that reading past the end shows */
        int64_t n;
        if (kvs_parse_size(heap, &n) == KVS_PARSE_OK)
            assert_true(n >= 0);
        if (kvs_parse_duration(heap, &n) == KVS_PARSE_OK)
            assert_true(n >= 0);
        kvs_parse_int(heap, &n);
        kvs_parse_bool(heap, &n);
        kvs_parse_enum(heap, heap, &n);
        free(heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(durations),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(yes_and_no),
        cmocka_unit_test(choices),
        cmocka_unit_test(numbers_are_formatted),
        cmocka_unit_test(errors_name_value_and_what_is_allowed),
        cmocka_unit_test(random_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
