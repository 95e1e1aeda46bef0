/* SPDX-License-Identifier: Apache-2.0 */
/* Opening an engine, and what is asked of one as a whole. */
#include "engine.h"
#include "backends.h"
#include "epoch.h"
#include "once.h"
#include "quarantine.h"
#include "span.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

int kvs_engine_usable(const kvs_engine *e)
{
    if (!kvs_is_engine(e))
        return KVS_INVALID_PARAM;
    return kvs_epoch_is(e->epoch) ? KVS_OK : KVS_NOT_ALLOWED;
}

int kvs_engine_check(const kvs_engine *e, struct kvs_error *err)
{
    int rc = kvs_engine_usable(e);
    if (rc == KVS_OK)
        return rc;
    return kvs_err_set(err, rc, "engine: %s",
                       rc == KVS_NOT_ALLOWED ? "it was opened before a fork" : "no valid handle");
}

void kvs_engine_ref(kvs_engine *e)
{
    kvs_a64_add(&e->refs, 1);
}

void kvs_engine_unref(kvs_engine *e)
{
    if (kvs_a64_sub(&e->refs, 1) != 1)
        return;
    kvs_pool_destroy(e);
    if (e->event_fd >= 0)
        kvs_event_close(e->event_fd);
    kvs_cond_destroy(&e->owner_left);
    kvs_cond_destroy(&e->service_work);
    kvs_mutex_destroy(&e->lock);
    kvs_mutex_destroy(&e->mem_lock);
    kvs_mutex_destroy(&e->serial_lock);
    kvs_params_free(e->params);
    free(e->tally);
    free(e->priv);
    e->magic = KVS_DEAD_MAGIC;
    kvs_handle_free(e, sizeof *e, e);
}

static uint64_t number(const kvs_engine *e, const char *name)
{
    int64_t n = 0;
    (void)kvs_params_i64(e->params, name, &n);
    return n > 0 ? (uint64_t)n : 0;
}

static void read_own_params(kvs_engine *e)
{
    e->timeout = number(e, "timeout");
    e->cancel_grace = number(e, "cancel_grace");
    e->ttl_ms = number(e, "ttl") / 1000000u;
    e->trace = number(e, "trace") != 0;
    e->bounce = number(e, "bounce") != 0;
    e->quarantine = kvs_quarantine_asked();
    (void)kvs_params_str(e->params, "prefix", &e->prefix, &e->prefix_len);
}

/* Everything but the backend. NULL where there is no memory. */
static kvs_engine *new_engine(const struct kvs_backend *be)
{
    kvs_engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->magic = KVS_ENGINE_MAGIC;
    e->be = be;
    e->event_fd = -1;
    e->fd.set = e->fd.event = e->fd.timer = e->fd.backend = -1;
    kvs_mutex_init(&e->serial_lock);
    kvs_mutex_init(&e->mem_lock);
    kvs_mutex_init(&e->lock);
    kvs_cond_init(&e->service_work);
    kvs_cond_init(&e->owner_left);
    kvs_a64_store(&e->refs, 1);
    e->epoch = kvs_epoch_begin();
    e->slab = kvs_slab_of(be);
    e->tally = kvs_tally_new();
    bool ok = e->epoch && e->slab && e->tally;
    if (ok && be->engine_priv) {
        size_t align = be->priv_align, room = (be->engine_priv + align - 1) & ~(align - 1);
        e->priv = aligned_alloc(align, room);
        ok = e->priv != NULL;
        if (ok)
            memset(e->priv, 0, room);
    }
    if (ok)
        return e;
    kvs_engine_unref(e);
    return NULL;
}

static uint64_t lower(uint64_t declared, uint64_t opened)
{
    return opened == 0 || (declared && opened > declared) ? declared : opened;
}

static bool above(uint64_t declared, uint64_t opened)
{
    return declared && (opened == 0 || opened > declared);
}

