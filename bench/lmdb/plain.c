/* SPDX-License-Identifier: Apache-2.0 */
/* The best loop that a program would write which has LMDB to itself: no thread, no queue, values copied once;
 * what is large is cut at the size that is the fastest. */
#include "cases.h"

#include <lmdb.h>
#include <string.h>

#define CUT ((size_t)8 << 20)
#define MAP ((size_t)4 << 30)

static struct store {
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *reader;
} stores[2];

static void check(const char *what, int rc)
{
    if (rc != 0)
        bench_fail(what, mdb_strerror(rc));
}

static struct store *store_of(const struct lmdb_case *c)
{
    bool full = strcmp(c->sync, "full") == 0;
    struct store *store = &stores[full];
    if (store->env != NULL)
        return store;
    MDB_txn *txn;
    check("create", mdb_env_create(&store->env));
    check("map size", mdb_env_set_mapsize(store->env, MAP));
    check("open",
          mdb_env_open(store->env, folder("plain", c->sync), MDB_NOTLS | (full ? 0 : MDB_NOSYNC), 0600));
    check("begin", mdb_txn_begin(store->env, NULL, 0, &txn));
    check("database", mdb_dbi_open(txn, NULL, 0, &store->dbi));
    check("commit", mdb_txn_commit(txn));
    check("begin", mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader));
    mdb_txn_reset(store->reader);
    return store;
}

static MDB_val key_of(uint32_t i)
{
    union {
        const void *in;
        void *out;
    } key = {.in = key_at(i)};
    return (MDB_val){.mv_size = KEY, .mv_data = key.out};
}

static void put_batch(struct store *store, struct part part)
{
    const char *from = space();
    for (uint32_t i = 0; i < part.count;) {
        MDB_txn *txn;
        size_t bytes = 0;
        check("begin", mdb_txn_begin(store->env, NULL, 0, &txn));
        do {
            MDB_val key = key_of(i), value = {.mv_size = part.size};
            check("put", mdb_put(txn, store->dbi, &key, &value, MDB_RESERVE));
            memcpy(value.mv_data, from, part.size);
            from += part.size;
            bytes += part.size;
        } while (++i < part.count && bytes + part.size <= CUT);
        check("commit", mdb_txn_commit(txn));
    }
}

static void get_batch(struct store *store, struct part part)
{
    char *to = space();
    check("renew", mdb_txn_renew(store->reader));
    for (uint32_t i = 0; i < part.count; i++) {
        MDB_val key = key_of(i), value;
        check("get", mdb_get(store->reader, store->dbi, &key, &value));
        memcpy(to, value.mv_data, part.size);
        to += part.size;
    }
    mdb_txn_reset(store->reader);
}

bool plain_setup(const struct lmdb_case *c)
{
    put_batch(store_of(c), part_of(c));
    return true;
}

uint64_t plain_run(void *arg, uint64_t n)
{
    const struct lmdb_case *c = arg;
    struct store *store = store_of(c);
    struct part part = part_of(c);
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < n; i++) {
        if (c->get)
            get_batch(store, part);
        else
            put_batch(store, part);
    }
    return bench_now() - start;
}
