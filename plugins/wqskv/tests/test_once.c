/* SPDX-License-Identifier: Apache-2.0 */
/* The library is initialised once a process, whatever comes of it. Each test is a process of its own:
 * test_once NAME. */
#include "../emulator/control.h"
#include "util.h"

#include <sys/wait.h>
#include <unistd.h>

static int ok;

static void open_is(const char *config, const char *more, int status, const char *says)
{
    struct kvs_error err = {0};
    kvs_engine *engine;
    int rc = try_open(config, more, &engine, &err);
    if (rc != status || (says != NULL && strstr(err.text, says) == NULL)) {
        fprintf(stderr, "open of %s %s: %s: %s\n", config, more, kvs_status_name(rc), err.text);
        ok = 1;
    }
    if (rc == KVS_OK)
        close_engine(engine);
}

/* Closing all engines leaves it initialised: a second init would answer -EALREADY. */
static void reopened(const char *good, const char *other)
{
    char both[1400];
    kvs_engine *one = open_with(good, ""), *two = open_with(good, "timeout=5s");
    char back[4] = "";
    ok |= put_text(one, "k", "abc", 3) != KVS_OK || get_text(two, "k", back, 3) != KVS_OK ||
          strcmp(back, "abc") != 0;
    snprintf(both, sizeof(both), "'config_path' is '%s'; it was '%s'", other, good);
    open_is(other, "", KVS_INVALID_PARAM, both);
    close_engine(one);
    close_engine(two);
    open_is(good, "", KVS_OK, NULL);
    open_is(other, "", KVS_INVALID_PARAM, good);
    /* The file is not looked at again: what it says now is of no use. */
    unlink(good);
    open_is(good, "", KVS_OK, NULL);
}

/* A failed first init stays failed, and another configuration cannot mend it. */
static void failed(const char *good, const char *other)
{
    setenv("WQSKV_EMULATOR", "init=-5", 1);
    open_is(good, "", KVS_IO, "wds_kvcache_init failed with -5");
    open_is(good, "", KVS_IO, good);
    open_is(other, "", KVS_INVALID_PARAM, good);
    open_is(other, "", KVS_INVALID_PARAM, other);
}

/* init that takes longer than an open may; a later one waits on. */
static void slow(const char *good, const char *other)
{
    (void)other;
    setenv("WQSKV_EMULATOR", "init_hold", 1);
    open_is(good, "timeout=1ms", KVS_TIMEOUT, "has not answered within the parameter 'timeout'");
    open_is(good, "timeout=1ms", KVS_TIMEOUT, good);
    wds_emulator_let_go();
    open_is(good, "timeout=60s", KVS_OK, NULL);
}

/* With connect=lazy nothing is called until it is needed, and a post never waits for it. */
static void lazy(const char *good, const char *other)
{
    (void)other;
    setenv("WQSKV_EMULATOR", "init_hold", 1);
    kvs_engine *one = open_with(good, "connect=lazy"), *two = open_with(good, "connect=lazy");
    ok |= query_text(one, "k") != KVS_UNKNOWN;
    char value[4] = "abc";
    const char *key = "k";
    kvs_xfer *x = prep_keys(two, KVS_WRITE, &key, 1, value, 3);
    ok |= kvs_xfer_post(x) != KVS_IN_PROG || kvs_xfer_check(x) != KVS_IN_PROG;
    wds_emulator_let_go();
    ok |= kvs_xfer_wait(x, WAIT) != KVS_OK || kvs_xfer_release(x, 0) != KVS_OK;
    ok |= get_text(one, "k", value, 3) != KVS_OK;
    close_engine(one);
    close_engine(two);
}

