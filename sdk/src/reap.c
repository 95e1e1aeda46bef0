/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that have ended, in one list for a caller who has many of them. */
#include "engine.h"

void kvs_reap_add(struct kvs_xfer *x)
{
    kvs_list_add(&x->engine->reap, KVS_IN_REAP, x, false);
}

bool kvs_reap_take(struct kvs_xfer *x)
{
    if (!kvs_list_take(&x->engine->reap, KVS_IN_REAP, x))
        return false;
    kvs_fd_sync(x->engine);
    return true;
}

/* What kvs_engine_reap was asked for, and has found so far. */
struct reap {
    kvs_engine *e;
    kvs_xfer **xfers;
    size_t max, n;
};

static bool reap(void *arg)
{
    struct reap *r = arg;
    kvs_mutex_lock(&r->e->lock);
    while (r->n < r->max && r->e->reap.head) {
        r->xfers[r->n] = r->e->reap.head;
        kvs_reap_take(r->xfers[r->n++]);
    }
    kvs_mutex_unlock(&r->e->lock);
    return r->n > 0;
}

int kvs_engine_reap(kvs_engine *e, kvs_xfer **xfers, size_t max, uint64_t timeout_ns, size_t *n)
{
    if (n)
        *n = 0;
    int rc = kvs_engine_usable(e);
    if (rc != KVS_OK)
        return rc;
    if (!xfers || max == 0 || !n)
        return KVS_INVALID_PARAM;
    if (timeout_ns > 0 && kvs_turn_in_done())
        return KVS_NOT_ALLOWED;
    struct reap r = {e, xfers, max, 0};
    kvs_engine_progress(e);
    bool found = timeout_ns > 0 ? kvs_engine_wait(e, reap, &r, kvs_until(timeout_ns)) : reap(&r);
    *n = r.n;
    return found ? KVS_OK : KVS_IN_PROG;
}
