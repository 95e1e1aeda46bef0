/* SPDX-License-Identifier: Apache-2.0 */
/* Carries ios out: in submit, in let_go or cancel, on the engine's thread, or in poll. An io touches the
 * store and the user's memory at the moment it ends, not when it came: so does a real store. */
#include "engine.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

const struct kvs_host *mock_host;

static uint64_t clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

/* Notes a new io, and whether it is one that must fail. store->lock is held. */
static struct mock_io *take(struct mock_engine *engine, const struct kvs_batch *batch, struct kvs_io *io)
{
    struct mock_io *mio = io->priv;
    *mio = (struct mock_io){.engine = engine, .batch = batch, .io = io, .op = batch->op};
    engine->nios++;
    engine->store->counts.ios++;
    mio->faulty = mock_store_fault(engine->store, KVS_MOCK_IO, &mio->status);
    if (engine->fail_at != 0 && engine->nios == engine->fail_at) {
        mio->faulty = true;
        mio->status = engine->fail_with;
    }
    return mio;
}

static int operate(struct mock_store *store, const struct mock_io *mio)
{
    switch (mio->op) {
    case KVS_READ:
        return mock_store_read(store, mio->io);
    case KVS_WRITE:
        return mock_store_write(store, mio->io);
    case KVS_QUERY:
        return mock_store_query(store, mio->io);
    case KVS_REMOVE:
        return mock_store_remove(store, mio->io);
    default:
        return KVS_NOT_SUPPORTED;
    }
}

static void count(struct mock_store *store, const struct mock_io *mio, int status)
{
    struct kvs_io *io = mio->io;
    struct kvs_mock_counts *counts = &store->counts;
    uint64_t moved = status == KVS_OK ? io->len : 0;
    if (mio->op == KVS_READ) {
        counts->gets++;
        counts->bytes += io->actual == io->len ? moved : 0;
    } else if (mio->op == KVS_WRITE) {
        counts->puts++;
        counts->bytes += moved;
    } else if (mio->op == KVS_QUERY) {
        counts->queries++;
    } else {
        counts->removes++;
    }
}

