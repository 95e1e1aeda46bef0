/* SPDX-License-Identifier: Apache-2.0 */
/* The mock backend: a store in memory whose answers a test can delay, hold, cancel and spoil. One table has
 * both shapes; the parameter `model` picks which of them an engine is. */
#include "engine.h"

#include <stddef.h>

/* What fail_with can be. */
#define FAILURES(XX)                                                                                         \
    XX(INVALID_PARAM)                                                                                        \
    XX(NOT_FOUND)                                                                                            \
    XX(MISMATCH)                                                                                             \
    XX(NOT_ALLOWED)                                                                                          \
    XX(UNKNOWN)                                                                                              \
    XX(NOT_SUPPORTED)                                                                                        \
    XX(DISCONNECTED)                                                                                         \
    XX(CANCELED)                                                                                             \
    XX(TIMEOUT)                                                                                              \
    XX(FULL)                                                                                                 \
    XX(NO_MEMORY)                                                                                            \
    XX(IO)                                                                                                   \
    XX(EXISTS)                                                                                               \
    XX(ACCESS)                                                                                               \
    XX(TOO_LARGE)
#define FAILURE_CHOICE(name) "|" #name
#define FAILURE_STATUS(name) , KVS_##name
static const int failures[] = {KVS_BACKEND FAILURES(FAILURE_STATUS)};

static const struct kvs_param params[] = {
    {.name = "name",
     .def = "default",
     .uri = "path",
     .help = "which store: engines of one process with one name share it",
     .since = "0.1",
     .type = KVS_PARAM_STRING},
    {.name = "model",
     .def = "inline",
     .choices = "blocking|inline|thread|poll",
     .help = "where ios complete: on SDK workers, in submit, on a thread of the engine, in poll",
     .since = "0.1",
     .type = KVS_PARAM_ENUM},
    {.name = "latency",
     .def = "0",
     .help = "how long each io takes (inline: it then completes on a thread)",
     .since = "0.1",
     .type = KVS_PARAM_DURATION},
    {.name = "hold",
     .def = "no",
     .help = "each io waits until a test lets it go",
     .since = "0.1",
     .type = KVS_PARAM_BOOL},
    {.name = "cancel",
     .def = "native",
     .choices = "native|none",
     .help = "whether held and delayed ios can be canceled (never with model=blocking)",
     .since = "0.1",
     .type = KVS_PARAM_ENUM},
    {.name = "fail_at",
     .def = "0",
     .max = INT64_MAX,
     .help = "which io of the engine fails, counted from 1; 0: none",
     .since = "0.1",
     .type = KVS_PARAM_INT},
    {.name = "fail_with",
     .def = "BACKEND",
     .choices = "BACKEND" FAILURES(FAILURE_CHOICE),
     .help = "the status that the io of fail_at ends with",
     .since = "0.1",
     .type = KVS_PARAM_ENUM},
};

static int mock_load(const struct kvs_host *host)
{
    mock_host = host;
    return mock_stores_setup();
}

static int64_t number(void *ctx, const char *name)
{
    int64_t value = 0;
    mock_host->param_i64(ctx, name, &value);
    return value;
}

static int mock_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    struct mock_engine *engine = eng;
    const char *name = NULL;
    mock_host->param_str(ctx, "name", &name, NULL);
    engine->store = mock_store_get(name);
    if (engine->store == NULL)
        return KVS_NO_MEMORY;
    engine->ctx = ctx;
    engine->model = (enum mock_model)number(ctx, "model");
    engine->latency_ns = (uint64_t)number(ctx, "latency");
    engine->hold = number(ctx, "hold") != 0;
    engine->cancel = number(ctx, "cancel") == 0 && engine->model != MOCK_BLOCKING;
    engine->fail_at = (uint64_t)number(ctx, "fail_at");
    engine->fail_with = failures[number(ctx, "fail_with")];
    if (!engine->cancel) {
        limits->caps_native &= ~(uint64_t)KVS_CAP_CANCEL;
        limits->caps_none |= KVS_CAP_CANCEL;
    }
    if (engine->model == MOCK_BLOCKING)
        limits->flags |= KVS_F_USE_BLOCKING;
    else if (engine->model != MOCK_POLL)
        limits->flags |= KVS_F_NO_POLL;
    int status = mock_engine_start(engine);
    if (status != KVS_OK)
        return mock_host->fail(ctx, status, "the mock could not start a thread or a timer for store '%s'",
                               name);
    return KVS_OK;
}

static void mock_close(void *eng)
{
    mock_engine_stop(eng);
}

/* Passes a point that has a count and can have a fault. */
static int pass(struct mock_store *store, enum kvs_mock_point point, uint64_t *count)
{
    int status = KVS_OK;
    pthread_mutex_lock(&store->lock);
    ++*count;
    mock_store_fault(store, point, &status);
    pthread_mutex_unlock(&store->lock);
    return status;
}

