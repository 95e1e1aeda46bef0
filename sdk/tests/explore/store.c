/* SPDX-License-Identifier: Apache-2.0 */
/* The store of the scenarios: what a vendor's library might do, on a thread of its own. */
#include "model.h"
#include "scheduler.h"
#include "sync.h"

#include <string.h>

#define JOBS 64

struct job {
    struct kvs_batch *batch;
    struct kvs_io *io;
    uint64_t token;
    unsigned xfer, index;
    int status;
};

struct jobs {
    struct job at[JOBS];
    unsigned first, n;
};

/* Of the run. A thread changes it between two of its operations, so that it needs no lock. */
static struct {
    const struct scenario *s;
    struct jobs todo, ready, echo; /* given to it; POLL: for poll to complete; for the second vendor */
    unsigned submits, taken, preps, unpreps, opens, closes, inside, polling, in_hand;
    int bell; /* an event, or -1 */
    void *ctx;
    bool stop;
    int vendors[2];
    unsigned nvendors;
} store;

static const struct kvs_host *host;

static void put(struct jobs *j, struct job job)
{
    explore_note(&store);
    if (j->first + j->n == JOBS)
        explore_fail("the store has too many jobs");
    j->at[j->first + j->n++] = job;
}

static struct job take(struct jobs *j)
{
    explore_note(&store);
    j->n--;
    return j->at[j->first++];
}

/* ---- Completing ---- */

static void own(unsigned xfer, unsigned index, bool mine)
{
    uint32_t bit = 1u << index;
    struct model_xfer *m = &model.at[xfer];
    explore_note(m);
    if (mine && (m->owned & bit))
        explore_fail("io %u of transfer %u was given to the store twice", index, xfer);
    m->owned = mine ? m->owned | bit : m->owned & ~bit;
}

static void fill(const struct kvs_io *io)
{
    explore_touch(io, sizeof *io);
    explore_touch(io->iov, sizeof *io->iov);
    explore_touch(io->iov[0].iov_base, io->len);
    memset(io->iov[0].iov_base, 'v', io->len);
}

/* Ends a job; the io is the caller's to end but with `twice`, where only the token is known to be good. */
static void end(const struct job *j)
{
    if (!store.s->twice && j->status == KVS_OK)
        fill(j->io);
    own(j->xfer, j->index, false);
    if (store.s->by_io)
        host->complete(j->io, j->status);
    else
        host->complete_cb(j->status, (void *)(uintptr_t)j->token);
}

static bool same_batch(const struct jobs *j, const struct kvs_batch *b)
{
    return j->n > 0 && j->at[j->first].batch == b;
}

/* All that are left of a batch, in one call. */
static void end_rest(struct job j)
{
    own(j.xfer, j.index, false);
    fill(j.io);
    while (same_batch(&store.todo, j.batch)) {
        struct job more = take(&store.todo);
        fill(more.io);
        own(more.xfer, more.index, false);
    }
    host->complete_rest(j.batch, j.status);
}

static bool vendor_may_go(void *arg)
{
    const struct jobs *j = arg;
    return store.stop || (j->n > 0 && (!store.s->held_back || model.let_go));
}

static void *vendor_main(void *arg)
{
    struct jobs *j = arg;
    for (;;) {
        explore_wait("something to do", vendor_may_go, j);
        explore_note(&store);
        if (j->n == 0)
            return NULL;
        struct job job = take(j);
        store.in_hand++;
        if (model.s->shape == POLL || model.s->shape == SERIAL) {
            put(&store.ready, job);
            if (store.s->wakes)
                host->wake(store.ctx);
            else
                kvs_event_set(store.bell);
        } else {
            explore_point("takes a job", &store, true);
            if (store.s->all_rest)
                end_rest(job);
            else
                end(&job);
        }
        store.in_hand--;
        explore_note(&store);
    }
}

/* ---- The table's functions ---- */

static void enter(void)
{
    store.inside++;
    if (model.s->shape == SERIAL && store.inside > 1)
        explore_fail("two calls at once into a serial backend");
    explore_point("enters the backend", &store, false);
}

