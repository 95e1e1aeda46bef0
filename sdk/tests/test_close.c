/* SPDX-License-Identifier: Apache-2.0 */
/* Closing an engine, and giving one up. */
#include "engine_test.h"
#include "hand.h"

#include <dirent.h>

static unsigned char memory[8 * 16];

/* What runs is cancelled and drained; the transfers stay good for all but a post. KVS-REQ-285 KVS-REQ-286 */
static void test_drains(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    kvs_xfer *x[3];
    for (int i = 0; i < 3; i++) {
        x[i] = prep(f.e, KVS_WRITE, 2, memory, 16);
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
    }
    wait_held(&f, 6);
    close_mock(&f);
    assert_int_equal(counts_of(&f).cancels, 3);
    for (int i = 0; i < 3; i++) {
        expect_rc(kvs_xfer_check(x[i]), KVS_CANCELED);
        assert_int_equal(status_of(x[i], 1), KVS_CANCELED);
        expect_rc(kvs_xfer_post(x[i]), KVS_NOT_ALLOWED);
        release(x[i]);
    }
}

/* What cannot be stopped: BUSY with how many there are, and all but posts goes on. KVS-REQ-285 KVS-REQ-287 */
static void test_busy(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=4");
    struct kvs_error err = {0, ""};
    kvs_xfer *a = prep(f.e, KVS_WRITE, 1, memory, 16), *b = prep(f.e, KVS_WRITE, 1, memory, 16);
    kvs_xfer *idle = prep(f.e, KVS_WRITE, 1, memory, 16), *none = NULL;
    expect_rc(kvs_xfer_post(a), KVS_IN_PROG);
    wait_held(&f, 1); /* so that it is let go first */
    expect_rc(kvs_xfer_post(b), KVS_IN_PROG);
    wait_held(&f, 2);
    for (int i = 0; i < 3; i++) {
        expect_status(kvs_engine_close(f.e, (uint64_t)i, &err), KVS_BUSY, &err);
        expect_text(err.text, "2 ");
    }
    expect_rc(kvs_engine_close(f.e, KVS_MS(1), NULL), KVS_BUSY);
    expect_rc(kvs_xfer_post(idle), KVS_NOT_ALLOWED);
    expect_rc(prep_rc(f.e, KVS_WRITE, 1, memory, 16, NULL, NULL, &none, &err), KVS_NOT_ALLOWED);
    assert_null(none);
    expect_rc(kvs_put(f.e, "k", 1, "v", 1, &err), KVS_NOT_ALLOWED);
    expect_rc(kvs_xfer_check(a), KVS_IN_PROG);
    let_go(&f, 1);
    expect_rc(wait_end(a), KVS_OK);
    expect_rc(kvs_xfer_post(a), KVS_NOT_ALLOWED);
    expect_rc(kvs_xfer_check(a), KVS_OK);
    expect_status(kvs_engine_close(f.e, 0, &err), KVS_BUSY, &err);
    expect_text(err.text, "1 ");
    assert_int_equal(counts_of(&f).engines, 1);
    let_go(&f, 1);
    close_mock(&f);
    expect_rc(kvs_xfer_check(b), KVS_OK);
    expect_rc(kvs_xfer_check(idle), KVS_NOT_POSTED);
    release(a);
    release(b);
    release(idle);
}

struct helper {
    const struct fixture *f;
    pthread_t thread;
};

static void *let_go_main(void *arg)
{
    struct helper *h = arg;
    for (int i = 0; i < 3; i++) {
        pause_briefly();
        kvs_mock_let_go(h->f->store, 1);
    }
    return NULL;
}

/* Close itself waits for what ends. KVS-REQ-286 */
static void test_waits(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=3");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 3);
    struct helper h = {.f = &f};
    assert_int_equal(pthread_create(&h.thread, NULL, let_go_main, &h), 0);
    close_mock(&f);
    assert_int_equal(pthread_join(h.thread, NULL), 0);
    expect_rc(kvs_xfer_check(x), KVS_OK);
    release(x);
}

