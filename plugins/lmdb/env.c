/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"
#include "gate.h"
#include "path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* At least what LMDB takes of its lock file, and for each reader: a cache line. */
#define LOCK_HEAD   4096u
#define LOCK_READER 64u
#define TRIES       8 /* of what another process or a signal may disturb */

struct env {
    struct env *next; /* guarded by table_lock, with refs */
    unsigned refs;
    unsigned generation; /* set once: of which process it is */
    dev_t dev;           /* set once, with all up to dbi: which data file it is */
    ino_t ino;
    char *path;
    bool sync;
    MDB_env *mdb;
    MDB_dbi dbi;
    struct gate gate;
    bool broken; /* the three: written with the gate closed, read inside it or with it closed */
    _Atomic uint64_t map_size, map_max; /* as these, but looked at from anywhere */
};

/* Global, because LMDB's locks belong to the process: a file that is opened twice in one process loses them
 * all when the first of the two is closed. The lock is held while an environment is opened or closed, so that
 * nobody opens it meanwhile. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static struct env *table;
static unsigned generation = 1;

/* An environment must not be used across fork(), and its locks may have been held: a child starts anew. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&table_lock, NULL);
    generation++;
}

int env_setup(void)
{
    return pthread_atfork(NULL, NULL, after_fork_in_child) == 0 ? KVS_OK : KVS_NO_MEMORY;
}

const char *env_path(const struct env *env)
{
    return env->path;
}

MDB_dbi env_dbi(const struct env *env)
{
    return env->dbi;
}

size_t env_max_key(const struct env *env)
{
    return (size_t)mdb_env_get_maxkeysize(env->mdb);
}

static uint64_t page_down(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes / page * page;
}

static uint64_t page_up(uint64_t bytes)
{
    return page_down(bytes + (uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* How large a map the parameters ask for to begin with. */
static uint64_t first_size(const struct env_config *config)
{
    return page_up(config->map_size < config->map_max ? config->map_size : config->map_max);
}

/* Maps the file anew, of the given size; 0: of the size that another process gave it. Nobody is inside the
 * gate. */
static int remap(struct env *env, uint64_t size)
{
    mdb_filehandle_t fd;
    int rc = mdb_env_get_fd(env->mdb, &fd);
    if (rc != 0)
        return rc;
    if (size != 0) {
        /* LMDB gives up the old map first, and is lost where the new one fails: see whether it would. */
        void *probe = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        if (probe == MAP_FAILED)
            return errno;
        munmap(probe, size);
    }
    rc = mdb_env_set_mapsize(env->mdb, size);
    if (rc != 0) {
        env->broken = true;
        return rc;
    }
    MDB_envinfo info;
    mdb_env_info(env->mdb, &info);
    env->map_size = info.me_mapsize;
    return 0;
}

/* Another process has made the file larger than our map. */
static int adopt_size(struct env *env)
{
    gate_close(&env->gate);
    int rc = env->broken ? MDB_PANIC : remap(env, 0);
    gate_open(&env->gate);
    return rc;
}

/* The map was full while it had the size `was`; makes it larger, by at least `bytes`. */
static int grow(struct env *env, uint64_t was, uint64_t bytes)
{
    gate_close(&env->gate);
    int rc = 0;
    if (env->broken) {
        rc = MDB_PANIC;
    } else if (env->map_size <= was) { /* else someone else was faster */
        uint64_t size = env->map_size;
        uint64_t want = size + bytes > 2 * size ? size + bytes : 2 * size;
        if (want > env->map_max)
            want = page_down(env->map_max);
        rc = want > size ? remap(env, page_up(want)) : MDB_MAP_FULL;
    }
    gate_open(&env->gate);
    return rc;
}

static int begin(struct env *env, unsigned flags, MDB_txn **txn)
{
    int rc = 0;
    for (int i = 0; i < TRIES; i++) {
        gate_enter(&env->gate);
        rc = env->broken ? MDB_PANIC : mdb_txn_begin(env->mdb, NULL, flags, txn);
        if (rc == 0)
            return 0;
        gate_leave(&env->gate);
        if (rc == MDB_MAP_RESIZED) {
            rc = adopt_size(env);
            if (rc != 0)
                return rc;
        } else if (rc == MDB_READERS_FULL) {
            int dead;
            mdb_reader_check(env->mdb, &dead);
            if (dead == 0)
                return rc;
        } else if (rc != EINTR) {
            return rc;
        }
    }
    return rc;
}

