/* SPDX-License-Identifier: Apache-2.0 */
/* The mock's engines: when and on which thread an io is carried out and completed. */
#ifndef KVS_MOCK_ENGINE_H
#define KVS_MOCK_ENGINE_H

#include "store.h"

enum mock_model { MOCK_BLOCKING, MOCK_INLINE, MOCK_THREAD, MOCK_POLL };

/* Private space of an engine. What has no guard beside it is set by open and constant until close. */
struct mock_engine {
    struct mock_store *store;
    void *ctx;
    enum mock_model model;
    bool hold, cancel;
    uint64_t latency_ns;
    uint64_t fail_at; /* 0: none */
    int fail_with;
    int fd;                           /* poll: a timer, readable when something is due; else -1 */
    bool threaded;                    /* there is a thread that completes */
    pthread_t thread;                 /* if threaded */
    pthread_cond_t work;              /* if threaded: ready, delayed or stop has changed */
    uint64_t nios;                    /* guarded by store->lock: ios that it has taken */
    bool stop;                        /* guarded by store->lock */
    struct mock_queue ready, delayed; /* guarded by store->lock; delayed in the order of due_ns */
    LIST_ENTRY(mock_engine) link;     /* guarded by store->lock */
};

/* Private space of an io; its queue's guard guards it while it is in one, whoever took it out owns it. */
struct mock_io {
    TAILQ_ENTRY(mock_io) link;
    struct mock_engine *engine;
    const struct kvs_batch *batch; /* as an address: which one it belongs to */
    struct kvs_io *io;
    uint64_t due_ns;
    uint32_t op;
    int status;    /* if `faulty` */
    bool faulty;   /* ends with `status`, without being carried out */
    bool released; /* guarded by store->lock; a held io of a blocking engine may go on */
};

/* The host's services, from load() on. Global: a table's functions have no other way to it before open(). */
extern const struct kvs_host *mock_host;

/* Starts and ends what the engine's model needs (a thread, a timer). Its parameters are set. A status. */
int mock_engine_start(struct mock_engine *engine);
void mock_engine_stop(struct mock_engine *engine);

/* The table's functions of the same names. */
int mock_engine_blocking(struct mock_engine *engine, const struct kvs_batch *batch, struct kvs_io *io);
int mock_engine_submit(struct mock_engine *engine, struct kvs_batch *batch);
void mock_engine_cancel(struct mock_engine *engine, const struct kvs_batch *batch);
int mock_engine_poll(struct mock_engine *engine, int max_events);

/* Lets up to n held ios of the store go. */
size_t mock_let_go(struct mock_store *store, size_t n);

#endif