/* Has open() changed what it may not, or in the way that it may not. KVS-REQ-431 */
static bool is_widened(const struct kvs_limits *declared, const struct kvs_limits *opened)
{
    uint32_t may_set = KVS_F_EMULATED | KVS_F_USE_BLOCKING | KVS_F_NO_POLL;
    return opened->thread_model > declared->thread_model || opened->min_key < declared->min_key ||
           above(declared->max_key, opened->max_key) || above(declared->max_value, opened->max_value) ||
           above(declared->max_batch, opened->max_batch) || above(declared->max_iov, opened->max_iov) ||
           (opened->caps_native & ~declared->caps_native) || (declared->caps_none & ~opened->caps_none) ||
           ((opened->flags ^ declared->flags) & ~may_set) || (declared->flags & ~opened->flags);
}

/* What open() left of the limits; a limit or capability that it widened is not used. */
static void narrow(kvs_engine *e, const struct kvs_limits *opened)
{
    struct kvs_limits *l = &e->limits;
    const struct kvs_limits declared = *l;
    l->thread_model =
        opened->thread_model < declared.thread_model ? opened->thread_model : declared.thread_model;
    l->min_key = opened->min_key > declared.min_key ? opened->min_key : declared.min_key;
    l->max_key = (uint32_t)lower(declared.max_key, opened->max_key);
    l->max_value = lower(declared.max_value, opened->max_value);
    l->max_batch = (uint32_t)lower(declared.max_batch, opened->max_batch);
    l->max_iov = (uint32_t)lower(declared.max_iov, opened->max_iov);
    l->caps_none = declared.caps_none | opened->caps_none | (declared.caps_native & ~opened->caps_native);
    if (!(declared.caps_native & KVS_CAP_QUERY) && (l->caps_none & KVS_CAP_SIZE_CHECK))
        l->caps_none |= KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE; /* nothing is left to emulate it with */
    l->caps_native = declared.caps_native & ~l->caps_none;
    if (e->bounce && (l->caps_native & KVS_CAP_READ)) /* KVS-REQ-427 */
        l->caps_none &= ~(uint64_t)KVS_CAP_READ_ATOMIC;
    l->flags = declared.flags | (opened->flags & (KVS_F_EMULATED | KVS_F_USE_BLOCKING | KVS_F_NO_POLL));
}

static int choose_shape(kvs_engine *e)
{
    const struct kvs_backend *be = e->be;
    e->blocking = !be->submit || ((e->limits.flags & KVS_F_USE_BLOCKING) && be->put && be->get);
    e->polls = !e->blocking && be->poll && !(e->limits.flags & KVS_F_NO_POLL);
    e->by_thread = number(e, "progress") != 0;
    e->callers_poll = e->polls && !e->by_thread;
    if (e->blocking) { /* it is never called */
        e->limits.caps_native &= ~(uint64_t)KVS_CAP_CANCEL;
        e->limits.caps_none |= KVS_CAP_CANCEL;
    }
    e->serial = e->limits.thread_model == KVS_THREADS_SERIAL;
    uint64_t threads = e->serial ? 1 : number(e, "threads");
    if (e->polls && (e->event_fd = kvs_event_open()) < 0)
        return KVS_NO_MEMORY;
    if (e->blocking || (e->limits.flags & KVS_F_SUBMIT_BLOCKS))
        return kvs_pool_init(e, threads ? (uint32_t)threads : 1);
    return KVS_OK;
}

