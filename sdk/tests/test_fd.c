/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's descriptor: what makes it readable, and what the caller then does. */
#include "blocked.h"
#include "engine.h"
#include "engine_test.h"
#include "event_loop.h"
#include "hand.h"
#include "owner.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { N = 4 };

static unsigned char memory[16][16];

/* ---- What it is ---- */

/* KVS-REQ-315 KVS-REQ-107 */
static void test_kind(void **state)
{
    struct fixture f;
    char path[64], what[64] = "";
    open_mock(&f, *state, "");
    expect_rc(kvs_engine_fd(f.e, NULL), KVS_INVALID_PARAM);
    int fd = fd_of(f.e);
    assert_int_equal(fd_of(f.e), fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_true(readlink(path, what, sizeof what - 1) > 0);
    expect_text(what, "eventpoll");
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close_mock(&f);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* Readable for an end, and not after progress was made: by whichever thread, in whichever shape. KVS-REQ-320
 * KVS-REQ-330 KVS-REQ-333 KVS-REQ-318 */
static void test_ends(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "latency=300us&timeout=1h"); /* no time limit makes it readable meanwhile */
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    int fd = fd_of(f.e);
    assert_true(is_readable(fd));
    expect_quiet(f.e, fd);
    for (int i = 0; i < 30; i++) {
        post(x);
        expect_rc(end_by_loop(f.e, fd, x), KVS_OK);
        expect_rc(kvs_engine_progress(f.e), KVS_OK);
        assert_false(is_readable(fd));
    }
    release(x);
    close_mock(&f);
}

/* One that was posted before it was asked for tells its end too. KVS-REQ-330 */
static void test_asked_late(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&timeout=1h");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    wait_held(&f, 1);
    int fd = fd_of(f.e);
    expect_quiet(f.e, fd);
    expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
    let_go(&f, 1);
    expect_rc(end_by_loop(f.e, fd, x), KVS_OK);
    expect_rc(kvs_engine_progress(f.e), KVS_OK);
    assert_false(is_readable(fd));
    release(x);
    close_mock(&f);
}

/* It stays readable while there is one to be reaped. KVS-REQ-330 KVS-REQ-333 */
static void test_reap(void **state)
{
    struct fixture f;
    struct kvs_error err = {0, ""};
    kvs_xfer *x[N], *got[N];
    size_t n, all = 0;
    open_mock(&f, *state, "timeout=1h");
    for (int i = 0; i < N; i++)
        expect_status(prep_flags(f.e, KVS_WRITE, 1, memory[i], 16, KVS_XFER_REAP, NULL, NULL, &x[i], &err),
                      KVS_OK, &err);
    int fd = fd_of(f.e);
    expect_quiet(f.e, fd);
    for (int i = 0; i < N; i++)
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
    for (int i = 0; i < N; i++)
        expect_rc(end_by_loop(f.e, fd, x[i]), KVS_OK);
    while (all < N - 1) {
        expect_rc(kvs_engine_progress(f.e), KVS_OK);
        assert_true(is_readable(fd));
        expect_rc(kvs_engine_reap(f.e, got, 1, 0, &n), KVS_OK);
        all += n;
    }
    assert_true(is_readable(fd));
    release(got[0] == x[0] ? x[1] : x[0]); /* whichever: one is left, and may be this */
    (void)kvs_engine_reap(f.e, got + 1, 1, 0, &n);
    assert_false(is_readable(fd));
    for (int i = 0; i < N; i++)
        if (x[i] != (got[0] == x[0] ? x[1] : x[0]))
            release(x[i]);
    close_mock(&f);
}

/* ---- What was the service thread's ---- */

static int end_oldest(void)
{
    pthread_mutex_lock(&hand.lock);
    struct kvs_batch *batch = hand.taken > 0 ? hand.batch[0] : NULL;
    for (uint32_t i = 1; i < hand.taken; i++)
        hand.batch[i - 1] = hand.batch[i];
    hand.taken -= batch != NULL;
    pthread_mutex_unlock(&hand.lock);
    if (!batch)
        return 0;
    hand_end(batch, 0, KVS_OK);
    return 1;
}

static unsigned polls_by_others(void)
{
    return atomic_load(&hand.polls) - atomic_load(&hand.polls_by_tests);
}

/* The service thread polls until it was asked for, and no more. KVS-REQ-316 KVS-REQ-318 KVS-REQ-304 */
static void test_service_stops(void **state)
{
    (void)state;
    hand_reset();
    hand_is_test = true;
    hand.on_poll = end_oldest;
    kvs_engine *e = open_engine("hand-serial");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    eventually(polls_by_others() > 0); /* that is the owner now */
    int fd = fd_of(e);
    unsigned others = polls_by_others();
    for (int i = 0; i < 30; i++) {
        expect_quiet(e, fd);
        expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        hand_ring();
        expect_rc(end_by_loop(e, fd, x), KVS_OK);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    }
    expect_quiet(e, fd);
    assert_int_equal(polls_by_others(), others);
    hand_ring();
    expect_rc(end_by_loop(e, fd, x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    assert_int_equal(atomic_load(&hand.together), 1);
}

static sem_t polling, go_on;
static atomic_bool let_on, too_soon;

static int poll_slowly(void)
{
    sem_post(&polling);
    while (sem_wait(&go_on) != 0)
        ;
    return 0;
}

static void *ask_main(void *arg)
{
    int fd;
    if (kvs_engine_fd(arg, &fd) != KVS_OK || !atomic_load(&let_on))
        atomic_store(&too_soon, true);
    return NULL;
}

/* It is given when the service thread is out of its last poll. KVS-REQ-316 */
static void test_asked_in_poll(void **state)
{
    pthread_t t;
    (void)state;
    hand_reset();
    sem_init(&polling, 0, 0);
    sem_init(&go_on, 0, 0);
    atomic_store(&let_on, false);
    atomic_store(&too_soon, false);
    hand.on_poll = poll_slowly;
    kvs_engine *e = open_engine("hand-serial");
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    hand_ring();
    sem_take(&polling);
    assert_int_equal(pthread_create(&t, NULL, ask_main, e), 0);
    eventually(behind_owner(e) == 1 || atomic_load(&too_soon));
    atomic_store(&let_on, true);
    sem_post(&go_on);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_false(atomic_load(&too_soon));
    hand.on_poll = end_oldest;
    hand_ring();
    expect_rc(end_by_loop(e, fd_of(e), x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static void cancels_oldest(struct kvs_batch *batch)
{
    hand_end(batch, 0, KVS_CANCELED);
}

static int submit_slowly(struct kvs_batch *batch)
{
    sem_post(&polling);
    while (sem_wait(&go_on) != 0)
        ;
    hand_end(batch, 0, KVS_OK);
    return KVS_OK;
}

static void *post_main(void *arg)
{
    (void)kvs_xfer_post(arg);
    return NULL;
}

/* A cancel that the busy backend could not have is made by the caller, once it can. KVS-REQ-321 KVS-REQ-254
 */
static void test_owed_cancel(void **state)
{
    pthread_t t;
    hand_reset();
    sem_init(&polling, 0, 0);
    sem_init(&go_on, 0, 0);
    hand.on_cancel = cancels_oldest;
    kvs_engine *e = open_engine(*state);
    int fd = fd_of(e);
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16), *busy = prep(e, KVS_WRITE, 1, memory[1], 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_quiet(e, fd);
    hand.on_submit = submit_slowly;
    assert_int_equal(pthread_create(&t, NULL, post_main, busy), 0);
    sem_take(&polling);
    expect_rc(kvs_xfer_cancel(x), KVS_OK);
    for (int i = 0; i < 5; i++)
        round_of(e, fd); /* it wakes the caller until it is made */
    assert_int_equal(atomic_load(&hand.cancels), 0);
    sem_post(&go_on);
    while (atomic_load(&hand.cancels) == 0)
        round_of(e, fd);
    expect_rc(end_by_loop(e, fd, x), KVS_CANCELED);
    assert_int_equal(pthread_join(t, NULL), 0);
    expect_rc(end_by_loop(e, fd, busy), KVS_OK);
    release(x);
    release(busy);
    expect_quiet(e, fd);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Nothing is ended for want of time but by a caller; both the time and the grace wake it. KVS-REQ-317
 * KVS-REQ-319 KVS-REQ-321 */
static void test_deadlines(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=2&timeout=15ms&cancel_grace=15ms");
    kvs_set_log(no_log, NULL, -1);
    int fd = fd_of(f.e);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 2, memory, 16);
    for (int i = 0; i < 3; i++) {
        int rounds = 0, rc = kvs_xfer_post(x);
        expect_rc(rc, KVS_IN_PROG);
        wait_held(&f, 2); /* no time limit hurries that: nobody makes progress */
        while (rc == KVS_IN_PROG) {
            assert_true(sleep_on(fd));
            expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
            expect_rc(kvs_engine_progress(f.e), KVS_OK);
            rc = kvs_xfer_check(x);
            assert_true(++rounds < 1000);
        }
        expect_rc(rc, KVS_TIMEOUT);
        let_go(&f, 2);
        while (kvs_a64_load(&x->word) & KVS_W_COUNT) /* its late end is told too */
            round_of(f.e, fd);
    }
    release(x);
    close_mock(&f);
    kvs_set_log(NULL, NULL, -1);
}

/* A caller who waits instead of sleeping on it keeps time limits as well, though nobody else does.
 * KVS-REQ-317 KVS-REQ-386 */
static void test_waiters_keep_time(void **state)
{
    struct fixture f;
    size_t index = 7;
    open_mock(&f, *state, "hold=yes&cancel=none&threads=4&timeout=15ms&cancel_grace=1ms");
    kvs_set_log(no_log, NULL, -1);
    (void)fd_of(f.e);
    assert_int_equal(kvs_put(f.e, "k", 1, memory, 16, NULL), KVS_TIMEOUT);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    post_short(x);
    expect_rc(kvs_xfer_wait(x, LONG), KVS_TIMEOUT);
    kvs_xfer *y = prep(f.e, KVS_WRITE, 1, memory, 16);
    post_short(y);
    expect_rc(kvs_xfer_wait_any(&y, 1, LONG, &index), KVS_OK);
    eventually((let_go_all(&f), kvs_engine_progress(f.e)) == KVS_OK && kvs_xfer_release(x, 0) == KVS_OK);
    eventually((let_go_all(&f), kvs_engine_progress(f.e)) == KVS_OK && kvs_xfer_release(y, 0) == KVS_OK);
    close_held(&f);
    kvs_set_log(NULL, NULL, -1);
}

struct done {
    atomic_uint times;
    pthread_t thread; /* that it must run on */
};

static void done_here(kvs_xfer *x, int status, void *arg)
{
    struct done *d = arg;
    (void)x;
    (void)status;
    if (pthread_equal(d->thread, pthread_self()))
        atomic_fetch_add(&d->times, 1);
    else
        atomic_store(&d->times, 1000);
}

static void run_deferred(kvs_engine *e, struct done *d, kvs_xfer *x, int fd, bool waits)
{
    for (unsigned i = 1; i <= 20; i++) {
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        expect_rc(waits ? kvs_xfer_wait(x, LONG) : end_by_loop(e, fd, x), KVS_OK);
        assert_int_equal(atomic_load(&d->times), i);
    }
}

/* What the service thread would run runs in the caller's progress, and in its waits. KVS-REQ-331 KVS-REQ-206
 * KVS-REQ-207 */
static void test_deferred(void **state)
{
    struct fixture f;
    struct kvs_error err = {0, ""};
    kvs_xfer *x;
    open_mock(&f, *state, "latency=200us");
    int fd = fd_of(f.e);
    for (int waits = 0; waits < 2; waits++) {
        struct done d = {.thread = pthread_self()};
        expect_status(prep_flags(f.e, KVS_WRITE, 2, memory, 16, KVS_XFER_DEFERRED, done_here, &d, &x, &err),
                      KVS_OK, &err);
        run_deferred(f.e, &d, x, fd, waits);
        release(x);
    }
    expect_quiet(f.e, fd);
    /* Close does it too, where nobody makes progress any more. */
    struct done d = {.thread = pthread_self()};
    expect_status(prep_flags(f.e, KVS_WRITE, 2, memory, 16, KVS_XFER_DEFERRED, done_here, &d, &x, &err),
                  KVS_OK, &err);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    close_mock(&f);
    assert_int_equal(atomic_load(&d.times), 1);
    release(x);
}

/* A batch that waits is offered again by the caller, every millisecond and after a completion. KVS-REQ-124
 * KVS-REQ-122 KVS-REQ-321 */
static void test_again(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand");
    int fd = fd_of(e);
    expect_quiet(e, fd);
    kvs_xfer *x[2] = {prep(e, KVS_WRITE, 2, memory, 16), prep(e, KVS_WRITE, 1, memory, 16)};
    expect_rc(kvs_xfer_post(x[0]), KVS_IN_PROG);
    for (int i = 0; i < 4; i++)
        hand_answer(KVS_AGAIN);
    expect_rc(kvs_xfer_post(x[1]), KVS_IN_PROG);
    assert_int_equal(hand_taken(), 1);
    hand_end(hand_batch(0), 0, KVS_OK); /* not its last */
    while (hand_taken() < 2)
        round_of(e, fd);
    assert_int_equal(atomic_load(&hand.submits), 6);
    hand_end(hand_batch(1), 0, KVS_OK);
    hand_end(hand_batch(0), 1, KVS_OK);
    for (int i = 0; i < 2; i++) {
        expect_rc(end_by_loop(e, fd, x[i]), KVS_OK);
        release(x[i]);
    }
    expect_quiet(e, fd);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* ---- The backend's descriptor ---- */

/* It changes, is none for a while, and is another one of the same number. KVS-REQ-318 KVS-REQ-313 KVS-REQ-314
 */
static void test_backend_fd(void **state)
{
    (void)state;
    hand_reset();
    hand.on_poll = end_oldest;
    kvs_engine *e = open_engine("hand-serial");
    int fd = fd_of(e);
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    for (int round = 0; round < 12; round++) {
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        int old = hand.bell;
        if (round % 4 == 1) { /* the one before is readable, and nobody's any more */
            hand_ring();
            hand.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        } else if (round % 4 == 2) {
            int other = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
            assert_int_equal(dup3(other, hand.bell, O_CLOEXEC), hand.bell);
            close(other);
        }
        hand.mute = round % 4 == 3;
        hand.host->wake(hand.ctx);
        round_of(e, fd);
        if (!hand.mute)
            expect_quiet(e, fd);
        expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        hand_ring();
        expect_rc(end_by_loop(e, fd, x), KVS_OK);
        hand.mute = false;
        expect_quiet(e, fd);
        if (old != hand.bell)
            close(old);
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

struct waiter {
    pthread_t thread;
    kvs_xfer *x;
    int rc;
};

static void *wait_main(void *arg)
{
    struct waiter *w = arg;
    w->rc = kvs_xfer_wait(w->x, LONG);
    return NULL;
}

/* Another thread is the poll owner, and is long in coming back: the descriptor does not stay readable, for
 * the caller can do nothing. When it has left, it can. KVS-REQ-333 KVS-REQ-302 KVS-REQ-321 */
static void test_beside_an_owner(void **state)
{
    (void)state;
    hand_reset();
    hand.on_poll = end_oldest;
    kvs_engine *e = open_engine("hand-serial");
    int fd = fd_of(e);
    struct blocked b;
    blocked_init(&b);
    struct waiter w = {.x = prep_done(e, KVS_WRITE, 1, memory, 16, block, &b)};
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory[1], 16);
    for (unsigned i = 1; i <= 10; i++) {
        expect_quiet(e, fd);
        expect_rc(kvs_xfer_post(w.x), KVS_IN_PROG);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        unsigned polls = atomic_load(&hand.polls);
        assert_int_equal(pthread_create(&w.thread, NULL, wait_main, &w), 0);
        eventually(atomic_load(&hand.polls) > polls); /* it is the owner */
        hand_ring();
        sem_take(&b.entered);
        hand_ring();
        expect_quiet(e, fd);
        expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        sem_post(&b.go);
        expect_rc(end_by_loop(e, fd, x), KVS_OK);
        assert_int_equal(pthread_join(w.thread, NULL), 0);
        expect_rc(w.rc, KVS_OK);
    }
    release(x);
    release(w.x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* ---- progress=thread ---- */

/* It tells what there is to look at; all else is the service thread's. KVS-REQ-332 KVS-REQ-311 */
static void test_by_thread(void **state)
{
    (void)state;
    hand_reset();
    hand_is_test = true;
    hand.on_poll = end_oldest;
    kvs_engine *e = open_engine("hand-serial:?progress=thread");
    int fd = fd_of(e);
    kvs_xfer *x = prep(e, KVS_WRITE, 1, memory, 16);
    for (int i = 0; i < 20; i++) {
        expect_quiet(e, fd);
        expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
        assert_false(is_readable(fd));
        hand_await(1);
        hand_ring();
        assert_true(sleep_on(fd)); /* with no progress made */
        expect_rc(kvs_xfer_check(x), KVS_OK);
        assert_true(is_readable(fd));
        expect_rc(kvs_engine_progress(e), KVS_OK);
        assert_false(is_readable(fd));
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    assert_int_equal(atomic_load(&hand.polls_by_tests), 0);
}

static void test_by_thread_in_time(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "progress=thread&hold=yes&cancel=none&timeout=15ms&cancel_grace=1ms");
    kvs_set_log(no_log, NULL, -1);
    int fd = fd_of(f.e);
    expect_quiet(f.e, fd);
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16);
    post_short(x);
    while (kvs_xfer_check(x) == KVS_IN_PROG) {
        assert_true(sleep_on(fd)); /* KVS-REQ-332: no progress is owed */
        if (kvs_xfer_check(x) == KVS_IN_PROG)
            expect_rc(kvs_engine_progress(f.e), KVS_OK);
    }
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    eventually((let_go_all(&f), kvs_xfer_release(x, 0)) == KVS_OK);
    close_mock(&f);
    kvs_set_log(NULL, NULL, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_kind),
        EACH_MODEL(test_ends),
        EACH_MODEL(test_asked_late),
        EACH_MODEL(test_reap),
        cmocka_unit_test(test_service_stops),
        cmocka_unit_test(test_asked_in_poll),
        {"test_owed_cancel (polls)", test_owed_cancel, NULL, NULL, (char[]){"hand-serial"}},
        {"test_owed_cancel", test_owed_cancel, NULL, NULL, (char[]){"hand-single"}},
        EACH_MODEL(test_deadlines),
        EACH_MODEL(test_waiters_keep_time),
        EACH_MODEL(test_deferred),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_backend_fd),
        cmocka_unit_test(test_beside_an_owner),
        cmocka_unit_test(test_by_thread),
        EACH_MODEL(test_by_thread_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
