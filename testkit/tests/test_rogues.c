/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every defect is caught, by the case that is meant to catch it and with the outcome that tells what
 * happened; and a backend without a defect passes everything.
 */
#include "suite.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct expectation {
    const char *rogue;       /* its defect */
    const char *requirement; /* what it breaks */
    const char *id;          /* the case that catches it */
    const char *outcome;
    const char
        *reason; /* a part of it; not looked at under a sanitizer, which ends a process in its own way */
    double multiplier; /* 0: 1 */
};

static const struct expectation table[] = {
    {"lost-write", "KVS-REQ-361", "roundtrip.one_byte", "FAIL", "READ is NOT_FOUND", 0},
    {"stale-read", "KVS-REQ-361", "overwrite.sizes", "FAIL", "", 0},
    {"stale-read", "KVS-REQ-361", "overwrite.batch", "FAIL", "differs", 0},
    {"write-once-ok", "KVS-REQ-008", "write_once.exists", "FAIL", "not EXISTS", 0},
    {"source-written", "KVS-REQ-358", "roundtrip.read_only_source", "CRASH", "SIGSEGV", 0},
    {"source-written", "KVS-REQ-358", "roundtrip.source_reused", "FAIL", "differs", 0},
    {"short-read", "KVS-REQ-361", "roundtrip.odd_sizes", "FAIL", "differs", 0},
    {"no-size-check", "KVS-REQ-389", "size.shorter", "FAIL", "not MISMATCH", 0},
    {"no-size-check", "KVS-REQ-389", "size.longer", "FAIL", "not MISMATCH", 0},
    {"no-size-check", "KVS-REQ-354", "size.empty_value", "FAIL", "not MISMATCH", 0},
    {"missing-is-ok", "KVS-REQ-007", "missing.read", "FAIL", "not NOT_FOUND", 0},
    {"missing-is-ok", "KVS-REQ-007", "missing.among_others", "FAIL", "not NOT_FOUND", 0},
    {"missing-is-error", "KVS-REQ-007", "missing.read", "FAIL", "BACKEND", 0},
    {"empty-is-absent", "KVS-REQ-359", "roundtrip.empty", "FAIL", "NOT_FOUND", 0},
    {"buffer-touched", "KVS-REQ-352", "missing.untouched", "FAIL", "was written", 0},
    {"writes-past-end", "KVS-REQ-357", "roundtrip.odd_sizes", "CRASH", "SIGSEGV", 0},
    {"writes-past-end", "KVS-REQ-357", "roundtrip.unaligned", "FAIL", "after to was written", 0},
    {"writes-before", "KVS-REQ-357", "roundtrip.guarded_front", "CRASH", "SIGSEGV", 0},
    {"offset-ignored", "KVS-REQ-356", "range.parts", "FAIL", "differs", 0},
    {"key-cut-at-nul", "KVS-REQ-081", "keys.binary", "FAIL", "differs", 0},
    {"key-cut-at-64", "KVS-REQ-081", "keys.longest", "FAIL", "differs", 0},
    {"query-lies", "KVS-REQ-371", "query.absent", "FAIL", "NOT_FOUND", 0},
    {"query-lies", "KVS-REQ-371", "query.many", "FAIL", "NOT_FOUND", 0},
    {"wrong-query-size", "KVS-REQ-370", "query.present", "FAIL", "size", 0},
    {"remove-lies", "KVS-REQ-374", "remove.present", "FAIL", "not NOT_FOUND", 0},
    {"list-ignores-prefix", "KVS-REQ-088", "list.prefix", "FAIL", "", 0},
    {"crash-on-empty", "KVS-REQ-359", "roundtrip.empty", "CRASH", "SIGSEGV", 0},
    {"sigbus-on-large", "KVS-REQ-361", "roundtrip.large", "CRASH", "SIGBUS", 0},
    {"crash-at-exit", "KVS-REQ-290", "roundtrip.one_byte", "CRASH", "SIGSEGV", 0},
    {"exits-quietly", "KVS-REQ-150", "roundtrip.one_byte", "CRASH", "exit code 0 and without a report", 0},
    {"exits-with-7", "KVS-REQ-150", "roundtrip.one_byte", "CRASH", "exit code 7 and without a report", 0},
    {"hang", "KVS-REQ-150", "roundtrip.one_byte", "TIMEOUT", "still running", 0.2},
    {"hang-ignoring-term", "KVS-REQ-150", "missing.single_call", "TIMEOUT", "SIGKILL", 0.2},
    {"leaks-descriptor", "KVS-REQ-290", "open.cycles", "FAIL", "open descriptors", 0.2},
    {"completes-twice", "KVS-REQ-150", "roundtrip.one_byte", "FAIL", "broke its contract", 0},
    {"completes-early", "KVS-REQ-150", "roundtrip.one_byte", "FAIL", "differs", 0},
    {"never-completes", "KVS-REQ-154", "roundtrip.one_byte", "TIMEOUT", "still running", 0.2},
    {"completes-again", "KVS-REQ-012", "roundtrip.one_byte", "FAIL", "BACKEND", 0},
    {"reads-token-early", "KVS-REQ-160", "roundtrip.one_byte", "FAIL", "broke its contract", 0},
    {"rests-too-early", "KVS-REQ-155", "roundtrip.one_byte", "FAIL", "broke its contract", 0},
};

static void check_one(const struct expectation *x)
{
    struct kvs_conform_config cfg;
    struct suite s;
    kvs_conform_config_init(&cfg);
    cfg.plugin_file = suite_rogue(x->rogue);
    cfg.filter = x->id;
    cfg.timeout_multiplier = x->multiplier;
    suite_run(&s, &cfg);
    const char *outcome = suite_case(&s, x->id, "outcome"), *reason = suite_case(&s, x->id, "reason");
    print_message("%-20s %s  %-28s %-8s %s\n", x->rogue, x->requirement, x->id, outcome, reason);
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_int_equal(s.sum.verdict, KVS_CONFORM_VERDICT_FAIL);
    assert_string_equal(outcome, x->outcome);
    if (!strstr(reason, x->reason))
        fail_msg("rogue %s: the reason of %s has no '%s': %s", x->rogue, x->id, x->reason, reason);
    assert_non_null(strstr(s.table, reason));
    suite_free(&s);
}

static void test_each_rogue_is_caught(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        check_one(&table[i]);
}

static void passes_everything(const char *rogue, uint32_t verdict)
{
    struct kvs_conform_config cfg;
    struct suite s;
    kvs_conform_config_init(&cfg);
    cfg.plugin_file = suite_rogue(rogue);
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
    passes_everything("no-defect", KVS_CONFORM_VERDICT_PASS);
    passes_everything("async-no-defect", KVS_CONFORM_VERDICT_PASS);
    passes_everything("honest-write-once", KVS_CONFORM_VERDICT_PASS);
    passes_everything("honest-no-query", KVS_CONFORM_VERDICT_PASS);
    passes_everything("honest-small", KVS_CONFORM_VERDICT_PASS);
    /* Without QUERY some core cases are NOT_SUPPORTED. */
    passes_everything("honest-minimal", KVS_CONFORM_VERDICT_PARTIAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_defect_passes),
        cmocka_unit_test(test_each_rogue_is_caught),
    };
    /* Sanitizers would turn a signal into an exit code of their own. */
    suite_let_signals_kill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
