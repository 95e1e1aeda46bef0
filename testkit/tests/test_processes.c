/* SPDX-License-Identifier: Apache-2.0 */
/* What the runner does about processes: it bounds their output, ends them and their children, and sweeps
 * after them. */
#include "suite.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct kvs_conform_config with(const char *rogue, const char *filter)
{
    struct kvs_conform_config cfg;
    kvs_conform_config_init(&cfg);
    cfg.target = rogue ? suite_rogue(rogue) : NULL;
    cfg.filter = filter;
    return cfg;
}

static void test_output_is_bounded(void **state)
{
    struct kvs_conform_config cfg = with("prints_much", "size.empty_value,keys.empty");
    struct suite s;
    (void)state;
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_OK);
    assert_true(s.table_len < 4096); /* nothing failed, so nothing of it is shown */
    suite_free(&s);
    cfg = with("prints_much", "query.present");
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_MISMATCH);
    const char *output = suite_case(&s, "query.present", "output");
    assert_true(strlen(output) < 100000);
    assert_non_null(strstr(output, "the first line of much"));
    assert_non_null(strstr(output, "bytes left out]"));
    assert_non_null(strstr(output, "the last line of much"));
    suite_free(&s);
}

/* The state letter of a process; 0 where there is none. */
static char state_of(long pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    if (!fgets(line, sizeof(line), f))
        line[0] = '\0';
    fclose(f);
    const char *end = strrchr(line, ')');
    return end && end[1] ? end[2] : 0;
}

/* A killed process closes its files a little before it is gone. */
static bool ends(long pid)
{
    for (int ms = 0; ms < 30000; ms++) {
        char is = state_of(pid);
        if (is == 0 || is == 'Z' || is == 'X')
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

#define NOTES "notes"

/* Runs with a fresh file of notes; what the rogue has to tell lands there. */
static void run_with_notes(struct suite *s, struct kvs_conform_config cfg)
{
    static char path[4096];
    static struct kvs_param_value param = {"notes", path};
    assert_non_null(getcwd(path, sizeof(path) - 16));
    strcat(path, "/" NOTES);
    unlink(NOTES);
    cfg.params = &param;
    cfg.nparams = 1;
    suite_run(s, &cfg);
}

/* Every process that is named in the notes has ended. How many there were. */
static unsigned processes_end(void)
{
    char line[64];
    unsigned n = 0;
    FILE *f = fopen(NOTES, "r");
    assert_non_null(f);
    for (; fgets(line, sizeof(line), f); n++)
        assert_true(strncmp(line, "process ", 8) == 0 && ends(strtol(line + 8, NULL, 10)));
    fclose(f);
    return n;
}

static void test_no_process_is_left(void **state)
{
    struct suite s;
    (void)state;
    run_with_notes(&s, with("leaves_child", "roundtrip.empty,missing.read"));
    assert_int_equal(s.rc, KVS_OK);
    suite_free(&s);
    assert_true(processes_end() >= 2);
}

static void test_term_is_not_enough(void **state)
{
    struct kvs_conform_config cfg = with("hang_ignoring_term", "missing.single_call");
    struct suite s;
    (void)state;
    cfg.timeout_multiplier = 0.1;
    run_with_notes(&s, cfg);
    assert_string_equal(suite_case(&s, "missing.single_call", "outcome"), "TIMEOUT");
    assert_non_null(strstr(suite_case(&s, "missing.single_call", "reason"), "SIGKILL"));
    /* What its threads were doing is in the report. */
    assert_non_null(strstr(suite_case(&s, "missing.single_call", "threads"), "thread "));
    assert_non_null(strstr(suite_case(&s, "missing.single_call", "threads"), ": state S"));
    suite_free(&s);
    assert_true(processes_end() >= 2);
}

static void test_term_comes_first(void **state)
{
    struct kvs_conform_config cfg = with("hang", "missing.single_call");
    struct suite s;
    (void)state;
    cfg.timeout_multiplier = 0.1;
    suite_run(&s, &cfg);
    assert_string_equal(suite_case(&s, "missing.single_call", "outcome"), "TIMEOUT");
    assert_null(strstr(suite_case(&s, "missing.single_call", "reason"), "SIGKILL"));
    suite_free(&s);
}

/* Every key that was written was removed afterwards, and keys of other runs were not. */
static void check_swept(const char *rogue)
{
    char line[256], *all = NULL;
    size_t len = 0;
    unsigned n = 0;
    struct suite s;
    run_with_notes(&s, with(rogue, "roundtrip.one_byte"));
    assert_string_equal(suite_case(&s, "roundtrip.one_byte", "outcome"), "CRASH");
    assert_null(strstr(suite_case(&s, "roundtrip.one_byte", "reason"), "may still be in the store"));
    suite_free(&s);
    FILE *f = fopen(NOTES, "r");
    assert_non_null(f);
    assert_true(getdelim(&all, &len, '\0', f) > 0);
    rewind(f);
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, "written ", 8) != 0)
            continue;
        memcpy(line, "removed ", 8);
        assert_non_null(strstr(all, line));
        n++;
    }
    fclose(f);
    free(all);
    assert_true(n >= 1);
}

