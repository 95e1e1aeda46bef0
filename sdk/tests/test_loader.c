/* SPDX-License-Identifier: Apache-2.0 */
/* Plugin files, good and bad. Each test uses plugins of its own, since what is loaded stays. */
#include "params.h"
#include "plugin_files.h"

#include <sys/wait.h>

/* ---- Files ---- */

/* KVS-REQ-400 KVS-REQ-401 KVS-REQ-412 KVS-REQ-415 KVS-REQ-438: this one is of a later release, with longer
 * structures. */
static void a_good_plugin(void **state)
{
    (void)state;
    assert_false(is_mapped(plugin_file("t-good")));
    expect_load(plugin_file("t-good"), "t-good");
    expect_load(plugin_file("t-good"), "t-good");
    const struct kvs_backend *b = find("t-good");
    assert_ptr_equal(find("t-good:/x?size=1"), b);
    assert_ptr_equal(find("t-good-alias:/x"), b);
    assert_int_equal(b->open(NULL, NULL, NULL), 1); /* calls of load */
    assert_int_equal(b->nparams, 2);
    assert_string_equal(b->params[1].name, "size");
    assert_string_equal(b->params[1].def, "2MiB");
    struct kvs_params *params;
    struct kvs_error err = {0};
    expect_status(kvs_params_resolve(b, "t-good-alias", NULL, 0, &params, &err), KVS_OK, &err);
    int64_t n;
    assert_int_equal(kvs_params_i64(params, "size", &n), KVS_OK);
    assert_int_equal(n, 3 << 20);
    kvs_params_free(params);
    assert_null(dlsym(RTLD_DEFAULT, KVS_BACKEND_ENTRY)); /* RTLD_LOCAL */
    assert_int_equal(kvs_plugin_load(plugin_file("t-good"), NULL, NULL), KVS_OK);
}

/* KVS-REQ-403 KVS-REQ-404 KVS-REQ-405 KVS-REQ-407 */
static void bad_plugins(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"t-api-older", "compiled for API 4294967295, this kvslot (0.1.0) has API 0"},
        {"t-api-newer", "compiled for API 1, this kvslot (0.1.0) has API 0"},
        {"t-magic", "magic is 0x000000000000002a"},
        {"t-size-small", "its table has 64 bytes"},
        {"t-host-newer", "newer kvslot: its struct kvs_host has"},
        {"t-no-symbol", "has no symbol kvs_backend_entry"},
        {"t-null", "answers NULL"},
        {"t-no-open", "no function open"},
        {"t-no-put", "has the function get, but not put"},
        {"t-no-get", "has the function put, but not get"},
        {"t-no-io", "neither the functions put and get nor submit"},
        {"t-misnamed", "holds backend 't-other'; its file name must be kvslot-t-other.so"},
        {"t-sdk-param", "parameter 'timeout' is 'bad'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kvs_error err = expect_refused(plugin_file(rows[i][0]), KVS_INVALID_PARAM, rows[i][1]);
        expect_text(err.text, plugin_file(rows[i][0]));
        expect_refused(plugin_file(rows[i][0]), KVS_INVALID_PARAM, rows[i][1]);
    }
    /* The table that was refused did not become known under any name. */
    not_found("t-other", KVS_NOT_FOUND, "there is no backend 't-other'");
}

/* KVS-REQ-411 */
static void plugins_of_an_earlier_release(void **state)
{
    (void)state;
    expect_load(plugin_file("t-size-short"), "t-size-short");
    expect_load(plugin_file("t-host-older"), "t-host-older");
}

