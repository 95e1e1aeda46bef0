/* SPDX-License-Identifier: Apache-2.0 */
/* What a forked child may do with its parent's handles, and that it can work with its own. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"
#include "quiet.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char memory[8 * 16];

/* In the child: no assertion of cmocka, which would go on with the parent's tests. */
#define child_check(condition)                                                                               \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: in the child: %s\n", __FILE__, __LINE__, #condition);                    \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

static void wait_for(pid_t child)
{
    int how = -1;
    assert_true(child > 0);
    eventually(waitpid(child, &how, WNOHANG) == child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

struct in_done {
    int what; /* what the child does: nothing, release, abandon, post; 4: its parent has just posted */
    pid_t child;
    unsigned ran;
    int posted;
};

static void fork_in_done(kvs_xfer *x, int status, void *arg)
{
    struct in_done *d = arg;
    (void)status;
    if (d->ran++ > 0)
        return;
    if (d->what == 4)
        d->posted = kvs_xfer_post(x);
    d->child = fork();
    if (d->child != 0)
        return;
    if (d->what == 1)
        child_check(kvs_xfer_release(x, 0) == KVS_OK);
    if (d->what == 2)
        kvs_xfer_abandon(x);
    if (d->what == 3)
        child_check(kvs_xfer_post(x) == KVS_NOT_ALLOWED);
}

/* A child that was made in a done function returns from it, and nothing else of its parent's turn happens in
 * it: neither its own transfer nor the one that waits behind it runs on. KVS-REQ-450 KVS-REQ-458 */
static void test_in_done(void **state)
{
    (void)state;
    for (int what = 0; what < 5; what++) {
        hand_reset();
        struct in_done d = {.what = what, .posted = KVS_IN_PROG};
        kvs_engine *e = open_engine("hand");
        kvs_xfer *x = prep_done(e, KVS_WRITE, 2, memory, 16, fork_in_done, &d);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        hand.host->complete_rest(hand_batch(0), KVS_OK);
        if (d.child == 0) { /* the fork returns here in the child, too */
            child_check(d.ran == 1);
            child_check(atomic_load(&hand.submits) == 1);
            child_check(kvs_engine_close(e, 0, NULL) == KVS_OK);
            _exit(0);
        }
        wait_for(d.child);
        expect_rc(d.posted, KVS_IN_PROG);
        if (what == 4)
            hand.host->complete_rest(hand_batch(1), KVS_OK);
        expect_rc(wait_end(x), KVS_OK);
        assert_int_equal(d.ran, what == 4 ? 2 : 1);
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

/* All that works without a thread. */
static bool can_prepare(kvs_engine *e)
{
    kvs_xfer *x = NULL;
    return prep_rc(e, KVS_WRITE, 2, memory, 16, NULL, NULL, &x, NULL) == KVS_OK &&
           kvs_xfer_check(x) == KVS_NOT_POSTED && kvs_xfer_release(x, 0) == KVS_OK;
}

/* A new engine works like one of any process. KVS-REQ-454 KVS-REQ-455 KVS-REQ-456 */
static void child_works(const char *model)
{
    kvs_engine *e = NULL;
#ifdef THREAD_SANITIZED
    (void)model;
    child_check(kvs_engine_open("mock:child", NULL, 0, &e, NULL) == KVS_OK);
    child_check(can_prepare(e));
#else
    char target[64], buf[4] = "";
    snprintf(target, sizeof target, "mock:child?model=%s", model);
    child_check(kvs_engine_open(target, NULL, 0, &e, NULL) == KVS_OK);
    child_check(can_prepare(e));
    for (int i = 0; i < 20; i++) {
        child_check(kvs_put(e, "key", 3, "abc", 3, NULL) == KVS_OK);
        child_check(kvs_get(e, "key", 3, buf, 3, NULL) == KVS_OK);
        child_check(memcmp(buf, "abc", 3) == 0);
        child_check(kvs_get(e, "none", 4, buf, 3, NULL) == KVS_NOT_FOUND);
    }
#endif
    child_check(kvs_engine_close(e, LONG, NULL) == KVS_OK);
}

/* KVS-REQ-450 KVS-REQ-458 */
static void test_handles(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none");
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .dev_id = 1};
    kvs_mem *mem, *more = NULL;
    expect_status(kvs_mem_register(f.e, KVS_MEM_DRAM, &d, &mem, &err), KVS_OK, &err);
    kvs_xfer *running = prep(f.e, KVS_WRITE, 2, memory, 16), *ended = prep(f.e, KVS_READ, 2, memory, 16);
    kvs_xfer *fresh = prep(f.e, KVS_WRITE, 1, memory, 16), *none = NULL;
    expect_rc(kvs_xfer_post(ended), KVS_IN_PROG);
    wait_held(&f, 2);
    let_go(&f, 2);
    expect_rc(wait_end(ended), KVS_NOT_FOUND); /* it has texts to be freed */
    expect_rc(kvs_xfer_post(running), KVS_IN_PROG);
    wait_held(&f, 2);
    let_others_sleep();
    pid_t child = fork();
    if (child == 0) {
        kvs_xfer *const all[] = {running, ended, fresh};
        struct kvs_limits limits = {.size = sizeof limits};
        size_t given;
        int fd;
        for (int i = 0; i < 3; i++) {
            child_check(kvs_xfer_post(all[i]) == KVS_NOT_ALLOWED);
            child_check(kvs_xfer_check(all[i]) == KVS_NOT_ALLOWED);
            child_check(kvs_xfer_wait(all[i], LONG) == KVS_NOT_ALLOWED);
            child_check(kvs_xfer_wait_any(&all[i], 1, LONG, NULL) == KVS_NOT_ALLOWED);
            child_check(kvs_xfer_cancel(all[i]) == KVS_NOT_ALLOWED);
            child_check(kvs_xfer_result(all[i], 0, NULL, NULL, NULL) == KVS_NOT_ALLOWED);
        }
        child_check(kvs_engine_progress(f.e) == KVS_NOT_ALLOWED);
        child_check(kvs_engine_reap(f.e, &none, 1, LONG, &given) == KVS_NOT_ALLOWED);
        child_check(kvs_engine_fd(f.e, &fd) == KVS_NOT_ALLOWED && fd == -1);
        child_check(kvs_engine_limits(f.e, &limits) == KVS_NOT_ALLOWED);
        child_check(kvs_mem_register(f.e, KVS_MEM_DRAM, &d, &more, NULL) == KVS_NOT_ALLOWED);
        child_check(prep_rc(f.e, KVS_WRITE, 1, memory, 16, NULL, NULL, &none, NULL) == KVS_NOT_ALLOWED);
        child_check(kvs_put(f.e, "k", 1, "v", 1, NULL) == KVS_NOT_ALLOWED);
        child_check(kvs_query(f.e, "k", 1, NULL, NULL) == KVS_NOT_ALLOWED);
        child_works(*state); /* which gives the process an epoch of its own */
        child_check(kvs_xfer_check(ended) == KVS_NOT_ALLOWED);
        child_check(kvs_put(f.e, "k", 1, "v", 1, NULL) == KVS_NOT_ALLOWED);
        child_check(kvs_xfer_release(running, LONG) == KVS_OK);
        child_check(kvs_xfer_release(ended, 0) == KVS_OK);
        kvs_xfer_abandon(fresh);
        child_check(kvs_mem_deregister(f.e, mem, NULL) == KVS_OK);
        child_check(kvs_engine_close(f.e, LONG, NULL) == KVS_OK);
        child_works(*state);
        _exit(0);
    }
    wait_for(child);
    expect_rc(kvs_xfer_check(running), KVS_IN_PROG); /* the parent has noticed nothing */
    let_go(&f, 2);
    expect_rc(wait_end(running), KVS_OK);
    expect_rc(kvs_xfer_check(ended), KVS_NOT_FOUND);
    expect_rc(kvs_xfer_check(fresh), KVS_NOT_POSTED);
    release(running);
    release(ended);
    release(fresh);
    expect_status(kvs_mem_deregister(f.e, mem, &err), KVS_OK, &err);
    close_mock(&f);
}

/* A child that closes its copy of an engine closes its copies of the descriptors. KVS-REQ-458 */
static void test_descriptors(void **state)
{
    struct fixture f;
    int set;
    (void)state;
    open_mock(&f, model_poll, "");
    expect_rc(kvs_engine_fd(f.e, &set), KVS_OK);
    const int fds[] = {set, f.e->fd.event, f.e->fd.timer, f.e->event_fd};
    let_others_sleep();
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 4; i++)
            child_check(fcntl(fds[i], F_GETFD) >= 0);
        child_check(kvs_engine_close(f.e, LONG, NULL) == KVS_OK);
        for (int i = 0; i < 4; i++)
            child_check(fcntl(fds[i], F_GETFD) == -1);
        _exit(0);
    }
    wait_for(child);
    for (int i = 0; i < 4; i++)
        assert_true(fcntl(fds[i], F_GETFD) >= 0);
    close_mock(&f);
}

/* The engine goes first in the child, then what it had. KVS-REQ-458 */
static void test_engine_first(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16), *y = prep(f.e, KVS_WRITE, 2, memory, 16);
    expect_rc(run_it(x), KVS_OK);
    let_others_sleep();
    pid_t child = fork();
    if (child == 0) {
        kvs_engine_abandon(f.e);
        child_check(kvs_xfer_check(x) == KVS_NOT_ALLOWED);
        child_check(kvs_xfer_release(x, 0) == KVS_OK);
        kvs_xfer_abandon(y);
        child_works(*state);
        _exit(0);
    }
    wait_for(child);
    expect_rc(run_it(y), KVS_OK);
    release(x);
    release(y);
    close_mock(&f);
}

