/* SPDX-License-Identifier: Apache-2.0 */
#include "kit.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

void kit_event_init(struct kit_event *ev)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&ev->cond, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&ev->lock, NULL);
    ev->count = 0;
}

void kit_event_destroy(struct kit_event *ev)
{
    pthread_cond_destroy(&ev->cond);
    pthread_mutex_destroy(&ev->lock);
}

void kit_event_signal(struct kit_event *ev)
{
    pthread_mutex_lock(&ev->lock);
    ev->count++;
    pthread_cond_broadcast(&ev->cond);
    pthread_mutex_unlock(&ev->lock);
}

unsigned kit_event_count(struct kit_event *ev)
{
    pthread_mutex_lock(&ev->lock);
    unsigned n = ev->count;
    pthread_mutex_unlock(&ev->lock);
    return n;
}

static void wait_until(struct kit_event *ev, uint64_t ns)
{
    struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    pthread_cond_timedwait(&ev->cond, &ev->lock, &ts);
}

void kit_event_await_at(struct kit_at at, struct kit *k, struct kit_event *ev, unsigned n, kvs_engine *e)
{
    uint64_t end = kit_now() + kit_wait_ns(k);
    for (;;) {
        if (e)
            kvs_engine_progress(e);
        pthread_mutex_lock(&ev->lock);
        uint64_t now = kit_now();
        if (ev->count < n && now < end)
            wait_until(ev, e && now + KVS_MS(1) < end ? now + KVS_MS(1) : end);
        unsigned count = ev->count;
        pthread_mutex_unlock(&ev->lock);
        if (count >= n)
            return;
        if (kit_now() >= end)
            kit_hang_at(at, "only %u of %u events have come", count, n);
    }
}

struct worker {
    struct kit *k;
    void (*fn)(struct kit *k, void *arg, size_t i);
    void *arg;
    size_t index;
    struct kit_event *ended;
    pthread_t thread;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    w->fn(w->k, w->arg, w->index);
    kit_event_signal(w->ended);
    return NULL;
}

void kit_threads(struct kit *k, size_t n, void (*fn)(struct kit *k, void *arg, size_t i), void *arg)
{
    struct worker *all = calloc(n, sizeof(*all));
    struct kit_event ended;
    KIT_CHECK(all, "no memory for %zu threads", n);
    kit_event_init(&ended);
    for (size_t i = 0; i < n; i++) {
        all[i] = (struct worker){.k = k, .fn = fn, .arg = arg, .index = i, .ended = &ended};
        KIT_EQ(pthread_create(&all[i].thread, NULL, work, &all[i]), 0);
    }
    kit_event_await(k, &ended, (unsigned)n, NULL);
    for (size_t i = 0; i < n; i++)
        pthread_join(all[i].thread, NULL);
    kit_event_destroy(&ended);
    free(all);
}