static void lazy_failed(const char *good, const char *other)
{
    (void)other;
    setenv("WQSKV_EMULATOR", "init=-111", 1);
    kvs_engine *engine = open_with(good, "connect=lazy");
    struct kvs_error err = {0};
    for (int i = 0; i < 2; i++) {
        int rc = kvs_put(engine, "k", 1, "v", 1, &err);
        if (rc != KVS_DISCONNECTED || strstr(err.text, "failed with -111") == NULL) {
            fprintf(stderr, "put: %s: %s\n", kvs_status_name(rc), err.text);
            ok = 1;
        }
    }
    close_engine(engine);
}

/* init that hangs ends a post within its deadline, and holds nothing. */
static void lazy_hangs(const char *good, const char *other)
{
    (void)other;
    setenv("WQSKV_EMULATOR", "init_hold", 1);
    kvs_engine *engine = open_with(good, "connect=lazy&timeout=20ms&cancel_grace=20ms");
    ok |= put_text(engine, "k", "v", 1) != KVS_TIMEOUT;
    close_engine(engine);
}

/* KVS-REQ-457 */
static void forked(const char *good, const char *other)
{
    (void)other;
    kvs_engine *mine = open_with(good, "");
    int how = -1;
    pid_t child = fork();
    if (child == 0) {
        kvs_engine *engine;
        _exit(try_open(good, "", &engine, NULL) == KVS_NOT_ALLOWED ? 0 : 1);
    }
    ok |= waitpid(child, &how, 0) != child || !WIFEXITED(how) || WEXITSTATUS(how) != 0;
    ok |= put_text(mine, "k", "v", 1) != KVS_OK;
    close_engine(mine);
}

/* What is no rule of the emulator's, and processors that there are none of, are refused by it. */
static void no_rules(const char *good, const char *other)
{
    (void)other;
    setenv("WQSKV_EMULATOR", "refus=1", 1);
    open_is(good, "", KVS_INVALID_PARAM, "failed with -22");
}

static void no_such_cpu(const char *good, const char *other)
{
    (void)good;
    (void)other;
    open_is(write_config("cpus", "\"bind_cpus\": \"1023\""), "", KVS_INVALID_PARAM, "failed with -22");
}

static const struct {
    const char *name;
    void (*run)(const char *good, const char *other);
} parts[] = {{"reopened", reopened}, {"failed", failed},           {"slow", slow},
             {"lazy", lazy},         {"lazy_failed", lazy_failed}, {"lazy_hangs", lazy_hangs},
             {"no_rules", no_rules}, {"no_such_cpu", no_such_cpu}, {"forked", forked}};

/* A process of its own, with this part of the program. */
static void runs(const char *part)
{
    assert_int_equal(run_self(part, ""), 0);
}

static void test_reopened(void **state)
{
    (void)state;
    runs("reopened");
}

static void test_failed(void **state)
{
    (void)state;
    runs("failed");
}

static void test_slow(void **state)
{
    (void)state;
    runs("slow");
}

static void test_lazy(void **state)
{
    (void)state;
    runs("lazy");
}

static void test_lazy_failed(void **state)
{
    (void)state;
    runs("lazy_failed");
}

static void test_lazy_hangs(void **state)
{
    (void)state;
    runs("lazy_hangs");
}

static void test_no_rules(void **state)
{
    (void)state;
    runs("no_rules");
}

static void test_no_such_cpu(void **state)
{
    (void)state;
    runs("no_such_cpu");
}

static void test_forked(void **state)
{
    (void)state;
    runs("forked");
}

int main(int argc, char **argv)
{
    self = argv[0];
    for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strcmp(argv[1], parts[i].name) != 0)
            continue;
        char good[600];
        snprintf(good, sizeof(good), "%s", write_config("good", NULL));
        parts[i].run(good, write_config("other", NULL));
        return ok;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reopened),    cmocka_unit_test(test_failed),
        cmocka_unit_test(test_slow),        cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_lazy_failed), cmocka_unit_test(test_lazy_hangs),
        cmocka_unit_test(test_no_rules),    cmocka_unit_test(test_no_such_cpu),
        cmocka_unit_test(test_forked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