static void files_that_are_no_plugins(void **state)
{
    (void)state;
    expect_refused(own_file("kvslot-none.so"), KVS_NOT_FOUND, "No such file");
    expect_refused(own_file("kvslot-none.so/x"), KVS_NOT_FOUND, "No such file");
    expect_refused("", KVS_INVALID_PARAM, "empty");
    expect_refused(NULL, KVS_INVALID_PARAM, "NULL");
    expect_refused(folder, KVS_INVALID_PARAM, "is a folder");
    assert_int_equal(mkdir(own_file("kvslot-dir.so"), 0755), 0);
    expect_refused(own_file("kvslot-dir.so"), KVS_INVALID_PARAM, "is a folder");
    assert_int_equal(mkfifo(own_file("kvslot-fifo.so"), 0644), 0);
    expect_refused(own_file("kvslot-fifo.so"), KVS_INVALID_PARAM, "no regular file");
    expect_refused("/dev/null", KVS_INVALID_PARAM, "no regular file");
    copy_file("/proc/self/status", own_file("kvslot-text.so"), 500);
    expect_refused(own_file("kvslot-text.so"), KVS_INVALID_PARAM, "is not a shared object");
    copy_file("/dev/null", own_file("kvslot-empty.so"), 1);
    expect_refused(own_file("kvslot-empty.so"), KVS_INVALID_PARAM, "is not a shared object");
    assert_int_equal(symlink("kvslot-loop.so", own_file("kvslot-loop.so")), 0);
    expect_refused(own_file("kvslot-loop.so"), KVS_INVALID_PARAM, "symbolic links");
    /* Good, but for its name. */
    copy_file(plugin_file("t-twin"), own_file("twin.so"), SIZE_MAX);
    expect_refused(own_file("twin.so"), KVS_INVALID_PARAM, "is not named kvslot-NAME.so");
    expect_refused("/proc/self/exe", KVS_INVALID_PARAM, "");
}

/* Tries the file at every length; answers how many were seen to be cut short, or -1 where one was taken. */
static int load_cut_files(size_t size)
{
    int as_cut = 0;
    for (size_t len = 4; len < size; len += len < 1024 ? 60 : size / 37) {
        char name[64];
        snprintf(name, sizeof name, "cut-%zu", len);
        mkdir(own_file(name), 0755);
        snprintf(name, sizeof name, "cut-%zu/kvslot-t-good.so", len);
        copy_file(plugin_file("t-good"), own_file(name), len);
        struct kvs_error err = {0};
        if (kvs_plugin_load(own_file(name), NULL, &err) != KVS_INVALID_PARAM)
            return -1;
        as_cut += strstr(err.text, "cut short") != NULL;
    }
    return as_cut;
}

/* Cut short anywhere, it is refused and never kills the process. A child tries, since those that lack only
 * what is not loaded stay mapped, and the symbolizers of sanitizers trip over them. */
static void files_that_were_cut_short(void **state)
{
    (void)state;
    expect_load(plugin_file("t-good"), "t-good");
    size_t size = size_of(plugin_file("t-good"));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(load_cut_files(size) > 5 ? 0 : 9);
    int rc;
    assert_int_equal(waitpid(child, &rc, 0), child);
    assert_int_equal(rc, 0);
}

/* A failing load can be tried again: KVS-REQ-415 (the plugin's statics keep their values). */
static void a_load_that_fails(void **state)
{
    (void)state;
    const char *file = plugin_file("t-load-fails");
    struct kvs_error err = expect_refused(file, KVS_ACCESS, "the licence of 5 seats has run out");
    expect_text(err.text, "backend 't-load-fails'");
    assert_true(is_mapped(file)); /* RTLD_NODELETE */
    expect_refused(plugin_file("t-load-fails"), KVS_BACKEND, "answered 1");
    expect_load(plugin_file("t-load-fails"), "t-load-fails");
    expect_load(plugin_file("t-load-fails"), "t-load-fails");
    assert_int_equal(find("t-load-fails")->open(NULL, NULL, NULL), 3);
}

/* ---- Names ---- */

static void one_file_by_many_paths(void **state)
{
    (void)state;
    char path[1300], here[1000];
    expect_load(plugin_file("t-linked"), "t-linked");
    const struct kvs_backend *b = find("t-linked");
    assert_int_equal(symlink(plugin_file("t-linked"), own_file("kvslot-t-linked.so")), 0);
    expect_load(own_file("kvslot-t-linked.so"), "t-linked");
    snprintf(path, sizeof path, "%s/../plugins/./kvslot-t-linked.so", plugins);
    expect_load(path, "t-linked");
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(plugins), 0);
    expect_load("kvslot-t-linked.so", "t-linked");
    expect_load("./kvslot-t-linked.so", "t-linked");
    assert_int_equal(chdir(here), 0);
    assert_ptr_equal(find("t-linked"), b);
    assert_int_equal(b->open(NULL, NULL, NULL), 1);
    /* A link may have the name of a scheme, and no other. */
    assert_int_equal(symlink(plugin_file("t-linked"), own_file("kvslot-t-linked-alias.so")), 0);
    expect_load(own_file("kvslot-t-linked-alias.so"), "t-linked");
    assert_int_equal(symlink(plugin_file("t-linked"), own_file("kvslot-t-wrong.so")), 0);
    expect_refused(own_file("kvslot-t-wrong.so"), KVS_INVALID_PARAM, "must be kvslot-t-linked.so");
}

