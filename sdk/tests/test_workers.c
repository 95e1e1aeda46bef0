/* SPDX-License-Identifier: Apache-2.0 */
/* The pool's workers: how they are opened, what becomes of one that cannot be, and how they are closed. */
#include "engine.h"
#include "engines.h"
#include "toy.h"

#include <semaphore.h>
#include <signal.h>

static struct kvs_backend store, shut_only;
static char buf[64];

/* What a worker keeps in its private space. */
struct worker {
    pthread_t thread;
    bool open;
    uint32_t number;
};

static atomic_uint tries, opens, closes, wrong, refuse; /* the next `refuse` calls of worker_open fail */

static int worker_open(void *eng, void *space)
{
    (void)eng;
    struct worker *w = space;
    static const struct worker zero;
    if (memcmp(w, &zero, sizeof zero) != 0) /* also at another try */
        atomic_fetch_add(&wrong, 1);
    w->thread = pthread_self();
    w->number = atomic_fetch_add(&tries, 1) + 1;
    if (atomic_load(&refuse) > 0) {
        atomic_fetch_sub(&refuse, 1);
        return (toy.host->fail)(toy.ctx, KVS_ACCESS, "no seat for try %u", w->number);
    }
    w->open = true;
    atomic_fetch_add(&opens, 1);
    return KVS_OK;
}

static void worker_close(void *eng, void *space)
{
    (void)eng;
    struct worker *w = space;
    if (!w->open || !pthread_equal(w->thread, pthread_self()))
        atomic_fetch_add(&wrong, 1);
    w->open = false;
    atomic_fetch_add(&closes, 1);
}

static void on_its_thread(void *eng, void *space, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)batch;
    (void)io;
    struct worker *w = space;
    if (!w->open || !pthread_equal(w->thread, pthread_self()))
        atomic_fetch_add(&wrong, 1);
}

static int setup(void **state)
{
    (void)state;
    toy_reset();
    atomic_store(&tries, 0);
    atomic_store(&opens, 0);
    atomic_store(&closes, 0);
    atomic_store(&wrong, 0);
    atomic_store(&refuse, 0);
    return 0;
}

/* KVS-REQ-421: a failure ends the io in hand, with its text; the next io tries again */
static void one_that_cannot_be_opened(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&store, WITH({"threads", "1"}));
    struct ask a;
    ask_for(&a, KVS_WRITE, 5, buf, 8);
    atomic_store(&refuse, 2);
    kvs_xfer *x = prepared(e, &a);
    assert_int_equal(run_xfer(x), KVS_ACCESS);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(result_of(x, i), i < 2 ? KVS_ACCESS : KVS_OK);
    assert_string_equal(text_of(x, 0), "no seat for try 1");
    assert_string_equal(text_of(x, 1), "no seat for try 2");
    assert_string_equal(kvs_xfer_error(x), "no seat for try 1");
    assert_int_equal(atomic_load(&toy.calls), 3);
    assert_int_equal(run_xfer(x), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    assert_int_equal(atomic_load(&tries), 3);
    struct kvs_error err = {0};
    close_engine(e);
    assert_int_equal(atomic_load(&closes), 1);
    /* As the text of a call for one key. */
    e = open_with("workers", NULL);
    atomic_store(&refuse, 1);
    expect_status(kvs_put(e, "k", 1, buf, 1, &err), KVS_ACCESS, &err);
    expect_text(err.text, "no seat for try");
    close_engine(e);
    assert_int_equal(atomic_load(&closes), 1); /* none for one that was never open */
    assert_int_equal(atomic_load(&wrong), 0);
}

static sem_t arrived, go_on;

static void meet(void *eng, void *space, const struct kvs_batch *batch, struct kvs_io *io)
{
    on_its_thread(eng, space, batch, io);
    sem_post(&arrived);
    while (sem_wait(&go_on) != 0)
        ;
}

