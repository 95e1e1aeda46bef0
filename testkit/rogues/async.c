/* SPDX-License-Identifier: Apache-2.0 */
/* The three async ways: in submit, on a thread for each batch, in poll. */
#include "rogue.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IS(name) (rogue_defect == ROGUE_##name)

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

int rogue_prep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct kvs_io *io = kvs_batch_io(batch, i);
        struct rogue_io *own = io->priv;
        *own = (struct rogue_io){.batch = batch, .io = io, .token = io->token};
    }
    return KVS_OK;
}

/* ---- What is touched when it no longer may be ---- */

/* Of the last batch. They are the defect: nothing guards them. */
static struct kvs_io *last_io;
static uint8_t *last_buffer;
static volatile uint8_t sink;

static void touch_last(void)
{
    if (IS(touches_batch_after) && last_io)
        sink = *(const uint8_t *)last_io->iov[0].iov_base;
    if (IS(completes_released) && last_io)
        rogue_host->complete(last_io, KVS_OK);
    if (IS(writes_after) && last_buffer)
        *last_buffer = 0;
    if (IS(reads_source_after) && last_buffer)
        sink = *last_buffer;
}

static void keep_last(const struct kvs_batch *batch, struct kvs_io *io)
{
    last_io = io->len > 0 ? io : NULL;
    if (io->len > 0 && batch->op == (IS(writes_after) ? KVS_READ : KVS_WRITE))
        last_buffer = io->iov[0].iov_base;
    else
        last_buffer = NULL;
}

/* ---- One io ---- */

/* The io whose data and whose status this one gets. */
static struct kvs_io *exchanged(struct kvs_batch *batch, struct kvs_io *io)
{
    if ((IS(swaps_values) || IS(swaps_statuses)) && batch->op == KVS_READ && batch->count > 1 &&
        io->index < 2)
        return kvs_batch_io(batch, 1 - io->index);
    return io;
}

static int run_one(struct rogue_engine *e, struct kvs_batch *batch, struct kvs_io *io)
{
    struct kvs_io *other = exchanged(batch, io);
    struct rogue_io *own = io->priv;
    if (other == io) {
        int rc = rogue_run(e, batch, io);
        own->failed |= rc != KVS_OK;
        return IS(sticky_failure) && own->failed ? KVS_BACKEND : rc;
    }
    struct kvs_io as = *io;
    if (IS(swaps_values)) {
        as.key = other->key;
        as.key_len = other->key_len;
        int rc = rogue_run(e, batch, &as);
        io->actual = as.actual;
        return rc;
    }
    rogue_run(e, batch, io);
    as = *other;
    void *aside = malloc(as.len + 1);
    const struct iovec iov = {aside, as.len};
    as.iov = &iov;
    int rc = rogue_run(e, batch, &as);
    free(aside);
    return rc;
}

static bool is_repeated(struct kvs_batch *batch, const struct kvs_io *io)
{
    for (uint32_t i = 0; i < io->index; i++) {
        const struct kvs_io *before = kvs_batch_io(batch, i);
        if (before->key_len == io->key_len && memcmp(before->key, io->key, io->key_len) == 0)
            return true;
    }
    return false;
}

/* Stores the first half of the new value and the second of the one before. */
static int mix(struct rogue_engine *e, struct kvs_batch *batch, struct kvs_io *io)
{
    const struct kvs_io *before = kvs_batch_io(batch, io->index - 1);
    uint8_t *both = malloc(io->len + 1);
    struct kvs_io as = *io;
    const struct iovec iov = {both, io->len};
    memcpy(both, io->iov[0].iov_base, io->len);
    if (before->len == io->len)
        memcpy(both, before->iov[0].iov_base, io->len / 2);
    as.iov = &iov;
    int rc = rogue_run(e, batch, &as);
    free(both);
    return rc;
}

