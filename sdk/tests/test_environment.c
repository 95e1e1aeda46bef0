/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the SDK hears of the environment in a program that runs with other rights than its user's. Such a
 * program's secure_getenv answers nothing; this program has one of its own that does so when it is told to,
 * and a getenv that notes who asks it. KVS-REQ-440
 */
#include "loader.h"
#include "log.h"
#include "resolve.h"

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static bool privileged;
static bool asked; /* getenv, for what is the SDK's */

static char *look_up(const char *name)
{
    size_t len = strlen(name);
    for (char **at = environ; *at; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            return *at + len + 1;
    return NULL;
}

char *getenv(const char *name)
{
    if (strncmp(name, "KVSLOT_", 7) == 0 || strncmp(name, "TEST_", 5) == 0)
        asked = true;
    return look_up(name);
}

char *secure_getenv(const char *name)
{
    return privileged ? NULL : look_up(name);
}

static void set(const char *name, const char *value)
{
    assert_int_equal(setenv(name, value, 1), 0);
}

/* The level is taken from the environment once a process. */
static bool child_logs_debug(bool as_privileged)
{
    int how = -1;
    pid_t child = fork();
    if (child == 0) {
        privileged = as_privileged;
        _exit(kvs_log_on(KVS_LOG_DEBUG) ? 1 : 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how) == 1;
}

static void the_log(void **state)
{
    (void)state;
    set("KVSLOT_LOG", "debug");
    assert_true(child_logs_debug(false));
    assert_false(child_logs_debug(true));
    unsetenv("KVSLOT_LOG");
}

static void parameters(void **state)
{
    (void)state;
    set("KVSLOT_TIMEOUT", "5s");
    set("TEST_DB", "3");
    set("TEST_PASSWORD", "hunter2");
    for (int i = 0; i < 2; i++) {
        privileged = i == 1;
        struct kvs_params *params = resolve(&redis, "redis", NULL);
        int64_t timeout = 0, db = 0;
        assert_int_equal(kvs_params_i64(params, "timeout", &timeout), KVS_OK);
        assert_int_equal(kvs_params_i64(params, "db", &db), KVS_OK);
        assert_int_equal(timeout, privileged ? INT64_C(30000000000) : INT64_C(5000000000));
        assert_int_equal(db, privileged ? 0 : 3);
        expect_str(params, "password", privileged ? NULL : "hunter2");
        kvs_params_free(params);
    }
    privileged = false;
    assert_false(asked);
}

static void folders_of_plugins(void **state)
{
    (void)state;
    set("KVSLOT_PLUGIN_PATH", "/nowhere/at/all");
    for (int i = 0; i < 2; i++) {
        struct kvs_folders folders;
        bool there = false;
        privileged = i == 1;
        assert_true(kvs_folders_make(&folders));
        for (size_t k = 0; k < folders.n; k++)
            there = there || strcmp(folders.at[k], "/nowhere/at/all") == 0;
        assert_true(folders.n > 0);
        assert_int_equal(there, !privileged);
        kvs_folders_free(&folders);
    }
    privileged = false;
    assert_false(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log),
        cmocka_unit_test(parameters),
        cmocka_unit_test(folders_of_plugins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