/* Links of the other kind have no file that they point to; the file is the same all the same. */
static void one_file_by_hard_links(void **state)
{
    (void)state;
    assert_int_equal(mkdir(own_file("hard"), 0755), 0);
    copy_file(plugin_file("t-hard"), own_file("kvslot-t-hard.so"), SIZE_MAX);
    assert_int_equal(link(own_file("kvslot-t-hard.so"), own_file("hard/kvslot-t-hard.so")), 0);
    expect_load(own_file("kvslot-t-hard.so"), "t-hard");
    expect_load(own_file("hard/kvslot-t-hard.so"), "t-hard");
    /* Another file in its place: the process keeps the one it has. */
    assert_int_equal(unlink(own_file("kvslot-t-hard.so")), 0);
    copy_file(plugin_file("t-hard"), own_file("kvslot-t-hard.so"), SIZE_MAX);
    expect_load(own_file("kvslot-t-hard.so"), "t-hard");
    assert_int_equal(find("t-hard")->open(NULL, NULL, NULL), 1);
}

static void two_files_with_one_name(void **state)
{
    (void)state;
    expect_load(plugin_file("t-twin"), "t-twin");
    copy_file(plugin_file("t-twin"), own_file("kvslot-t-twin.so"), SIZE_MAX);
    struct kvs_error err =
        expect_refused(own_file("kvslot-t-twin.so"), KVS_INVALID_PARAM, own_file("kvslot-t-twin.so"));
    expect_text(err.text, plugin_file("t-twin"));
    expect_text(err.text, "'t-twin'");
    /* A copy under the name of a scheme is no link to it. */
    copy_file(plugin_file("t-found"), own_file("kvslot-t-found-alias.so"), SIZE_MAX);
    expect_refused(own_file("kvslot-t-found-alias.so"), KVS_INVALID_PARAM, "must be kvslot-t-found.so");
}

/* Whoever else drops the object, its code stays while an engine uses it; KVS-REQ-438. */
static void an_engine_keeps_its_plugin(void **state)
{
    (void)state;
    static kvs_engine *engine;
    struct kvs_error err = {0};
    expect_load(plugin_file("t-opens"), "t-opens");
    expect_status(kvs_engine_open("t-opens", NULL, 0, &engine, &err), KVS_OK, &err);
    expect_status(kvs_put(engine, "k", 1, "v", 1, &err), KVS_OK, &err);
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen(plugin_file("t-opens"), RTLD_NOW);
        assert_non_null(handle);
        dlclose(handle);
        dlclose(handle); /* one too many */
    }
    assert_true(is_mapped(plugin_file("t-opens")));
    expect_status(kvs_put(engine, "k", 1, "v", 1, &err), KVS_OK, &err);
    expect_status(kvs_engine_close(engine, KVS_FOREVER, &err), KVS_OK, &err);
    engine = NULL;
}

/* What this program does when it is started again by the test below: it ends with an engine open. */
static int leave_open(void)
{
    static kvs_engine *engine;
    alarm(50);
    plugins = getenv("SDK_TEST_PLUGINS");
    if (kvs_plugin_load(plugin_file("t-opens"), NULL, NULL) != KVS_OK ||
        kvs_engine_open("t-opens", NULL, 0, &engine, NULL) != KVS_OK)
        return 9;
    return kvs_put(engine, "k", 1, "v", 1, NULL) == KVS_OK ? 0 : 8;
}

static const char *program;

/* A program may end while engines, their threads and plugins are alive. */
static void a_program_ends_with_engines_open(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl(program, program, "leave-open", (char *)NULL);
        _exit(7);
    }
    int rc;
    assert_int_equal(waitpid(child, &rc, 0), child);
    assert_int_equal(rc, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "leave-open") == 0)
        return leave_open();
    program = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_plugin),
        cmocka_unit_test(bad_plugins),
        cmocka_unit_test(plugins_of_an_earlier_release),
        cmocka_unit_test(files_that_are_no_plugins),
        cmocka_unit_test(files_that_were_cut_short),
        cmocka_unit_test(a_load_that_fails),
        cmocka_unit_test(one_file_by_many_paths),
        cmocka_unit_test(one_file_by_hard_links),
        cmocka_unit_test(an_engine_keeps_its_plugin),
        cmocka_unit_test(a_program_ends_with_engines_open),
        cmocka_unit_test(two_files_with_one_name),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
