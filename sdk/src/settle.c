/* SPDX-License-Identifier: Apache-2.0 */
/* How an io completes, and what the last completion of a transfer does. */
#include "engine.h"
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kvs_io_text(struct kvs_rec *rec, uint32_t round, const char *fmt, va_list args)
{
    char buf[512];
    vsnprintf(buf, sizeof buf, fmt, args);
    size_t len = strlen(buf) + 1;
    struct kvs_text *t = malloc(sizeof *t + len);
    if (!t)
        return; /* the status has a text of its own */
    t->round = round;
    memcpy(t->s, buf, len);
    free(rec->text);
    rec->text = t;
    kvs_a32_store(&kvs_xfer_of(&rec->io)->texts, 1);
}

static void text(struct kvs_xfer *x, struct kvs_rec *rec, const char *fmt, ...) KVS_PRINTF(3, 4);
static void text(struct kvs_xfer *x, struct kvs_rec *rec, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    kvs_io_text(rec, kvs_xfer_round(x), fmt, args);
    va_end(args);
}

/* A READ is whole, or it is no READ: the store's length decides, whatever the backend said. */
static int check_read(struct kvs_xfer *x, struct kvs_rec *rec)
{
    const struct kvs_io *io = &rec->io;
    uint64_t actual = io->actual == KVS_ACTUAL_UNSET ? io->len : io->actual;
    rec->bytes = actual < io->len ? actual : io->len;
    if (actual == io->len)
        return KVS_OK;
    rec->bytes = 0;
    if (io->flags & KVS_IO_RANGED)
        text(x, rec, "asked for %llu bytes at offset %llu, the value has %llu of them",
             (unsigned long long)io->len, (unsigned long long)io->offset, (unsigned long long)actual);
    else
        text(x, rec, "the value has %llu bytes; %llu were expected", (unsigned long long)actual,
             (unsigned long long)io->len);
    return KVS_MISMATCH;
}

static int check_status(struct kvs_xfer *x, struct kvs_rec *rec, int status)
{
    if (status == KVS_OK) {
        if (x->batch.op == KVS_READ)
            return check_read(x, rec);
        if (x->batch.op == KVS_WRITE)
            rec->bytes = rec->io.len;
        if (x->batch.op == KVS_QUERY)
            rec->bytes = rec->io.actual == KVS_ACTUAL_UNSET ? KVS_SIZE_UNKNOWN : rec->io.actual;
        return status;
    }
    if (status == KVS_CANCELED && (kvs_a32_load(&x->marks) & KVS_M_TIMEOUT)) {
        text(x, rec, "no answer within the engine's timeout of %llu ms",
             (unsigned long long)(x->engine->timeout / 1000000u));
        return KVS_TIMEOUT;
    }
    if (status == KVS_IN_PROG || status == KVS_NOT_POSTED || status == KVS_AGAIN ||
        !kvs_status_known(status)) {
        text(x, rec, "backend '%s' completed with %d, which is no final status", x->engine->be->name, status);
        return KVS_BACKEND;
    }
    if (status == KVS_MISMATCH && x->batch.op == KVS_READ && rec->io.actual != KVS_ACTUAL_UNSET)
        (void)check_read(x, rec); /* for its text */
    return status;
}

/* QUERY and REMOVE give answers; only what is no answer is an error of the transfer. */
bool kvs_io_is_error(const struct kvs_xfer *x, int status)
{
    if (status >= 0)
        return false;
    if (x->batch.op == KVS_QUERY || x->batch.op == KVS_REMOVE)
        return status != KVS_NOT_FOUND && status != KVS_UNKNOWN;
    return true;
}

/* The result stands. It may be the completion that batches wait for. */
static inline void put(struct kvs_xfer *x, struct kvs_rec *rec, int status)
{
    rec->status = status;
    kvs_a32_store(&rec->round, kvs_xfer_round(x));
    if (kvs_a64_load_relaxed(&x->engine->again_count))
        kvs_service_kick(x->engine);
}

