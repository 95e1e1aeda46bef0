/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into the backend: they keep the serial lock, the trace and the turn. */
#ifndef KVS_SRC_CALLS_H
#define KVS_SRC_CALLS_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <limits.h>
#include <stdbool.h>

struct kvs_xfer;
struct kvs_mem;

int kvs_call_open(kvs_engine *e, struct kvs_limits *limits);
void kvs_call_close(kvs_engine *e);
/* Where it may not wait for others that are in a serial backend: AGAIN. */
int kvs_call_submit(kvs_engine *e, struct kvs_xfer *x, bool may_wait);
/* Do not wait for them: false, and KVS_POLL_BUSY. */
bool kvs_call_cancel(kvs_engine *e, struct kvs_xfer *x);
int kvs_call_poll(kvs_engine *e, int max);
#define KVS_POLL_BUSY INT_MIN
int kvs_call_poll_fd(kvs_engine *e);
/* put, get, query or remove, as the batch's op says. */
int kvs_call_io(kvs_engine *e, void *worker, struct kvs_xfer *x, struct kvs_io *io);
int kvs_call_worker_open(kvs_engine *e, void *worker);
void kvs_call_worker_close(kvs_engine *e, void *worker);
int kvs_call_prep(kvs_engine *e, struct kvs_xfer *x);
void kvs_call_unprep(kvs_engine *e, struct kvs_xfer *x);
int kvs_call_register(kvs_engine *e, struct kvs_mem *m, const struct kvs_desc *desc);
int kvs_call_deregister(kvs_engine *e, struct kvs_mem *m);
int kvs_call_list(kvs_engine *e, const void *prefix, size_t len,
                  int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                  uint64_t deadline);

#endif
