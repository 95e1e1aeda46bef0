/* SPDX-License-Identifier: Apache-2.0 */
/* Private space of the backend: its size, its alignment, and that nobody else writes there. */
#include "engines.h"
#include "toy.h"

enum { ENGINE = 24, WORKER = 72, MEM = 40, BATCH = 8, IO = 100 };

static struct kvs_backend tables[4];
static const uint32_t aligns[4] = {0, 1, 64, 4096};
static const char *const names[4] = {"align0", "align1", "align64", "align4096"};
static char buf[64];
static size_t align; /* of the table that is being tested */
static atomic_uint wrong;
static atomic_uint fresh; /* pieces that were met for the first time */

/* All of it is zero, or all of it is `mark`, which it then is. */
static void check(const void *space, size_t size, unsigned char mark, bool first)
{
    unsigned char *at = (unsigned char *)(uintptr_t)space;
    if (!at || (uintptr_t)at % align != 0) {
        atomic_fetch_add(&wrong, 1);
        return;
    }
    unsigned char want = at[0] == 0 ? 0 : mark;
    for (size_t i = 0; i < size; i++)
        if (at[i] != want)
            atomic_fetch_add(&wrong, 1);
    if (first && want != 0)
        atomic_fetch_add(&wrong, 1);
    if (want == 0)
        atomic_fetch_add(&fresh, 1);
    memset(at, mark, size);
}

static void check_key(const struct kvs_io *io, uint32_t i)
{
    if (io->key_len != 4 || memcmp(io->key, "p:k", 3) != 0 || ((const char *)io->key)[3] != '0' + (int)i)
        atomic_fetch_add(&wrong, 1);
}

static int prep(void *eng, struct kvs_batch *batch)
{
    check(eng, ENGINE, 0xee, false);
    check(batch->priv, BATCH, 0xbb, true);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct kvs_io *io = kvs_batch_io(batch, i);
        check(io->priv, IO, (unsigned char)(i + 1), true);
        check_key(io, i); /* final here */
    }
    return KVS_OK;
}

static void unprep(void *eng, struct kvs_batch *batch)
{
    check(eng, ENGINE, 0xee, false);
    for (uint32_t i = 0; i < batch->count; i++) {
        check(kvs_batch_io(batch, i)->priv, IO, (unsigned char)(i + 1), false);
        check_key(kvs_batch_io(batch, i), i); /* valid until this returns */
    }
    check(batch->priv, BATCH, 0xbb, false);
}

static void in_io(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    check(eng, ENGINE, 0xee, false);
    check(worker, WORKER, 0xdd, false);
    check(batch->priv, BATCH, 0xbb, false);
    check(io->priv, IO, (unsigned char)(io->index + 1), false);
    if (io->index == 0)
        check(io->mem_priv, MEM, 0xaa, false);
    else if (io->mem_priv) /* unregistered memory has none */
        atomic_fetch_add(&wrong, 1);
}

static int on_register(void *eng, void *mem_priv, uint32_t type, const struct kvs_desc *desc)
{
    (void)type;
    (void)desc;
    check(eng, ENGINE, 0xee, false);
    check(mem_priv, MEM, 0xaa, true);
    return KVS_OK;
}

static int on_deregister(void *eng, void *mem_priv)
{
    check(eng, ENGINE, 0xee, false);
    check(mem_priv, MEM, 0xaa, false);
    return KVS_OK;
}

