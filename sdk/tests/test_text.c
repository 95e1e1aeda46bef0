/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses, error texts and the log. */
#include "err.h"
#include "expect.h"
#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* KVS-REQ-005 */
static void statuses_have_names_and_numbers(void **state)
{
    (void)state;
    assert_int_equal(KVS_IN_PROG, 1);
    assert_int_equal(KVS_BUSY, -7);
    assert_string_equal(kvs_status_name(-4), "NOT_FOUND");
    assert_string_equal(kvs_status_text(-4), "not found");
    assert_string_equal(kvs_status_name(-107), "AGAIN");
    assert_string_equal(kvs_status_name(-12), "?");
    assert_string_equal(kvs_status_name(2), "?");
    assert_string_equal(kvs_status_text(77), "unknown status");
    assert_string_equal(kvs_version(), "0.1.0");
    for (int n = -200; n < 10; n++)
        assert_int_equal(kvs_status_known(n), strcmp(kvs_status_name(n), "?") != 0);
}

/* KVS-REQ-013: what a backend may not answer reaches no caller as it is. */
static void answers_that_are_no_errors(void **state)
{
    (void)state;
    static const int odd[] = {0, 1, 2, 77, -1, -12, -107, -500};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        assert_int_equal(kvs_status_error(odd[i]), KVS_BACKEND);
    assert_int_equal(kvs_status_error(KVS_FULL), KVS_FULL);
    char buf[64];
    struct kvs_error own = {0};
    assert_string_equal(kvs_err_why(buf, sizeof buf, &own, KVS_FULL), "store is full");
    expect_text(kvs_err_why(buf, sizeof buf, &own, 77), "77");
    kvs_err_set(&own, KVS_FULL, "no room in %s", "it");
    assert_string_equal(kvs_err_why(buf, sizeof buf, &own, KVS_FULL), "no room in it");
}

static void an_error_is_filled_and_answered(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    errno = EBADF;
    assert_int_equal(kvs_err_set(&err, KVS_BUSY, "%d transfers", 3), KVS_BUSY);
    assert_int_equal(errno, EBADF);
    assert_int_equal(err.status, KVS_BUSY);
    assert_string_equal(err.text, "3 transfers");
    assert_int_equal(kvs_err_set(NULL, KVS_IO, "nobody reads this"), KVS_IO);
    /* Its own text among the arguments. */
    kvs_err_set(&err, KVS_IO, "file: %s", err.text);
    assert_string_equal(err.text, "file: 3 transfers");
}

static void a_long_error_ends_at_a_whole_character(void **state)
{
    (void)state;
    static const char *const chars[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t width = 1; width <= 4; width++) {
        for (size_t before = 0; before < 5; before++) {
            char text[2100] = "";
            memset(text, 'a', before);
            for (int i = 0; i < 500; i++)
                strcat(text, chars[width - 1]);
            struct kvs_error err;
            kvs_err_set(&err, KVS_IO, "%s", text);
            size_t len = strlen(err.text), room = sizeof err.text - 1;
            assert_int_equal(len, width == 1 && before + 500 < room ? before + 500
                                                                    : room - (room - before) % width);
            assert_memory_equal(err.text, text, len);
        }
    }
}

static void bytes_are_shown_for_people(void **state)
{
    (void)state;
    char buf[16];
    assert_string_equal(kvs_show_bytes(buf, sizeof buf, "plain key", 9), "plain key");
    assert_string_equal(kvs_show_bytes(buf, sizeof buf, "a\0b\xff", 4), "a\\x00b\\xff");
    assert_string_equal(kvs_show_bytes(buf, sizeof buf, "exactly fifteen", 15), "exactly fifteen");
    assert_string_equal(kvs_show_bytes(buf, sizeof buf, "exactly sixteen!", 16), "exactly sixt...");
    assert_string_equal(kvs_show_bytes(buf, sizeof buf, "123456789\n\n", 11), "123456789...");
    assert_string_equal(kvs_show_bytes(buf, sizeof buf, NULL, 0), "");
    assert_string_equal(kvs_show_bytes(buf, 3, "long", 4), "..");
    assert_string_equal(kvs_show_bytes(buf, 1, "long", 4), "");
}

struct seen {
    int count, level;
    char text[2000];
};

static void see(void *arg, int level, const char *text)
{
    struct seen *seen = arg;
    seen->count++;
    seen->level = level;
    snprintf(seen->text, sizeof seen->text, "%s", text);
}