static void leave(void)
{
    store.inside--;
}

static int store_load(const struct kvs_host *h)
{
    host = h;
    return KVS_OK;
}

static int store_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)limits;
    store.opens++;
    store.ctx = ctx;
    return KVS_OK;
}

static bool idle(void *arg)
{
    (void)arg;
    return store.in_hand == 0;
}

/* As a store's library would do when it is closed: lets its threads finish what they have in hand. */
static void store_close(void *eng)
{
    (void)eng;
    explore_wait("the store's threads", idle, NULL);
    store.closes++;
    for (unsigned i = 0; i < MODEL_XFERS; i++)
        if (model.at[i].owned)
            explore_fail("the backend is closed, but has ios of transfer %u", i);
}

static int store_prep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
    store.preps++;
    return KVS_OK;
}

static unsigned xfer_of(const struct kvs_io *io)
{
    explore_touch(io, sizeof *io);
    explore_touch(io->key, 1);
    unsigned xfer = (unsigned)(*(const char *)io->key - '0');
    if (xfer > 9)
        explore_fail("the store was given what is no io");
    return xfer;
}

static void store_unprep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    enter();
    unsigned xfer = xfer_of(kvs_batch_io(batch, 0));
    if (model.at[xfer].owned)
        explore_fail("unprep of transfer %u, of which the store has ios", xfer);
    store.unpreps++;
    leave();
}

static void accept_batch(struct kvs_batch *batch, struct job *at)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        struct kvs_io *io = kvs_batch_io(batch, i);
        at[i] = (struct job){batch, io, io->token, xfer_of(io), i, KVS_OK};
        own(at[i].xfer, i, true);
        store.taken++;
        if (store.s->twice)
            put(&store.echo, at[i]);
    }
}

static int store_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    struct job at[MODEL_IOS];
    const struct scenario *s = store.s;
    enter();
    explore_touch(batch, sizeof *batch);
    unsigned nth = store.submits++, n = batch->count, i = 0;
    if (nth < s->agains || (nth == 0 && s->refuses)) {
        explore_point("does not take it", &store, true);
        leave();
        return nth < s->agains ? KVS_AGAIN : s->refuses;
    }
    accept_batch(batch, at);
    /* What it is given is not touched again once others may complete it. */
    for (i = s->half ? 1 : 0; !s->at_once && i < n; i++)
        put(&store.todo, at[i]);
    explore_point("takes the batch", &store, true);
    for (i = 0; i < n && (s->at_once || (s->half && i == 0)); i++)
        end(&at[i]);
    leave();
    return KVS_OK;
}

/* Of one batch; the others keep their order. */
static unsigned take_batch(struct jobs *from, const struct kvs_batch *batch, struct job *at)
{
    unsigned n = 0, left = 0;
    explore_note(&store);
    for (unsigned i = 0; i < from->n; i++) {
        struct job j = from->at[from->first + i];
        if (j.batch == batch)
            at[n++] = j;
        else
            from->at[from->first + left++] = j;
    }
    from->n = left;
    return n;
}

static void store_cancel(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    struct job at[2 * MODEL_IOS];
    enter();
    explore_touch(batch, sizeof *batch);
    if (store.s->cancel_later) {
        for (unsigned i = 0; i < store.todo.n; i++)
            if (store.todo.at[store.todo.first + i].batch == batch)
                store.todo.at[store.todo.first + i].status = KVS_CANCELED;
        leave();
        return;
    }
    unsigned n = take_batch(&store.todo, batch, at);
    n += take_batch(&store.ready, batch, at + n);
    for (unsigned i = 0; i < n; i++) {
        at[i].status = KVS_CANCELED;
        end(&at[i]);
    }
    leave();
}

static int store_poll(void *eng, int max)
{
    (void)eng;
    (void)max;
    if (store.polling++)
        explore_fail("poll was entered twice");
    enter();
    int n = 0;
    if (!store.s->wakes)
        kvs_event_clear(store.bell);
    while (store.ready.n > 0) {
        struct job j = take(&store.ready);
        end(&j);
        n++;
    }
    leave();
    store.polling--;
    return n;
}