/* The backend hears nothing of what a child gives back: its connections are the parent's. KVS-REQ-458 */
static void test_backend_hears_nothing(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    kvs_xfer *x = prep(e, KVS_WRITE, 2, memory, 16), *y = prep(e, KVS_WRITE, 2, memory, 16);
    expect_rc(kvs_xfer_post(y), KVS_IN_PROG);
    let_others_sleep();
    pid_t child = fork();
    if (child == 0) {
        child_check(kvs_xfer_release(x, 0) == KVS_OK);
        child_check(kvs_xfer_release(y, LONG) == KVS_OK);
        child_check(kvs_engine_close(e, LONG, NULL) == KVS_OK);
        child_check(atomic_load(&hand.unpreps) == 0 && atomic_load(&hand.cancels) == 0);
        child_check(atomic_load(&hand.closes) == 0);
        _exit(0);
    }
    wait_for(child);
    hand.host->complete_rest(hand_batch(0), KVS_OK);
    expect_rc(kvs_xfer_check(y), KVS_OK);
    release(x);
    release(y);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A child of a child. KVS-REQ-450 KVS-REQ-454 */
static void test_grandchild(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    let_others_sleep();
    pid_t child = fork();
    if (child == 0) {
        kvs_engine *mine = NULL;
        child_check(kvs_engine_open("mock:child", NULL, 0, &mine, NULL) == KVS_OK);
        child_check(can_prepare(mine));
        let_others_sleep();
        pid_t next = fork();
        if (next == 0) {
            child_check(kvs_put(mine, "k", 1, "v", 1, NULL) == KVS_NOT_ALLOWED);
            child_check(kvs_put(f.e, "k", 1, "v", 1, NULL) == KVS_NOT_ALLOWED);
            child_works(*state);
            _exit(0);
        }
        int how = -1;
        child_check(waitpid(next, &how, 0) == next && how == 0);
        child_check(can_prepare(mine));
        child_check(kvs_engine_close(mine, LONG, NULL) == KVS_OK);
        _exit(0);
    }
    wait_for(child);
    close_mock(&f);
}

#ifndef SANITIZED /* whose allocators keep the locks that other threads held at the fork */
struct busy {
    kvs_engine *e;
    atomic_bool stop;
    atomic_int failed;
    pthread_t thread;
};

static void *busy_main(void *arg)
{
    struct busy *b = arg;
    char value[64] = "", key[8];
    for (unsigned i = 0; !atomic_load(&b->stop); i++) {
        size_t len = (size_t)snprintf(key, sizeof key, "b%u", i % 100);
        int rc = kvs_put(b->e, key, len, value, sizeof value, NULL);
        if (rc == KVS_OK && i % 7 == 0)
            rc = kvs_get(b->e, key, len, value, sizeof value, NULL);
        if (rc != KVS_OK)
            atomic_store(&b->failed, rc);
    }
    return NULL;
}

/* Forked at any moment of other threads' calls, the child never meets a lock that nobody opens. KVS-REQ-456
 */
static void test_while_busy(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct busy b[2];
    for (int i = 0; i < 2; i++) {
        b[i].e = f.e;
        atomic_init(&b[i].stop, false);
        atomic_init(&b[i].failed, 0);
        assert_int_equal(pthread_create(&b[i].thread, NULL, busy_main, &b[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_check(kvs_put(f.e, "k", 1, "v", 1, NULL) == KVS_NOT_ALLOWED);
            child_works(*state);
            child_check(kvs_engine_close(f.e, LONG, NULL) == KVS_OK);
            /* All went well. What the other threads had in hand at the fork is lost in here, and no leak of
             * ours: this end has no check for leaks. */
            kill(getpid(), SIGKILL);
        }
        int how = -1;
        assert_true(child > 0);
        eventually(waitpid(child, &how, WNOHANG) == child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&b[i].stop, true);
        assert_int_equal(pthread_join(b[i].thread, NULL), 0);
        assert_int_equal(atomic_load(&b[i].failed), 0);
    }
    close_mock(&f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_handles),      cmocka_unit_test(test_descriptors),
        EACH_MODEL(test_engine_first), cmocka_unit_test(test_backend_hears_nothing),
        EACH_MODEL(test_grandchild),   cmocka_unit_test(test_in_done),
#ifndef SANITIZED
        EACH_MODEL(test_while_busy),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
