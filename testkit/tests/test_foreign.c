/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that are not the run's, in a store that keeps them between processes. This program is its own case
 * program: before one of the cases it does to those keys what the environment variable says.
 */
#include "suite.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TARGET   "lmdb:store?sync=none"
#define SPOIL    "KVSLOT_TEST_SPOIL"
#define VICTIM   "roundtrip.one_byte"
#define FOREIGN  "foreign.untouched"
#define MAX_KEYS 16

struct keys {
    char name[MAX_KEYS][64];
    size_t n;
};

static int collect(void *arg, const void *key, size_t len, uint64_t size)
{
    struct keys *keys = arg;
    (void)size;
    if (keys->n < MAX_KEYS)
        snprintf(keys->name[keys->n++], sizeof(keys->name[0]), "%.*s", (int)len, (const char *)key);
    return 0;
}

static kvs_engine *list_all(struct keys *keys)
{
    kvs_engine *e = NULL;
    memset(keys, 0, sizeof(*keys));
    if (kvs_engine_open(TARGET, NULL, 0, &e, NULL) != KVS_OK ||
        kvs_list(e, "", 0, collect, keys, NULL) != KVS_OK)
        abort();
    return e;
}

/* What a case's process does before its case. */
static void spoil(const char *what)
{
    struct keys keys;
    kvs_engine *e = list_all(&keys);
    if (keys.n == 0)
        abort();
    const char *name = keys.name[keys.n - 1];
    int rc = strcmp(what, "remove") == 0   ? kvs_remove(e, name, strlen(name), NULL)
             : strcmp(what, "change") == 0 ? kvs_put(e, name, strlen(name), "other", 5, NULL)
                                           : KVS_OK;
    if (rc != KVS_OK || kvs_engine_close(e, KVS_FOREVER, NULL) != KVS_OK)
        abort();
}

static size_t count_keys(void)
{
    struct keys keys;
    kvs_engine *e = list_all(&keys);
    assert_int_equal(kvs_engine_close(e, KVS_FOREVER, NULL), KVS_OK);
    return keys.n;
}

static void run(struct suite *s, const char *what, struct kvs_conform_config *cfg)
{
    static char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    assert_true(n > 0);
    self[n] = '\0';
    cfg->target = TARGET;
    cfg->filter = cfg->filter ? cfg->filter : VICTIM "," FOREIGN;
    cfg->case_program = self;
    setenv(SPOIL, what, 1);
    suite_run(s, cfg);
    unsetenv(SPOIL);
}

static void fails(const char *what, const char *reason)
{
    struct kvs_conform_config cfg;
    struct suite s;
    kvs_conform_config_init(&cfg);
    run(&s, what, &cfg);
    assert_int_equal(s.rc, KVS_MISMATCH);
    assert_string_equal(suite_case(&s, VICTIM, "outcome"), "PASS");
    assert_string_equal(suite_case(&s, FOREIGN, "outcome"), "FAIL");
    if (!strstr(suite_case(&s, FOREIGN, "reason"), reason))
        fail_msg("no '%s' in: %s", reason, suite_case(&s, FOREIGN, "reason"));
    suite_free(&s);
    assert_int_equal(count_keys(), 0);
}

static void test_untouched(void **state)
{
    struct kvs_conform_config cfg;
    struct suite s;
    (void)state;
    kvs_conform_config_init(&cfg);
    cfg.repeat = 3;
    run(&s, "look", &cfg); /* which aborts where no key is there */
    if (s.rc != KVS_OK)
        print_message("%s", s.table);
    assert_int_equal(s.rc, KVS_OK);
    assert_int_equal(s.sum.counts[KVS_CONFORM_PASS], 2);
    suite_free(&s);
    assert_int_equal(count_keys(), 0);
    cfg.until_fail = 1;
    run(&s, "look", &cfg);
    assert_int_equal(s.rc, KVS_OK);
    suite_free(&s);
    assert_int_equal(count_keys(), 0);
}

static void test_touched(void **state)
{
    (void)state;
    fails("remove", "which no case has used, was written before and is NOT_FOUND now");
    fails("change", "which no case has used, was written before and is MISMATCH now");
}

static void test_cannot_be_put(void **state)
{
    (void)state;
    fails("refuse", "the process that puts keys which are not the run's ended without an answer");
}

/* A case that does not run has nothing put for it, or what was put is removed all the same. */
static void test_left_out(void **state)
{
    struct kvs_conform_config cfg;
    volatile sig_atomic_t stop = 0;
    struct suite s;
    (void)state;
    kvs_conform_config_init(&cfg);
    cfg.skip = FOREIGN;
    run(&s, "look", &cfg);
    assert_string_equal(suite_case(&s, VICTIM, "outcome"), "CRASH"); /* it has found no key */
    suite_free(&s);
    cfg.skip = NULL;
    cfg.filter = VICTIM;
    run(&s, "look", &cfg);
    assert_string_equal(suite_case(&s, VICTIM, "outcome"), "CRASH");
    suite_free(&s);
    kvs_conform_config_init(&cfg);
    stop = 1;
    cfg.stop = &stop;
    run(&s, "look", &cfg);
    assert_int_equal(s.rc, KVS_CANCELED);
    suite_free(&s);
    assert_int_equal(count_keys(), 0);
}

static int run_as_case(int argc, char **argv)
{
    const char *what = getenv(SPOIL);
    bool refuses = what && strcmp(what, "refuse") == 0;
    if (refuses && strcmp(argv[1], FOREIGN) == 0)
        return 3;
    if (what && !refuses && strcmp(argv[1], VICTIM) == 0)
        spoil(what);
    return kvs_conform_case_main(argc, argv);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_touched),
        cmocka_unit_test(test_cannot_be_put),
        cmocka_unit_test(test_left_out),
    };
    if (argc > 1)
        return run_as_case(argc, argv);
    suite_let_signals_kill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