static int store_poll_fd(void *eng)
{
    (void)eng;
    return store.s->wakes ? -1 : store.bell;
}

static bool is_let_go(void *arg)
{
    (void)arg;
    return model.let_go;
}

static int store_get(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    unsigned xfer = xfer_of(io), index = io->index;
    own(xfer, index, true);
    store.taken++;
    if (store.s->held_back)
        explore_wait("being let go", is_let_go, NULL);
    explore_point("reads the value", &store, true);
    fill(io);
    own(xfer, index, false);
    return KVS_OK;
}

static int map_rc(int rc)
{
    return rc;
}

#define CAPS (KVS_CAP_READ | KVS_CAP_WRITE)
#define TABLE(label, ...)                                                                                    \
    {                                                                                                        \
        KVS_BACKEND_STAMP, .name = (label), .version = "1", .load = store_load, .open = store_open,          \
                           .close = store_close, .prep = store_prep, .unprep = store_unprep,                 \
                           .map_rc = map_rc, __VA_ARGS__                                                     \
    }
#define CANCELS .cancel = store_cancel, .caps_native = CAPS | KVS_CAP_CANCEL, .submit = store_submit
static const struct kvs_backend tables[SHAPES] = {
    [ASYNC] = TABLE("x-async", .thread_model = KVS_THREADS_PARALLEL, CANCELS),
    [STIFF] = TABLE("x-stiff", .thread_model = KVS_THREADS_PARALLEL, .submit = store_submit,
                    .caps_native = CAPS, .caps_none = KVS_CAP_CANCEL),
    [DEFERRED] =
        TABLE("x-deferred", .thread_model = KVS_THREADS_PARALLEL, CANCELS, .flags = KVS_F_COMPLETE_DEFERRED),
    [POLL] = TABLE("x-poll", .thread_model = KVS_THREADS_PARALLEL, CANCELS, .poll = store_poll,
                   .poll_fd = store_poll_fd),
    [SERIAL] = TABLE("x-serial", .thread_model = KVS_THREADS_SERIAL, CANCELS, .poll = store_poll,
                     .poll_fd = store_poll_fd),
    [BLOCKING] = TABLE("x-blocking", .thread_model = KVS_THREADS_PARALLEL, .put = store_get, .get = store_get,
                       .caps_native = CAPS),
    [SUBMIT_BLOCKS] =
        TABLE("x-blocks", .thread_model = KVS_THREADS_PARALLEL, CANCELS, .flags = KVS_F_SUBMIT_BLOCKS),
};

const char *store_name(enum shape shape)
{
    return tables[shape].name;
}

void store_register(void)
{
    struct kvs_error err = {0, ""};
    for (int i = 0; i < SHAPES; i++)
        if (kvs_backend_register(&tables[i], &err) != KVS_OK)
            explore_fail("%s", err.text);
}

void store_begin(const struct scenario *s)
{
    memset(&store, 0, sizeof store);
    store.s = s;
    store.bell = kvs_event_open();
}

void store_start(void)
{
    if (store.s->shape == BLOCKING || store.s->at_once)
        return;
    store.vendors[store.nvendors++] = explore_start(vendor_main, &store.todo, "vendor");
    if (store.s->twice)
        store.vendors[store.nvendors++] = explore_start(vendor_main, &store.echo, "echo");
}

void store_end(bool closed)
{
    store.stop = true;
    explore_note(&store);
    for (unsigned i = 0; i < store.nvendors; i++)
        explore_join(store.vendors[i]);
    kvs_event_close(store.bell);
    if (closed && (store.preps != store.unpreps || store.closes != 1))
        explore_fail("the backend had %u preps and %u unpreps, and was closed %u times", store.preps,
                     store.unpreps, store.closes);
}

unsigned store_taken(void)
{
    return store.taken;
}