/* A held one keeps the engine from closing until the store lets go. KVS-REQ-287 */
static void test_held(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&timeout=10ms&cancel_grace=10ms");
    kvs_set_log(no_log, NULL, -1);
    struct kvs_error err = {0, ""};
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    post_held(&f, x, 1);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    expect_status(kvs_engine_close(f.e, 0, &err), KVS_BUSY, &err);
    expect_text(err.text, "1 ");
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    expect_rc(kvs_xfer_release(x, 0), KVS_BUSY);
    let_go(&f, 1);
    close_mock(&f);
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    release(x);
    kvs_set_log(NULL, NULL, -1);
}

/* Ended and not released: all that the header says still works. KVS-REQ-132 */
static void test_unreleased(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .dev_id = 1};
    kvs_mem *mem;
    expect_status(kvs_mem_register(f.e, KVS_MEM_DRAM, &d, &mem, &err), KVS_OK, &err);
    d.mem = mem;
    struct kvs_dlist list = {&d, 1, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_WRITE, .local = &list, .remote = &list};
    kvs_xfer *good, *bad = prep(f.e, KVS_READ, 2, memory, 16), *new = prep(f.e, KVS_READ, 1, memory, 16);
    expect_status(kvs_xfer_prep(f.e, &req, &good, &err), KVS_OK, &err);
    expect_rc(run_it(good), KVS_OK);
    expect_rc(run_it(bad), KVS_NOT_FOUND);
    char text[512];
    snprintf(text, sizeof text, "%s", text_of(bad, 1));
    close_mock(&f);
    assert_int_equal(counts_of(&f).deregisters, 1); /* registrations go with the engine */
    expect_rc(kvs_xfer_check(good), KVS_OK);
    expect_rc(kvs_xfer_wait(good, LONG), KVS_OK);
    assert_int_equal(bytes_of(good, 0), 16);
    expect_rc(kvs_xfer_check(bad), KVS_NOT_FOUND);
    assert_string_equal(text_of(bad, 1), text);
    assert_string_not_equal(kvs_xfer_error(bad), "");
    expect_rc(kvs_xfer_check(new), KVS_NOT_POSTED);
    expect_rc(kvs_xfer_post(good), KVS_NOT_ALLOWED);
    expect_rc(kvs_xfer_post(bad), KVS_NOT_ALLOWED);
    expect_rc(kvs_xfer_post(new), KVS_NOT_ALLOWED);
    expect_rc(kvs_xfer_check(bad), KVS_NOT_FOUND);
    expect_rc(kvs_xfer_cancel(good), KVS_OK);
    assert_int_equal(kvs_xfer_count(bad), 2);
    release(good);
    kvs_xfer_abandon(bad);
    expect_rc(kvs_xfer_release(new, LONG), KVS_OK);
}

/* The backend's close comes after every unprep, once, and with nothing in flight. KVS-REQ-292 KVS-REQ-291 */
static void test_backend_last(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand-serial");
    kvs_xfer *a = prep(e, KVS_WRITE, 1, memory, 16), *b = prep(e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(a), KVS_IN_PROG);
    hand_await(1);
    expect_rc(kvs_engine_close(e, 0, NULL), KVS_BUSY);
    assert_int_equal(atomic_load(&hand.closes), 0);
    assert_int_equal(atomic_load(&hand.unpreps), 0);
    hand_end(hand_batch(0), 0, KVS_OK);
    expect_rc(kvs_engine_close(e, LONG, NULL), KVS_OK);
    assert_int_equal(atomic_load(&hand.closes), 1);
    assert_int_equal(atomic_load(&hand.unpreps), 2);
    release(a);
    release(b);
    assert_int_equal(atomic_load(&hand.unpreps), 2);
    assert_int_equal(atomic_load(&hand.together), 1);
}

static char logged[512];