/* By the one who disarmed the io's slot. */
static void settled(struct kvs_xfer *x, struct kvs_rec *rec, int status)
{
    rec->bytes = 0;
    if (rec->text && rec->text->round != kvs_xfer_round(x)) {
        free(rec->text);
        rec->text = NULL;
    }
    status = check_status(x, rec, status);
    bool comes = x->user && x->batch.op == KVS_READ && status == KVS_OK;
    bool copied = comes && kvs_bounce_out(x, rec);
    if (!copied && (kvs_a64_load(&x->word) & KVS_W_HELD)) { /* the transfer's result stands */
        text(x, rec, "completed after the transfer had timed out");
        status = KVS_TIMEOUT;
    } else if (comes && !copied) {
        status = KVS_CANCELED; /* abandoned: nobody asks any more */
    }
    if (status < 0)
        rec->bytes = 0;
    if (kvs_io_is_error(x, status)) {
        uint64_t none = 0;
        kvs_a64_cas(&x->first_error, &none, ((uint64_t)rec->io.index + 1) << 32 | (uint32_t)status);
    }
    put(x, rec, status);
    if (copied)
        kvs_bounce_out_end(x);
}

/* Is all well, as it mostly is: then nothing is to be said, or copied. */
static bool is_plain(const struct kvs_xfer *x, const struct kvs_rec *rec, int status)
{
    const struct kvs_io *io = &rec->io;
    if (status != KVS_OK || x->user || rec->text || (kvs_a64_load(&x->word) & KVS_W_HELD))
        return false;
    return x->batch.op == KVS_WRITE ||
           (x->batch.op == KVS_READ && (io->actual == io->len || io->actual == KVS_ACTUAL_UNSET));
}

#define AHEAD 8 /* records */

void kvs_settle_won(struct kvs_xfer *x, struct kvs_io *io, int status)
{
    struct kvs_rec *rec = (struct kvs_rec *)io;
    /* Backends mostly go through a batch in its order. */
    __builtin_prefetch(&rec[AHEAD].io, 1);
    __builtin_prefetch(&rec[AHEAD].iov, 1);
    if (!is_plain(x, rec, status)) {
        settled(x, rec, status);
        return;
    }
    rec->bytes = io->len;
    put(x, rec, KVS_OK);
}

void kvs_settle_range(struct kvs_xfer *x, uint32_t from, uint32_t to, int status, const char *why)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++) {
        if (!kvs_rec_disarm(x, i))
            continue;
        struct kvs_rec *rec = kvs_rec_at(x, i);
        if (why)
            text(x, rec, "%s", why);
        settled(x, rec, status);
        n++;
    }
    if (n > 0)
        kvs_xfer_drop(x, n);
}

/* Only the done function is left to run: here, at the end of this thread's turn, or on the service thread. */
static void done_due(struct kvs_xfer *x)
{
    kvs_engine *e = x->engine;
    if (kvs_turn_inside() && !(x->deferred && kvs_turn_is_theirs())) {
        kvs_turn_add_done(x);
        return;
    }
    if (x->deferred) {
        kvs_mutex_lock(&e->lock);
        kvs_queue_push(&e->deferred, x);
        kvs_service_kick_locked(e); /* the thread runs since the post, if it is to do it */
        kvs_mutex_unlock(&e->lock);
        return;
    }
    bool before = kvs_turn_theirs(true);
    kvs_turn_begin();
    kvs_turn_add_done(x);
    kvs_turn_end();
    kvs_turn_theirs(before);
}

/* Are these n all that is left of the round's ios and of the calls that have it in hand? Then nobody else can
 * take from the count, and once ENDED is set nobody adds to it. */
static bool is_last(uint64_t word, uint64_t n)
{
    return !(word & KVS_W_ENDED) && (word & KVS_W_COUNT) - n == (word & KVS_W_DONE ? 1 : 0);
}

