/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"
#include "mark.h"
#include "path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* At least what LMDB takes of its lock file, and for each reader: a cache line. */
#define LOCK_HEAD   4096u
#define LOCK_READER 64u

static unsigned env_flags(const struct env_config *config)
{
    static const unsigned sync[] = {0, MDB_NOMETASYNC, MDB_NOSYNC};
    /* MDB_NOTLS: a read transaction belongs to whoever has it, and not to the thread that began it. */
    return MDB_NOTLS | sync[config->sync] | (config->read_only ? MDB_RDONLY : 0) |
           (config->writemap ? MDB_WRITEMAP : 0);
}

/* Opens env->path with a map of at least that size. env->mdb is NULL where it fails. */
static int open_mdb(struct env *env, uint64_t size)
{
    const struct env_config *config = &env->config;
    mdb_filehandle_t fd;
    MDB_envinfo info;
    int rc = mdb_env_create(&env->mdb);
    if (rc != 0) {
        env->mdb = NULL;
        return rc;
    }
    rc = mdb_env_set_mapsize(env->mdb, size);
    if (rc == 0)
        rc = mdb_env_set_maxreaders(env->mdb, config->max_readers);
    if (rc == 0)
        rc = mdb_env_set_maxdbs(env->mdb, MAX_DATABASES);
    if (rc == 0 && !config->read_only)
        rc =
            path_reserve_lock(env->path, LOCK_HEAD + (size_t)config->max_readers * LOCK_READER, config->mode);
    if (rc == 0)
        rc = mdb_env_open(env->mdb, env->path, env_flags(config), config->mode);
    if (rc == 0 && config->writemap && !config->read_only) {
        mdb_env_info(env->mdb, &info); /* the file may have been made with a larger one */
        rc = mdb_env_get_fd(env->mdb, &fd);
        if (rc == 0)
            rc = map_allocate(fd, info.me_mapsize);
    }
    if (rc != 0) {
        mdb_env_close(env->mdb);
        env->mdb = NULL;
        return rc;
    }
    mdb_env_info(env->mdb, &info);
    atomic_store(&env->map_size, info.me_mapsize);
    if (config->sync == SYNC_NONE && !config->read_only)
        alone_open(&env->alone, env->path);
    return 0;
}

static void close_mdb(struct env *env)
{
    if (env->mdb != NULL)
        mdb_env_close(env->mdb);
    env->mdb = NULL;
    alone_close(&env->alone);
}

/* Is the file as long as its last page says; a shorter one would be a SIGBUS later. */
static bool whole(MDB_env *mdb)
{
    mdb_filehandle_t fd;
    struct stat st;
    MDB_envinfo info;
    MDB_stat stat;
    mdb_env_info(mdb, &info);
    mdb_env_stat(mdb, &stat);
    /* The file's length last: a commit of another process writes its pages before it names them. */
    if (mdb_env_get_fd(mdb, &fd) != 0 || fstat(fd, &st) != 0)
        return false;
    return (uint64_t)st.st_size / stat.ms_psize > info.me_last_pgno;
}

static int open_failed(const struct env *env, int rc, struct env_text *text)
{
    const char *path = env->path;
    if (rc == ENOMEM) {
        env_say(text,
                "cannot open '%s': a map of map_size=%" PRIu64 " bytes does not fit into memory's addresses",
                path, map_first(&env->config));
    } else if (rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH || rc == MDB_CORRUPTED) {
        env_say(text, "data.mdb in '%s' is not an LMDB environment that this library can read: %s", path,
                env_reason(rc));
    } else if (rc == EOPNOTSUPP && env->config.writemap) {
        env_say(text,
                "writemap=yes needs a file system that gives a file its space ahead; that of '%s' does not",
                path);
        return KVS_NOT_SUPPORTED;
    } else {
        env_say(text, "cannot open an LMDB environment in '%s': %s", path, env_reason(rc));
    }
    return env_status(rc);
}