/* KVS-REQ-534 */
static void the_log_goes_to_its_function(void **state)
{
    (void)state;
    struct seen seen = {0};
    kvs_set_log(see, &seen, KVS_LOG_INFO);
    errno = EBADF;
    kvs_log(KVS_LOG_INFO, "lmdb", "%s has %d\nlines\x1b[1m\n", "it", 2);
    assert_int_equal(errno, EBADF);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.level, KVS_LOG_INFO);
    assert_string_equal(seen.text, "lmdb: it has 2 lines [1m");
    kvs_log(KVS_LOG_DEBUG, "lmdb", "not asked for");
    assert_int_equal(seen.count, 1);
    assert_true(kvs_log_on(KVS_LOG_ERROR));
    assert_false(kvs_log_on(KVS_LOG_DEBUG));
    kvs_set_log(see, &seen, -1);
    assert_true(kvs_log_on(KVS_LOG_INFO));
    char text[3000];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    kvs_log(KVS_LOG_ERROR, "lmdb", "%s", text);
    assert_int_equal(seen.count, 2);
    assert_true(strlen(seen.text) < 1100);
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
}

/* What the process writes to standard error while it runs `what` in a child with KVSLOT_LOG set to `level`.
 */
static void stderr_of(const char *level, void (*what)(void), char *out, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        if (level)
            setenv("KVSLOT_LOG", level, 1);
        else
            unsetenv("KVSLOT_LOG");
        what();
        _exit(0);
    }
    close(ends[1]);
    size_t have = 0;
    for (ssize_t n; (n = read(ends[0], out + have, size - 1 - have)) > 0;)
        have += (size_t)n;
    out[have] = '\0';
    close(ends[0]);
    int rc;
    assert_int_equal(waitpid(child, &rc, 0), child);
    assert_int_equal(rc, 0);
}

static void one_of_each(void)
{
    kvs_log(KVS_LOG_ERROR, "sdk", "an error");
    kvs_log(KVS_LOG_WARN, "sdk", "a warning");
    kvs_log(KVS_LOG_INFO, "sdk", "a fact");
    kvs_log(KVS_LOG_TRACE, "sdk", "a step");
}

/* KVS-REQ-534: runs first, since the environment is read once. */
static void the_environment_sets_the_level(void **state)
{
    (void)state;
    char out[4000];
    stderr_of(NULL, one_of_each, out, sizeof out);
    assert_string_equal(out, "kvslot: error: sdk: an error\nkvslot: warn: sdk: a warning\n");
    stderr_of("error", one_of_each, out, sizeof out);
    assert_string_equal(out, "kvslot: error: sdk: an error\n");
    stderr_of("TRACE", one_of_each, out, sizeof out);
    expect_text(out, "kvslot: info: sdk: a fact\n");
    expect_text(out, "kvslot: trace: sdk: a step\n");
    stderr_of("loud", one_of_each, out, sizeof out);
    expect_text(out, "KVSLOT_LOG is 'loud'");
    expect_text(out, "a warning");
    expect_no_text(out, "a fact");
    assert_null(strstr(strstr(out, "loud") + 1, "loud"));
}

/* Past the sanitizers, which take the parent's threads for the child's. */
static void leave(int code)
{
    syscall(SYS_exit_group, code);
}

static void fork_inside(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    (void)text;
    pid_t child = fork();
    if (child == 0)
        leave(0);
    int rc;
    waitpid(child, &rc, 0);
}

static atomic_bool enough;

static void *log_on(void *arg)
{
    while (!atomic_load(&enough)) {
        kvs_log(KVS_LOG_ERROR, "thread", "one of %s", (const char *)arg);
        sched_yield();
    }
    return NULL;
}

/* Gives the forking thread its chance while the log's lock is held. */
static void dawdle(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    (void)text;
    sched_yield();
}

/* A child can log although another thread of its parent was logging at the fork. */
static void the_log_lives_through_a_fork(void **state)
{
    (void)state;
    pthread_t thread;
    kvs_set_log(dawdle, NULL, KVS_LOG_ERROR);
    assert_int_equal(pthread_create(&thread, NULL, log_on, (void *)(uintptr_t) "many"), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            kvs_log(KVS_LOG_ERROR, "child", "a line");
            leave(0);
        }
        int rc;
        assert_int_equal(waitpid(child, &rc, 0), child);
        assert_int_equal(rc, 0);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    kvs_set_log(fork_inside, NULL, KVS_LOG_ERROR);
    kvs_log(KVS_LOG_ERROR, "sdk", "forks");
    kvs_log(KVS_LOG_ERROR, "sdk", "forks again");
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_sets_the_level),
        cmocka_unit_test(statuses_have_names_and_numbers),
        cmocka_unit_test(answers_that_are_no_errors),
        cmocka_unit_test(an_error_is_filled_and_answered),
        cmocka_unit_test(a_long_error_ends_at_a_whole_character),
        cmocka_unit_test(bytes_are_shown_for_people),
        cmocka_unit_test(the_log_goes_to_its_function),
        cmocka_unit_test(the_log_lives_through_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