/* KVS-REQ-533 KVS-REQ-420: as many as `threads`, and each closed once, on its own thread */
static void as_many_as_asked_for(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 2, 5};
    sem_init(&arrived, 0, 0);
    sem_init(&go_on, 0, 0);
    for (size_t c = 0; c < 3; c++) {
        char threads[8];
        setup(NULL);
        toy.before = meet;
        snprintf(threads, sizeof threads, "%u", counts[c]);
        kvs_engine *e = toy_open(&store, WITH({"threads", threads}));
        struct ask a;
        ask_for(&a, KVS_WRITE, 8, buf, 8);
        kvs_xfer *x = prepared(e, &a);
        assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
        for (unsigned i = 0; i < counts[c]; i++) /* all of them have one in hand at the same time */
            while (sem_wait(&arrived) != 0)
                ;
        assert_int_equal(atomic_load(&toy.inside), counts[c]);
        kvs_mutex_lock(&e->pool.lock); /* one more might come too late to be met */
        assert_int_equal(e->pool.threads, counts[c]);
        kvs_mutex_unlock(&e->pool.lock);
        for (int i = 0; i < 8; i++)
            sem_post(&go_on);
        assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), KVS_OK);
        while (sem_trywait(&arrived) == 0)
            ;
        assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
        close_engine(e);
        assert_int_equal(atomic_load(&opens), counts[c]);
        assert_int_equal(atomic_load(&closes), counts[c]);
        assert_int_equal(atomic_load(&toy.most), counts[c]);
        assert_int_equal(atomic_load(&wrong), 0);
    }
    sem_destroy(&arrived);
    sem_destroy(&go_on);
}

/* Many ios, many transfers, many engines: still one close for each open. */
static void one_close_for_each_open(void **state)
{
    (void)state;
    toy.before = on_its_thread;
    for (int round = 0; round < 20; round++) {
        kvs_engine *e = toy_open(&store, NULL);
        kvs_xfer *x[8];
        struct ask a;
        ask_for(&a, KVS_WRITE, 8, buf, 8);
        for (int i = 0; i < 8; i++) {
            x[i] = prepared(e, &a);
            int rc = kvs_xfer_post(x[i]);
            assert_true(rc == KVS_IN_PROG || rc == KVS_OK); /* the workers may have been faster */
        }
        for (int i = 0; i < 8; i++) {
            assert_int_equal(kvs_xfer_wait(x[i], KVS_SEC(30)), KVS_OK);
            assert_int_equal(kvs_xfer_release(x[i], 0), KVS_OK);
        }
        close_engine(e);
        assert_int_equal(atomic_load(&opens), atomic_load(&closes));
    }
    assert_in_range(atomic_load(&opens), 20, 80);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void close_alone(void *eng, void *space)
{
    (void)eng;
    (void)space;
    atomic_fetch_add(&closes, 1);
}

/* A backend may have one of the two alone. */
static void without_an_open(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&shut_only, WITH({"threads", "1"}));
    assert_int_equal(kvs_put(e, "k", 1, buf, 1, NULL), KVS_OK);
    close_engine(e);
    assert_int_equal(atomic_load(&closes), 1);
}

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
static sigset_t blocked; /* on the worker */

static void look_at_signals(void *eng, void *space, const struct kvs_batch *batch, struct kvs_io *io)
{
    on_its_thread(eng, space, batch, io);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
}

/* KVS-REQ-335 */
static void which_signals_they_take(void **state)
{
    (void)state;
    toy.before = look_at_signals;
    sigemptyset(&blocked);
    kvs_engine *e = toy_open(&store, WITH({"threads", "1"}));
    struct ask a;
    ask_for(&a, KVS_WRITE, 1, buf, 8);
    kvs_xfer *x = prepared(e, &a);
    assert_int_equal(run_xfer(x), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(e);
    for (int sig = 1; sig < 32; sig++) {
        bool fault = false;
        for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
            fault |= sig == faults[i];
        if (sig != SIGKILL && sig != SIGSTOP)
            assert_int_equal(sigismember(&blocked, sig), !fault);
    }
    assert_true(sigismember(&blocked, SIGRTMAX));
}

int main(void)
{
    store = toy_table("workers");
    store.worker_priv = sizeof(struct worker);
    store.worker_open = worker_open;
    store.worker_close = worker_close;
    shut_only = toy_table("shut_only");
    shut_only.worker_close = close_alone;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_that_cannot_be_opened, setup),
        cmocka_unit_test_setup(as_many_as_asked_for, setup),
        cmocka_unit_test_setup(one_close_for_each_open, setup),
        cmocka_unit_test_setup(without_an_open, setup),
        cmocka_unit_test_setup(which_signals_they_take, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
