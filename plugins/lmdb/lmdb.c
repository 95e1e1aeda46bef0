/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lmdb backend: values in an LMDB environment on this machine. Async shape: a small batch is done inside
 * submit where that means no waiting; other writes go to the environment's writer (writer.c), all else to
 * threads of the engine (reader.c).
 */
#include "engine.h"
#include "list.h"
#include "path.h"
#include "reader.h"
#include "writer.h"

#include <errno.h>
#include <string.h>

/* LMDB writes the pages of a value with one call, and the kernel writes no more than this with one. */
#define PAGE_HEADER 16u
#define MAX_VALUE   (UINT64_C(0x7ffff000) - PAGE_HEADER)

const struct kvs_host *lmdb_host;

/* clang-format off */
static const struct kvs_param params[] = {
    {.name = "path", .uri = "path", .since = "0.1", .type = KVS_PARAM_STRING, .flags = KVS_PARAM_REQUIRED,
     .help = "folder of the environment"},
    {.name = "sync", .def = "full", .since = "0.1", .type = KVS_PARAM_ENUM, .choices = "full|meta|none",
     .help = "how far a completed write is: full: on the disk; meta: a crash of the machine may undo the last ones; "
             "none: it may damage the store"},
    {.name = "map_size", .def = "1GiB", .since = "0.1", .type = KVS_PARAM_SIZE, .min = 65536, .max = INT64_C(1) << 46,
     .help = "bytes of address space to begin with; it grows by itself"},
    {.name = "map_limit", .def = "1TiB", .since = "0.1", .type = KVS_PARAM_SIZE, .min = 65536, .max = INT64_C(1) << 46,
     .help = "how far it grows; beyond that the store is full"},
    {.name = "max_readers", .def = "512", .since = "0.1", .type = KVS_PARAM_INT, .min = 2, .max = 65536,
     .help = "places for readers, of all processes; the first process to open the environment decides"},
    {.name = "read_only", .def = "no", .since = "0.1", .type = KVS_PARAM_BOOL,
     .help = "the environment is there, and nothing is written"},
    {.name = "create", .def = "yes", .since = "0.1", .type = KVS_PARAM_BOOL,
     .help = "make the folder, with its parents, and the database where they are missing"},
    {.name = "mode", .def = "0600", .since = "0.1", .type = KVS_PARAM_STRING,
     .help = "permissions of new files, an octal number"},
    {.name = "database", .since = "0.1", .type = KVS_PARAM_STRING,
     .help = "name of a database within the environment; without it the unnamed one"},
    {.name = "writemap", .def = "no", .since = "0.1", .type = KVS_PARAM_BOOL,
     .help = "write through the map: faster, but the file has its whole size at once, and a stray pointer can damage it"},
};
/* clang-format on */

static int lmdb_load(const struct kvs_host *from)
{
    lmdb_host = from;
    return env_setup();
}

static int64_t number(void *ctx, const char *name)
{
    int64_t value = 0;
    lmdb_host->param_i64(ctx, name, &value);
    return value;
}

static int read_mode(void *ctx, mode_t *out)
{
    const char *text;
    size_t len;
    lmdb_host->param_str(ctx, "mode", &text, &len);
    *out = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '7' || len > 4)
            return lmdb_host->fail(ctx, KVS_INVALID_PARAM,
                                   "parameter 'mode' is '%s'; an octal number from 0 to 0777 is expected",
                                   text);
        *out = *out * 8 + (mode_t)(text[i] - '0');
    }
    if (len == 0 || *out > 0777)
        return lmdb_host->fail(ctx, KVS_INVALID_PARAM,
                               "parameter 'mode' is '%s'; an octal number from 0 to 0777 is expected", text);
    return KVS_OK;
}

static int read_config(void *ctx, struct env_config *config)
{
    size_t len;
    lmdb_host->param_str(ctx, "path", &config->path, NULL);
    lmdb_host->param_str(ctx, "database", &config->database, &len);
    config->sync = (enum env_sync)number(ctx, "sync");
    config->map_size = (uint64_t)number(ctx, "map_size");
    config->map_limit = (uint64_t)number(ctx, "map_limit");
    config->max_readers = (unsigned)number(ctx, "max_readers");
    config->read_only = number(ctx, "read_only") != 0;
    config->create = number(ctx, "create") != 0;
    config->writemap = number(ctx, "writemap") != 0;
    if (config->database != NULL && (len == 0 || strlen(config->database) != len || len > 511))
        return lmdb_host->fail(ctx, KVS_INVALID_PARAM,
                               "parameter 'database' is '%s'; 1 to 511 bytes are expected", config->database);
    return read_mode(ctx, &config->mode);
}

static void warn_of_remote(const struct engine *engine)
{
    const char *path = engine->config.path, *name = path_remote(path, statfs);
    if (name != NULL)
        lmdb_host->log(engine->ctx, KVS_LOG_WARN,
                       "'%s' is on a file system of type %s, over which LMDB's locks may not work", path,
                       name);
}

