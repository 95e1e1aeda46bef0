/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of the model from end to end: a failure shrinks to a script that fails again, and only where the
 * defect is. */
#include "suite.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCRIPT "script"

static void save(const char *text)
{
    FILE *f = fopen(SCRIPT, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void replay(struct suite *s, const char *defect)
{
    struct kvs_conform_config cfg;
    kvs_conform_config_init(&cfg);
    cfg.target = suite_rogue(defect);
    cfg.replay_file = SCRIPT;
    cfg.filter = "open.*"; /* these do not count */
    cfg.skip = "model.*";
    suite_run(s, &cfg);
}

/* Fails in a case, shrinks to so many steps, and fails again when they are replayed, with that outcome. */
static void shrinks_and_replays(const char *defect, const char *id, size_t steps, const char *outcome)
{
    struct kvs_conform_config cfg;
    struct suite s;
    char after[64];
    kvs_conform_config_init(&cfg);
    cfg.target = suite_rogue(defect);
    cfg.filter = id;
    cfg.seed = 11;
    suite_run(&s, &cfg);
    print_message("%s: %s\n%s\n", defect, suite_case(&s, id, "reason"), suite_case(&s, id, "output"));
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_string_equal(suite_case(&s, id, "outcome"), "FAIL");
    snprintf(after, sizeof(after), "with seed 11, after shrinking to %zu of ", steps);
    assert_non_null(strstr(suite_case(&s, id, "reason"), after));
    assert_non_null(strstr(s.table, "--replay FILE"));
    /* Up to what the process has printed: the crash's backtrace, say. */
    char *text = strdup(suite_case(&s, id, "output"));
    char *rest = strstr(text, "# What");
    if (rest)
        *rest = '\0';
    save(text);
    free(text);
    suite_free(&s);

    replay(&s, defect);
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_int_equal(s.sum.total, 1);
    assert_string_equal(suite_case(&s, "model.replay", "outcome"), outcome);
    assert_non_null(strstr(s.table, "--replay " SCRIPT));
    suite_free(&s);
    replay(&s, "none");
    assert_int_equal(s.rc, KVS_OK);
    assert_int_equal(s.sum.conformant, 0);
    suite_free(&s);
}

static void test_a_wrong_answer(void **state)
{
    (void)state;
    shrinks_and_replays("removed_comes_back", "model.reopen", 4, "FAIL");
}

static void test_a_crash(void **state)
{
    (void)state;
    shrinks_and_replays("emptied_crashes", "model.sequential", 3, "CRASH");
}

/* Limits of the store that replays count, not those of the store that the script was made for. */
static void test_a_script_fits_every_store(void **state)
{
    static const char *const targets[] = {"rogue-small", "rogue-no-query",
                                          "rogue-minimal:?defect=write_once"};
    (void)state;
    save("key k1 3000\nwrite k1 v1 5000000, k2 v2 0, k1 v3 7, k2 v4 9\nregister k1\npost t1 read k1 longer, "
         "k2\n"
         "cancel\nremove k1\nlist\nquery k2 on e2\nwait t9\nreopen e2\nreopen\nread k1, k2 shorter\n");
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct kvs_conform_config cfg;
        struct suite s;
        kvs_conform_config_init(&cfg);
        cfg.target = targets[i];
        cfg.replay_file = SCRIPT;
        suite_run(&s, &cfg);
        if (s.rc != KVS_OK)
            print_message("%s", s.table);
        assert_int_equal(s.rc, KVS_OK);
        suite_free(&s);
    }
}

static void test_a_bad_script_runs_nothing(void **state)
{
    struct suite s;
    (void)state;
    save("read k1\nraed k1\n");
    replay(&s, "none");
    assert_int_equal(s.rc, KVS_INVALID_PARAM);
    assert_non_null(strstr(s.err.text, "the script " SCRIPT ": line 2: 'raed' stands where a step"));
    assert_null(s.report);
    suite_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wrong_answer),
        cmocka_unit_test(test_a_crash),
        cmocka_unit_test(test_a_script_fits_every_store),
        cmocka_unit_test(test_a_bad_script_runs_nothing),
    };
    suite_let_signals_kill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