static void count_one(struct mock_store *store, uint64_t *count)
{
    pthread_mutex_lock(&store->lock);
    ++*count;
    pthread_mutex_unlock(&store->lock);
}

static int mock_worker_open(void *eng, void *worker)
{
    struct mock_store *store = ((struct mock_engine *)eng)->store;
    (void)worker;
    return pass(store, KVS_MOCK_WORKER_OPEN, &store->counts.worker_opens);
}

static void mock_worker_close(void *eng, void *worker)
{
    struct mock_store *store = ((struct mock_engine *)eng)->store;
    (void)worker;
    count_one(store, &store->counts.worker_closes);
}

/* put, get, query and remove: the batch's op says which. */
static int mock_blocking(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker;
    return mock_engine_blocking(eng, batch, io);
}

static int mock_submit(void *eng, struct kvs_batch *batch)
{
    return mock_engine_submit(eng, batch);
}

static void mock_cancel(void *eng, struct kvs_batch *batch)
{
    mock_engine_cancel(eng, batch);
}

static int mock_poll(void *eng, int max_events)
{
    return mock_engine_poll(eng, max_events);
}

static int mock_poll_fd(void *eng)
{
    return ((struct mock_engine *)eng)->fd;
}

static int mock_prep(void *eng, struct kvs_batch *batch)
{
    struct mock_store *store = ((struct mock_engine *)eng)->store;
    (void)batch;
    return pass(store, KVS_MOCK_PREP, &store->counts.preps);
}

static void mock_unprep(void *eng, struct kvs_batch *batch)
{
    struct mock_store *store = ((struct mock_engine *)eng)->store;
    (void)batch;
    count_one(store, &store->counts.unpreps);
}

static int mock_on_register(void *eng, void *mem_priv, uint32_t type, const struct kvs_desc *desc)
{
    (void)type;
    struct mock_store *store = ((struct mock_engine *)eng)->store;
    (void)mem_priv;
    (void)desc;
    return pass(store, KVS_MOCK_REGISTER, &store->counts.registers);
}

static int mock_on_deregister(void *eng, void *mem_priv)
{
    struct mock_store *store = ((struct mock_engine *)eng)->store;
    (void)mem_priv;
    return pass(store, KVS_MOCK_DEREGISTER, &store->counts.deregisters);
}

static int mock_list(void *eng, const void *prefix, size_t len,
                     int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                     uint64_t deadline_ns)
{
    struct mock_store *store = ((struct mock_engine *)eng)->store;
    return mock_store_list(store, prefix, len, each, arg, deadline_ns, mock_host->now_ns);
}

/* For complete_cb: the mock's own numbers are statuses, and any other is none that it knows. */
static int mock_map_rc(int rc)
{
    if (rc == KVS_OK)
        return KVS_OK;
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        if (failures[i] == rc)
            return rc;
    }
    return KVS_BACKEND;
}

/* clang-format off */
KVS_BACKEND_DEFINE(kvs_mock_backend,
    .name = "mock",
    .version = KVS_VERSION_TEXT,
    .summary = "In-memory store for tests",
    .params = params,
    .nparams = sizeof(params) / sizeof(params[0]),
    .thread_model = KVS_THREADS_PARALLEL,
    .remote_mems = KVS_MEM_MASK(KVS_MEM_DRAM) | KVS_MEM_MASK(KVS_MEM_OBJECT),
    .flags = KVS_F_EMULATED,
    .caps_native = KVS_CAP_READ | KVS_CAP_WRITE | KVS_CAP_QUERY | KVS_CAP_REMOVE | KVS_CAP_LIST | KVS_CAP_RANGE |
                   KVS_CAP_OVERWRITE | KVS_CAP_SIZE_CHECK | KVS_CAP_READ_ATOMIC | KVS_CAP_CANCEL |
                   KVS_CAP_CONSISTENCY | KVS_CAP_QUERY_SIZE,
    .caps_none = KVS_CAP_TTL | KVS_CAP_SHARED | KVS_CAP_DURABLE | KVS_CAP_QUERY_LOCAL,
    .max_key = 4096,
    .max_iov = 16,
    .engine_priv = sizeof(struct mock_engine),
    .io_priv = sizeof(struct mock_io),
    .load = mock_load,
    .open = mock_open,
    .close = mock_close,
    .worker_open = mock_worker_open,
    .worker_close = mock_worker_close,
    .put = mock_blocking,
    .get = mock_blocking,
    .query = mock_blocking,
    .remove = mock_blocking,
    .submit = mock_submit,
    .cancel = mock_cancel,
    .poll = mock_poll,
    .poll_fd = mock_poll_fd,
    .prep = mock_prep,
    .unprep = mock_unprep,
    .on_register = mock_on_register,
    .on_deregister = mock_on_deregister,
    .list = mock_list,
    .map_rc = mock_map_rc)
/* clang-format on */
