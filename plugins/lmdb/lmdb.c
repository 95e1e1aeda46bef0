/* SPDX-License-Identifier: Apache-2.0 */
/* The lmdb backend: values in an LMDB environment on this machine. Blocking shape, one transaction an io. */
#include "env.h"
#include "list.h"
#include "path.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* LMDB writes the pages of a value with one call, and the kernel writes no more than this with one. */
#define PAGE_HEADER 16u
#define MAX_VALUE   (UINT64_C(0x7ffff000) - PAGE_HEADER)
/* The pages that the tree above a value may take. */
#define TREE_ROOM (UINT64_C(1) << 20)

/* Private space of an engine. */
struct engine {
    void *ctx;                /* set by open, with config */
    struct env_config config; /* its path lives as long as ctx */
    pthread_mutex_t lock;     /* held while env is opened: with connect=lazy by the first that needs it */
    struct env *_Atomic env;  /* NULL: not opened yet; set once */
};

/* The host's services, from load() on. Global: a table's functions have no other way to it before open(). */
static const struct kvs_host *host;

/* clang-format off */
static const struct kvs_param params[] = {
    {.name = "path", .uri = "path", .since = "0.1", .type = KVS_PARAM_STRING, .flags = KVS_PARAM_REQUIRED,
     .help = "folder of the environment"},
    {.name = "create", .def = "yes", .since = "0.1", .type = KVS_PARAM_BOOL,
     .help = "make the folder, with its parents, where it is missing"},
    {.name = "map_size", .def = "1GiB", .since = "0.1", .type = KVS_PARAM_SIZE, .min = 65536, .max = INT64_C(1) << 46,
     .help = "bytes of address space to begin with; it grows by itself"},
    {.name = "map_max", .def = "1TiB", .since = "0.1", .type = KVS_PARAM_SIZE, .min = 65536, .max = INT64_C(1) << 46,
     .help = "how far it grows; beyond that the store is full"},
    {.name = "sync", .def = "yes", .since = "0.1", .type = KVS_PARAM_BOOL,
     .help = "a completed write has reached the disk; no: a crash of the machine may lose or damage the store"},
    {.name = "max_readers", .def = "512", .since = "0.1", .type = KVS_PARAM_INT, .min = 2, .max = 65536,
     .help = "places for readers, of all processes; the first process to open the environment decides"},
};
/* clang-format on */

static int lmdb_load(const struct kvs_host *from)
{
    host = from;
    return env_setup();
}

static int64_t number(void *ctx, const char *name)
{
    int64_t value = 0;
    host->param_i64(ctx, name, &value);
    return value;
}

static void warn_of_remote(const struct engine *engine, const char *path)
{
    const char *name = path_remote(path);
    if (name != NULL)
        host->log(engine->ctx, KVS_LOG_WARN,
                  "'%s' is on a file system of type %s, over which LMDB's locks may not work", path, name);
}

/* Opens the engine's environment if that was not done yet. */
static int need_env(struct engine *engine, struct env **env, struct env_text *text)
{
    *env = atomic_load_explicit(&engine->env, memory_order_acquire);
    if (*env != NULL)
        return KVS_OK;
    pthread_mutex_lock(&engine->lock);
    int status = KVS_OK;
    *env = atomic_load_explicit(&engine->env, memory_order_relaxed);
    if (*env == NULL) {
        status = env_open(&engine->config, env, text);
        atomic_store_explicit(&engine->env, *env, memory_order_release);
        if (status == KVS_OK)
            warn_of_remote(engine, engine->config.path);
    }
    pthread_mutex_unlock(&engine->lock);
    return status;
}

static int lmdb_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    struct engine *engine = eng;
    struct env_text text;
    engine->ctx = ctx;
    host->param_str(ctx, "path", &engine->config.path, NULL);
    engine->config.create = number(ctx, "create") != 0;
    engine->config.sync = number(ctx, "sync") != 0;
    engine->config.map_size = (uint64_t)number(ctx, "map_size");
    engine->config.map_max = (uint64_t)number(ctx, "map_max");
    engine->config.max_readers = (unsigned)number(ctx, "max_readers");
    pthread_mutex_init(&engine->lock, NULL);
    if (number(ctx, "connect") == 1) /* lazy */
        return KVS_OK;
    struct env *env;
    int status = need_env(engine, &env, &text);
    if (status != KVS_OK) {
        pthread_mutex_destroy(&engine->lock);
        return host->fail(ctx, status, "%s", text.text);
    }
    if (env_max_key(env) < limits->max_key)
        limits->max_key = (uint32_t)env_max_key(env);
    return KVS_OK;
}

static void lmdb_close(void *eng)
{
    struct engine *engine = eng;
    struct env *env = atomic_load_explicit(&engine->env, memory_order_acquire);
    if (env != NULL)
        env_close(env);
    pthread_mutex_destroy(&engine->lock);
}

/* The io's status for an answer of LMDB's, with a text where it is worth one. */
static int answer(struct kvs_io *io, const struct env *env, const char *doing, int rc)
{
    int status = env_status(rc);
    if (rc == MDB_MAP_FULL)
        host->io_error(io,
                       "cannot %s in '%s': the environment is full and its map may not grow beyond map_max",
                       doing, env_path(env));
    else if (status != KVS_OK && status != KVS_NOT_FOUND)
        host->io_error(io, "cannot %s in '%s': %s", doing, env_path(env), mdb_strerror(rc));
    return status;
}

static int env_of(struct engine *engine, struct kvs_io *io, struct env **env)
{
    struct env_text text;
    int status = need_env(engine, env, &text);
    if (status != KVS_OK)
        host->io_error(io, "%s", text.text);
    return status;
}

