/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defects are caught by the cases that are meant to catch them, with the outcome that tells what happened,
 * and a backend without a defect passes everything. `kvslot conform --self-test` runs all of them; here is a
 * part of them, and what else there is to say about each.
 */
#include "suite.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Where to start a thread is to sleep, submit may not start one. */
#ifdef __SANITIZE_THREAD__
#define ON_THREADS
#else
#define ON_THREADS "none_thread,"
#endif

/* Those that are quick, and of each kind at least one. */
#define SLICE                                                                                                \
    ON_THREADS                                                                                               \
    "none,rogue-small,lost_write,mismatch_touches,buffer_touched,writes_before,key_is_prefix,"               \
    "query_lies,remove_lies,rogue-real,rogue-no-shape,changes_strangers,list_goes_on,torn_write,"            \
    "own_store,claims_shared,claims_durable,"                                                                \
    "refuses_silently,leaks_descriptor,sigbus_on_large,exits_with_7,hang_ignoring_term,"                     \
    "secret_in_log,connects_when_lazy,full_loses,down_is_absent,completes_twice,ignores_stride,"             \
    "again_after_taking,writes_after,reads_source_after,completes_locked,cancel_twice,"                      \
    "read_leaks_fd,list_leaks_thread,fd_never_ready,removed_comes_back,emptied_crashes,borrows_bytes"

static int self_test(struct kvs_conform_config *cfg, uint32_t *total, uint32_t *caught, char **table)
{
    size_t len = 0;
    struct kvs_error err = {0};
    cfg->timeout_multiplier = KVSLOT_TIMEOUT_MULTIPLIER;
    cfg->out = open_memstream(table, &len);
    assert_non_null(cfg->out);
    int rc = kvs_conform_self_test(cfg, total, caught, &err);
    fclose(cfg->out);
    return rc;
}

static void test_a_slice_is_caught(void **state)
{
    struct kvs_conform_config cfg;
    uint32_t total = 0, caught = 0;
    char *table = NULL;
    (void)state;
    kvs_conform_config_init(&cfg);
    cfg.filter = SLICE;
    cfg.jobs = 2;
    int rc = self_test(&cfg, &total, &caught, &table);
    print_message("%s", table);
    assert_int_equal(rc, KVS_OK);
    uint32_t names = 1;
    for (const char *p = SLICE; *p; p++)
        names += *p == ',';
    assert_int_equal(total, names);
    assert_int_equal(caught, total);
    free(table);
}

/* What does not run its case has caught nothing. */
static void test_an_escape_shows(void **state)
{
    struct kvs_conform_config cfg;
    uint32_t total = 0, caught = 7;
    char *table = NULL;
    (void)state;
    kvs_conform_config_init(&cfg);
    cfg.filter = "lost_write,none";
    cfg.case_program = "/bin/true";
    assert_int_equal(self_test(&cfg, &total, &caught, &table), KVS_MISMATCH);
    assert_int_equal(total, 2);
    assert_int_equal(caught, 0);
    assert_non_null(strstr(table, "ESCAPED  lost_write"));
    assert_non_null(strstr(table, "ESCAPED  none"));
    free(table);
    cfg.filter = "no_such_rogue";
    assert_int_equal(self_test(&cfg, NULL, NULL, &table), KVS_INVALID_PARAM);
    free(table);
}

/* What else catches a defect, beside the case of the self-test. */
static const struct expectation {
    const char *rogue, *id, *outcome, *reason;
} table[] = {
    {"stale_read", "overwrite.batch", "FAIL", "differs"},
    {"source_written", "roundtrip.source_reused", "FAIL", "differs"},
    {"no_size_check", "size.longer", "FAIL", "not MISMATCH"},
    {"no_size_check", "size.empty_value", "FAIL", "not MISMATCH"},
    {"missing_is_ok", "missing.among_others", "FAIL", "not NOT_FOUND"},
    {"writes_past_end", "roundtrip.unaligned", "FAIL", "after to was written"},
    {"query_lies", "query.many", "FAIL", "NOT_FOUND"},
    {"claims_shared", "process.together", "FAIL", "NOT_FOUND"},
    {"lost_write", "model.sequential", "FAIL", "NOT_FOUND"},
    {"stale_read", "model.sequential", "FAIL", "after shrinking to "},
    {"key_cut_at_nul", "model.sequential", "FAIL", "after shrinking to "},
    {"swaps_values", "model.concurrent", "FAIL", "after shrinking to "},
    {"list_misses_one", "model.reopen", "FAIL", "list"},
};