/* KVS-REQ-416 KVS-REQ-417 KVS-REQ-419 KVS-REQ-444 */
static void sizes_and_alignment(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        toy_reset();
        atomic_store(&wrong, 0);
        atomic_store(&fresh, 0);
        align = aligns[t] ? aligns[t] : 16;
        toy.before = in_io;
        kvs_engine *e = toy_open(&tables[t], WITH({"prefix", "p:"}, {"threads", "1"}));
        kvs_mem *m = registered(e, KVS_MEM_DRAM, 1, NULL, (uint64_t)(uintptr_t)buf, sizeof buf);
        struct ask a;
        ask_for(&a, KVS_WRITE, 5, buf, 8);
        a.l[0].mem = m;
        kvs_xfer *x[2] = {prepared(e, &a), prepared(e, &a)};
        for (int round = 0; round < 3; round++)
            for (int i = 0; i < 2; i++)
                assert_int_equal(run_xfer(x[i]), KVS_OK);
        assert_int_equal(kvs_xfer_release(x[0], 0), KVS_OK);
        assert_int_equal(kvs_xfer_release(x[1], 0), KVS_OK);
        deregistered(e, m);
        close_engine(e);
        assert_int_equal(atomic_load(&wrong), 0);
        /* engine, worker, registration, two batches, ten ios */
        assert_int_equal(atomic_load(&fresh), 1 + 1 + 1 + 2 + 10);
    }
}

static struct kvs_backend none;
static atomic_uint given;

static void all_null(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    if (eng || worker || batch->priv || io->priv || io->mem_priv)
        atomic_fetch_add(&given, 1);
}

static int null_register(void *eng, void *mem_priv, uint32_t type, const struct kvs_desc *desc)
{
    (void)type;
    (void)desc;
    if (eng || mem_priv)
        atomic_fetch_add(&given, 1);
    return KVS_OK;
}

/* A size of 0 gives NULL. */
static void no_space(void **state)
{
    (void)state;
    toy_reset();
    toy.before = all_null;
    kvs_engine *e = toy_open(&none, NULL);
    kvs_mem *m = registered(e, KVS_MEM_DRAM, 1, NULL, (uint64_t)(uintptr_t)buf, sizeof buf);
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    a.l[0].mem = m;
    assert_int_equal(run_ask(e, &a), KVS_OK);
    close_engine(e);
    assert_int_equal(atomic_load(&given), 0);
}

static char at_close[64];

static void read_at_close(void *eng)
{
    (void)eng;
    const char *prefix = NULL;
    size_t len = 0;
    int64_t threads = 0;
    toy.host->param_str(toy.ctx, "prefix", &prefix, &len);
    toy.host->param_i64(toy.ctx, "threads", &threads);
    snprintf(at_close, sizeof at_close, "%s %u %d %d", prefix, (unsigned)len, (int)threads,
             toy.host->param_i64(toy.ctx, "unheard_of", &threads));
}

/* KVS-REQ-418: what open got as ctx reads parameters until close has returned, the SDK's own too. KVS-REQ-502
 */
static void ctx_until_close(void **state)
{
    (void)state;
    static struct kvs_backend late;
    late = toy_table("late");
    late.close = read_at_close;
    toy_reset();
    kvs_engine *e = toy_open(&late, WITH({"prefix", "abc"}, {"threads", "3"}));
    close_engine(e);
    assert_string_equal(at_close, "abc 3 3 -4");
    assert_int_equal(toy.host->size, sizeof(struct kvs_host)); /* KVS-REQ-414 */
    assert_int_equal(toy.host->api, KVS_API);
}

int main(void)
{
    for (size_t i = 0; i < 4; i++) {
        tables[i] = toy_table(names[i]);
        tables[i].priv_align = aligns[i];
        tables[i].engine_priv = ENGINE;
        tables[i].worker_priv = WORKER;
        tables[i].mem_priv = MEM;
        tables[i].batch_priv = BATCH;
        tables[i].io_priv = IO;
        tables[i].prep = prep;
        tables[i].unprep = unprep;
        tables[i].on_register = on_register;
        tables[i].on_deregister = on_deregister;
    }
    none = toy_table("none");
    none.mem_priv = 0;
    none.on_register = null_register;
    none.on_deregister = NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_alignment),
        cmocka_unit_test(no_space),
        cmocka_unit_test(ctx_until_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