static void test_a_crash_is_swept(void **state)
{
    (void)state;
    check_swept("crashes_after_write");
    check_swept("crashes_after_write_listed");
}

#define STATE "state"

static struct kvs_conform_config journaled(const char *defect)
{
    struct kvs_conform_config cfg = with(defect, "roundtrip.one_byte");
    cfg.state_dir = STATE "/of/runs";
    return cfg;
}

/* A runner that is killed while its case, which has stored a key, hangs. */
static void run_and_be_killed(void)
{
    int out[2];
    unlink(NOTES);
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct suite s;
        close(out[0]); /* the other end stays open until the last of them is gone */
        run_with_notes(&s, journaled("hangs_after_write"));
        _exit(1);
    }
    close(out[1]);
    for (int ms = 0; ms < 30000 && access(NOTES, F_OK) != 0; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(access(NOTES, F_OK), 0);
    kill(pid, SIGKILL);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    close(out[0]);
}

/* The next run on the same target removes what a killed one has left, and only then. */
static void test_a_killed_run_is_swept(void **state)
{
    struct suite s;
    (void)state;
    run_and_be_killed();
    struct kvs_conform_config cfg = journaled("hangs_after_write");
    cfg.filter = "open.limits";
    cfg.target = suite_rogue("none"); /* another target: not its keys to remove */
    suite_run(&s, &cfg);
    assert_int_equal(s.rc, KVS_OK);
    assert_null(strstr(s.table, "a run that was killed"));
    suite_free(&s);
    static char path[4096];
    struct kvs_param_value param = {"notes", path};
    assert_non_null(getcwd(path, sizeof(path) - 16));
    strcat(path, "/" NOTES);
    cfg.target = suite_rogue("hangs_after_write");
    cfg.params = &param;
    cfg.nparams = 1;
    for (int round = 0; round < 2; round++) {
        suite_run(&s, &cfg);
        assert_int_equal(s.rc, KVS_OK);
        bool swept = strstr(s.table, "removed what a run that was killed had left under kc") != NULL;
        assert_int_equal(swept, round == 0);
        suite_free(&s);
    }
    /* The process that died held the store in its memory; that its keys were to be removed is what is seen.
     */
    assert_int_equal(system("test -z \"$(ls -A " STATE "/of/runs)\""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_is_bounded), cmocka_unit_test(test_no_process_is_left),
        cmocka_unit_test(test_term_comes_first),  cmocka_unit_test(test_term_is_not_enough),
        cmocka_unit_test(test_a_crash_is_swept),  cmocka_unit_test(test_a_killed_run_is_swept),
    };
    /* Sanitizers would turn a signal into an exit code of their own. */
    suite_let_signals_kill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
