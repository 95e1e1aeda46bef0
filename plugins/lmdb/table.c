/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"
#include "path.h"

#include <inttypes.h>

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

unsigned env_generation(void)
{
    return generation; /* a process has one as long as it lives */
}

static const char *yes_no(bool value)
{
    return value ? "yes" : "no";
}

static int contradiction(const struct env *env, const char *name, const char *has, const char *wants,
                         struct env_text *text)
{
    env_say(text, "'%s' is open in this process with %s=%s; %s=%s does not go beside it", env->path, name,
            has, name, wants);
    return KVS_INVALID_PARAM;
}

/* What an environment can have only one of. */
static int compare(const struct env *env, const struct env_config *config, struct env_text *text)
{
    static const char *const sync[] = {"full", "meta", "none"};
    const struct env_config *has = &env->config;
    if (has->sync != config->sync)
        return contradiction(env, "sync", sync[has->sync], sync[config->sync], text);
    if (has->read_only != config->read_only)
        return contradiction(env, "read_only", yes_no(has->read_only), yes_no(config->read_only), text);
    if (has->writemap != config->writemap)
        return contradiction(env, "writemap", yes_no(has->writemap), yes_no(config->writemap), text);
    if (has->max_readers != config->max_readers) {
        env_say(text,
                "'%s' is open in this process with max_readers=%u; max_readers=%u does not go beside it",
                env->path, has->max_readers, config->max_readers);
        return KVS_INVALID_PARAM;
    }
    return KVS_OK;
}

/* Makes an environment that is open fit what is asked for: of the sizes the larger ones count. */
static int open_again(struct env *env, const struct env_config *config, struct env_text *text)
{
    int status = compare(env, config, text);
    if (status != KVS_OK)
        return status;
    if (config->map_limit > atomic_load(&env->map_limit))
        atomic_store(&env->map_limit, config->map_limit);
    uint64_t size = map_first(config);
    uint64_t has = atomic_load(&env->map_size);
    if (size <= has) /* nothing to wait for: a writer inside may have to wait for another process, for ever */
        return KVS_OK;
    int rc = map_grow(env, has, size - has);
    if (rc != 0) {
        env_say(text, "cannot grow the map of '%s' to map_size=%" PRIu64 " bytes: %s", env->path, size,
                env_reason(rc));
        return env_status(rc);
    }
    return KVS_OK;
}

/* The one of that file that this process has open; *inherited: one that it has from a parent. */
static struct env *find(const struct stat *st, bool *inherited)
{
    struct env *found = NULL;
    *inherited = false;
    for (struct env *env = table; env != NULL; env = env->next) {
        if (env->dev != st->st_dev || env->ino != st->st_ino)
            continue;
        if (env->generation == generation)
            found = env;
        else
            *inherited = true;
    }
    return found;
}

/* Opens a file that the process has not open. The table's lock is held. */
static int open_new(const struct env_config *config, bool mapped, struct env **out, struct env_text *text)
{
    if (mapped) {
        env_say(text,
                "'%s/data.mdb' is mapped by something else in this process: closing either would take the "
                "locks from the "
                "other",
                config->path);
        return KVS_NOT_ALLOWED;
    }
    int status = env_new(config, out, text);
    if (status == KVS_OK) {
        (*out)->generation = generation;
        (*out)->next = table;
        table = *out;
    }
    return status;
}

/* Takes it out of the table if no engine has it. */
static void put_back(struct env *env)
{
    if (env->refs > 0)
        return;
    struct env **link = &table;
    while (*link != env)
        link = &(*link)->next;
    *link = env->next;
    env_free(env);
}

int env_open(const struct env_config *config, struct env **out, struct env_db **db, struct env_text *text)
{
    struct stat st;
    bool inherited;
    env_say(text, "out of memory while '%s' was opened", config->path);
    *out = NULL;
    pthread_mutex_lock(&table_lock);
    int status = path_prepare(config->path, config->create && !config->read_only, text);
    if (status == KVS_OK) {
        bool there = path_data(config->path, &st);
        struct env *env = there ? find(&st, &inherited) : NULL;
        if (env != NULL)
            status = open_again(env, config, text);
        else
            status = open_new(config, there && !inherited && path_mapped(&st), &env, text);
        if (status == KVS_OK) {
            status = env_database(env, config->database, config->create, db, text);
            if (status == KVS_OK)
                env->refs++;
            else
                put_back(env);
        }
        *out = status == KVS_OK ? env : NULL;
    }
    pthread_mutex_unlock(&table_lock);
    return status;
}

void env_close(struct env *env)
{
    pthread_mutex_lock(&table_lock);
    /* What a child inherited is its parent's: it stays in the table, unused. */
    if (env->generation == generation) {
        env->refs--;
        put_back(env);
    }
    pthread_mutex_unlock(&table_lock);
}