/* Carries an io out and answers its status; the caller owns it. */
static int run(struct mock_io *mio)
{
    struct mock_store *store = mio->engine->store;
    struct kvs_io *io = mio->io;
    int status = mio->faulty ? mio->status : operate(store, mio);
    if (mio->faulty && status != KVS_OK && status != KVS_CANCELED)
        mock_host->io_error(io, "the mock ends this io with status %d because it was told to", status);
    pthread_mutex_lock(&store->lock);
    if (!mio->faulty)
        count(store, mio, status);
    store->last_io = io;
    store->last_token = io->token;
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* Neither the io nor, if it was the last, the engine may be touched after this. */
static void finish(struct mock_io *mio)
{
    struct kvs_io *io = mio->io;
    mock_host->complete(io, run(mio));
}

static void finish_all(struct mock_queue *queue)
{
    struct mock_io *mio;
    while ((mio = TAILQ_FIRST(queue)) != NULL) {
        TAILQ_REMOVE(queue, mio, link);
        finish(mio);
    }
}

/* Sets the poll model's timer to what is due next; a time that has passed makes it readable. store->lock is
 * held. */
static void arm(struct mock_engine *engine)
{
    struct itimerspec when = {0};
    struct mock_io *next = TAILQ_FIRST(&engine->delayed);
    if (!TAILQ_EMPTY(&engine->ready))
        when.it_value.tv_nsec = 1;
    else if (next != NULL)
        when.it_value = to_timespec(next->due_ns);
    timerfd_settime(engine->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* ready or delayed has changed. store->lock is held. */
static void notify(struct mock_engine *engine)
{
    if (engine->model == MOCK_POLL)
        arm(engine);
    else if (engine->threaded)
        pthread_cond_signal(&engine->work);
}

/* Moves what is due from delayed to ready. store->lock is held. */
static void pass_time(struct mock_engine *engine)
{
    struct mock_io *mio = TAILQ_FIRST(&engine->delayed);
    uint64_t now = mio != NULL ? clock_ns() : 0;
    while (mio != NULL && mio->due_ns <= now) {
        TAILQ_REMOVE(&engine->delayed, mio, link);
        TAILQ_INSERT_TAIL(&engine->ready, mio, link);
        mio = TAILQ_FIRST(&engine->delayed);
    }
}

int mock_engine_submit(struct mock_engine *engine, struct kvs_batch *batch)
{
    struct mock_store *store = engine->store;
    struct mock_queue now = TAILQ_HEAD_INITIALIZER(now);
    int refused;
    pthread_mutex_lock(&store->lock);
    store->counts.submits++;
    if (mock_store_fault(store, KVS_MOCK_SUBMIT, &refused)) {
        pthread_mutex_unlock(&store->lock);
        return refused;
    }
    uint64_t due = engine->latency_ns != 0 ? clock_ns() + engine->latency_ns : 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct mock_io *mio = take(engine, batch, kvs_batch_io(batch, i));
        mio->due_ns = due;
        if (engine->hold) {
            TAILQ_INSERT_TAIL(&store->held, mio, link);
            store->counts.held++;
        } else if (due != 0) {
            TAILQ_INSERT_TAIL(&engine->delayed, mio, link);
        } else {
            TAILQ_INSERT_TAIL(engine->model == MOCK_INLINE ? &now : &engine->ready, mio, link);
        }
    }
    if (engine->hold)
        pthread_cond_broadcast(&store->changed);
    else if (TAILQ_EMPTY(&now))
        notify(engine);
    pthread_mutex_unlock(&store->lock);
    finish_all(&now);
    return KVS_OK;
}

/* Sends an io that was taken out of its queue on its engine's way to the end; `now` collects those that the
 * caller is to finish, without the lock. store->lock is held. */
static void send_on(struct mock_io *mio, struct mock_queue *now)
{
    struct mock_engine *engine = mio->engine;
    if (engine->model == MOCK_BLOCKING) {
        mio->released = true;
        pthread_cond_broadcast(&engine->store->changed);
    } else if (engine->model == MOCK_INLINE) {
        TAILQ_INSERT_TAIL(now, mio, link);
    } else {
        bool first = TAILQ_EMPTY(&engine->ready); /* else the engine knows already */
        TAILQ_INSERT_TAIL(&engine->ready, mio, link);
        if (first)
            notify(engine);
    }
}

size_t mock_let_go(struct mock_store *store, size_t n)
{
    struct mock_queue now = TAILQ_HEAD_INITIALIZER(now);
    struct mock_io *mio;
    size_t done = 0;
    pthread_mutex_lock(&store->lock);
    while (done < n && (mio = TAILQ_FIRST(&store->held)) != NULL) {
        TAILQ_REMOVE(&store->held, mio, link);
        store->counts.held--;
        send_on(mio, &now);
        done++;
    }
    pthread_mutex_unlock(&store->lock);
    finish_all(&now);
    return done;
}

/* Takes the batch's ios out of a queue, to end canceled. store->lock is held. */
static uint64_t cancel_in(struct mock_queue *queue, const struct kvs_batch *batch, struct mock_queue *now)
{
    uint64_t n = 0;
    struct mock_io *mio = TAILQ_FIRST(queue);
    while (mio != NULL) {
        struct mock_io *next = TAILQ_NEXT(mio, link);
        if (mio->batch == batch) {
            TAILQ_REMOVE(queue, mio, link);
            mio->faulty = true;
            mio->status = KVS_CANCELED;
            send_on(mio, now);
            n++;
        }
        mio = next;
    }
    return n;
}

/* The batch may complete meanwhile: only its address is used, ios are reached through the queues they are in.
 */
void mock_engine_cancel(struct mock_engine *engine, const struct kvs_batch *batch)
{
    struct mock_store *store = engine->store;
    struct mock_queue now = TAILQ_HEAD_INITIALIZER(now);
    pthread_mutex_lock(&store->lock);
    store->counts.cancels++;
    if (engine->cancel) {
        store->counts.held -= cancel_in(&store->held, batch, &now);
        cancel_in(&engine->delayed, batch, &now);
    }
    pthread_mutex_unlock(&store->lock);
    finish_all(&now);
}

int mock_engine_poll(struct mock_engine *engine, int max_events)
{
    struct mock_store *store = engine->store;
    struct mock_io *mio;
    int done = 0;
    pthread_mutex_lock(&store->lock);
    pass_time(engine);
    while (done < max_events && (mio = TAILQ_FIRST(&engine->ready)) != NULL) {
        TAILQ_REMOVE(&engine->ready, mio, link);
        pthread_mutex_unlock(&store->lock);
        finish(mio);
        done++;
        pthread_mutex_lock(&store->lock);
    }
    arm(engine);
    pthread_mutex_unlock(&store->lock);
    return done;
}

int mock_engine_blocking(struct mock_engine *engine, const struct kvs_batch *batch, struct kvs_io *io)
{
    struct mock_store *store = engine->store;
    pthread_mutex_lock(&store->lock);
    struct mock_io *mio = take(engine, batch, io);
    if (engine->hold) {
        TAILQ_INSERT_TAIL(&store->held, mio, link);
        store->counts.held++;
        pthread_cond_broadcast(&store->changed);
        while (!mio->released)
            pthread_cond_wait(&store->changed, &store->lock);
    }
    pthread_mutex_unlock(&store->lock);
    if (!engine->hold && engine->latency_ns != 0) {
        struct timespec until = to_timespec(clock_ns() + engine->latency_ns);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
            ;
    }
    return run(mio);
}

static void *complete_loop(void *arg)
{
    struct mock_engine *engine = arg;
    struct mock_store *store = engine->store;
    pthread_mutex_lock(&store->lock);
    for (;;) {
        pass_time(engine);
        struct mock_io *mio = TAILQ_FIRST(&engine->ready);
        struct mock_io *next = TAILQ_FIRST(&engine->delayed);
        if (mio != NULL) {
            TAILQ_REMOVE(&engine->ready, mio, link);
            pthread_mutex_unlock(&store->lock);
            finish(mio);
            pthread_mutex_lock(&store->lock);
        } else if (engine->stop) {
            break;
        } else if (next != NULL) {
            struct timespec until = to_timespec(next->due_ns);
            pthread_cond_timedwait(&engine->work, &store->lock, &until);
        } else {
            pthread_cond_wait(&engine->work, &store->lock);
        }
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

/* The program's signals are not for our thread. */
static int start_thread(struct mock_engine *engine)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->work, &attr);
    pthread_condattr_destroy(&attr);
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* faults go to the program's handler, wherever they happen */
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&engine->thread, NULL, complete_loop, engine);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0) {
        pthread_cond_destroy(&engine->work);
        return KVS_NO_MEMORY;
    }
    engine->threaded = true;
    return KVS_OK;
}

int mock_engine_start(struct mock_engine *engine)
{
    struct mock_store *store = engine->store;
    TAILQ_INIT(&engine->ready);
    TAILQ_INIT(&engine->delayed);
    engine->fd = -1;
    if (engine->model == MOCK_POLL) {
        engine->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (engine->fd < 0)
            return KVS_NO_MEMORY;
    } else if (engine->model == MOCK_THREAD || (engine->model == MOCK_INLINE && engine->latency_ns != 0)) {
        int status = start_thread(engine);
        if (status != KVS_OK)
            return status;
    }
    pthread_mutex_lock(&store->lock);
    LIST_INSERT_HEAD(&store->engines, engine, link);
    store->counts.engines++;
    pthread_mutex_unlock(&store->lock);
    return KVS_OK;
}

void mock_engine_stop(struct mock_engine *engine)
{
    struct mock_store *store = engine->store;
    pthread_mutex_lock(&store->lock);
    LIST_REMOVE(engine, link);
    store->counts.engines--;
    engine->stop = true;
    if (engine->threaded)
        pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&store->lock);
    if (engine->threaded) {
        pthread_join(engine->thread, NULL);
        pthread_cond_destroy(&engine->work);
    }
    if (engine->fd >= 0)
        close(engine->fd);
}
