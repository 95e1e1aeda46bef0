/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

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
uint64_t map_first(const struct env_config *config)
{
    return page_up(config->map_size < config->map_limit ? config->map_size : config->map_limit);
}

int map_allocate(int fd, uint64_t size)
{
    return fallocate(fd, 0, 0, (off_t)size) == 0 ? 0 : errno;
}

/* LMDB gives up the old map first, and is lost where the new one fails: sees whether it would. */
static int try_size(const struct env *env, uint64_t size)
{
    mdb_filehandle_t fd;
    int rc = mdb_env_get_fd(env->mdb, &fd);
    if (rc == 0 && env->config.writemap)
        rc = map_allocate(fd, size);
    if (rc != 0)
        return rc;
    void *probe = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (probe == MAP_FAILED)
        return errno;
    munmap(probe, size);
    return 0;
}

int map_set(struct env *env, uint64_t size)
{
    int rc = size != 0 ? try_size(env, size) : 0;
    if (rc != 0)
        return rc;
    rc = mdb_env_set_mapsize(env->mdb, size);
    if (rc != 0) {
        atomic_store(&env->broken, true);
        return rc;
    }
    MDB_envinfo info;
    mdb_env_info(env->mdb, &info);
    atomic_store(&env->map_size, info.me_mapsize);
    return 0;
}

int map_adopt(struct env *env)
{
    gate_close(&env->gate);
    int rc = env->mdb != NULL && !atomic_load(&env->broken) ? map_set(env, 0) : 0;
    gate_open(&env->gate);
    return rc;
}

int map_grow(struct env *env, uint64_t was, uint64_t bytes)
{
    gate_close(&env->gate);
    int rc = 0;
    uint64_t size = atomic_load(&env->map_size);
    if (size <= was && env->mdb != NULL && !atomic_load(&env->broken)) { /* else someone else was faster */
        uint64_t limit = page_down(atomic_load(&env->map_limit));
        uint64_t least = page_up(size + bytes) < limit ? page_up(size + bytes) : limit;
        uint64_t want = 2 * size < limit ? 2 * size : limit;
        rc = least > size ? map_set(env, want > least ? want : least) : MDB_MAP_FULL;
        if ((rc == ENOSPC || rc == EDQUOT || rc == ENOMEM) && want > least)
            rc = map_set(env, least); /* where there is no room for twice as much */
    }
    gate_open(&env->gate);
    return rc;
}
