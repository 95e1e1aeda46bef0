/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the tests of adopting change: a good blocking one, and a good async one. */
#ifndef KVS_TESTS_TABLES_H
#define KVS_TESTS_TABLES_H

#include "adopt.h"
#include "expect.h"

#include <kvslot/backend.h>

static inline int some_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)ctx;
    (void)limits;
    return KVS_OK;
}

static inline int some_io(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    (void)io;
    return KVS_OK;
}

static inline int some_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
    return KVS_OK;
}

static inline void some_cancel(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
}

static inline int some_poll(void *eng, int max_events)
{
    (void)eng;
    (void)max_events;
    return 0;
}

static inline int some_fd(void *eng)
{
    (void)eng;
    return -1;
}

static inline int some_list(void *eng, const void *prefix, size_t len,
                            int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                            uint64_t deadline_ns)
{
    (void)eng;
    (void)prefix;
    (void)len;
    (void)each;
    (void)arg;
    (void)deadline_ns;
    return KVS_OK;
}

static struct kvs_param params[3];

static inline struct kvs_backend good_table(void)
{
    memset(params, 0, sizeof params);
    params[0] = (struct kvs_param){.name = "path", .uri = "path", .def = "/x"};
    params[1] =
        (struct kvs_param){.name = "size", .type = KVS_PARAM_SIZE, .def = "1MiB", .min = 1, .max = 1 << 30};
    params[2] = (struct kvs_param){.name = "how", .type = KVS_PARAM_ENUM, .choices = "one|two", .def = "two"};
    return (struct kvs_backend){
        KVS_BACKEND_STAMP, .name = "store",   .version = "1.0", .params = params,
        .nparams = 3,      .open = some_open, .put = some_io,   .get = some_io,
    };
}

static inline struct kvs_backend async_table(void)
{
    struct kvs_backend b = good_table();
    b.put = b.get = NULL;
    b.submit = some_submit;
    return b;
}

#endif
