/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The design that plugins for redis begin with: one thread runs libevent's loop, a pool of eight asynchronous
 * connections of hiredis, one command for each key, handed out by turns, and a promise for each. A reply is
 * copied twice: into hiredis' reply, and from there to the caller.
 */
#include "cases.h"

#include <event2/event.h>
#include <event2/thread.h>
#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 8 };

struct promise {
    struct promise *next;
    const struct redis_case *c;
    uint32_t size, i;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool kept; /* lock */
};

struct pool {
    struct event_base *base;
    struct event *wake;
    redisAsyncContext *connections[POOL];
    unsigned turn; /* the loop's */
    pthread_mutex_t lock;
    struct promise *first, **last; /* lock */
    pthread_t thread;
};

static struct pool pools[2];

static void keep(redisAsyncContext *ac, void *r, void *arg)
{
    struct promise *p = arg;
    const redisReply *reply = r;
    if (reply == NULL)
        bench_fail("hiredis", ac->errstr);
    if (p->c->get && reply->type == REDIS_REPLY_STRING && (size_t)reply->len == p->size)
        memcpy(value_at(p->c, p->i), reply->str, p->size);
    else if (p->c->get || reply->type != REDIS_REPLY_STATUS)
        bench_fail("hiredis", "a wrong reply");
    pthread_mutex_lock(&p->lock);
    p->kept = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void send_all(evutil_socket_t fd, short what, void *arg)
{
    struct pool *pool = arg;
    (void)fd;
    (void)what;
    pthread_mutex_lock(&pool->lock);
    struct promise *p = pool->first, *next;
    pool->first = NULL;
    pool->last = &pool->first;
    pthread_mutex_unlock(&pool->lock);
    for (; p != NULL; p = next) {
        next = p->next; /* it may be kept before the call returns */
        const char *argv[] = {p->c->get ? "GET" : "SET", key_at(p->c, p->i), value_at(p->c, p->i)};
        const size_t len[] = {3, KEY, p->size};
        if (redisAsyncCommandArgv(pool->connections[pool->turn++ % POOL], keep, p, p->c->get ? 2 : 3, argv,
                                  len) != REDIS_OK)
            bench_fail("hiredis", "a command was refused");
    }
}

static void *loop(void *arg)
{
    event_base_loop(((struct pool *)arg)->base, EVLOOP_NO_EXIT_ON_EMPTY);
    return NULL;
}

static struct pool *pool_of(bool unix_socket)
{
    struct pool *pool = &pools[unix_socket];
    if (pool->base != NULL)
        return pool;
    evthread_use_pthreads();
    pool->base = event_base_new();
    pool->wake = event_new(pool->base, -1, EV_PERSIST, send_all, pool);
    pool->last = &pool->first;
    pthread_mutex_init(&pool->lock, NULL);
    for (int i = 0; i < POOL; i++) {
        redisAsyncContext *ac = unix_socket ? redisAsyncConnectUnix(server_path())
                                            : redisAsyncConnect("127.0.0.1", server_number());
        if (ac == NULL || ac->err != 0 || redisLibeventAttach(ac, pool->base) != REDIS_OK)
            bench_fail("hiredis", ac == NULL ? "no memory" : ac->errstr);
        pool->connections[i] = ac;
    }
    if (pthread_create(&pool->thread, NULL, loop, pool) != 0)
        bench_fail("old design", "no thread");
    return pool;
}

static void batch(struct pool *pool, const struct redis_case *c, struct part part)
{
    struct promise *all = calloc(part.count, sizeof(*all));
    if (all == NULL)
        bench_fail("old design", "no memory");
    for (uint32_t i = 0; i < part.count; i++) {
        struct promise *p = &all[i];
        *p = (struct promise){.c = c, .size = part.size, .i = i};
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->changed, NULL);
        p->next = i + 1 < part.count ? p + 1 : NULL;
    }
    pthread_mutex_lock(&pool->lock);
    *pool->last = all;
    pool->last = &all[part.count - 1].next;
    pthread_mutex_unlock(&pool->lock);
    event_active(pool->wake, EV_READ, 0);
    for (uint32_t i = 0; i < part.count; i++) {
        struct promise *p = &all[i];
        pthread_mutex_lock(&p->lock);
        while (!p->kept)
            pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
    }
    free(all);
}

uint64_t old_run(void *arg, uint64_t n)
{
    const struct redis_case *c = arg;
    struct part part = part_of(c);
    struct pool *pool = pool_of(c->unix_socket);
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++)
        batch(pool, c, part);
    return bench_now() - start;
}
