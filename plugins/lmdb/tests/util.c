/* SPDX-License-Identifier: Apache-2.0 */
#include "util.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
const char *self;

const char *fresh_folder(void)
{
    static char folder[512];
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/lmdb-XXXXXX", tmp != NULL ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    return folder;
}

int open_fails(const char *folder, const char *more, struct kvs_error *err)
{
    char target[1200];
    kvs_engine *engine;
    snprintf(target, sizeof(target), "lmdb:%s?sync=none%s", folder, more);
    int status = kvs_engine_open(target, NULL, 0, &engine, err);
    assert_int_not_equal(status, KVS_OK);
    assert_null(engine);
    return status;
}

kvs_engine *open_at(const char *folder, const char *more)
{
    char target[1200];
    kvs_engine *engine;
    struct kvs_error err;
    snprintf(target, sizeof(target), "lmdb:%s?sync=none%s", folder, more);
    if (kvs_engine_open(target, NULL, 0, &engine, &err) != KVS_OK)
        fail_msg("%s: %s", target, err.text);
    return engine;
}

void close_engine(kvs_engine *engine)
{
    assert_int_equal(kvs_engine_close(engine, WAIT, NULL), KVS_OK);
}

int put_text(kvs_engine *engine, const char *key, const void *data, size_t len)
{
    return kvs_put(engine, key, strlen(key), data, len, NULL);
}

int get_text(kvs_engine *engine, const char *key, void *data, size_t len)
{
    return kvs_get(engine, key, strlen(key), data, len, NULL);
}

kvs_xfer *prep_batch(kvs_engine *engine, uint32_t op, const struct kvs_key *keys, size_t n, char *space,
                     size_t len, kvs_done_fn done, void *arg)
{
    struct kvs_desc *descs = calloc(n, sizeof(*descs));
    for (size_t i = 0; i < n; i++)
        descs[i] = (struct kvs_desc){.addr = (uintptr_t)(space + i * len), .len = len};
    struct kvs_dlist local = {.descs = descs, .count = n, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {
        .size = sizeof(req), .op = op, .local = &local, .keys = keys, .nkeys = n, .done = done, .arg = arg};
    struct kvs_error err;
    kvs_xfer *xfer;
    if (kvs_xfer_prep(engine, &req, &xfer, &err) != KVS_OK)
        fail_msg("prep: %s", err.text);
    free(descs);
    return xfer;
}

int run_self(const char *what, const char *folder)
{
    char program[4096], first[64], second[1024];
    snprintf(program, sizeof(program), "%s", self);
    snprintf(first, sizeof(first), "%s", what);
    snprintf(second, sizeof(second), "%s", folder);
    char *const argv[] = {program, first, second, NULL};
    pid_t pid;
    int wstatus;
    assert_int_equal(posix_spawn(&pid, program, NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &wstatus, 0), pid);
    assert_true(WIFEXITED(wstatus));
    return WEXITSTATUS(wstatus);
}

int mapped(const char *folder, size_t *bytes)
{
    char line[4096], file[1024], real[4096];
    size_t from, to;
    int n = 0;
    *bytes = 0;
    snprintf(file, sizeof(file), "%s/data.mdb", folder);
    assert_non_null(realpath(file, real));
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        if (strstr(line, real) == NULL)
            continue;
        assert_int_equal(sscanf(line, "%zx-%zx", &from, &to), 2);
        *bytes += to - from;
        n++;
    }
    fclose(maps);
    return n;
}

int times_mapped(const char *folder)
{
    size_t bytes;
    return mapped(folder, &bytes);
}