static void complete_one(struct rogue_engine *e, struct kvs_batch *batch, struct kvs_io *io)
{
    if (IS(never_completes) && batch->op == KVS_READ)
        return;
    if (IS(completes_early) && batch->op == KVS_READ) {
        rogue_host->complete(io, KVS_OK);
        return;
    }
    uint64_t token = io->token;
    if (IS(rests_too_early))
        rogue_host->complete_rest(batch, KVS_OK);
    if (IS(reads_token_early))
        rogue_host->complete_cb(0, (void *)(uintptr_t)((struct rogue_io *)io->priv)->token);
    int status = IS(mixes_duplicates) && batch->op == KVS_WRITE && io->len > 1 && is_repeated(batch, io)
                     ? mix(e, batch, io)
                     : run_one(e, batch, io);
    if (IS(completes_again) && batch->op == KVS_READ)
        status = KVS_AGAIN;
    uint64_t actual = io->actual;
    if (IS(actual_late))
        io->actual = KVS_ACTUAL_UNSET;
    keep_last(batch, io);
    if (IS(rests_too_early))
        rogue_host->complete_cb(0, (void *)(uintptr_t)token);
    else
        rogue_host->complete(io, status);
    if (IS(actual_late))
        io->actual = actual;
    if (IS(completes_twice))
        rogue_host->complete(io, KVS_OK);
}

static struct kvs_io *at(struct kvs_batch *batch, uint32_t i)
{
    return IS(ignores_stride) ? batch->ios + i : kvs_batch_io(batch, i);
}

static int submit_inline(struct rogue_engine *e, struct kvs_batch *batch)
{
    uint32_t count = batch->count;
    touch_last();
    if (IS(submit_waits))
        nap();
    if (IS(crash_in_submit))
        rogue_crash();
    if (IS(error_after_taking) || IS(again_after_taking)) {
        complete_one(e, batch, kvs_batch_io(batch, 0));
        return IS(error_after_taking) ? KVS_NO_MEMORY : KVS_AGAIN;
    }
    for (uint32_t i = 0; i < count; i++)
        complete_one(e, batch, at(batch, i));
    return IS(odd_answer) ? 7 : KVS_OK;
}

/* ---- A thread for each batch ---- */

struct job {
    struct rogue_engine *engine;
    struct kvs_batch *batch;
};

static void *work(void *arg)
{
    struct job job = *(struct job *)arg;
    uint32_t count = job.batch->count;
    free(arg);
    for (uint32_t i = 0; i < count; i++) {
        struct kvs_io *io = kvs_batch_io(job.batch, i);
        int status = rogue_run(job.engine, job.batch, io);
        if (IS(completes_locked))
            pthread_mutex_lock(&job.engine->guard);
        rogue_host->complete(io, status);
        if (IS(completes_locked))
            pthread_mutex_unlock(&job.engine->guard);
    }
    return NULL; /* the thread is gone as soon as it has completed the last io */
}

static int submit_to_thread(struct rogue_engine *e, struct kvs_batch *batch)
{
    pthread_attr_t attr;
    pthread_t thread;
    struct job *job = malloc(sizeof(*job));
    if (!job)
        return KVS_NO_MEMORY;
    *job = (struct job){e, batch};
    if (IS(completes_locked)) {
        pthread_mutex_lock(&e->guard);
        pthread_mutex_unlock(&e->guard);
    }
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&thread, &attr, work, job);
    pthread_attr_destroy(&attr);
    if (rc != 0)
        free(job);
    return rc == 0 ? KVS_OK : KVS_NO_MEMORY;
}

/* ---- In poll ---- */

static void ring(const struct rogue_engine *e)
{
    const uint64_t one = 1;
    if (!IS(fd_never_ready) && write(e->fd, &one, sizeof(one)) < 0)
        return; /* it is readable already */
}

static int submit_to_queue(struct rogue_engine *e, struct kvs_batch *batch)
{
    static unsigned taken; /* guarded by rogue_lock */
    uint32_t count = batch->count;
    pthread_mutex_lock(&e->guard);
    for (uint32_t i = 0; i < count; i++) {
        pthread_mutex_lock(&rogue_lock);
        bool lost = IS(loses_many) && ++taken % 1000 == 0;
        pthread_mutex_unlock(&rogue_lock);
        struct rogue_io *own = kvs_batch_io(batch, i)->priv;
        own->sent = false;
        if (!lost)
            TAILQ_INSERT_TAIL(&e->queue, own, link);
    }
    pthread_mutex_unlock(&e->guard);
    ring(e);
    return KVS_OK;
}