static void test_other_cases_catch_it_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct expectation *x = &table[i];
        struct kvs_conform_config cfg;
        struct suite s;
        kvs_conform_config_init(&cfg);
        cfg.target = suite_rogue(x->rogue);
        cfg.filter = x->id;
        suite_run(&s, &cfg);
        const char *reason = suite_case(&s, x->id, "reason");
        print_message("%-20s %-28s %-8s %s\n", x->rogue, x->id, suite_case(&s, x->id, "outcome"), reason);
        assert_int_equal(s.rc, KVS_MISMATCH);
        assert_int_equal(s.sum.verdict, KVS_CONFORM_VERDICT_FAIL);
        assert_string_equal(suite_case(&s, x->id, "outcome"), x->outcome);
        if (!strstr(reason, x->reason))
            fail_msg("rogue %s: the reason of %s has no '%s': %s", x->rogue, x->id, x->reason, reason);
        assert_non_null(strstr(s.table, reason));
        suite_free(&s);
    }
}

/* A plugin that needs what only the host may have. */
static void test_a_linked_plugin_is_caught(void **state)
{
    struct kvs_conform_config cfg;
    struct suite s;
    (void)state;
    kvs_conform_config_init(&cfg);
    cfg.plugin_file = KVSLOT_ROGUE_DIR "/kvslot-rogue-linked.so";
    cfg.filter = "open.plugin";
    suite_run(&s, &cfg);
    assert_string_equal(suite_case(&s, "open.plugin", "outcome"), "FAIL");
    assert_non_null(strstr(suite_case(&s, "open.plugin", "reason"), "links against a library of kvslot"));
    suite_free(&s);
    cfg.plugin_file = KVSLOT_ROGUE_DIR "/kvslot-rogue.so";
    suite_run(&s, &cfg);
    assert_string_equal(suite_case(&s, "open.plugin", "outcome"), "PASS");
    suite_free(&s);
}

static void passes(const char *target, uint32_t verdict)
{
    struct kvs_conform_config cfg;
    struct suite s;
    kvs_conform_config_init(&cfg);
    if (target[0] == '/')
        cfg.plugin_file = target;
    else
        cfg.target = target;
    cfg.jobs = 2;
    suite_run(&s, &cfg);
    if (s.rc != KVS_OK)
        print_message("%s", s.table);
    assert_int_equal(s.rc, KVS_OK);
    assert_int_equal(s.sum.verdict, verdict);
    assert_int_equal(s.sum.counts[KVS_CONFORM_PASS] + s.sum.counts[KVS_CONFORM_NOT_SUPPORTED], s.sum.total);
    assert_int_equal(s.sum.conformant, 0); /* it is no real store */
    suite_free(&s);
}

static void test_no_defect_passes(void **state)
{
    (void)state;
    passes(KVSLOT_ROGUE_DIR "/kvslot-rogue.so", KVS_CONFORM_VERDICT_PASS);
    passes("rogue:?defect=write_once", KVS_CONFORM_VERDICT_PASS);
    passes("rogue-no-query", KVS_CONFORM_VERDICT_PASS);
    /* Without QUERY some core cases are NOT_SUPPORTED. */
    passes("rogue-minimal:?defect=write_once", KVS_CONFORM_VERDICT_PARTIAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slice_is_caught),        cmocka_unit_test(test_an_escape_shows),
        cmocka_unit_test(test_other_cases_catch_it_too), cmocka_unit_test(test_a_linked_plugin_is_caught),
        cmocka_unit_test(test_no_defect_passes),
    };
    /* Sanitizers would turn a signal into an exit code of their own. */
    suite_let_signals_kill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
