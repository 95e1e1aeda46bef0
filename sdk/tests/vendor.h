/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store whose ios are completed by whoever has their tokens, as a vendor's library does it: the first one
 * counts. It has no lock, which would order what a sanitizer is to find in disorder.
 */
#ifndef KVS_TESTS_VENDOR_H
#define KVS_TESTS_VENDOR_H

#include "engine_test.h"
#include "meet.h"

#include <kvslot/backend.h>
#include <pthread.h>

#if defined(KVS_TESTS_WRAPPED)
#define RACES 2000
#else
#define RACES 100000
#endif

#define IOS 2

static unsigned char memory[IOS * 16];

enum { VENDOR_OK = 0, VENDOR_CANCELED = 1 };

static const struct kvs_host *host;       /* set by load, once a process */
static atomic_uint_fast64_t offered[IOS]; /* the tokens of the batch that was submitted last */
static atomic_bool cancel_ends;           /* cancel completes what it is asked for */
static atomic_bool submit_ends;
static atomic_uint gone; /* submits whose memory was not registered any more */

struct lent {
    unsigned there; /* written by the hooks, read by submit: a lock of the SDK's has to be between them */
};

static int load(const struct kvs_host *from)
{
    host = from;
    return KVS_OK;
}

static int open_it(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)ctx;
    (void)limits;
    return KVS_OK;
}

static void callback(uint64_t token, int rc)
{
    host->complete_cb(rc, (void *)(uintptr_t)token);
}

static int submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    uint64_t token[IOS];
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct kvs_io *io = kvs_batch_io(batch, i);
        const struct lent *lent = io->mem_priv;
        if (lent && lent->there != 1)
            atomic_fetch_add(&gone, 1);
        token[i] = io->token;
    }
    uint32_t count = batch->count; /* which may be gone at the last of the tokens */
    for (uint32_t i = 0; i < count; i++) {
        atomic_store_explicit(&offered[i], token[i], memory_order_release);
        if (atomic_load_explicit(&submit_ends, memory_order_relaxed))
            callback(token[i], VENDOR_OK);
    }
    return KVS_OK;
}

/* It is called only while the transfer is not at its end, so that the ios are there; a vendor's thread may
 * complete them at the same time. */
static void cancel(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    for (uint32_t i = 0; i < batch->count && atomic_load(&cancel_ends); i++)
        callback(kvs_batch_io(batch, i)->token, VENDOR_CANCELED);
}

static int map_rc(int rc)
{
    return rc == VENDOR_CANCELED ? KVS_CANCELED : KVS_OK;
}

static int on_register(void *eng, void *priv, uint32_t type, const struct kvs_desc *desc)
{
    (void)eng;
    (void)type;
    (void)desc;
    ((struct lent *)priv)->there = 1;
    return KVS_OK;
}

static int on_deregister(void *eng, void *priv)
{
    (void)eng;
    ((struct lent *)priv)->there = 0;
    return KVS_OK;
}

static const struct kvs_backend vendor = {KVS_BACKEND_STAMP,
                                          .name = "vendor",
                                          .version = "1",
                                          .thread_model = KVS_THREADS_PARALLEL,
                                          .caps_native = KVS_CAP_READ | KVS_CAP_WRITE | KVS_CAP_CANCEL,
                                          .mem_priv = sizeof(struct lent),
                                          .load = load,
                                          .open = open_it,
                                          .submit = submit,
                                          .cancel = cancel,
                                          .map_rc = map_rc,
                                          .on_register = on_register,
                                          .on_deregister = on_deregister};

static kvs_engine *e;

static int setup(void **state)
{
    (void)state;
    kvs_set_log(no_log, NULL, -1); /* late completions are meant */
    for (int i = 0; i < IOS; i++)
        atomic_store(&offered[i], 0);
    atomic_store(&cancel_ends, false);
    atomic_store(&submit_ends, false);
    atomic_store(&gone, 0);
    assert_int_equal(kvs_backend_register(&vendor, NULL), KVS_OK);
    e = open_engine("vendor");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    int rc = kvs_engine_close(e, LONG, NULL);
    kvs_set_log(NULL, NULL, -1);
    return rc;
}

#endif
