/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that does what a test says. toy_table() gives a backend, to be changed and then registered under a
 * name of its own; `toy` is what all of them share: what a test asks for, and what it can look at.
 */
#ifndef KVS_TESTS_TOY_H
#define KVS_TESTS_TOY_H

#include "expect.h"

#include <kvslot/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define TOY_USUAL 99999 /* a status that asks for no other */

struct toy_value;

struct toy {
    /* Set by the test while no call is on its way. */
    int open_rc, worker_open_rc, put_rc, get_rc, query_rc, remove_rc, submit_rc, prep_rc, register_rc,
        deregister_rc, list_rc;
    uint64_t refuse_dev;                 /* dev_id whose on_register answers register_rc; UINT64_MAX: any */
    uint64_t actual;                     /* what get and query report; TOY_TRUE: the truth */
    bool write_once;                     /* put of a key that is there answers EXISTS */
    bool blind;                          /* list ignores the prefix */
    void (*narrow)(struct kvs_limits *); /* called by open */
    /* Called by put, get, query and remove before they do anything, without the lock; or NULL. */
    void (*before)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);

    const struct kvs_host *host; /* from load on */
    void *ctx;                   /* of the last open */
    atomic_uint type;            /* of the last registration */
    atomic_uint inside;          /* functions that run now */
    atomic_uint most;            /* most that ever ran at once */
    atomic_uint calls;           /* of put, get, query and remove */

    pthread_mutex_t lock;
    char log[4096];           /* a word for each call that says something; guarded by lock */
    struct toy_value *values; /* guarded by lock */
};

#define TOY_TRUE (UINT64_MAX - 7)

extern struct toy toy; /* one, since a table's functions have no other way to it; every test is one process */

/* Empties the store, and asks for nothing unusual. */
void toy_reset(void);
/* Blocking, parallel, with all the functions; emulated by nobody. */
struct kvs_backend toy_table(const char *name);
/* What a table's submit can do with an io: the whole of it but completing. Its status. */
int toy_run(const struct kvs_batch *batch, struct kvs_io *io);
void toy_say(const char *fmt, ...) KVS_PRINTF(1, 2);
/* Is exactly this key in the store. */
bool toy_has(const void *key, size_t len);
size_t toy_count(void);
/* Stores len bytes of `fill` under a key, beside what any engine does. */
void toy_set(const char *key, char fill, size_t len);
void toy_enter(void);
void toy_leave(void);

/* Registers a table and opens it; the table has to live on. */
kvs_engine *toy_open(const struct kvs_backend *table, const struct kvs_param_value *params);

#endif
