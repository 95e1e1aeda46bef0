/* SPDX-License-Identifier: Apache-2.0 */
/* Backends that take one configuration a process. */
#include "expect.h"

#include <kvslot/backend.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct kvs_host *host;

static int load(const struct kvs_host *from)
{
    host = from;
    return KVS_OK;
}

/* The store refuses a pool 0, whatever else is right. */
static int open_store(void *eng, void *ctx, struct kvs_limits *limits)
{
    int64_t pool = 0;
    (void)eng;
    (void)limits;
    host->param_i64(ctx, "pool", &pool);
    return pool == 0 ? (host->fail)(ctx, KVS_ACCESS, "pool 0 is nobody's") : KVS_OK;
}

static int submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    host->complete_rest(batch, KVS_OK);
    return KVS_OK;
}

static const struct kvs_param params[] = {
    {.name = "pool", .def = "1", .type = KVS_PARAM_INT, .max = 99, .help = "which pool"},
    {.name = "token", .type = KVS_PARAM_STRING, .flags = KVS_PARAM_SECRET, .help = "who asks"},
    {.name = "label", .type = KVS_PARAM_STRING, .help = "any text"},
};

static const struct kvs_backend single = {
    KVS_BACKEND_STAMP,
    .name = "single",
    .version = "1",
    .params = params,
    .nparams = 3,
    .thread_model = KVS_THREADS_PARALLEL,
    .flags = KVS_F_ONCE_PER_PROCESS,
    .load = load,
    .open = open_store,
    .submit = submit,
};

static int open_as(const char *target, kvs_engine **engine, struct kvs_error *err)
{
    return kvs_engine_open(target, NULL, 0, engine, err);
}

/* KVS-REQ-436: a configuration that nothing was opened with can be corrected, one that was cannot */
static void one_configuration(void **state)
{
    (void)state;
    struct kvs_error err = {KVS_OK, ""};
    kvs_engine *a = NULL, *b = NULL;
    expect_status(open_as("single:?pool=0", &a, &err), KVS_ACCESS, &err);
    expect_status(open_as("single:?pool=7", &a, &err), KVS_OK, &err);
    expect_status(open_as("single:?pool=8", &b, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "'pool' is '8'; it was '7'");
    expect_text(err.text, "'single'");
    assert_null(b);
    expect_status(open_as("single:?pool=7&label=x", &b, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "'label'");
    expect_status(open_as("single:?pool=7&token=sesame", &b, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "'token' is another");
    assert_null(strstr(err.text, "sesame"));
    expect_status(open_as("single:?pool=7&timeout=5s", &b, &err), KVS_OK,
                  &err); /* the SDK's are not its own */
    expect_status(kvs_engine_close(b, KVS_SEC(30), &err), KVS_OK, &err);
    expect_status(kvs_engine_close(a, KVS_SEC(30), &err), KVS_OK, &err);
    /* Also when none is open any more: what the store's library has seen stays. */
    expect_status(open_as("single:?pool=8", &b, &err), KVS_INVALID_PARAM, &err);
    expect_status(open_as("single:?pool=7", &b, &err), KVS_OK, &err);
    expect_status(kvs_engine_close(b, KVS_SEC(30), &err), KVS_OK, &err);
}

static bool refused_in_a_child(void)
{
    int how = -1;
    pid_t child = fork();
    if (child == 0) {
        kvs_engine *e = NULL;
        _exit(open_as("single:?pool=7", &e, NULL) == KVS_NOT_ALLOWED && !e ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

/* It was loaded, but nobody has opened an engine yet: the first test. KVS-REQ-457 */
static void not_in_a_child_of_who_loaded_it(void **state)
{
    (void)state;
    assert_true(refused_in_a_child());
}

/* KVS-REQ-457 */
static void not_in_a_child(void **state)
{
    (void)state;
    struct kvs_error err = {KVS_OK, ""};
    kvs_engine *mine = NULL;
    expect_status(open_as("single:?pool=7", &mine, &err), KVS_OK, &err);
    assert_true(refused_in_a_child());
    expect_status(kvs_engine_close(mine, KVS_SEC(30), &err), KVS_OK, &err);
}

int main(void)
{
    struct kvs_error err = {KVS_OK, ""};
    if (kvs_backend_register(&single, &err) != KVS_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_in_a_child_of_who_loaded_it),
        cmocka_unit_test(one_configuration),
        cmocka_unit_test(not_in_a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
