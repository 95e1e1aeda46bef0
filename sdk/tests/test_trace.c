/* SPDX-License-Identifier: Apache-2.0 */
/* trace=1, the log's sink, and secrets, which are in neither. */
#include "engines.h"
#include "log.h"
#include "quiet.h"
#include "toy.h"

#include <errno.h>
#include <kvslot/mock.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static struct kvs_backend store, vault;
static char buf[64];

/* What the sink has been given. */
struct sink {
    atomic_uint inside, together, lines;
    int level; /* of the last line */
    size_t used;
    char text[32768];
};
static struct sink sink, second;

static void keep(void *arg, int level, const char *text)
{
    struct sink *s = arg;
    if (atomic_fetch_add(&s->inside, 1) != 0)
        atomic_fetch_add(&s->together, 1);
    sched_yield(); /* so that another one would come in, if it could */
    s->level = level;
    s->used += (size_t)snprintf(s->text + s->used, sizeof s->text - s->used, "%s\n", text);
    atomic_fetch_add(&s->lines, 1);
    atomic_fetch_sub(&s->inside, 1);
}

static int setup(void **state)
{
    (void)state;
    toy_reset();
    memset(&sink, 0, sizeof sink);
    memset(&second, 0, sizeof second);
    kvs_set_log(keep, &sink, KVS_LOG_WARN);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
    return 0;
}

static int no_each(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)arg;
    (void)key;
    (void)len;
    (void)size;
    return 0;
}

static void some_of_everything(kvs_engine *e)
{
    kvs_mem *m = registered(e, KVS_MEM_DRAM, 77, NULL, (uint64_t)(uintptr_t)buf, 8);
    kvs_put(e, "a\0\xff", 3, buf, 8, NULL);
    kvs_get(e, "a\0\xff", 3, buf, 8, NULL);
    kvs_query(e, "b", 1, NULL, NULL);
    kvs_remove(e, "b", 1, NULL);
    kvs_list(e, "pre", 3, no_each, NULL, NULL);
    deregistered(e, m);
}

/* The lines are there, in this order. */
static void expect_lines(const char *const *lines, size_t n)
{
    const char *at = sink.text;
    for (size_t i = 0; i < n; i++) {
        const char *found = strstr(at, lines[i]);
        if (!found)
            fail_msg("no '%s' in what is left of the trace:\n%s", lines[i], at);
        at = found + strlen(lines[i]);
    }
}

/* KVS-REQ-531: whatever the level of the log */
static void every_call(void **state)
{
    (void)state;
    static struct kvs_backend shown;
    shown = store;
    shown.name = "shown";
    shown.unprep = NULL;
    kvs_engine *e = toy_open(&shown, NULL);
    some_of_everything(e);
    close_engine(e);
    assert_string_equal(sink.text, ""); /* nothing, unless it is asked for */
    kvs_set_log(keep, &sink, KVS_LOG_ERROR);
    e = open_with("shown", WITH({"trace", "1"}));
    some_of_everything(e);
    close_engine(e);
    static const char *const lines[] = {
        "shown: open() = OK",
        "shown: on_register(dev_id 77, 8 bytes) = OK",
        "shown: prep(WRITE, 1 ios) = OK",
        "shown: WRITE(\"a\\x00\\xff\", 8 bytes) = OK",
        "shown: prep(READ, 1 ios) = OK",
        "shown: READ(\"a\\x00\\xff\", 8 bytes) = OK",
        "shown: QUERY(\"b\", 0 bytes) = NOT_FOUND",
        "shown: REMOVE(\"b\", 0 bytes) = NOT_FOUND",
        "shown: list(3 bytes of prefix) = 0",
        "shown: on_deregister(dev_id 77) = OK",
        "shown: close()",
    };
    expect_lines(lines, sizeof lines / sizeof lines[0]);
    assert_int_equal(sink.level, KVS_LOG_TRACE);
    expect_text(sink.text, " us");
    assert_int_equal(atomic_load(&sink.together), 0);
    /* A failed open is a call too. */
    sink.used = 0;
    toy.open_rc = KVS_ACCESS;
    assert_int_equal(kvs_engine_open("shown", WITH({"trace", "yes"}), 1, &e, NULL), KVS_ACCESS);
    expect_text(sink.text, "shown: open() = ACCESS");
}

