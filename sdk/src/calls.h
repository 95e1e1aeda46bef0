/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into the backend: they keep the serial lock, the trace and the turn. */
#ifndef KVS_SRC_CALLS_H
#define KVS_SRC_CALLS_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <limits.h>
#include <stdbool.h>

#define KVS_CALL_BUSY INT_MIN /* others are in a serial backend */

struct kvs_xfer;
struct kvs_mem;

int kvs_call_open(kvs_engine *e, struct kvs_limits *limits);
void kvs_call_close(kvs_engine *e);
/* Where it may not wait for others that are in a serial backend: AGAIN. */
int kvs_call_submit(kvs_engine *e, struct kvs_xfer *x, bool may_wait);
/* Do not wait for them: false, and KVS_CALL_BUSY. */
bool kvs_call_cancel(kvs_engine *e, struct kvs_xfer *x);
int kvs_call_poll(kvs_engine *e, int max);
int kvs_call_poll_fd(kvs_engine *e);
/* put, get, query or remove, as the batch's op says. */
int kvs_call_io(kvs_engine *e, void *worker, struct kvs_xfer *x, struct kvs_io *io);
int kvs_call_worker_open(kvs_engine *e, void *worker);
void kvs_call_worker_close(kvs_engine *e, void *worker);
int kvs_call_prep(kvs_engine *e, struct kvs_xfer *x);
/* Of these two, one that may not wait is to be made later: false, and KVS_CALL_BUSY. */
bool kvs_call_unprep(kvs_engine *e, struct kvs_xfer *x, bool may_wait);
int kvs_call_deregister(kvs_engine *e, struct kvs_mem *m, bool may_wait);
int kvs_call_register(kvs_engine *e, struct kvs_mem *m, const struct kvs_desc *desc);
int kvs_call_list(kvs_engine *e, const void *prefix, size_t len,
                  int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                  uint64_t deadline);

#endif
