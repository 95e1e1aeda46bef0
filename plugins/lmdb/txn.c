/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"

#include <errno.h>
#include <sys/statvfs.h>

#define TRIES 8 /* of what another process or a signal may disturb */

static MDB_txn *take_idle(struct env *env)
{
    for (unsigned i = 0; i < IDLE_READERS; i++) {
        if (atomic_load_explicit(&env->idle[i], memory_order_relaxed) == NULL)
            continue;
        MDB_txn *txn = atomic_exchange_explicit(&env->idle[i], NULL, memory_order_acquire);
        if (txn != NULL)
            return txn;
    }
    return NULL;
}

/* One try; inside the gate. */
static int begin_read(struct env *env, MDB_txn **txn)
{
    *txn = take_idle(env);
    if (*txn == NULL)
        return mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, txn);
    int rc = mdb_txn_renew(*txn);
    if (rc != 0)
        mdb_txn_abort(*txn);
    return rc;
}

static bool usable(const struct env *env)
{
    return env->mdb != NULL && !atomic_load_explicit(&env->broken, memory_order_relaxed);
}

/* Takes back the places of readers whose processes are gone: of these LMDB keeps all that they might still
 * read. */
static bool sweep(struct env *env)
{
    int dead = 0;
    gate_enter(&env->gate);
    if (usable(env))
        mdb_reader_check(env->mdb, &dead);
    gate_leave(&env->gate);
    return dead > 0;
}

/* The same of a write one, which may have to wait: others that open the environment do not wait with it. */
static int begin_write(struct env *env, MDB_txn **txn)
{
    alone_let_go(&env->alone);
    return mdb_txn_begin(env->mdb, NULL, 0, txn);
}

static int begin(struct env *env, bool write, MDB_txn **txn)
{
    bool swept = false;
    int rc = 0;
    for (int i = 0; i < TRIES; i++) {
        gate_enter(&env->gate);
        if (!usable(env))
            rc = MDB_PANIC;
        else
            rc = write ? begin_write(env, txn) : begin_read(env, txn);
        if (rc == 0)
            return 0;
        gate_leave(&env->gate);
        int mended;
        if (rc == MDB_MAP_RESIZED)
            mended = map_adopt(env);
        else if (rc == MDB_PANIC)
            mended = env_reopen(env);
        else if (rc == MDB_READERS_FULL && !swept)
            mended = (swept = true) && sweep(env) ? 0 : rc;
        else
            mended = rc == EINTR ? 0 : rc;
        if (mended != 0)
            return mended;
    }
    return rc;
}

int txn_begin_read(struct env *env, MDB_txn **txn)
{
    return begin(env, false, txn);
}

MDB_txn *txn_try_read(struct env *env)
{
    MDB_txn *txn;
    if (!gate_try_enter(&env->gate))
        return NULL;
    if (usable(env) && begin_read(env, &txn) == 0)
        return txn;
    gate_leave(&env->gate);
    return NULL;
}

void txn_end_read(struct env *env, MDB_txn *txn)
{
    mdb_txn_reset(txn);
    for (unsigned i = 0; i < IDLE_READERS; i++) {
        MDB_txn *none = NULL;
        if (atomic_load_explicit(&env->idle[i], memory_order_relaxed) == NULL &&
            atomic_compare_exchange_strong_explicit(&env->idle[i], &none, txn, memory_order_release,
                                                    memory_order_relaxed)) {
            txn = NULL;
            break;
        }
    }
    if (txn != NULL)
        mdb_txn_abort(txn);
    gate_leave(&env->gate);
}

void txn_drop_idle(struct env *env)
{
    MDB_txn *txn;
    while ((txn = take_idle(env)) != NULL)
        mdb_txn_abort(txn);
}

/* LMDB takes a write that the disk had no room for to its end for an input/output error. */
static bool disk_full(struct env *env, uint64_t bytes)
{
    mdb_filehandle_t fd;
    struct statvfs disk;
    return mdb_env_get_fd(env->mdb, &fd) == 0 && fstatvfs(fd, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize < bytes;
}

/* Ends the transaction in any case. */
static int work_and_commit(struct env *env, MDB_txn *txn, txn_work work, void *arg, uint64_t bytes,
                           bool *unsure)
{
    int rc = work(arg, txn);
    if (rc != 0) {
        mdb_txn_abort(txn);
    } else {
        rc = mdb_txn_commit(txn); /* frees txn, whatever it answers */
        if (rc == EIO && disk_full(env, bytes))
            rc = ENOSPC;
        *unsure = rc != 0 && !env_certain(rc);
        if (*unsure)
            atomic_store(&env->broken, true);
    }
    return rc;
}

/* One try. *size: of the map, as it was. */
static int write_once(struct env *env, txn_work work, void *arg, uint64_t bytes, bool *unsure, uint64_t *size)
{
    MDB_txn *txn;
    int rc = begin(env, true, &txn);
    if (rc != 0)
        return rc;
    *size = atomic_load(&env->map_size);
    rc = work_and_commit(env, txn, work, arg, bytes, unsure);
    gate_leave(&env->gate);
    return rc;
}

bool txn_let_go(struct env *env)
{
    if (!gate_try_enter(&env->gate))
        return false;
    alone_let_go(&env->alone);
    gate_leave(&env->gate);
    return true;
}

int txn_try_write(struct env *env, txn_work work, void *arg, uint64_t bytes, bool keep, bool *unsure)
{
    MDB_txn *txn;
    int rc = EBUSY;
    *unsure = false;
    if (!gate_try_enter(&env->gate))
        return rc;
    if (usable(env) && alone_begin(&env->alone)) {
        rc = mdb_txn_begin(env->mdb, NULL, 0, &txn);
        if (rc == 0)
            rc = work_and_commit(env, txn, work, arg, bytes, unsure);
        alone_end(&env->alone, keep);
    }
    gate_leave(&env->gate);
    return rc;
}

int txn_write(struct env *env, txn_work work, void *arg, uint64_t bytes, bool *unsure)
{
    bool swept = false;
    uint64_t size = 0;
    *unsure = false;
    for (;;) {
        int rc = write_once(env, work, arg, bytes, unsure, &size);
        if (rc != MDB_MAP_FULL)
            return rc;
        if (!swept) {
            swept = true;
            if (sweep(env))
                continue;
        }
        rc = map_grow(env, size, bytes);
        if (rc != 0)
            return rc;
    }
}