/* The async shape: submit, cancel, and the polls that did something. KVS-REQ-531 */
static void calls_of_the_async_shape(void **state)
{
    (void)state;
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    kvs_engine *e = open_with("mock:trace?model=poll&hold=yes&trace=on", NULL);
    struct ask a;
    ask_for(&a, KVS_WRITE, 3, buf, 8);
    kvs_xfer *x = prepared(e, &a);
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_xfer_cancel(x), KVS_OK);
    assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), KVS_CANCELED);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(e);
    static const char *const lines[] = {
        "mock: open() = OK",          "mock: prep(WRITE, 3 ios) = OK", "mock: submit(WRITE, 3 ios) = OK",
        "mock: cancel(WRITE, 3 ios)", "mock: unprep(WRITE, 3 ios)",    "mock: close()",
    };
    expect_lines(lines, sizeof lines / sizeof lines[0]);
    expect_text(sink.text, "mock: poll(256) = 3"); /* its line may come late: by then its ios have ended */
    expect_no_text(sink.text, "poll(256) = 0");
}

/* KVS-REQ-515 KVS-REQ-516: neither where it is used nor where it is wrong */
static void secrets(void **state)
{
    (void)state;
#define SECRET "hunter2"
    struct kvs_error err = {0};
    kvs_engine *e;
    assert_int_equal(kvs_backend_register(&vault, NULL), KVS_OK);
    kvs_set_log(keep, &sink, KVS_LOG_TRACE);
    expect_status(kvs_engine_open("vault://me:" SECRET "@host/p?trace=1", NULL, 0, &e, &err), KVS_OK, &err);
    some_of_everything(e);
    toy.put_rc = KVS_DISCONNECTED;
    assert_int_equal(kvs_put(e, "k", 1, buf, 1, &err), KVS_DISCONNECTED);
    expect_no_text(err.text, SECRET);
    close_engine(e);
    assert_int_not_equal(atomic_load(&sink.lines), 0);
    toy.open_rc = KVS_ACCESS;
    static const struct {
        const char *target;
        struct kvs_param_value value;
        int status;
    } rows[] = {
        {"vault://me:" SECRET "@host/p?trace=1", {"nothing", "1"}, KVS_INVALID_PARAM},
        {"vault://me:" SECRET "@host/p?trace=1", {"timeout", "nonsense"}, KVS_INVALID_PARAM},
        {"vault://me:" SECRET "@host/p?trace=1", {"password", SECRET}, KVS_INVALID_PARAM},
        {"vault://me:" SECRET "@host/p?trace=1", {"pin", SECRET}, KVS_INVALID_PARAM},
        {"vault://me:" SECRET "@host:99/p?trace=1", {"trace", "1"}, KVS_INVALID_PARAM},
        {"vault://me:" SECRET "@host/p", {"trace", "1"}, KVS_ACCESS},
        {"vault:p",
         {"password", "@/nowhere/"
                      "at all"},
         KVS_INVALID_PARAM},
        {"vault://me:" SECRET, {"trace", "1"}, KVS_INVALID_PARAM},
        {"nosuch://me:" SECRET "@host/p", {"trace", "1"}, KVS_NOT_FOUND},
        {"vault://me:" SECRET "%zz@host/p", {"trace", "1"}, KVS_INVALID_PARAM},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err = (struct kvs_error){0};
        expect_status(kvs_engine_open(rows[i].target, &rows[i].value, 1, &e, &err), rows[i].status, &err);
        assert_true(err.text[0] != '\0');
        expect_no_text(err.text, SECRET);
    }
    expect_no_text(sink.text, SECRET);
}

/* One line at a time, flat, under the backend's name; errno is as it was */
static void lines(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&store, NULL);
    errno = 77;
    toy.host->log(toy.ctx, KVS_LOG_WARN, "a\nb\r\tc %d\n\n", 7);
    assert_int_equal(errno, 77);
    assert_string_equal(sink.text, "store: a b  c 7\n");
    assert_int_equal(sink.level, KVS_LOG_WARN);
    toy.host->log(NULL, KVS_LOG_ERROR, "nobody's");
    expect_text(sink.text, "backend: nobody's\n");
    toy.host->log(toy.ctx, -5, "below all levels");
    assert_int_equal(sink.level, KVS_LOG_ERROR);
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    toy.host->log(toy.ctx, KVS_LOG_ERROR, "%s", text);
    assert_true(sink.used > 500 && sink.used < sizeof text);
    /* The text of fail() outside the calls that it is for is a line, too. */
    assert_int_equal((toy.host->fail)(toy.ctx, KVS_FULL, "said in passing"), KVS_FULL);
    expect_text(sink.text, "store: said in passing\n");
    close_engine(e);
}

