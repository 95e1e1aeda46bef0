/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounce=yes: the backend is given buffers of the SDK's instead of the caller's memory, so that it is never
 * the store that has to let go of that memory. KVS-REQ-277
 */
#include "engine.h"

#include <string.h>

void kvs_bounce_fill(const struct kvs_xfer *x)
{
    if (!x->user || x->batch.op != KVS_WRITE)
        return;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct iovec *iov = &kvs_rec_at(x, i)->iov;
        if (iov->iov_len)
            memcpy(iov->iov_base, (const void *)(uintptr_t)x->user[i], iov->iov_len);
    }
}

bool kvs_bounce_out(struct kvs_xfer *x, const struct kvs_rec *rec)
{
    uint64_t seen = kvs_a64_load(&x->word);
    do {
        if (seen & (KVS_W_HELD | KVS_W_ABANDONED | KVS_W_LEAVING))
            return false;
    } while (!kvs_a64_cas(&x->word, &seen, seen + KVS_W_COPY));
    if (rec->iov.iov_len)
        memcpy((void *)(uintptr_t)x->user[rec->io.index], rec->iov.iov_base, rec->iov.iov_len);
    return true;
}

void kvs_bounce_out_end(struct kvs_xfer *x)
{
    kvs_a64_sub(&x->word, KVS_W_COPY);
}

/* Ended for its caller, while the store has or had buffers: their memory is the SDK's alone. Both bits stay
 * while engine.lock is held. */
static bool was_lost(const struct kvs_xfer *x)
{
    return x->user && (kvs_a64_load(&x->word) & (KVS_W_ABANDONED | KVS_W_HELD));
}

/* And the store has them still. */
static bool is_lost(const struct kvs_xfer *x)
{
    uint64_t word = kvs_a64_load(&x->word);
    return was_lost(x) && ((word & KVS_W_ABANDONED) || kvs_word_open(word));
}

static uint32_t place_of(const struct kvs_xfer *x, const struct kvs_mem *m)
{
    uint32_t i = 0;
    while (i < x->nmems && x->mems[i] != m)
        i++;
    return i;
}

uint64_t kvs_bounce_lost(const kvs_engine *e, const struct kvs_mem *m)
{
    uint64_t n = 0;
    for (const struct kvs_xfer *x = e->live.head; x && n < m->uses; x = kvs_list_next(x, KVS_IN_LIVE))
        n += is_lost(x) && place_of(x, m) < x->nmems;
    return n;
}

void kvs_bounce_uncount(kvs_engine *e, struct kvs_mem *m)
{
    for (struct kvs_xfer *x = e->live.head; x && m->uses > 0; x = kvs_list_next(x, KVS_IN_LIVE)) {
        /* Those that count it were lost when the set was looked through; a late completion may have come. */
        uint32_t at = was_lost(x) ? place_of(x, m) : x->nmems;
        if (at == x->nmems)
            continue;
        x->mems[at] = x->mems[--x->nmems];
        m->uses--;
        x->unbacked = true;
    }
}
