/* SPDX-License-Identifier: Apache-2.0 */
/* bounce=yes: between the caller's memory and buffers of the SDK. */
#ifndef KVS_SRC_BOUNCE_H
#define KVS_SRC_BOUNCE_H

#include <kvslot/kvslot.h>
#include <stdbool.h>

struct kvs_mem;
struct kvs_rec;
struct kvs_xfer;

/* A WRITE's values, from the caller's memory to its buffers. */
void kvs_bounce_fill(const struct kvs_xfer *x);
/* A READ's value that has come, to the caller's memory. False where the transfer has ended for its caller:
 * nothing was copied. Else it does not end held, nor does abandon return, before kvs_bounce_out_end. */
bool kvs_bounce_out(struct kvs_xfer *x, const struct kvs_rec *rec);
void kvs_bounce_out_end(struct kvs_xfer *x);
/* How many of the transfers that count a registration are held or abandoned, and so have no need of it; and:
 * takes it from these. engine.mem_lock and engine.lock held. */
uint64_t kvs_bounce_lost(const kvs_engine *e, const struct kvs_mem *m);
void kvs_bounce_uncount(kvs_engine *e, struct kvs_mem *m);

#endif
