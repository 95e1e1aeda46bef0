/* SPDX-License-Identifier: Apache-2.0 */
/* The shrinker, with failures that a function of the script stands for. */
#include "generate.h"
#include "shrink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct script_shape shape = {.about = ABOUT_FLIGHTS,
                                          .steps = 500,
                                          .overwrite = true,
                                          .query = true,
                                          .remove = true,
                                          .list = true,
                                          .max_key = 300};

struct store {
    bool (*fails)(const struct script *s);
    size_t calls, stop_at;
};

static enum shrink_answer try(void *arg, const struct script *s)
{
    struct store *store = arg;
    assert_true(s->n > 0);
    if (++store->calls == store->stop_at)
        return SHRINK_STOP;
    return store->fails(s) ? SHRINK_FAILS : SHRINK_PASSES;
}

static size_t find(const struct script *s, size_t from, uint32_t kind, unsigned key)
{
    for (; from < s->n; from++)
        for (size_t j = 0; s->steps[from].kind == kind && j < s->steps[from].nitems; j++)
            if (s->steps[from].items[j].key == key)
                return from;
    return s->n;
}

/* Some key is written, then removed, then read. */
static bool comes_back(const struct script *s)
{
    for (unsigned key = 0; key < script_keys(s); key++)
        if (find(s, find(s, find(s, 0, STEP_WRITE, key), STEP_REMOVE, key), STEP_READ, key) < s->n)
            return true;
    return false;
}

/* Some value of at least 33 bytes, under a key of at least 17. */
static bool is_large(const struct script *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; s->steps[i].kind == STEP_WRITE && j < s->steps[i].nitems; j++)
            if (s->steps[i].items[j].len >= 33 && s->key_len[s->steps[i].items[j].key] >= 17)
                return true;
    return false;
}

static size_t shrunk(bool (*fails)(const struct script *s), uint64_t seed, size_t attempts, size_t stop_at,
                     struct script *s)
{
    struct store store = {.fails = fails, .stop_at = stop_at};
    struct shrink how = {.try = try, .arg = &store, .attempts = attempts};
    assert_true(script_generate(s, seed, &shape));
    assert_true(fails(s));
    shrink_script(&how, s);
    assert_true(fails(s)); /* what is left is what was tried */
    assert_int_equal(store.calls, attempts - how.attempts);
    return store.calls;
}

static void test_a_planted_failure_shrinks_to_three_steps(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct script s;
        assert_true(shrunk(comes_back, seed, 400, 0, &s) < 400);
        char *text = script_text(&s);
        char want[200];
        snprintf(want, sizeof(want), "seed %d\nwrite k1 v1 0\nremove k1\nread k1\n", (int)seed);
        assert_string_equal(text, want);
        free(text);
        script_free(&s);
    }
}

static void test_sizes_and_keys_shrink(void **state)
{
    struct script s;
    (void)state;
    shrunk(is_large, 3, 400, 0, &s);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.steps[0].nitems, 1);
    assert_int_equal(s.steps[0].flight, 0);
    assert_int_equal(s.steps[0].engine, 0);
    assert_true(s.steps[0].items[0].len >= 33 && s.steps[0].items[0].len < 66);
    unsigned len = s.key_len[s.steps[0].items[0].key];
    assert_true(len >= 17 && len < 34);
    script_free(&s);
}

static void test_tries_are_bounded(void **state)
{
    struct script s;
    (void)state;
    assert_int_equal(shrunk(comes_back, 1, 10, 0, &s), 10);
    script_free(&s);
    assert_int_equal(shrunk(comes_back, 1, 0, 0, &s), 0);
    script_free(&s);
    assert_int_equal(shrunk(comes_back, 1, 400, 7, &s), 7); /* no call after a stop */
    script_free(&s);
}

static bool always(const struct script *s)
{
    (void)s;
    return true;
}

static void test_a_step_is_always_left(void **state)
{
    struct script s;
    (void)state;
    shrunk(always, 1, 400, 0, &s);
    assert_int_equal(s.n, 1);
    script_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_planted_failure_shrinks_to_three_steps),
        cmocka_unit_test(test_sizes_and_keys_shrink),
        cmocka_unit_test(test_tries_are_bounded),
        cmocka_unit_test(test_a_step_is_always_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
