/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A serial store with a thread of its own, which its list waits for. That thread ends transfers which are
 * then freed, and what that owes the store must not wait for the list: each would wait for the other.
 * KVS-REQ-180
 */
#include "engine_test.h"

#include <kvslot/backend.h>
#include <pthread.h>
#include <stdatomic.h>

static const struct kvs_host *host;
static struct kvs_backend asks, asks_registered;

static struct {
    pthread_mutex_t lock; /* guards what follows, to the next comment */
    pthread_cond_t changed;
    struct kvs_batch *batch; /* not ended yet */
    bool listing, stop;
    pthread_t thread;
    atomic_uint unpreps, deregisters, dones;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *answer_in_lists(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&store.lock);
    while (!store.stop) {
        if (!store.listing || !store.batch) {
            pthread_cond_wait(&store.changed, &store.lock);
            continue;
        }
        struct kvs_batch *batch = store.batch;
        pthread_mutex_unlock(&store.lock);
        host->complete_rest(batch, KVS_OK);
        pthread_mutex_lock(&store.lock);
        store.batch = NULL;
        pthread_cond_broadcast(&store.changed);
    }
    pthread_mutex_unlock(&store.lock);
    return NULL;
}

static int load(const struct kvs_host *from)
{
    host = from;
    return KVS_OK;
}

static int open_it(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng, (void)ctx, (void)limits;
    store.stop = store.listing = false;
    return pthread_create(&store.thread, NULL, answer_in_lists, NULL) == 0 ? KVS_OK : KVS_NO_MEMORY;
}

static void close_it(void *eng)
{
    (void)eng;
    pthread_mutex_lock(&store.lock);
    store.stop = true;
    pthread_cond_broadcast(&store.changed);
    pthread_mutex_unlock(&store.lock);
    pthread_join(store.thread, NULL);
}

static int submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    pthread_mutex_lock(&store.lock);
    store.batch = batch;
    pthread_mutex_unlock(&store.lock);
    return KVS_OK;
}

static int prep_it(void *eng, struct kvs_batch *batch)
{
    (void)eng, (void)batch;
    return KVS_OK;
}

static void unprep(void *eng, struct kvs_batch *batch)
{
    (void)eng, (void)batch;
    atomic_fetch_add(&store.unpreps, 1);
}

static int on_register(void *eng, void *priv, uint32_t type, const struct kvs_desc *desc)
{
    (void)eng, (void)priv, (void)type, (void)desc;
    return KVS_OK;
}

static int on_deregister(void *eng, void *priv)
{
    (void)eng, (void)priv;
    atomic_fetch_add(&store.deregisters, 1);
    return KVS_OK;
}

/* Until the thread has ended the batch, and is back from that. */
static int list(void *eng, const void *prefix, size_t len,
                int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                uint64_t deadline)
{
    (void)eng, (void)prefix, (void)len, (void)each, (void)arg, (void)deadline;
    pthread_mutex_lock(&store.lock);
    store.listing = true;
    pthread_cond_broadcast(&store.changed);
    uint64_t end = host->now_ns() + LONG;
    struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    int rc = 0;
    while (store.batch && rc == 0)
        rc = pthread_cond_timedwait(&store.changed, &store.lock, &until);
    store.listing = false;
    bool answered = !store.batch;
    pthread_mutex_unlock(&store.lock);
    return answered ? KVS_OK : KVS_TIMEOUT;
}

static int ignore(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)arg, (void)key, (void)len, (void)size;
    return 0;
}

static void release_it(kvs_xfer *x, int status, void *arg)
{
    (void)status, (void)arg;
    atomic_fetch_add(&store.dones, 1);
    expect_rc(kvs_xfer_release(x, 0), KVS_OK);
}

static kvs_engine *open_asks(const struct kvs_backend *table, const char *params)
{
    char target[80];
    atomic_store(&store.unpreps, 0);
    atomic_store(&store.deregisters, 0);
    atomic_store(&store.dones, 0);
    store.batch = NULL;
    assert_int_equal(kvs_backend_register(table, NULL), KVS_OK);
    snprintf(target, sizeof target, "%s:?%s", table->name, params);
    return open_engine(target);
}

/* The list ends, by an answer of the thread that it waits for, and what was owed is made up for after it. */
static void expect_listed(kvs_engine *e)
{
    struct kvs_error err = {0, ""};
    expect_status(kvs_list(e, NULL, 0, ignore, NULL, &err), KVS_OK, &err);
    eventually((kvs_engine_progress(e), atomic_load(&store.unpreps) == 1));
    expect_status(kvs_engine_close(e, LONG, &err), KVS_OK, &err);
}

static unsigned char memory[64];

static void test_abandoned(void **state)
{
    kvs_engine *e = open_asks(&asks, *state);
    kvs_xfer *x = prep(e, KVS_WRITE, 4, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    kvs_xfer_abandon(x);
    expect_listed(e);
}

static void test_released_when_done(void **state)
{
    kvs_engine *e = open_asks(&asks, *state);
    kvs_xfer *x = prep_done(e, KVS_WRITE, 4, memory, 16, release_it, NULL);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    expect_listed(e);
    assert_int_equal(atomic_load(&store.dones), 1);
}

/* Whoever uses the engine's descriptor owes it: the service thread does nothing any more. */
static void test_by_the_caller(void **state)
{
    kvs_engine *e = open_asks(&asks, *state);
    int fd = -1;
    expect_rc(kvs_engine_fd(e, &fd), KVS_OK);
    kvs_xfer *x = prep(e, KVS_WRITE, 4, memory, 16);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    kvs_xfer_abandon(x);
    expect_listed(e);
}

/* A call for one key whose time was over: what it has registered stays until the store lets go. */
static void test_one_key(void **state)
{
    (void)state;
    struct kvs_error err = {0, ""};
    kvs_engine *e = open_asks(&asks_registered, "timeout=1ms&cancel_grace=0");
    kvs_set_log(no_log, NULL, -1);
    expect_status(kvs_put(e, "k", 1, memory, 16, &err), KVS_TIMEOUT, &err);
    kvs_set_log(NULL, NULL, -1);
    assert_int_equal(atomic_load(&store.unpreps), 0);
    expect_listed(e);
    assert_int_equal(atomic_load(&store.deregisters), 1);
}

int main(void)
{
    static char plain[] = "timeout=60s", forever[] = "timeout=0";
    asks = (struct kvs_backend){KVS_BACKEND_STAMP,
                                .name = "asks",
                                .version = "1",
                                .thread_model = KVS_THREADS_SERIAL,
                                .caps_native = KVS_CAP_LIST | KVS_CAP_OVERWRITE,
                                .load = load,
                                .open = open_it,
                                .close = close_it,
                                .submit = submit,
                                .prep = prep_it,
                                .unprep = unprep,
                                .on_register = on_register,
                                .on_deregister = on_deregister,
                                .list = list};
    asks_registered = asks;
    asks_registered.name = "asks-registered";
    asks_registered.flags = KVS_F_NEEDS_REGISTRATION;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&store.changed, &attr);
    pthread_condattr_destroy(&attr);
    const struct CMUnitTest tests[] = {
        {"test_abandoned", test_abandoned, NULL, NULL, plain},
        {"test_abandoned (no timeout)", test_abandoned, NULL, NULL, forever},
        {"test_released_when_done", test_released_when_done, NULL, NULL, plain},
        {"test_released_when_done (no timeout)", test_released_when_done, NULL, NULL, forever},
        {"test_by_the_caller", test_by_the_caller, NULL, NULL, plain},
        {"test_one_key", test_one_key, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
