/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of transfers that their callers have lost: held, abandoned, or leaked with their engine. */
#include "engine.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

/* Of the process, by kvs_engine_abandon. */
static struct {
    kvs_a64 engines, transfers, bytes;
} leaked;

/* Of its caller's memory, what the store or a value on its way may still touch, in bytes. */
static uint64_t bytes_in_use(const struct kvs_xfer *x, uint64_t word)
{
    bool copies = x->batch.op == KVS_READ && !(word & (KVS_W_HELD | KVS_W_ABANDONED));
    return kvs_word_open(word) && (!x->user || copies) ? x->bytes : 0;
}

/* The store may still touch its memory, and its caller cannot end that. */
static bool is_held(const struct kvs_xfer *x)
{
    uint64_t word = kvs_a64_load(&x->word);
    return (word & (KVS_W_HELD | KVS_W_ABANDONED)) && kvs_word_open(word);
}

void kvs_held_sum(kvs_engine *e, uint64_t *transfers, uint64_t *bytes)
{
    *transfers = *bytes = 0;
    kvs_mutex_lock(&e->lock);
    for (const struct kvs_xfer *x = e->live.head; x; x = kvs_list_next(x, KVS_IN_LIVE))
        if (is_held(x)) {
            ++*transfers;
            *bytes += bytes_in_use(x, kvs_a64_load(&x->word));
        }
    kvs_mutex_unlock(&e->lock);
}

/* Writes what fits, and answers how many there are; engine.lock held. */
static size_t collect(const kvs_engine *e, struct kvs_held *out, size_t room)
{
    size_t n = 0;
    uint64_t now = kvs_now_ns();
    for (const struct kvs_xfer *x = e->live.head; x; x = kvs_list_next(x, KVS_IN_LIVE)) {
        if (x->batch.op >= KVS_QUERY || x->user || !is_held(x))
            continue;
        uint64_t word = kvs_a64_load(&x->word);
        for (uint32_t i = 0; i < x->count; i++) {
            const struct kvs_rec *rec = kvs_rec_at(x, i);
            if (rec->iov.iov_len == 0)
                continue;
            if (n < room)
                out[n] = (struct kvs_held){.addr = (uint64_t)(uintptr_t)rec->iov.iov_base,
                                           .len = rec->iov.iov_len,
                                           .age_ns = now - x->posted_at,
                                           .op = x->batch.op,
                                           .flags = (kvs_rec_armed(x, i) ? KVS_HELD_OPEN : 0u) |
                                                    (word & KVS_W_ABANDONED ? KVS_HELD_ABANDONED : 0u)};
            n++;
        }
    }
    return n;
}

int kvs_engine_held(kvs_engine *e, int (*each)(void *arg, const struct kvs_held *memory), void *arg)
{
    int rc = kvs_engine_usable(e);
    if (rc != KVS_OK)
        return rc;
    if (!each)
        return KVS_INVALID_PARAM;
    struct kvs_held *list = NULL;
    size_t room = 0, n;
    for (;;) { /* `each` is the caller's: it runs with no lock held */
        kvs_mutex_lock(&e->lock);
        n = collect(e, list, room);
        kvs_mutex_unlock(&e->lock);
        if (n <= room)
            break;
        free(list);
        room = n;
        if ((list = calloc(room, sizeof *list)) == NULL)
            return KVS_NO_MEMORY;
    }
    for (size_t i = 0; rc == KVS_OK && i < n; i++)
        rc = each(arg, &list[i]);
    free(list);
    return rc;
}

void kvs_leaks_add(kvs_engine *e)
{
    uint64_t transfers = 0, bytes = 0;
    kvs_mutex_lock(&e->lock);
    for (const struct kvs_xfer *x = e->live.head; x; x = kvs_list_next(x, KVS_IN_LIVE)) {
        uint64_t word = kvs_a64_load(&x->word);
        transfers += (word & KVS_W_COUNT) != 0;
        bytes += bytes_in_use(x, word);
    }
    kvs_mutex_unlock(&e->lock);
    kvs_a64_add(&leaked.engines, 1);
    kvs_a64_add(&leaked.transfers, transfers);
    kvs_a64_add(&leaked.bytes, bytes);
}

int kvs_engine_leaks(struct kvs_leaks *out)
{
    if (!out || out->size < offsetof(struct kvs_leaks, engines))
        return KVS_INVALID_PARAM;
    struct kvs_leaks all = {.size = out->size < sizeof all ? out->size : sizeof all,
                            .engines = kvs_a64_load(&leaked.engines),
                            .transfers = kvs_a64_load(&leaked.transfers),
                            .bytes = kvs_a64_load(&leaked.bytes)};
    memcpy(out, &all, all.size);
    return KVS_OK;
}
