/* SPDX-License-Identifier: Apache-2.0 */
/* A caller who only sleeps on the engine's descriptor, with ends that come from all sides: none is lost. */
#include "engine.h"
#include "engine_test.h"
#include "event_loop.h"
#include "hand.h"

#include <pthread.h>
#include <stdatomic.h>

enum { N = 6 };

static unsigned char memory[16][16];

static atomic_uint dones;

static void count_done(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)arg;
    if (status == KVS_OK)
        atomic_fetch_add(&dones, 1);
}

static kvs_xfer *prep_kind(kvs_engine *e, int i)
{
    kvs_xfer *x;
    struct kvs_error err = {0, ""};
    bool done = i % 3 != 0;
    expect_status(prep_flags(e, KVS_WRITE, 1 + (uint32_t)i % 2, memory[i], 8,
                             i % 3 == 2 ? KVS_XFER_DEFERRED : 0, done ? count_done : NULL, NULL, &x, &err),
                  KVS_OK, &err);
    return x;
}

static void post_again(kvs_xfer *x)
{
    int rc = kvs_xfer_post(x);
    if (rc != KVS_OK)
        expect_rc(rc, KVS_IN_PROG);
}

/* Keeps N transfers running until `rounds` have ended, and then all. */
static void loop(kvs_engine *e, int fd, int rounds)
{
    kvs_xfer *x[N];
    int running = N;
    unsigned want = 0;
    atomic_store(&dones, 0);
    for (int i = 0; i < N; i++) {
        x[i] = prep_kind(e, i);
        post_again(x[i]);
        want += i % 3 != 0;
    }
    while (running > 0) {
        round_of(e, fd);
        for (int i = 0; i < N; i++) {
            if (!x[i] || !has_ended(x[i]))
                continue;
            if (rounds-- > 0) {
                post_again(x[i]);
                want += i % 3 != 0;
                continue;
            }
            release(x[i]);
            x[i] = NULL;
            running--;
        }
    }
    assert_int_equal(atomic_load(&dones), want);
    expect_quiet(e, fd);
}

/* Nobody but the loop calls. KVS-REQ-321 KVS-REQ-330 KVS-REQ-331 */
static void test_alone(void **state)
{
    static const char *const more[] = {"", "latency=50us", "progress=thread"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        struct fixture f;
        open_mock(&f, *state, more[i]);
        loop(f.e, fd_of(f.e), ROUNDS(i == 1 ? 1500 : 5000));
        close_mock(&f);
    }
}

struct other {
    pthread_t thread;
    kvs_engine *e;
    int number;
    atomic_bool *stop;
    const char *failed;
};

/* Waits for transfers of its own, each time in another way; becomes the poll owner meanwhile. */
static void *other_main(void *arg)
{
    struct other *o = arg;
    kvs_xfer *x = prep(o->e, KVS_WRITE, 1, memory[N + o->number], 16);
    for (int i = 0; !atomic_load(o->stop); i++) {
        int rc = kvs_xfer_post(x);
        if (rc == KVS_IN_PROG)
            rc = (i + o->number) % 2 ? kvs_xfer_wait(x, LONG) : kvs_xfer_wait_any(&x, 1, LONG, NULL);
        if (rc != KVS_OK)
            o->failed = "a wait beside the loop has not ended well";
    }
    (void)kvs_xfer_release(x, LONG);
    return NULL;
}

/* Others wait, poll and run what is due beside it. KVS-REQ-321 KVS-REQ-333 */
static void test_beside_others(void **state)
{
    struct fixture f;
    atomic_bool stop;
    struct other o[3];
    atomic_init(&stop, false);
    open_mock(&f, *state, "latency=20us");
    int fd = fd_of(f.e);
    for (int i = 0; i < 3; i++) {
        o[i] = (struct other){.e = f.e, .number = i, .stop = &stop};
        assert_int_equal(pthread_create(&o[i].thread, NULL, other_main, &o[i]), 0);
    }
    loop(f.e, fd, ROUNDS(1500));
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(o[i].thread, NULL), 0);
        if (o[i].failed)
            fail_msg("%s", o[i].failed);
    }
    close_mock(&f);
}

/* Asked for while all runs: the service thread is in the middle of it. KVS-REQ-316 KVS-REQ-330 */
static void test_asked_meanwhile(void **state)
{
    for (int i = 0; i < ROUNDS(300); i++) {
        struct fixture f;
        kvs_xfer *x[N];
        open_mock(&f, *state, i % 2 ? "latency=30us" : "");
        for (int k = 0; k < N; k++) {
            x[k] = prep_kind(f.e, k);
            post_again(x[k]);
        }
        int fd = fd_of(f.e);
        for (int k = 0; k < N; k++) {
            while (!has_ended(x[k]))
                round_of(f.e, fd);
            release(x[k]);
        }
        close_mock(&f);
    }
}

/* ---- A library's thread completes, and the time is up at any moment ---- */

static void *end_main(void *arg)
{
    atomic_bool *stop = arg;
    while (!atomic_load(stop)) {
        pthread_mutex_lock(&hand.lock);
        struct kvs_batch *batch = hand.taken > 0 ? hand.batch[--hand.taken] : NULL;
        pthread_mutex_unlock(&hand.lock);
        if (batch)
            hand_end(batch, 0, KVS_OK);
        else
            pause_briefly();
    }
    return NULL;
}

static void ended_by_cancel(struct kvs_batch *batch)
{
    bool found = false;
    pthread_mutex_lock(&hand.lock);
    for (uint32_t i = 0; i < hand.taken; i++)
        if (hand.batch[i] == batch) {
            hand.batch[i] = hand.batch[--hand.taken];
            found = true;
        }
    pthread_mutex_unlock(&hand.lock);
    if (found)
        hand_end(batch, 0, KVS_CANCELED);
}

/* Ends race with time limits, which only the loop keeps. KVS-REQ-319 KVS-REQ-317 KVS-REQ-321 */
static void test_time_is_up(void **state)
{
    atomic_bool stop;
    pthread_t t;
    (void)state;
    hand_reset();
    hand.on_cancel = ended_by_cancel;
    atomic_init(&stop, false);
    kvs_engine *e = open_engine("hand:?timeout=1ms&cancel_grace=30s");
    int fd = fd_of(e), rounds = ROUNDS(2000);
    kvs_xfer *x[N];
    for (int i = 0; i < N; i++)
        x[i] = prep(e, KVS_WRITE, 1, memory[i], 16);
    for (int i = 0; i < N / 2; i++) { /* nobody completes these */
        expect_rc(kvs_xfer_post(x[i]), KVS_IN_PROG);
        while (!has_ended(x[i]))
            round_of(e, fd);
        expect_rc(kvs_xfer_check(x[i]), KVS_TIMEOUT);
    }
    assert_int_equal(pthread_create(&t, NULL, end_main, &stop), 0);
    for (int i = 0; i < N; i++)
        post_again(x[i]); /* with luck its end is quicker */
    for (int running = N; running > 0;) {
        round_of(e, fd);
        for (int i = 0; i < N; i++) {
            if (!x[i] || !has_ended(x[i]))
                continue;
            if (rounds-- > 0) {
                post_again(x[i]);
                continue;
            }
            release(x[i]);
            x[i] = NULL;
            running--;
        }
    }
    expect_quiet(e, fd);
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_alone),
        EACH_MODEL(test_beside_others),
        EACH_MODEL(test_asked_meanwhile),
        cmocka_unit_test(test_time_is_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
