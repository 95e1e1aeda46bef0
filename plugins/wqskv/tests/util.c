/* SPDX-License-Identifier: Apache-2.0 */
#include "util.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
const char *self;
char logged[4096];

const char *write_text(const char *file, const char *text)
{
    static char path[600];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof(path), "%s/%s", tmp != NULL ? tmp : ".", file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    return path;
}

const char *write_config(const char *file, const char *members)
{
    static const char *const usual[] = {
        "\"poolid\": 1",  "\"thread_num\": 2", "\"thread_mode\": \"event\"", "\"wengine_conf\": \"w\"",
        "\"node_id\": 3", "\"bvar_port\": 0",  "\"bind_cpus\": \"\"",        "\"mem_size\": 256"};
    char text[2048] = "{\n";
    if (members != NULL)
        strcat(strcat(text, members), ",\n");
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        char name[64] = "";
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(usual[i], ":"), usual[i]);
        if (members == NULL || strstr(members, name) == NULL)
            strcat(strcat(text, usual[i]), ",\n");
    }
    strcat(text, "\"wds_debug_log\": false\n}\n");
    return write_text(file, text);
}

int try_open(const char *config, const char *more, kvs_engine **engine, struct kvs_error *err)
{
    char target[1024];
    if (config != NULL)
        snprintf(target, sizeof(target), "wqskv:%s?%s", config, more);
    else
        snprintf(target, sizeof(target), "wqskv:?%s", more);
    return kvs_engine_open(target, NULL, 0, engine, err);
}

kvs_engine *open_with(const char *config, const char *more)
{
    kvs_engine *engine;
    struct kvs_error err;
    if (try_open(config, more, &engine, &err) != KVS_OK)
        fail_msg("%s: %s", config, err.text);
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

int query_text(kvs_engine *engine, const char *key)
{
    return kvs_query(engine, key, strlen(key), NULL, NULL);
}

kvs_xfer *prep_keys(kvs_engine *engine, uint32_t op, const char *const *texts, size_t n, char *space,
                    size_t len)
{
    struct kvs_desc *descs = calloc(n, sizeof(*descs));
    struct kvs_key *keys = calloc(n, sizeof(*keys));
    for (size_t i = 0; i < n; i++) {
        descs[i] = (struct kvs_desc){.addr = (uintptr_t)(space + i * len), .len = len};
        keys[i] = (struct kvs_key){texts[i], strlen(texts[i])};
    }
    struct kvs_dlist local = {.descs = descs, .count = n, .type = KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof(req), .op = op, .local = &local, .keys = keys, .nkeys = n};
    struct kvs_error err;
    kvs_xfer *xfer;
    if (kvs_xfer_prep(engine, &req, &xfer, &err) != KVS_OK)
        fail_msg("prep: %s", err.text);
    free(descs);
    free(keys);
    return xfer;
}

int result_of(kvs_xfer *xfer, size_t index, const char **text)
{
    int status = KVS_IN_PROG;
    assert_int_equal(kvs_xfer_result(xfer, index, &status, NULL, text), KVS_OK);
    return status;
}

int run_self(const char *what, const char *arg)
{
    char program[4096], first[64], second[1024];
    snprintf(program, sizeof(program), "%s", self);
    snprintf(first, sizeof(first), "%s", what);
    snprintf(second, sizeof(second), "%s", arg);
    char *const argv[] = {program, first, second, NULL};
    pid_t pid;
    int wstatus;
    assert_int_equal(posix_spawn(&pid, program, NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &wstatus, 0), pid);
    assert_true(WIFEXITED(wstatus));
    return WEXITSTATUS(wstatus);
}

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER; /* guards logged */

static void catch_line(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    pthread_mutex_lock(&log_lock);
    size_t len = strlen(logged);
    snprintf(logged + len, sizeof(logged) - len, "%s\n", text);
    pthread_mutex_unlock(&log_lock);
}

void catch_log(void)
{
    logged[0] = '\0';
    kvs_set_log(catch_line, NULL, KVS_LOG_WARN);
}
