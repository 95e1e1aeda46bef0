/* SPDX-License-Identifier: Apache-2.0 */
/* What the SDK does for a backend: the table of host services. */
#include "backends.h"
#include "engine.h"
#include "log.h"

#include <stdio.h>
#include <string.h>

/* Where fail() puts its text: the caller of the backend's function is on the same thread, further up the
 * stack. */
static _Thread_local struct kvs_error *fail_text;

struct kvs_error *kvs_host_text_begin(struct kvs_error *err)
{
    struct kvs_error *outer = fail_text;
    fail_text = err;
    return outer;
}

void kvs_host_text_end(struct kvs_error *outer)
{
    fail_text = outer;
}

static const char *who(const void *ctx)
{
    const kvs_engine *e = ctx;
    return e && e->be ? e->be->name : "backend";
}

static void too_late(struct kvs_slab *slab, uint64_t token, int status)
{
    kvs_slab_violation(
        slab, "an io was completed twice or too late, with status %d (token %#llx); nothing was changed",
        status, (unsigned long long)token);
}

/* NULL, a number of the vendor's, or a token from before the post, which has no generation yet. */
static void no_token(uint64_t token, int status)
{
    kvs_slab_violation(NULL, "a completion with status %d names no io that was posted (token %#llx)", status,
                       (unsigned long long)token);
}

static void say(struct kvs_xfer *x, struct kvs_io *io, const char *fmt, ...) KVS_PRINTF(3, 4);
static void say(struct kvs_xfer *x, struct kvs_io *io, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    kvs_io_text((struct kvs_rec *)io, kvs_xfer_round(x), fmt, args);
    va_end(args);
}

/* Only the one who disarms the slot may look at the io: for all others it may be gone. */
static inline __attribute__((always_inline)) void complete_token(uint64_t token, int rc, bool vendor)
{
    struct kvs_slab *slab;
    struct kvs_slot *slot = kvs_slot_of(token, &slab);
    if (!slot) {
        no_token(token, rc);
        return;
    }
    if (!kvs_slot_disarm(slot, token)) {
        if (token >> KVS_TOKEN_GEN)
            too_late(slab, token, rc);
        else
            no_token(token, rc);
        return;
    }
    struct kvs_io *io = &((struct kvs_rec *)slot->ios)[KVS_TOKEN_IO(token)].io;
    struct kvs_xfer *x = kvs_xfer_of(io);
    int status = rc;
    if (vendor) {
        int (*map)(int) = kvs_slab_backend(slab)->map_rc;
        status = map ? map(rc) : rc == 0 ? KVS_OK : KVS_BACKEND;
        if (status != KVS_OK)
            status = kvs_status_error(status);
        const struct kvs_text *own = ((struct kvs_rec *)io)->text;
        if (status == KVS_BACKEND && !(own && own->round == kvs_xfer_round(x)))
            say(x, io, "the store's library answered %d", rc);
    }
    kvs_settle_won(x, io, status);
    if (!kvs_turn_submits(x))
        kvs_xfer_drop(x, 1);
}

static void host_complete(struct kvs_io *io, int status)
{
    if (io)
        complete_token(io->token, status, false);
}

static void host_complete_cb(int rc, void *token)
{
    complete_token((uint64_t)(uintptr_t)token, rc, true);
}

static void host_complete_rest(struct kvs_batch *batch, int status)
{
    if (!batch)
        return;
    struct kvs_xfer *x = kvs_xfer_of(batch->ios);
    if (batch != &x->batch) { /* what a blocking function has is a copy where QUERY is emulated */
        kvs_slab_violation(x->engine->slab,
                           "complete_rest was given a batch that is none of submit's; nothing was changed");
        return;
    }
    kvs_settle_range(x, 0, x->count, status, NULL);
}

static void host_io_error(struct kvs_io *io, const char *fmt, ...) KVS_PRINTF(2, 3);
static void host_io_error(struct kvs_io *io, const char *fmt, ...)
{
    if (!io)
        return;
    struct kvs_xfer *x = kvs_xfer_of(io);
    if (!kvs_rec_armed(x, io->index)) { /* its caller may be reading the text of its end */
        kvs_slab_violation(x->engine->slab,
                           "an io was given a text after it was completed; nothing was changed");
        return;
    }
    va_list args;
    va_start(args, fmt);
    kvs_io_text((struct kvs_rec *)io, kvs_xfer_round(x), fmt, args);
    va_end(args);
}

static int host_fail(void *ctx, int status, const char *fmt, ...) KVS_PRINTF(3, 4);
static int host_fail(void *ctx, int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (fail_text)
        kvs_err_vset(fail_text, status, fmt, args);
    else
        kvs_vlog(KVS_LOG_WARN, who(ctx), fmt, args);
    va_end(args);
    return status;
}

static void host_log(void *ctx, int level, const char *fmt, ...) KVS_PRINTF(3, 4);
static void host_log(void *ctx, int level, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    kvs_vlog(level < KVS_LOG_ERROR ? KVS_LOG_ERROR : level, who(ctx), fmt, args);
    va_end(args);
}

static int host_param_str(void *ctx, const char *name, const char **out, size_t *len)
{
    const kvs_engine *e = ctx;
    return kvs_params_str(e->params, name, out, len);
}

static int host_param_i64(void *ctx, const char *name, int64_t *out)
{
    const kvs_engine *e = ctx;
    return kvs_params_i64(e->params, name, out);
}

static uint64_t host_now_ns(void)
{
    return kvs_now_ns();
}

static void host_wake(void *ctx)
{
    kvs_engine *e = ctx;
    if (!e)
        return;
    if (e->polls)
        kvs_progress_kick(e);
    kvs_service_kick(e);
}

const struct kvs_host kvs_host_table = {
    .size = sizeof(struct kvs_host),
    .api = KVS_API,
    .complete = host_complete,
    .complete_cb = host_complete_cb,
    .complete_rest = host_complete_rest,
    .io_error = host_io_error,
    .fail = host_fail,
    .log = host_log,
    .param_str = host_param_str,
    .param_i64 = host_param_i64,
    .now_ns = host_now_ns,
    .wake = host_wake,
};