int env_begin_read(struct env *env, MDB_txn **txn)
{
    return begin(env, MDB_RDONLY, txn);
}

void env_end_read(struct env *env, MDB_txn *txn)
{
    mdb_txn_abort(txn);
    gate_leave(&env->gate);
}

/* LMDB takes a write that the disk had no room for to its end for an input/output error. */
static bool disk_full(struct env *env, uint64_t bytes)
{
    mdb_filehandle_t fd;
    struct statvfs disk;
    return mdb_env_get_fd(env->mdb, &fd) == 0 && fstatvfs(fd, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize < bytes;
}

int env_write(struct env *env, int (*work)(void *arg, MDB_dbi dbi, MDB_txn *txn), void *arg, uint64_t bytes)
{
    int interrupted = 0;
    for (;;) {
        MDB_txn *txn;
        int rc = begin(env, 0, &txn);
        if (rc != 0)
            return rc;
        uint64_t size = env->map_size;
        rc = work(arg, env->dbi, txn);
        if (rc == 0)
            rc = mdb_txn_commit(txn); /* frees txn, whatever it answers */
        else
            mdb_txn_abort(txn);
        if (rc == EIO && disk_full(env, bytes))
            rc = ENOSPC;
        gate_leave(&env->gate);
        if (rc == MDB_MAP_FULL)
            rc = grow(env, size, bytes);
        else if (rc != EINTR || ++interrupted == TRIES)
            return rc;
        if (rc != 0 && rc != EINTR)
            return rc;
    }
}

static void env_free(struct env *env)
{
    if (env->mdb != NULL)
        mdb_env_close(env->mdb);
    gate_destroy(&env->gate);
    free(env->path);
    free(env);
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

/* Looks at the database: a plain one is needed, since others order and limit their values. */
static int check_database(struct env *env, struct env_text *text)
{
    MDB_txn *txn;
    unsigned flags = 0;
    if (!whole(env->mdb)) {
        env_say(text, "the environment in '%s' is damaged: data.mdb is shorter than its content", env->path);
        return KVS_BACKEND;
    }
    int rc;
    /* Another process may have grown the file since it was opened here, and may do so again meanwhile. */
    do {
        rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn);
    } while (rc == MDB_MAP_RESIZED && (rc = mdb_env_set_mapsize(env->mdb, 0)) == 0);
    if (rc == 0) {
        rc = mdb_dbi_open(txn, NULL, 0, &env->dbi);
        if (rc == 0)
            rc = mdb_dbi_flags(txn, env->dbi, &flags);
        mdb_txn_abort(txn);
    }
    if (rc != 0) {
        env_say(text, "cannot read the environment in '%s': %s", env->path, mdb_strerror(rc));
        return env_status(rc);
    }
    if (flags != 0) {
        env_say(text, "the database in '%s' was made with LMDB flags 0x%x%s; a plain one (flags 0) is needed",
                env->path, flags, flags & MDB_DUPSORT ? " (sorted duplicates)" : "");
        return KVS_NOT_SUPPORTED;
    }
    return KVS_OK;
}

static int open_mdb(struct env *env, const struct env_config *config, struct env_text *text)
{
    uint64_t size = first_size(config);
    int rc = mdb_env_create(&env->mdb);
    if (rc == 0)
        rc = mdb_env_set_mapsize(env->mdb, size);
    if (rc == 0)
        rc = mdb_env_set_maxreaders(env->mdb, config->max_readers);
    if (rc == 0)
        rc = path_reserve_lock(config->path, LOCK_HEAD + (size_t)config->max_readers * LOCK_READER);
    if (rc == 0)
        rc = mdb_env_open(env->mdb, config->path, MDB_NOTLS | (config->sync ? 0 : MDB_NOSYNC), 0600);
    if (rc == ENOMEM) {
        env_say(text,
                "cannot open '%s': a map of map_size=%" PRIu64 " bytes does not fit into memory's addresses",
                config->path, size);
    } else if (rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH || rc == MDB_CORRUPTED) {
        env_say(text, "data.mdb in '%s' is not an LMDB environment that this library can read: %s",
                config->path, mdb_strerror(rc));
    } else if (rc != 0) {
        env_say(text, "cannot open an LMDB environment in '%s': %s", config->path, mdb_strerror(rc));
    }
    return env_status(rc);
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
    return KVS_OK;
}

/* Opens a file that the process has not open. table_lock is held. */
static int open_new(const struct env_config *config, struct env **out, struct env_text *text)
{
    struct env *env = calloc(1, sizeof(*env));
    char *path = strdup(config->path);
    if (env == NULL || path == NULL) {
        free(env);
        free(path);
        return KVS_NO_MEMORY;
    }
    env->path = path;
    env->sync = config->sync;
    env->map_max = config->map_max;
    env->generation = generation;
    gate_init(&env->gate, 1);
    int status = open_mdb(env, config, text);
    if (status == KVS_OK)
        status = identify(env, text);
    if (status == KVS_OK)
        status = check_database(env, text);
    if (status != KVS_OK) {
        env_free(env);
        return status;
    }
    unsigned readers = 0;
    mdb_env_get_maxreaders(env->mdb, &readers);
    env->gate.most = readers / 2; /* other processes need places in the table of readers, too */
    if (env->gate.most == 0)
        env->gate.most = 1;
    MDB_envinfo info;
    mdb_env_info(env->mdb, &info);
    env->map_size = info.me_mapsize;
    *out = env;
    return KVS_OK;
}

/* Takes a further reference, if what is asked for fits what is there. table_lock is held. */
static int open_again(struct env *env, const struct env_config *config, struct env_text *text)
{
    if (env->sync != config->sync) {
        env_say(text, "'%s' is open in this process with sync=%s; sync=%s does not go beside it", env->path,
                env->sync ? "yes" : "no", config->sync ? "yes" : "no");
        return KVS_INVALID_PARAM;
    }
    uint64_t size = first_size(config);
    int rc = 0;
    if (config->map_max <= env->map_max && size <= env->map_size) {
        /* Nothing to change: a writer inside may have to wait for another process, for ever. */
        env->refs++;
        return KVS_OK;
    }
    gate_close(&env->gate);
    if (config->map_max > env->map_max)
        env->map_max = config->map_max;
    if (size > env->map_size)
        rc = env->broken ? MDB_PANIC : remap(env, size);
    gate_open(&env->gate);
    if (rc != 0) {
        env_say(text, "cannot grow the map of '%s' to map_size=%" PRIu64 " bytes: %s", env->path, size,
                mdb_strerror(rc));
        return env_status(rc);
    }
    env->refs++;
    return KVS_OK;
}

static struct env *find(const struct stat *st)
{
    struct env *env = table;
    while (env != NULL && (env->generation != generation || env->dev != st->st_dev || env->ino != st->st_ino))
        env = env->next;
    return env;
}

int env_open(const struct env_config *config, struct env **out, struct env_text *text)
{
    struct stat st;
    env_say(text, "out of memory while '%s' was opened", config->path);
    pthread_mutex_lock(&table_lock);
    int status = path_prepare(config->path, config->create, text);
    struct env *env = status == KVS_OK && path_data(config->path, &st) ? find(&st) : NULL;
    if (env != NULL) {
        status = open_again(env, config, text);
    } else if (status == KVS_OK) {
        status = open_new(config, &env, text);
        if (status == KVS_OK) {
            env->refs = 1;
            env->next = table;
            table = env;
        }
    }
    pthread_mutex_unlock(&table_lock);
    *out = status == KVS_OK ? env : NULL;
    return status;
}

void env_close(struct env *env)
{
    pthread_mutex_lock(&table_lock);
    /* What a child inherited is its parent's: it stays in the table, unused. */
    if (env->generation == generation && --env->refs == 0) {
        struct env **link = &table;
        while (*link != env)
            link = &(*link)->next;
        *link = env->next;
        env_free(env);
    }
    pthread_mutex_unlock(&table_lock);
}
