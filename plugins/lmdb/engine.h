/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KVS_LMDB_ENGINE_H
#define KVS_LMDB_ENGINE_H

#include "env.h"
#include "pool.h"

/* Private space of an engine. */
struct engine {
    void *ctx;                /* set by open, with all up to readers */
    struct env_config config; /* its texts live as long as ctx */
    unsigned generation;      /* of which process it is */
    uint64_t inline_bytes;
    struct pool readers;     /* reader.c */
    pthread_mutex_t lock;    /* held while env is opened: with connect=lazy by the first that needs it */
    struct env_db *db;       /* written before env */
    struct env *_Atomic env; /* NULL: not opened yet; set once */
};

/* Opens the engine's environment if that was not done yet. */
int engine_env(struct engine *engine, struct env **env, struct env_text *text);
/* The same without waiting; NULL: it is not open. */
struct env *engine_env_now(const struct engine *engine);

#endif