/* As a store that answers a little later: what is new is sent in one poll and answered in the next. */
static bool send_new(struct rogue_engine *e)
{
    struct rogue_io *own;
    bool any = false;
    pthread_mutex_lock(&e->guard);
    TAILQ_FOREACH(own, &e->queue, link)
    {
        any |= !own->sent;
        own->sent = true;
    }
    pthread_mutex_unlock(&e->guard);
    return any;
}

/* Takes the next one out of the queue; NULL where there is none that may end now. */
static struct rogue_io *take(struct rogue_engine *e, const struct kvs_batch *of)
{
    pthread_mutex_lock(&e->guard);
    struct rogue_io *own = TAILQ_FIRST(&e->queue);
    while (own && ((of && own->batch != of) || (IS(cancel_ignored) && own->batch->op == KVS_WRITE)))
        own = TAILQ_NEXT(own, link);
    if (own)
        TAILQ_REMOVE(&e->queue, own, link);
    pthread_mutex_unlock(&e->guard);
    return own;
}

/* A WRITE that waits, of another batch, with another key and as many bytes. */
static struct kvs_io *waits_behind(struct rogue_engine *e, const struct rogue_io *own)
{
    struct rogue_io *other;
    struct kvs_io *found = NULL;
    pthread_mutex_lock(&e->guard);
    TAILQ_FOREACH(other, &e->queue, link)
    {
        const struct kvs_io *io = other->io;
        bool same_key = io->key_len == own->io->key_len && memcmp(io->key, own->io->key, io->key_len) == 0;
        if (other->batch != own->batch && other->batch->op == KVS_WRITE && io->len == own->io->len &&
            !same_key)
            found = other->io;
    }
    pthread_mutex_unlock(&e->guard);
    return found;
}

static int run_queued(struct rogue_engine *e, struct rogue_io *own)
{
    struct kvs_io as = *own->io;
    const struct kvs_io *other = NULL;
    if (IS(borrows_bytes) && own->batch->op == KVS_WRITE && rogue_has(e, own->io))
        other = waits_behind(e, own);
    if (!other)
        return rogue_run(e, own->batch, own->io);
    as.iov = other->iov;
    return rogue_run(e, own->batch, &as);
}

int rogue_poll(void *eng, int max_events)
{
    struct rogue_engine *e = eng;
    struct rogue_io *own;
    uint64_t count;
    int n = 0;
    if (IS(poll_blocks))
        nap();
    if (read(e->fd, &count, sizeof(count)) < 0)
        count = 0; /* nothing has rung; the queue knows */
    if (send_new(e)) {
        ring(e);
        return 0;
    }
    for (; n < max_events && (own = take(e, NULL)) != NULL; n++)
        rogue_host->complete(own->io, run_queued(e, own));
    if (n == max_events)
        ring(e);
    return n;
}

int rogue_poll_fd(void *eng)
{
    return ((struct rogue_engine *)eng)->fd;
}

void rogue_cancel(void *eng, struct kvs_batch *batch)
{
    struct rogue_engine *e = eng;
    struct rogue_io *own;
    if (IS(cancel_ignored))
        return;
    while ((own = take(e, batch)) != NULL) {
        struct kvs_io *io = own->io;
        uint64_t token = io->token;
        if (IS(cancel_drops))
            continue;
        if (IS(cancel_removes) && batch->op == KVS_WRITE) {
            struct kvs_batch as = *batch;
            as.op = KVS_REMOVE;
            rogue_run(e, &as, io);
        }
        rogue_host->complete(io, KVS_CANCELED);
        if (IS(cancel_twice))
            rogue_host->complete_cb(0, (void *)(uintptr_t)token);
    }
}

int rogue_submit(void *eng, struct kvs_batch *batch)
{
    if (rogue_defect >= FIRST_POLL)
        return submit_to_queue(eng, batch);
    return rogue_defect >= FIRST_THREAD ? submit_to_thread(eng, batch) : submit_inline(eng, batch);
}