/* Opens a database by name, in a transaction that `flags` say. Nobody else has one. */
static int open_database(struct env *env, struct env_db *db, unsigned txn_flags, unsigned db_flags,
                         unsigned *made)
{
    MDB_txn *txn;
    int rc;
    /* Another process may have grown the file since it was opened here, and may do so again meanwhile. */
    do {
        rc = mdb_txn_begin(env->mdb, NULL, txn_flags, &txn);
    } while (rc == MDB_MAP_RESIZED && (rc = map_set(env, 0)) == 0);
    if (rc != 0)
        return rc;
    rc = mdb_dbi_open(txn, db->name, db_flags, &db->dbi);
    if (rc == 0)
        rc = mdb_dbi_flags(txn, db->dbi, made);
    if (rc != 0) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn); /* that of a read one, too, or the handle would go with it */
}

/* The gate is closed. */
static int check_database(struct env *env, struct env_db *db, bool create, struct env_text *text)
{
    unsigned flags = 0;
    int rc = open_database(env, db, MDB_RDONLY, 0, &flags);
    if (rc == MDB_NOTFOUND && create && !env->config.read_only)
        rc = open_database(env, db, 0, MDB_CREATE, &flags);
    const char *name = db->name != NULL ? db->name : "";
    if (rc == MDB_NOTFOUND) {
        env_say(text, "there is no database '%s' in '%s'", name, env->path);
        return KVS_NOT_FOUND;
    }
    if (rc == MDB_DBS_FULL) {
        env_say(text,
                "cannot open database '%s' in '%s': this process has %d of it open, and no more are allowed",
                name, env->path, MAX_DATABASES);
        return KVS_FULL;
    }
    if (rc == MDB_INCOMPATIBLE) {
        env_say(text,
                "cannot open database '%s' in '%s': there is a value of that key, or its flags are not plain",
                name, env->path);
        return KVS_NOT_SUPPORTED;
    }
    if (rc != 0) {
        env_say(text, "cannot read the environment in '%s': %s", env->path, env_reason(rc));
        return env_status(rc);
    }
    if (flags != 0) {
        env_say(text,
                "the database '%s' in '%s' was made with LMDB flags 0x%x%s; a plain one (flags 0) is needed",
                name, env->path, flags, flags & MDB_DUPSORT ? " (sorted duplicates)" : "");
        return KVS_NOT_SUPPORTED;
    }
    return KVS_OK;
}

int env_database(struct env *env, const char *name, bool create, struct env_db **out, struct env_text *text)
{
    /* The table's lock is held: nobody else opens one. Where it is open already there is nothing to wait for:
     * a writer inside the gate may have to wait for another process, for ever. */
    for (unsigned i = 0; i < env->ndatabases; i++) {
        const char *has = env->databases[i].name;
        if (has == name || (has != NULL && name != NULL && strcmp(has, name) == 0)) {
            *out = &env->databases[i];
            return KVS_OK;
        }
    }
    if (env->ndatabases == 1 + MAX_DATABASES) {
        env_say(text,
                "cannot open database '%s' in '%s': this process has %d of it open, and no more are allowed",
                name, env->path, MAX_DATABASES);
        return KVS_FULL;
    }
    struct env_db db = {.name = NULL};
    if (name != NULL && (db.name = strdup(name)) == NULL)
        return KVS_NO_MEMORY;
    gate_close(&env->gate);
    int status = check_database(env, &db, create, text);
    if (status == KVS_OK) {
        *out = &env->databases[env->ndatabases++];
        **out = db;
    }
    gate_open(&env->gate);
    if (status != KVS_OK)
        free(db.name);
    return status;
}

