/* SPDX-License-Identifier: Apache-2.0 */
#include "toy.h"
#include "engines.h"

#include <sched.h>

struct toy_value {
    struct toy_value *next;
    size_t key_len, len;
    char bytes[]; /* the key, then the value */
};

struct toy toy = {.lock = PTHREAD_MUTEX_INITIALIZER};

void toy_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    pthread_mutex_lock(&toy.lock);
    size_t at = strlen(toy.log);
    vsnprintf(toy.log + at, sizeof toy.log - at, fmt, args);
    pthread_mutex_unlock(&toy.lock);
    va_end(args);
}

void toy_enter(void)
{
    unsigned n = atomic_fetch_add(&toy.inside, 1) + 1, seen = atomic_load(&toy.most);
    while (n > seen && !atomic_compare_exchange_weak(&toy.most, &seen, n))
        ;
    sched_yield(); /* so that another one would come in, if it could */
}

void toy_leave(void)
{
    atomic_fetch_sub(&toy.inside, 1);
}

static int usual(int rc)
{
    return rc == TOY_USUAL ? KVS_OK : rc;
}

void toy_reset(void)
{
    pthread_mutex_lock(&toy.lock);
    for (struct toy_value *v = toy.values, *next; v; v = next) {
        next = v->next;
        free(v);
    }
    toy.values = NULL;
    toy.log[0] = '\0';
    pthread_mutex_unlock(&toy.lock);
    toy.open_rc = toy.worker_open_rc = toy.put_rc = toy.get_rc = toy.query_rc = toy.remove_rc = TOY_USUAL;
    toy.submit_rc = toy.prep_rc = toy.register_rc = toy.deregister_rc = toy.list_rc = TOY_USUAL;
    toy.refuse_dev = UINT64_MAX;
    toy.actual = TOY_TRUE;
    toy.write_once = toy.blind = false;
    toy.narrow = NULL;
    toy.before = NULL;
    atomic_store(&toy.most, 0);
    atomic_store(&toy.calls, 0);
}

static struct toy_value **find(const void *key, size_t len)
{
    struct toy_value **at = &toy.values;
    while (*at && ((*at)->key_len != len || memcmp((*at)->bytes, key, len) != 0))
        at = &(*at)->next;
    return at;
}

bool toy_has(const void *key, size_t len)
{
    pthread_mutex_lock(&toy.lock);
    bool has = *find(key, len) != NULL;
    pthread_mutex_unlock(&toy.lock);
    return has;
}

size_t toy_count(void)
{
    size_t n = 0;
    pthread_mutex_lock(&toy.lock);
    for (struct toy_value *v = toy.values; v; v = v->next)
        n++;
    pthread_mutex_unlock(&toy.lock);
    return n;
}

static int put(struct toy_value **at, const struct kvs_io *io)
{
    if (*at && toy.write_once)
        return KVS_EXISTS;
    struct toy_value *v = malloc(sizeof *v + io->key_len + io->len);
    if (!v)
        return KVS_NO_MEMORY;
    v->key_len = io->key_len;
    v->len = io->len;
    memcpy(v->bytes, io->key, io->key_len);
    if (io->iovcnt)
        memcpy(v->bytes + v->key_len, io->iov->iov_base, io->len);
    struct toy_value *old = *at;
    v->next = old ? old->next : NULL;
    *at = v;
    free(old);
    return KVS_OK;
}

void toy_set(const char *key, char fill, size_t len)
{
    char *value = malloc(len + 1);
    assert_non_null(value);
    memset(value, fill, len);
    struct iovec iov = {value, len};
    struct kvs_io io = {
        .key = key, .key_len = (uint32_t)strlen(key), .iov = &iov, .iovcnt = len ? 1 : 0, .len = len};
    pthread_mutex_lock(&toy.lock);
    assert_int_equal(put(find(key, strlen(key)), &io), KVS_OK);
    pthread_mutex_unlock(&toy.lock);
    free(value);
}

static int get(const struct toy_value *v, struct kvs_io *io)
{
    uint64_t from = io->flags & KVS_IO_RANGED ? io->offset : 0;
    uint64_t left = from < v->len ? v->len - from : 0, actual = v->len;
    if (io->flags & KVS_IO_RANGED)
        actual = left < io->len ? left : io->len;
    io->actual = toy.actual == TOY_TRUE ? actual : toy.actual;
    if (actual == io->len && io->iovcnt)
        memcpy(io->iov->iov_base, v->bytes + v->key_len + from, io->len);
    return KVS_OK;
}

int toy_run(const struct kvs_batch *batch, struct kvs_io *io)
{
    pthread_mutex_lock(&toy.lock);
    struct toy_value **at = find(io->key, io->key_len), *v = *at;
    int rc = v ? KVS_OK : KVS_NOT_FOUND;
    if (batch->op == KVS_WRITE) {
        rc = put(at, io);
    } else if (v && batch->op == KVS_READ) {
        rc = get(v, io);
    } else if (v && batch->op == KVS_QUERY) {
        io->actual = toy.actual == TOY_TRUE ? v->len : toy.actual;
    } else if (v) {
        *at = v->next;
        free(v);
    }
    pthread_mutex_unlock(&toy.lock);
    return rc;
}