struct env *engine_env_now(const struct engine *engine)
{
    return atomic_load_explicit(&engine->env, memory_order_acquire);
}

int engine_env(struct engine *engine, struct env **env, struct env_text *text)
{
    *env = engine_env_now(engine);
    if (*env != NULL)
        return KVS_OK;
    pthread_mutex_lock(&engine->lock);
    int status = KVS_OK;
    *env = engine_env_now(engine);
    if (*env == NULL) {
        status = env_open(&engine->config, env, &engine->db, text);
        atomic_store_explicit(&engine->env, *env, memory_order_release);
        if (status == KVS_OK)
            warn_of_remote(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    return status;
}

static int lmdb_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    struct engine *engine = eng;
    struct env_text text;
    struct env *env;
    engine->ctx = ctx;
    engine->generation = env_generation();
    int status = read_config(ctx, &engine->config);
    if (status != KVS_OK)
        return status;
    engine->inline_bytes = (uint64_t)number(ctx, "inline_bytes");
    if (engine->config.read_only) {
        limits->caps_native &= ~(uint64_t)(KVS_CAP_WRITE | KVS_CAP_REMOVE);
        limits->caps_none |= KVS_CAP_WRITE | KVS_CAP_REMOVE;
    }
    status = pool_init(&engine->readers, (unsigned)number(ctx, "threads"));
    if (status != KVS_OK)
        return status;
    pthread_mutex_init(&engine->lock, NULL);
    if (number(ctx, "connect") == 1) /* lazy */
        return KVS_OK;
    status = engine_env(engine, &env, &text);
    if (status != KVS_OK) {
        pthread_mutex_destroy(&engine->lock);
        pool_stop(&engine->readers);
        return lmdb_host->fail(ctx, status, "%s", text.text);
    }
    if (env->max_key < limits->max_key)
        limits->max_key = (uint32_t)env->max_key;
    return KVS_OK;
}

static void lmdb_close(void *eng)
{
    struct engine *engine = eng;
    struct env *env = engine_env_now(engine);
    if (engine->generation != env_generation())
        return; /* a parent's: its threads are not here, and its locks may be held for ever */
    pool_stop(&engine->readers);
    if (env != NULL)
        env_close(env);
    pthread_mutex_destroy(&engine->lock);
}

static int lmdb_submit(void *eng, struct kvs_batch *batch)
{
    struct engine *engine = eng;
    struct job *job = batch->priv;
    struct env *env = engine_env_now(engine);
    *job = (struct job){.batch = batch, .db = env != NULL ? engine->db : NULL};
    if (env == NULL)
        return reader_take(engine, job);
    uint64_t bytes = engine->inline_bytes;
    if (batch->op == KVS_WRITE || batch->op == KVS_REMOVE)
        return write_at_once(env, job, bytes) ? KVS_OK : writer_take(env, job);
    return read_at_once(env, job, bytes) ? KVS_OK : reader_take(engine, job);
}

static int lmdb_list(void *eng, const void *prefix, size_t len,
                     int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                     uint64_t deadline_ns)
{
    struct engine *engine = eng;
    struct env_text text;
    struct env *env;
    int status = engine_env(engine, &env, &text);
    if (status != KVS_OK)
        return lmdb_host->fail(engine->ctx, status, "%s", text.text);
    int result = 0;
    int rc =
        list_keys(env, engine->db,
                  &(struct list_request){prefix, len, each, arg, deadline_ns, lmdb_host->now_ns}, &result);
    if (rc != 0)
        return lmdb_host->fail(engine->ctx, env_status(rc), "cannot list '%s': %s", env->path,
                               env_reason(rc));
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
    /* The writer serves other engines, too: they may not have to wait for what a done function of this one waits for. */
    .flags = KVS_F_COMPLETE_DEFERRED,
    .caps_native = KVS_CAP_READ | KVS_CAP_WRITE | KVS_CAP_QUERY | KVS_CAP_REMOVE | KVS_CAP_LIST | KVS_CAP_RANGE |
                   KVS_CAP_OVERWRITE | KVS_CAP_SIZE_CHECK | KVS_CAP_READ_ATOMIC | KVS_CAP_SHARED | KVS_CAP_DURABLE |
                   KVS_CAP_CONSISTENCY | KVS_CAP_QUERY_SIZE,
    .caps_none = KVS_CAP_TTL | KVS_CAP_CANCEL | KVS_CAP_QUERY_LOCAL,
    .max_value = MAX_VALUE,
    .max_key = 511,
    .max_iov = 16,
    .engine_priv = sizeof(struct engine),
    .batch_priv = sizeof(struct job),
    .io_priv = sizeof(int),
    .load = lmdb_load,
    .open = lmdb_open,
    .close = lmdb_close,
    .submit = lmdb_submit,
    .list = lmdb_list)
/* clang-format on */