int env_reopen(struct env *env)
{
    int rc = 0;
    struct stat st;
    gate_close(&env->gate);
    if (env->mdb == NULL || atomic_load(&env->broken)) { /* else someone else was faster */
        txn_drop_idle(env);
        close_mdb(env);
        if (!path_data(env->path, &st) || st.st_dev != env->dev || st.st_ino != env->ino)
            rc = ESTALE; /* what is there now is another environment */
        if (rc == 0)
            rc = open_mdb(env, atomic_load(&env->map_size));
        for (unsigned i = 0; rc == 0 && i < env->ndatabases; i++) {
            unsigned flags;
            rc = open_database(env, &env->databases[i], MDB_RDONLY, 0, &flags);
        }
        atomic_store(&env->broken, rc != 0);
    }
    gate_open(&env->gate);
    return rc;
}

static int identify(struct env *env, struct env_text *text)
{
    mdb_filehandle_t fd;
    struct stat st;
    if (mdb_env_get_fd(env->mdb, &fd) != 0 || fstat(fd, &st) != 0) {
        env_say(text, "cannot tell which file '%s/data.mdb' is: %s", env->path, strerror(errno));
        return KVS_IO;
    }
    env->dev = st.st_dev;
    env->ino = st.st_ino;
    env->max_key = (size_t)mdb_env_get_maxkeysize(env->mdb);
    if (!whole(env->mdb)) {
        env_say(text, "the environment in '%s' is damaged: data.mdb is shorter than its content", env->path);
        return KVS_BACKEND;
    }
    return KVS_OK;
}

static int open_all(struct env *env, struct env_text *text)
{
    int status = mark_open(env->path, &env->config, &env->unclean, text);
    if (status != KVS_OK)
        return status;
    struct stat st;
    bool made = !path_data(env->path, &st);
    int rc = open_mdb(env, map_first(&env->config));
    if (rc == 0 && made && env->config.sync != SYNC_NONE)
        rc = path_sync(env->path); /* LMDB flushes what is in its file, but not that there is one */
    if (rc != 0)
        return open_failed(env, rc, text);
    status = identify(env, text);
    if (status != KVS_OK)
        return status;
    unsigned readers = 0;
    mdb_env_get_maxreaders(env->mdb, &readers);
    env->gate.most =
        readers / 2 > 0 ? readers / 2 : 1; /* other processes need places in the table of readers, too */
    return KVS_OK;
}

int env_new(const struct env_config *config, struct env **out, struct env_text *text)
{
    struct env *env = calloc(1, sizeof(*env));
    char *path = realpath(config->path, NULL);
    if (env == NULL || path == NULL) {
        int err = errno;
        env_say(text, "cannot open path '%s': %s", config->path, strerror(err));
        free(env);
        free(path);
        return env == NULL ? KVS_NO_MEMORY : env_status(err);
    }
    env->path = path;
    env->config = *config;
    env->config.path = path;
    env->unclean = -1;
    atomic_init(&env->map_limit, config->map_limit);
    env->alone.fd = -1;
    gate_init(&env->gate, 1);
    int status = pool_init(&env->writer, 1);
    if (status != KVS_OK) {
        gate_destroy(&env->gate);
        free(path);
        free(env);
        return status;
    }
    status = open_all(env, text);
    env->config.database = NULL; /* the engine's, not ours */
    if (status == KVS_OK)
        *out = env;
    else
        env_free(env);
    return status;
}

void env_free(struct env *env)
{
    pool_stop(&env->writer);
    txn_drop_idle(env);
    bool flushed = env->unclean >= 0 && !atomic_load(&env->broken);
    if (flushed) /* where it could not be opened, what is there is of others */
        flushed = env->mdb != NULL ? mdb_env_sync(env->mdb, 1) == 0 : path_flush(env->path);
    close_mdb(env);
    mark_close(env->path, env->unclean, flushed);
    for (unsigned i = 0; i < env->ndatabases; i++)
        free(env->databases[i].name);
    gate_destroy(&env->gate);
    free(env->path);
    free(env);
}
