/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of the model check: made, printed and read. */
#include "generate.h"
#include "script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct script_shape shapes[] = {
    {.about = ABOUT_SEQUENCES,
     .steps = 300,
     .overwrite = true,
     .query = true,
     .remove = true,
     .list = true,
     .max_key = 400},
    {.about = ABOUT_FLIGHTS,
     .steps = 300,
     .overwrite = true,
     .query = true,
     .remove = true,
     .max_value = 100,
     .max_batch = 2,
     .max_key = 20},
    {.about = ABOUT_REOPENING, .steps = 300, .max_value = 5, .max_batch = 1},
};

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct script made, read;
        struct kvs_error err = {0};
        assert_true(script_generate(&made, seed, &shapes[seed % 3]));
        char *text = script_text(&made);
        assert_non_null(text);
        assert_int_equal(script_parse(text, strlen(text), &read, &err), KVS_OK);
        assert_int_equal(read.n, made.n);
        assert_int_equal(read.seed, seed);
        assert_memory_equal(read.key_len, made.key_len, script_keys(&made) * sizeof(made.key_len[0]));
        for (size_t i = 0; i < read.n; i++)
            assert_memory_equal(&read.steps[i], &made.steps[i], sizeof(read.steps[i]));
        char *again = script_text(&read);
        assert_string_equal(again, text);
        free(text);
        free(again);
        script_free(&made);
        script_free(&read);
    }
}

/* What a store has not is in no script, and its limits are kept; what it has is in it. */
static void test_generator_keeps_to_the_shape(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        const struct script_shape *shape = &shapes[seed % 3];
        size_t kinds[STEP_REOPEN + 1] = {0}, flights = 0, largest = 0;
        struct script s;
        assert_true(script_generate(&s, seed, shape));
        assert_true(s.n >= shape->steps);
        for (size_t i = 0; i < s.n; i++) {
            const struct step *step = &s.steps[i];
            kinds[step->kind]++;
            flights += step_is_operation(step) && step->flight > 0;
            assert_true(shape->max_batch == 0 || step->nitems <= shape->max_batch);
            for (size_t j = 0; j < step->nitems; j++) {
                assert_true(s.key_len[step->items[j].key] <= shape->max_key);
                largest = step->items[j].len > largest ? step->items[j].len : largest;
            }
        }
        assert_int_equal(kinds[STEP_QUERY] > 0, shape->query);
        assert_int_equal(kinds[STEP_REMOVE] > 0, shape->remove);
        assert_int_equal(kinds[STEP_LIST] > 0, shape->list);
        assert_int_equal(kinds[STEP_CANCEL] > 0, shape->about == ABOUT_FLIGHTS);
        assert_int_equal(kinds[STEP_REOPEN] > 0, shape->about == ABOUT_REOPENING);
        assert_int_equal(flights > 0, shape->about != ABOUT_SEQUENCES);
        assert_true(kinds[STEP_WRITE] > 20 && kinds[STEP_READ] > 20);
        if (shape->max_value > 0)
            assert_int_equal(largest, shape->max_value);
        script_free(&s);
    }
}

static void test_a_seed_makes_one_script(void **state)
{
    struct script a, b, c;
    (void)state;
    assert_true(script_generate(&a, 7, &shapes[0]));
    assert_true(script_generate(&b, 7, &shapes[0]));
    assert_true(script_generate(&c, 8, &shapes[0]));
    char *texts[] = {script_text(&a), script_text(&b), script_text(&c)};
    assert_string_equal(texts[0], texts[1]);
    assert_string_not_equal(texts[0], texts[2]);
    for (size_t i = 0; i < 3; i++)
        free(texts[i]);
    script_free(&a);
    script_free(&b);
    script_free(&c);
}

