/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An LMDB environment of this process, and its transactions. table.c sees to it that there is one of them for
 * each file; env.c opens it; map.c makes its map larger; txn.c begins and ends transactions; writer.c has the
 * thread that writes.
 */
#ifndef KVS_LMDB_ENV_H
#define KVS_LMDB_ENV_H

#include "alone.h"
#include "gate.h"
#include "pool.h"
#include "status.h"

#include <kvslot/backend.h>
#include <lmdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* How far a completed write is. In the order of the parameter's choices. */
enum env_sync {
    SYNC_FULL, /* on the disk */
    SYNC_META, /* on the disk, but for the page that says so */
    SYNC_NONE, /* with the kernel */
};

/* How an environment is to be opened: the parameters. */
struct env_config {
    const char *path;
    const char *database;         /* NULL: the unnamed one */
    uint64_t map_size, map_limit; /* bytes */
    unsigned max_readers;
    mode_t mode;
    enum env_sync sync;
    bool create, read_only, writemap;
};

#define MAX_DATABASES 32 /* named ones, of one environment */
#define IDLE_READERS  8

/* A database of an environment that some engine has opened. */
struct env_db {
    char *name;  /* NULL: the unnamed one; set once */
    MDB_dbi dbi; /* written with the gate closed, as databases of struct env */
};

struct env {
    struct env *next; /* guarded by the table's lock, with refs */
    unsigned refs;
    unsigned generation; /* set once, with all up to config: of which process it is */
    dev_t dev;           /* which data file it is */
    ino_t ino;
    char *path;               /* absolute, without symbolic links */
    size_t max_key;           /* bytes, of the library */
    struct env_config config; /* of the engine that opened it; its path is ours, database is not used */
    int unclean; /* descriptor of the mark that stands while it is open with sync=none; -1: none */

    struct gate gate; /* every transaction is inside it */
    MDB_env *mdb;     /* written with the gate closed, read inside it; NULL: it has to be opened again */
    struct env_db databases[1 + MAX_DATABASES];
    unsigned ndatabases;
    _Atomic uint64_t map_size;  /* written as mdb, but looked at from anywhere */
    _Atomic uint64_t map_limit; /* as this */
    _Atomic bool broken; /* LMDB cannot go on with it, or it may not have what it says: open it again */

    MDB_txn
        *_Atomic idle[IDLE_READERS]; /* read transactions that are reset; a thread takes one by exchange */
    struct pool writer;              /* one thread; who holds it writes instead */
    bool keeps;                      /* the writer's thread has to see to the end of what alone keeps; guarded
                                        by the writer's lock */
    struct alone alone;              /* opened and closed with mdb; where writes are done at once */
};

/* ---- table.c ---- */

/* Once a process, before all else. KVS_OK or KVS_NO_MEMORY. */
int env_setup(void);
/* Opens the environment and its database, or takes a reference to it if the process has it open already: also
 * by another path. */
int env_open(const struct env_config *config, struct env **out, struct env_db **db, struct env_text *text);
/* Gives the reference back; the last one closes. Nothing of its engine is in flight. */
void env_close(struct env *env);
/* A number that is another one in a forked child. */
unsigned env_generation(void);

/* ---- env.c ---- */

/* Makes an environment of a file that the process has not open; the caller keeps it in the table. */
int env_new(const struct env_config *config, struct env **out, struct env_text *text);
void env_free(struct env *env);
/* Opens a database for an engine, or finds it among those that are open. */
int env_database(struct env *env, const char *name, bool create, struct env_db **out, struct env_text *text);
/* Waits until nobody is inside, and opens LMDB's environment again if that is needed. The answer is LMDB's.
 */
int env_reopen(struct env *env);

/* ---- map.c ---- */

uint64_t map_first(const struct env_config *config);
/* Maps the file anew, of the given size; 0: of the size that another process gave it. The gate is closed. */
int map_set(struct env *env, uint64_t size);
/* Another process has made the file larger than our map. */
int map_adopt(struct env *env);
/* The map was full while it had the size `was`; makes it larger, by at least `bytes`. MDB_MAP_FULL: it
 * cannot. */
int map_grow(struct env *env, uint64_t was, uint64_t bytes);
/* Gives the file its blocks up to this size: what is written through a map has to have them. */
int map_allocate(int fd, uint64_t size);

/* ---- txn.c. The answers are LMDB's. ---- */

/* Begins a read transaction, an idle one if there is; ends with txn_end_read on the same thread. */
int txn_begin_read(struct env *env, MDB_txn **txn);
/* The same without any waiting; NULL: that cannot be had now. */
MDB_txn *txn_try_read(struct env *env);
void txn_end_read(struct env *env, MDB_txn *txn);
/* Ends the idle ones. The gate is closed. */
void txn_drop_idle(struct env *env);

/* What is to be done in a write transaction: an answer other than 0 ends it, and nothing of it stays. It may
 * be called again from the beginning. */
typedef int (*txn_work)(void *arg, MDB_txn *txn);
/* Runs work in a write transaction and commits. Where the map is full it grows, by at least `bytes`, and work
 * is run again. *unsure: the commit went wrong where it may have been stored all the same; the environment is
 * opened again before the next transaction. */
int txn_write(struct env *env, txn_work work, void *arg, uint64_t bytes, bool *unsure);
/* One try of the same without any waiting but for the disk's. `keep`: the environment may stay closed to
 * other processes until txn_let_go. */
int txn_try_write(struct env *env, txn_work work, void *arg, uint64_t bytes, bool keep, bool *unsure);
/* Lets others open it again, if it is kept from them. False: that cannot be done just now. */
bool txn_let_go(struct env *env);

#endif