static void keep_log(void *arg, int level, const char *text)
{
    (void)arg;
    if (level == KVS_LOG_ERROR)
        snprintf(logged, sizeof logged, "%s", text);
}

/* KVS-REQ-288 */
static void test_abandon(void **state)
{
    struct fixture f;
    kvs_engine_abandon(NULL);
    open_mock(&f, *state, "hold=yes&cancel=none");
    logged[0] = '\0';
    kvs_set_log(keep_log, NULL, -1);
    kvs_engine_abandon(f.e); /* nothing runs: closed */
    assert_int_equal(counts_of(&f).engines, 0);
    assert_string_equal(logged, "");

    f.e = open_same(&f, *state, "hold=yes&cancel=none");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 1);
    kvs_engine_abandon(f.e);
    expect_text(logged, "mock");
    expect_text(logged, "1 ");
    assert_int_equal(counts_of(&f).engines, 1);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    let_go(&f, 1);
    expect_rc(wait_end(x), KVS_OK); /* what was leaked still works */
    expect_rc(kvs_xfer_post(x), KVS_NOT_ALLOWED);
    release(x);
    kvs_set_log(NULL, NULL, -1);
}

static unsigned entries(const char *folder)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* Fifty times over: as many descriptors and threads as after the second. KVS-REQ-289 */
static void test_over_and_over(void **state)
{
    struct fixture f;
    unsigned fds = 0, threads = 0;
    open_mock(&f, *state, "");
    for (int i = 0; i < 50; i++) {
        kvs_engine *e = open_same(&f, *state, i % 2 ? "hold=yes" : "");
        kvs_xfer *x = prep(e, KVS_WRITE, 4, memory, 16);
        post(x);
        if (is_model(state, "blocking") && i % 2) { /* what a worker has is not cancelled */
            wait_held(&f, 1);
            while (kvs_xfer_cancel(x) == KVS_OK && kvs_xfer_check(x) == KVS_IN_PROG)
                kvs_mock_let_go(f.store, SIZE_MAX);
        }
        expect_rc(kvs_engine_close(e, LONG, NULL), KVS_OK);
        release(x);
        if (i == 1) {
            fds = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
        }
    }
    assert_int_equal(entries("/proc/self/fd"), fds);
    eventually(entries("/proc/self/task") <= threads); /* one that was joined may be seen a little longer */
    close_mock(&f);
}

struct releaser {
    kvs_xfer *x[MAX_BATCH];
    atomic_bool go;
    pthread_t thread;
};

static void *release_main(void *arg)
{
    struct releaser *r = arg;
    while (!atomic_load(&r->go))
        ;
    for (int i = 0; i < MAX_BATCH; i++)
        kvs_xfer_release(r->x[i], 0);
    return NULL;
}

/* Releasing on one thread what has ended, while another closes the engine. KVS-REQ-135 */
static void test_release_beside_close(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    for (int round = 0; round < 40; round++) {
        struct releaser r = {.thread = 0};
        kvs_engine *e = open_same(&f, *state, "");
        for (int i = 0; i < MAX_BATCH; i++) {
            r.x[i] = prep(e, KVS_WRITE, 1, memory, 16);
            if (i % 4 == 0)
                expect_rc(run_it(r.x[i]), KVS_OK);
        }
        assert_int_equal(pthread_create(&r.thread, NULL, release_main, &r), 0);
        atomic_store(&r.go, true);
        expect_rc(kvs_engine_close(e, LONG, NULL), KVS_OK);
        assert_int_equal(pthread_join(r.thread, NULL), 0);
    }
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_ASYNC_MODEL(test_drains), EACH_MODEL(test_busy),          EACH_MODEL(test_waits),
        EACH_MODEL(test_held),         EACH_MODEL(test_unreleased),    cmocka_unit_test(test_backend_last),
        EACH_MODEL(test_abandon),      EACH_MODEL(test_over_and_over), EACH_MODEL(test_release_beside_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