/* As it stands in a report; and every form that there is. */
static void test_forms(void **state)
{
    static const char text[] = "      | # a comment\n"
                               "      | seed 18446744073709551615\n"
                               "      | errors allowed\n"
                               "\n"
                               "      | key k2 200\r\n"
                               "      | write k1 v1 0, k2 v3 1073741824 on e2\n"
                               "\tread k1,k2 longer , k1 shorter\n"
                               "|query k1\n";
    static const char plain[] = "seed 18446744073709551615\n"
                                "errors allowed\n"
                                "key k2 200\n"
                                "write k1 v1 0, k2 v3 1073741824 on e2\n"
                                "read k1, k2 longer, k1 shorter\n"
                                "query k1\n"
                                "remove k64 on e2\n"
                                "post t16 read k1\n"
                                "post t1 write k1 v1000000 5 on e2\n"
                                "wait t1\n"
                                "wait\n"
                                "cancel t16\n"
                                "cancel\n"
                                "register k1 on e2\n"
                                "deregister k1\n"
                                "list\n"
                                "list on e2\n"
                                "reopen\n"
                                "reopen e1\n"
                                "reopen e2\n";
    struct script s;
    struct kvs_error err = {0};
    (void)state;
    assert_int_equal(script_parse(text, strlen(text), &s, &err), KVS_OK);
    assert_int_equal(s.n, 3);
    script_free(&s);
    int rc = script_parse(plain, strlen(plain), &s, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, KVS_OK);
    char *again = script_text(&s);
    assert_string_equal(again, plain);
    free(again);
    script_free(&s);
}

static void test_errors_name_line_value_and_expectation(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"wirte k1 v1 5", "line 1: 'wirte' stands where a step, write, read, query, remove, post"},
        {"\n# x\nread q1", "line 3: 'q1' stands where a key, k1 to k64, is expected"},
        {"read k0", "'k0' stands where a key"},
        {"read k65", "'k65' stands where a key"},
        {"read", "line 1 ends where a key, k1 to k64, is expected"},
        {"read k1,", "line 1 ends where a key"},
        {"read k1 long", "'long' stands where the end of the line is expected"},
        {"write k1 5", "'5' stands where a value, v1 to v1000000, is expected"},
        {"write k1 v1", "line 1 ends where the value's length in bytes, 0 to 1073741824, is expected"},
        {"write k1 v1 1073741825", "'1073741825' stands where the value's length"},
        {"write k1 v1 -5", "'-5' stands where the value's length"},
        {"query k1 on", "line 1 ends where an engine, e1 or e2, is expected"},
        {"query k1 on e3", "'e3' stands where an engine, e1 or e2, is expected"},
        {"post t17 read k1", "'t17' stands where a transfer in flight, t1 to t16, is expected"},
        {"post t1 wait", "'wait' stands where write, read, query or remove is expected"},
        {"wait t1 on e2", "'on' stands where the end of the line is expected"},
        {"reopen k1", "'k1' stands where an engine"},
        {"seed x", "'x' stands where a seed, a whole number, is expected"},
        {"seed 18446744073709551616", "'18446744073709551616' stands where a seed"},
        {"key k1 4097", "'4097' stands where the key's length in bytes, 0 to 4096, is expected"},
        {"errors", "line 1 ends where 'allowed' is expected"},
        {"read k1,k1,k1,k1,k1,k1,k1,k1,k1", "line 1 names more keys than the 8 that a step takes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct script s;
        struct kvs_error err = {0};
        if (script_parse(wrong[i].text, strlen(wrong[i].text), &s, &err) != KVS_INVALID_PARAM)
            fail_msg("'%s' is taken for a script", wrong[i].text);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("'%s': the text is '%s', without '%s'", wrong[i].text, err.text, wrong[i].says);
        assert_null(s.steps);
    }
}

static void test_files(void **state)
{
    struct script s;
    struct kvs_error err = {0};
    (void)state;
    assert_int_equal(script_load("none", &s, &err), KVS_IO);
    assert_non_null(strstr(err.text, "the script none cannot be read"));
    FILE *f = fopen("script", "w");
    assert_non_null(f);
    fputs("seed 1\n", f);
    fclose(f);
    assert_int_equal(script_load("script", &s, &err), KVS_INVALID_PARAM);
    assert_string_equal(err.text, "the script script: it has no step");
    assert_int_equal(script_load(".", &s, &err), KVS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_generator_keeps_to_the_shape),
        cmocka_unit_test(test_a_seed_makes_one_script),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_errors_name_line_value_and_expectation),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