/* KVS-REQ-534: the level, and one sink in place of another */
static void levels_and_sinks(void **state)
{
    (void)state;
    for (int level = KVS_LOG_ERROR; level <= KVS_LOG_TRACE; level++) {
        atomic_store(&sink.lines, 0);
        kvs_set_log(keep, &sink, level);
        for (int of = KVS_LOG_ERROR; of <= KVS_LOG_TRACE; of++)
            kvs_log(of, "test", "line of level %d", of);
        assert_int_equal(atomic_load(&sink.lines), level + 1);
    }
    kvs_set_log(keep, &sink, 1000);
    assert_true(kvs_log_on(KVS_LOG_TRACE));
    kvs_set_log(keep, &second, KVS_LOG_INFO);
    atomic_store(&sink.lines, 0);
    kvs_set_log(keep, &second, -1); /* leaves the level */
    kvs_log(KVS_LOG_DEBUG, "test", "not shown");
    kvs_log(KVS_LOG_INFO, "test", "shown");
    assert_int_equal(atomic_load(&sink.lines), 0);
    assert_string_equal(second.text, "test: shown\n");
}

static void *log_much(void *arg)
{
    for (int i = 0; i < 200; i++)
        kvs_log(KVS_LOG_WARN, "thread", "%s %d", (const char *)arg, i);
    return NULL;
}

/* From many threads, the sink is called one at a time; after a change the old one is not called any more. */
static void from_many_threads(void **state)
{
    (void)state;
    pthread_t t[4];
    static char name[] = "x";
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, log_much, name), 0);
    for (int i = 0; i < 50; i++) {
        kvs_set_log(keep, &second, -1);
        unsigned seen = atomic_load(&sink.lines);
        for (int k = 0; k < 100; k++)
            assert_int_equal(atomic_load(&sink.lines), seen);
        kvs_set_log(keep, &sink, -1);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(atomic_load(&sink.lines) + atomic_load(&second.lines), 800);
    assert_int_equal(atomic_load(&sink.together) + atomic_load(&second.together), 0);
}

/* In a process that has not logged yet, which this one is at its start: how many lines at KVSLOT_LOG=level.
 */
static int lines_at(const char *level)
{
    let_others_sleep();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (level)
            setenv("KVSLOT_LOG", level, 1);
        else
            unsetenv("KVSLOT_LOG");
        kvs_set_log(keep, &sink, -1);
        for (int of = KVS_LOG_ERROR; of <= KVS_LOG_TRACE; of++)
            kvs_log(of, "test", "line");
        _exit((int)atomic_load(&sink.lines));
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* KVS-REQ-534: this one comes first, before anything has been logged */
static void the_level_of_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *level;
        int lines;
    } rows[] = {{NULL, 2},    {"", 2},      {"error", 1}, {"warn", 2},    {"info", 3},
                {"debug", 4}, {"trace", 5}, {"TRACE", 5}, {"nonsense", 3}}; /* which is said, at warn */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(lines_at(rows[i].level), rows[i].lines);
}

#define WITH_SINK(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    static const struct kvs_param params[] = {
        {.name = "user", .uri = "user"},
        {.name = "password", .uri = "password", .flags = KVS_PARAM_SECRET},
        {.name = "pin", .type = KVS_PARAM_INT, .flags = KVS_PARAM_SECRET},
        {.name = "host", .uri = "host"},
        {.name = "path", .uri = "path"},
    };
    store = toy_table("store");
    vault = toy_table("vault");
    vault.params = params;
    vault.nparams = sizeof params / sizeof params[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_of_the_environment),
        WITH_SINK(every_call),
        WITH_SINK(calls_of_the_async_shape),
        WITH_SINK(secrets),
        WITH_SINK(lines),
        WITH_SINK(levels_and_sinks),
        WITH_SINK(from_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