static int call(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io, int rc)
{
    toy_enter();
    atomic_fetch_add(&toy.calls, 1);
    if (toy.before)
        toy.before(eng, worker, batch, io);
    if (rc == TOY_USUAL)
        rc = toy_run(batch, io);
    toy_leave();
    return rc;
}

static int toy_put(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    return call(eng, worker, batch, io, toy.put_rc);
}

static int toy_get(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    return call(eng, worker, batch, io, toy.get_rc);
}

static int toy_query(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    return call(eng, worker, batch, io, toy.query_rc);
}

static int toy_remove(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    return call(eng, worker, batch, io, toy.remove_rc);
}

static int toy_load(const struct kvs_host *host)
{
    toy.host = host;
    return KVS_OK;
}

static int toy_open_engine(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    toy.ctx = ctx;
    toy_say("open ");
    if (toy.open_rc != TOY_USUAL)
        return (toy.host->fail)(ctx, toy.open_rc, "the toy does not open");
    if (toy.narrow)
        toy.narrow(limits);
    return KVS_OK;
}

static void toy_close(void *eng)
{
    (void)eng;
    toy_say("close ");
}

static int toy_prep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
    toy_enter();
    toy_say("prep ");
    toy_leave();
    return usual(toy.prep_rc);
}

static int toy_register(void *eng, void *mem_priv, uint32_t type, const struct kvs_desc *desc)
{
    atomic_store(&toy.type, type);
    (void)eng;
    (void)mem_priv;
    bool refuse =
        toy.register_rc != TOY_USUAL && (toy.refuse_dev == UINT64_MAX || toy.refuse_dev == desc->dev_id);
    toy_enter();
    toy_say("+%.*s ", (int)desc->meta_len, (const char *)desc->meta_info);
    toy_leave();
    /* Where there is room, it is noted whose it is. */
    if (mem_priv)
        memcpy(mem_priv, &desc->dev_id, sizeof desc->dev_id);
    return refuse ? (toy.host->fail)(toy.ctx, toy.register_rc, "the toy takes no more") : KVS_OK;
}

static int toy_deregister(void *eng, void *mem_priv)
{
    (void)eng;
    uint64_t dev_id = 0;
    if (mem_priv)
        memcpy(&dev_id, mem_priv, sizeof dev_id);
    toy_enter();
    toy_say("-%llu ", (unsigned long long)dev_id);
    toy_leave();
    bool refuse = toy.refuse_dev == UINT64_MAX || toy.refuse_dev == dev_id;
    return refuse ? usual(toy.deregister_rc) : KVS_OK;
}

static int toy_list(void *eng, const void *prefix, size_t len,
                    int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                    uint64_t deadline_ns)
{
    (void)eng;
    (void)deadline_ns;
    int rc = usual(toy.list_rc);
    toy_enter();
    pthread_mutex_lock(&toy.lock);
    for (struct toy_value *v = toy.values; v && rc == KVS_OK; v = v->next)
        if (toy.blind || (v->key_len >= len && (len == 0 || memcmp(v->bytes, prefix, len) == 0)))
            rc = each(arg, v->bytes, v->key_len, v->len);
    pthread_mutex_unlock(&toy.lock);
    toy_leave();
    return rc;
}

struct kvs_backend toy_table(const char *name)
{
    return (struct kvs_backend){
        KVS_BACKEND_STAMP,
        .name = name,
        .version = "1",
        .thread_model = KVS_THREADS_PARALLEL,
        .caps_native = KVS_CAP_RANGE | KVS_CAP_OVERWRITE | KVS_CAP_SIZE_CHECK | KVS_CAP_QUERY_SIZE,
        .local_mems = KVS_MEM_MASK(KVS_MEM_DRAM) | KVS_MEM_MASK(KVS_MEM_VRAM),
        .remote_mems = KVS_MEM_MASK(KVS_MEM_DRAM) | KVS_MEM_MASK(KVS_MEM_OBJECT),
        .mem_priv = sizeof(uint64_t),
        .load = toy_load,
        .open = toy_open_engine,
        .close = toy_close,
        .put = toy_put,
        .get = toy_get,
        .query = toy_query,
        .remove = toy_remove,
        .prep = toy_prep,
        .on_register = toy_register,
        .on_deregister = toy_deregister,
        .list = toy_list,
    };
}

kvs_engine *toy_open(const struct kvs_backend *table, const struct kvs_param_value *params)
{
    struct kvs_error err = {0};
    expect_status(kvs_backend_register(table, &err), KVS_OK, &err);
    return open_with(table->name, params);
}