/* The key as LMDB takes it: it only reads through the pointer, which is not const in its own types. */
static MDB_val key_of(const struct kvs_io *io)
{
    union {
        const void *in;
        void *out;
    } key = {.in = io->key};
    return (MDB_val){.mv_size = io->key_len, .mv_data = key.out};
}

static int put_work(void *arg, MDB_dbi dbi, MDB_txn *txn)
{
    const struct kvs_io *io = arg;
    MDB_val key = key_of(io), value = {.mv_size = io->len};
    int rc = mdb_put(txn, dbi, &key, &value, MDB_RESERVE);
    char *at = value.mv_data;
    for (uint32_t i = 0; rc == 0 && i < io->iovcnt; i++) {
        if (io->iov[i].iov_len != 0)
            memcpy(at, io->iov[i].iov_base, io->iov[i].iov_len);
        at += io->iov[i].iov_len;
    }
    return rc;
}

static int lmdb_put(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    struct env *env;
    int status = env_of(eng, io, &env);
    (void)worker;
    (void)batch;
    if (status != KVS_OK)
        return status;
    return answer(io, env, "write", env_write(env, put_work, io, io->len + TREE_ROOM));
}

static void copy_out(const struct kvs_io *io, const char *bytes)
{
    for (uint32_t i = 0; i < io->iovcnt; i++) {
        if (io->iov[i].iov_len != 0)
            memcpy(io->iov[i].iov_base, bytes, io->iov[i].iov_len);
        bytes += io->iov[i].iov_len;
    }
}

/* READ and QUERY; the value is LMDB's own memory, good until the transaction ends. */
static int look(void *eng, struct kvs_io *io, bool copy)
{
    struct env *env;
    MDB_txn *txn;
    int status = env_of(eng, io, &env);
    if (status != KVS_OK)
        return status;
    int rc = env_begin_read(env, &txn);
    if (rc != 0)
        return answer(io, env, "read", rc);
    MDB_val key = key_of(io), value;
    rc = mdb_get(txn, env_dbi(env), &key, &value);
    if (rc == 0) {
        uint64_t offset = 0;
        io->actual = value.mv_size;
        if (io->flags & KVS_IO_RANGED) {
            offset = io->offset < value.mv_size ? io->offset : value.mv_size;
            uint64_t left = value.mv_size - offset;
            io->actual = left < io->len ? left : io->len;
        }
        if (copy && io->actual == io->len) /* else it is a mismatch, and the buffer stays as it was */
            copy_out(io, (const char *)value.mv_data + offset);
    }
    env_end_read(env, txn);
    return answer(io, env, "read", rc);
}

static int lmdb_get(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker;
    (void)batch;
    return look(eng, io, true);
}

static int lmdb_query(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker;
    (void)batch;
    return look(eng, io, false);
}

static int remove_work(void *arg, MDB_dbi dbi, MDB_txn *txn)
{
    MDB_val key = key_of(arg);
    return mdb_del(txn, dbi, &key, NULL);
}

static int lmdb_remove(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    struct env *env;
    int status = env_of(eng, io, &env);
    (void)worker;
    (void)batch;
    if (status != KVS_OK)
        return status;
    return answer(io, env, "remove", env_write(env, remove_work, io, TREE_ROOM));
}

static int lmdb_list(void *eng, const void *prefix, size_t len,
                     int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                     uint64_t deadline_ns)
{
    struct engine *engine = eng;
    struct env_text text;
    struct env *env;
    int status = need_env(engine, &env, &text);
    if (status != KVS_OK)
        return host->fail(engine->ctx, status, "%s", text.text);
    int result = 0;
    int rc =
        list_keys(env, &(struct list_request){prefix, len, each, arg, deadline_ns, host->now_ns}, &result);
    if (rc != 0)
        return host->fail(engine->ctx, env_status(rc), "cannot list '%s': %s", env_path(env),
                          mdb_strerror(rc));
    return result;
}

/* clang-format off */
KVS_BACKEND_DEFINE(kvs_lmdb_backend,
    .name = "lmdb",
    .version = KVS_VERSION_TEXT,
    .summary = "LMDB environment on this machine",
    .params = params,
    .nparams = sizeof(params) / sizeof(params[0]),
    .thread_model = KVS_THREADS_PARALLEL,
    .remote_mems = KVS_MEM_MASK(KVS_MEM_DRAM) | KVS_MEM_MASK(KVS_MEM_OBJECT),
    .caps_native = KVS_CAP_READ | KVS_CAP_WRITE | KVS_CAP_QUERY | KVS_CAP_REMOVE | KVS_CAP_LIST | KVS_CAP_RANGE |
                   KVS_CAP_OVERWRITE | KVS_CAP_SIZE_CHECK | KVS_CAP_READ_ATOMIC | KVS_CAP_SHARED | KVS_CAP_DURABLE |
                   KVS_CAP_CONSISTENCY | KVS_CAP_QUERY_SIZE,
    .caps_none = KVS_CAP_TTL | KVS_CAP_CANCEL | KVS_CAP_QUERY_LOCAL,
    .max_value = MAX_VALUE,
    .max_key = 511,
    .max_iov = 16,
    .engine_priv = sizeof(struct engine),
    .load = lmdb_load,
    .open = lmdb_open,
    .close = lmdb_close,
    .put = lmdb_put,
    .get = lmdb_get,
    .query = lmdb_query,
    .remove = lmdb_remove,
    .list = lmdb_list)
/* clang-format on */