/* The end of a round is about to be told: whoever sees it and frees the transfer waits for the lock, until
 * all is done here. The engine has to stay a little longer than the transfer: this one is counted. */
static kvs_engine *tell_begin(struct kvs_xfer *x, uint64_t word)
{
    kvs_engine *e = x->engine;
    kvs_engine_ref(e);
    kvs_mutex_lock(&e->lock);
    if (x->reap && !(word & KVS_W_HELD))
        kvs_reap_add(x);
    return e;
}

/* The count has been taken; with ABANDONED in `word` the transfer is still there. */
static void tell_end(kvs_engine *e, struct kvs_xfer *x, uint64_t word)
{
    if (word & KVS_W_ABANDONED)
        kvs_reap_take(x);
    kvs_progress_ended_locked(e);
    kvs_mutex_unlock(&e->lock);
}

/* Takes n from the count, after the round's end has been dealt with where they are the last. *told: the
 * engine that was told of the end, counted in its refs; or NULL. */
static uint64_t count_down(struct kvs_xfer *x, uint64_t n, kvs_engine **told)
{
    *told = NULL;
    uint64_t seen = kvs_a64_load(&x->word);
    for (;;) {
        if (is_last(seen, n)) {
            if (!kvs_a64_cas(&x->word, &seen, seen | KVS_W_ENDED))
                continue;
            seen |= KVS_W_ENDED;
            kvs_stats_ending(x);
        }
        if ((seen & KVS_W_TELL) && (seen & KVS_W_COUNT) == n && !*told)
            *told = tell_begin(x, seen);
        if (kvs_a64_cas(&x->word, &seen, seen - n))
            break;
    }
    if (*told)
        tell_end(*told, x, seen);
    return seen;
}

static void drop(struct kvs_xfer *x, uint64_t n)
{
    kvs_engine *told;
    uint64_t seen = count_down(x, n, &told);
    uint64_t left = (seen & KVS_W_COUNT) - n;
    if (left == 1 && (seen & KVS_W_DONE)) {
        done_due(x);
    } else if (left == 0) {
        if (seen & KVS_W_WAITER)
            kvs_park_wake(kvs_park_of(x)); /* which does not look at it */
        if ((seen & KVS_W_ABANDONED) && kvs_turn_inside())
            kvs_turn_add_free(x);
        else if (seen & KVS_W_ABANDONED)
            kvs_xfer_free_soon(x);
    }
    if (told)
        kvs_engine_unref(told);
}

/* Some of more: whoever takes them from the count has nothing else to do. */
static bool drop_of_many(struct kvs_xfer *x, uint64_t n)
{
    uint64_t seen = kvs_a64_load(&x->word);
    while ((seen & KVS_W_COUNT) > n + 1) /* fewer, and they may be the last but for the done function */
        if (kvs_a64_cas(&x->word, &seen, seen - n))
            return true;
    return false;
}

void kvs_xfer_drop(struct kvs_xfer *x, uint64_t n)
{
    if (!drop_of_many(x, n))
        drop(x, n);
}

bool kvs_xfer_hold(struct kvs_xfer *x)
{
    uint64_t seen = kvs_a64_load(&x->word);
    do {
        if (!kvs_word_open(seen) || (seen & (KVS_W_ENDED | KVS_W_HELD)) == KVS_W_ENDED)
            return false;
    } while (!kvs_a64_cas(&x->word, &seen, seen + 1));
    return true;
}

int kvs_xfer_status(const struct kvs_xfer *x)
{
    if (kvs_xfer_round(x) == 0)
        return KVS_NOT_POSTED;
    if (kvs_a64_load(&x->word) & KVS_W_HELD)
        return KVS_TIMEOUT;
    uint64_t error = kvs_a64_load(&x->first_error);
    return error ? (int32_t)(uint32_t)error : KVS_OK;
}
