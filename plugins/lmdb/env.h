/* SPDX-License-Identifier: Apache-2.0 */
/* LMDB environments: each file is open once in the process, and its map grows between transactions. */
#ifndef KVS_LMDB_ENV_H
#define KVS_LMDB_ENV_H

#include <kvslot/backend.h>
#include <lmdb.h>
#include <stdbool.h>

struct env;

/* How an environment is to be opened. */
struct env_config {
    const char *path;
    uint64_t map_size, map_max; /* bytes */
    unsigned max_readers;
    bool create, sync;
};

/* One sentence about what went wrong. */
struct env_text {
    char text[384];
};
void env_say(struct env_text *out, const char *fmt, ...) KVS_PRINTF(2, 3);

/* The status that stands for a number of LMDB's or an errno. */
int env_status(int rc);

/* Once a process, before all else. KVS_OK or KVS_NO_MEMORY. */
int env_setup(void);

/* Opens the environment, or takes a reference to it if the process has it open already: also by another path.
 */
int env_open(const struct env_config *config, struct env **out, struct env_text *text);
/* Gives the reference back; the last one closes. No transaction may be open. */
void env_close(struct env *env);

const char *env_path(const struct env *env);
MDB_dbi env_dbi(const struct env *env);
size_t env_max_key(const struct env *env);

/* Begins a read transaction; must end with env_end_read. The answer is LMDB's. */
int env_begin_read(struct env *env, MDB_txn **txn);
void env_end_read(struct env *env, MDB_txn *txn);

/* Runs work(arg, dbi, txn) in a write transaction and commits it if the answer is 0; otherwise, and where the
 * commit fails, nothing of it stays. Where the map is full it grows, by at least `bytes`, and work is run
 * again. The answer is LMDB's. */
int env_write(struct env *env, int (*work)(void *arg, MDB_dbi dbi, MDB_txn *txn), void *arg, uint64_t bytes);

#endif