static int open_backend(kvs_engine *e, struct kvs_error *err)
{
    const struct kvs_backend *be = e->be;
    e->limits = (struct kvs_limits){.size = sizeof e->limits,
                                    .thread_model = be->thread_model,
                                    .min_key = be->min_key,
                                    .max_key = be->max_key,
                                    .max_value = be->max_value,
                                    .max_batch = be->max_batch,
                                    .max_iov = be->max_iov,
                                    .caps_native = be->caps_native,
                                    .caps_none = be->caps_none,
                                    .flags = be->flags};
    struct kvs_limits opened = e->limits;
    struct kvs_error why = {KVS_OK, ""};
    struct kvs_error *outer = kvs_host_text_begin(&why);
    int rc = kvs_call_open(e, &opened);
    kvs_host_text_end(outer);
    char buf[64];
    if (rc != KVS_OK)
        return kvs_err_set(err, kvs_status_error(rc), "backend '%s': %s", be->name,
                           kvs_err_why(buf, sizeof buf, &why, rc));
    if (is_widened(&e->limits, &opened))
        kvs_slab_violation(
            e->slab,
            "open of backend '%s' widened a limit, or changed another thing that is not its to change; "
            "it is not used",
            be->name);
    narrow(e, &opened);
    if (e->ttl_ms && !(e->limits.caps_native & KVS_CAP_TTL))
        rc = kvs_err_set(err, KVS_NOT_SUPPORTED,
                         "backend '%s' cannot let values expire; parameter 'ttl' has to be 0", be->name);
    else if (e->bounce && (e->limits.flags & KVS_F_NEEDS_REGISTRATION))
        rc = kvs_err_set(
            err, KVS_NOT_SUPPORTED,
            "backend '%s' takes registered memory only, no buffers of the SDK; parameter 'bounce' has "
            "to be no",
            be->name);
    else if ((rc = choose_shape(e)) != KVS_OK)
        kvs_err_set(err, rc, "backend '%s': no memory or descriptor for its workers", be->name);
    if (rc != KVS_OK && be->close)
        be->close(e->priv);
    return rc;
}

int kvs_engine_open(const char *target, const struct kvs_param_value *params, size_t nparams,
                    kvs_engine **engine, struct kvs_error *err)
{
    if (!engine)
        return kvs_err_set(err, KVS_INVALID_PARAM, "pointer for the engine is NULL");
    *engine = NULL;
    if (nparams > 0 && !params)
        return kvs_err_set(err, KVS_INVALID_PARAM, "%zu parameters at NULL", nparams);
    if (!kvs_array_fits(params, nparams, sizeof *params, sizeof *params))
        return kvs_err_set(err, KVS_INVALID_PARAM, "%zu parameters are beyond the end of memory", nparams);
    const struct kvs_backend *be;
    int rc = kvs_backend_find(target, &be, err);
    if (rc != KVS_OK)
        return rc;
    struct kvs_params *values;
    rc = kvs_params_resolve(be, target, params, nparams, &values, err);
    if (rc != KVS_OK)
        return rc;
    kvs_engine *e = new_engine(be);
    if (!e) {
        kvs_params_free(values);
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for an engine of backend '%s'", be->name);
    }
    e->params = values;
    read_own_params(e);
    rc = kvs_once_begin(be, values, e->epoch, err);
    if (rc == KVS_OK) {
        rc = open_backend(e, err);
        kvs_once_end(be, rc == KVS_OK);
    }
    if (rc != KVS_OK) {
        kvs_engine_unref(e);
        return rc;
    }
    kvs_handle_add(e);
    *engine = e;
    return KVS_OK;
}

int kvs_engine_limits(const kvs_engine *e, struct kvs_limits *out)
{
    int rc = kvs_engine_usable(e);
    if (rc != KVS_OK)
        return rc;
    if (!out || out->size < offsetof(struct kvs_limits, thread_model))
        return KVS_INVALID_PARAM;
    uint32_t size = out->size < sizeof *out ? out->size : (uint32_t)sizeof *out;
    memcpy(out, &e->limits, size);
    out->size = size;
    return KVS_OK;
}

const struct kvs_backend *kvs_engine_backend(const kvs_engine *e)
{
    return kvs_is_engine(e) ? e->be : NULL;
}

uint64_t kvs_engine_violations(const kvs_engine *e)
{
    return kvs_is_engine(e) ? kvs_slab_violations(e->slab) : 0;
}

int kvs_engine_progress(kvs_engine *e)
{
    int rc = kvs_engine_usable(e);
    if (rc == KVS_OK && kvs_a32_load(&e->tells))
        kvs_fd_progress(e);
    else if (rc == KVS_OK)
        kvs_progress_once(e);
    return rc;
}
