/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins: good and bad files, names, folders, and what stays known. The plugins are built from
 * plugins/plugin.c; each test uses others, since what is loaded stays. */
#include "expect.h"
#include "params.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <kvslot/backend.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[1000]; /* the tests' own, made new */
static const char *plugins;

static const char *plugin_file(const char *name)
{
    static char path[2][1200];
    static int turn;
    char *out = path[turn ^= 1];
    snprintf(out, sizeof path[0], "%s/kvslot-%s.so", plugins, name);
    return out;
}

static const char *own_file(const char *name)
{
    static char path[2][1200];
    static int turn;
    char *out = path[turn ^= 1];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

/* The first `most` bytes of a file. */
static void copy_file(const char *from, const char *to, size_t most)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (int c; most > 0 && (c = getc(in)) != EOF; most--)
        putc(c, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static size_t size_of(const char *file)
{
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    return (size_t)st.st_size;
}

static void expect_load(const char *file, const char *want)
{
    const char *name = "?";
    struct kvs_error err = {0};
    expect_status(kvs_plugin_load(file, &name, &err), KVS_OK, &err);
    assert_string_equal(name, want);
}

static struct kvs_error expect_refused(const char *file, int status, const char *text)
{
    const char *name = "?";
    struct kvs_error err = {0};
    expect_status(kvs_plugin_load(file, &name, &err), status, &err);
    assert_null(name);
    expect_text(err.text, text);
    return err;
}

static const struct kvs_backend *find(const char *target)
{
    const struct kvs_backend *backend = NULL;
    struct kvs_error err = {0};
    expect_status(kvs_backend_find(target, &backend, &err), KVS_OK, &err);
    assert_non_null(backend);
    return backend;
}

static struct kvs_error not_found(const char *target, int status, const char *text)
{
    const struct kvs_backend *backend = (const void *)plugins;
    struct kvs_error err = {0};
    expect_status(kvs_backend_find(target, &backend, &err), status, &err);
    assert_null(backend);
    expect_text(err.text, text);
    return err;
}

static bool is_mapped(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
}

/* ---- Files
 * ------------------------------------------------------------------------------------------------------------
 */

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

/* B101; KVS-REQ-403 KVS-REQ-404 KVS-REQ-405 KVS-REQ-407 */
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

/* Cut short anywhere, it is refused and never kills the process. */
static void files_that_were_cut_short(void **state)
{
    (void)state;
    expect_load(plugin_file("t-good"), "t-good");
    size_t size = size_of(plugin_file("t-good"));
    int as_cut = 0;
    for (size_t len = 4; len < size; len += len < 1024 ? 60 : size / 37) {
        char name[64];
        snprintf(name, sizeof name, "cut-%zu", len);
        assert_int_equal(mkdir(own_file(name), 0755), 0);
        snprintf(name, sizeof name, "cut-%zu/kvslot-t-good.so", len);
        copy_file(plugin_file("t-good"), own_file(name), len);
        struct kvs_error err = {0};
        expect_status(kvs_plugin_load(own_file(name), NULL, &err), KVS_INVALID_PARAM, &err);
        as_cut += strstr(err.text, "cut short") != NULL;
    }
    assert_true(as_cut > 5);
}

/* A failing load can be tried again: KVS-REQ-415, B102 (the plugin's statics keep their values). */
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

/* ---- Names
 * -------------------------------------------------------------------------------------------------------------
 */

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

/* ---- Folders
 * -----------------------------------------------------------------------------------------------------------
 */

/* KVS-REQ-441 KVS-REQ-442 */
static void backends_are_found_by_name(void **state)
{
    (void)state;
    char path[3000];
    unsetenv("KVSLOT_PLUGIN_PATH");
    not_found("t-found", KVS_NOT_FOUND, "kvslot-t-found.so");
    snprintf(path, sizeof path, "::/nonexistent/folder:%s::%s:", folder, plugins);
    setenv("KVSLOT_PLUGIN_PATH", path, 1);
    assert_false(is_mapped(plugin_file("t-found")));
    struct kvs_error err =
        not_found("t-fuond:/x", KVS_NOT_FOUND, "there is no backend 't-fuond', did you mean 't-found'?");
    expect_text(err.text, "kvslot-t-fuond.so in /nonexistent/folder, ");
    expect_text(err.text, folder);
    expect_text(err.text, plugins);
    assert_false(is_mapped(plugin_file("t-found"))); /* nothing is loaded to be looked at */
    const struct kvs_backend *b = find("t-found:/x");
    assert_string_equal(b->name, "t-found");
    assert_int_equal(b->open(NULL, NULL, NULL), 1);
    not_found("t-null", KVS_INVALID_PARAM, "answers NULL");
    /* By the name of a link, which is a scheme of what it points to. */
    assert_int_equal(symlink(plugin_file("t-open"), own_file("kvslot-t-open-alias.so")), 0);
    b = find("t-open-alias:/x");
    assert_string_equal(b->name, "t-open");
    assert_ptr_equal(find("t-open"), b);
    not_found("entirely-else", KVS_NOT_FOUND, "there is no backend 'entirely-else'; looked");
    assert_int_equal(kvs_backend_find("t-found", NULL, NULL), KVS_OK);
    setenv("KVSLOT_PLUGIN_PATH", plugins, 1);
}

/* KVS-REQ-526 KVS-REQ-528 KVS-REQ-529 */
static void targets_that_name_no_backend(void **state)
{
    (void)state;
    not_found(NULL, KVS_INVALID_PARAM, "NULL");
    not_found("", KVS_INVALID_PARAM, "empty");
    not_found(plugin_file("t-good"), KVS_INVALID_PARAM, "kvs_plugin_load");
    not_found("./kvslot-t-good.so", KVS_INVALID_PARAM, "kvs_plugin_load");
    not_found("kvslot-t-good.so", KVS_INVALID_PARAM, "kvs_plugin_load");
    not_found("a/b:c", KVS_INVALID_PARAM, "kvs_plugin_load");
    not_found("T-good", KVS_INVALID_PARAM, "neither a name");
    not_found("t good", KVS_INVALID_PARAM, "neither a name");
    not_found(":x", KVS_INVALID_PARAM, "neither a name");
    not_found("../x:y", KVS_INVALID_PARAM, "");
    struct kvs_error err = not_found("Redis://u:hunter2@h", KVS_INVALID_PARAM, "Redis://***@h");
    expect_no_text(err.text, "hunter2");
    char name[600];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    not_found(name, KVS_NOT_FOUND, "there is no backend");
}

struct listed {
    int n, stop_at;
    char last[100], text[20000];
};

static int list_one(void *arg, const char *name, const char *where)
{
    struct listed *listed = arg;
    assert_true(strcmp(listed->last, name) < 0);
    snprintf(listed->last, sizeof listed->last, "%s", name);
    size_t at = strlen(listed->text);
    snprintf(listed->text + at, sizeof listed->text - at, "%s=%s\n", name, where);
    return ++listed->n == listed->stop_at ? 77 : 0;
}

static void backends_are_listed_in_order(void **state)
{
    (void)state;
    char path[3000], line[1300];
    snprintf(path, sizeof path, "%s:%s", plugins, folder);
    setenv("KVSLOT_PLUGIN_PATH", path, 1);
    expect_load(plugin_file("t-good"), "t-good");
    copy_file(plugin_file("t-listed"), own_file("kvslot-t-listed.so"),
              SIZE_MAX); /* behind the other folder's */
    copy_file(plugin_file("t-listed"), own_file("kvslot-a-first.so"), 100);
    copy_file(plugin_file("t-listed"), own_file("kvslot-.so"), 100);
    copy_file(plugin_file("t-listed"), own_file("kvslot-Upper.so"), 100);
    copy_file(plugin_file("t-listed"), own_file("libx.so"), 100);
    mkdir(own_file("kvslot-a-folder.so"), 0755);
    struct listed listed = {0};
    assert_int_equal(kvs_backend_list(list_one, &listed), KVS_OK);
    snprintf(line, sizeof line, "t-good=%s\n", plugin_file("t-good"));
    expect_text(listed.text, line);
    snprintf(line, sizeof line, "\nt-listed=%s\n", plugin_file("t-listed"));
    expect_text(listed.text, line);
    snprintf(line, sizeof line, "a-first=%s\n", own_file("kvslot-a-first.so"));
    expect_text(listed.text, line); /* not loaded, so nobody knows that it is bad */
    expect_no_text(listed.text, "a-folder");
    expect_no_text(listed.text, "Upper");
    expect_no_text(listed.text, "libx");
    assert_false(is_mapped(plugin_file("t-listed")));
    struct listed two = {.stop_at = 2};
    assert_int_equal(kvs_backend_list(list_one, &two), 77);
    assert_int_equal(two.n, 2);
    assert_int_equal(kvs_backend_list(NULL, NULL), KVS_INVALID_PARAM);
    setenv("KVSLOT_PLUGIN_PATH", plugins, 1);
}

/* KVS-REQ-439. Who is not privileged may load from anywhere. */
static void folders_that_others_may_write_to(void **state)
{
    (void)state;
    bool root = geteuid() == 0;
    static const struct {
        mode_t folder, file;
        int group;
        const char *text; /* NULL: fine for root too */
    } rows[] = {
        {0755, 0755, 0, NULL},
        {0775, 0755, 0, NULL},
        {0777, 0755, 0, "everybody (o+w), mode 0777"},
        {01777, 0755, 0, "everybody (o+w), mode 1777"},
        {0757, 0755, 0, "everybody (o+w)"},
        {0775, 0755, 12345, "its group (g+w), mode 0775"},
        {0755, 0766, 0, "kvslot-t-listed.so' is writable by everybody"},
        {0755, 0775, 12345, "kvslot-t-listed.so' is writable by its group"},
    };
    assert_int_equal(mkdir(own_file("open"), 0755), 0);
    assert_int_equal(mkdir(own_file("closed"), 0755), 0);
    assert_int_equal(symlink("../open/kvslot-t-listed.so", own_file("closed/kvslot-t-listed.so")), 0);
    copy_file(plugin_file("t-listed"), own_file("open/kvslot-t-listed.so"), SIZE_MAX);
    /* Refused ones first, as what is loaded stays. */
    for (size_t i = sizeof rows / sizeof rows[0]; i-- > 0;) {
        gid_t group = rows[i].group ? (gid_t)rows[i].group : getegid();
        assert_int_equal(chown(own_file("open"), (uid_t)-1, root ? group : getegid()), 0);
        assert_int_equal(chown(own_file("open/kvslot-t-listed.so"), (uid_t)-1, root ? group : getegid()), 0);
        assert_int_equal(chmod(own_file("open"), rows[i].folder), 0);
        assert_int_equal(chmod(own_file("open/kvslot-t-listed.so"), rows[i].file), 0);
        if (root && rows[i].text) {
            expect_refused(own_file("open/kvslot-t-listed.so"), KVS_ACCESS, rows[i].text);
            expect_refused(own_file("closed/kvslot-t-listed.so"), KVS_ACCESS, rows[i].text);
            assert_false(is_mapped(own_file("open/kvslot-t-listed.so")));
        } else {
            expect_load(own_file("closed/kvslot-t-listed.so"), "t-listed");
        }
    }
}

/* ---- Built in, and at once
 * ------------------------------------------------------------------------------------------------ */

static int registered_loads;

static int count_load(const struct kvs_host *host)
{
    assert_int_equal(host->api, KVS_API);
    return registered_loads++ == 0 ? KVS_NOT_SUPPORTED : KVS_OK;
}

static int some_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)ctx;
    (void)limits;
    return KVS_OK;
}

static int some_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    (void)batch;
    return KVS_OK;
}

/* KVS-REQ-441 */
static void backends_are_registered(void **state)
{
    (void)state;
    static const struct kvs_backend first = {
        KVS_BACKEND_STAMP,  .name = "built",   .version = "1",        .schemes = "built2",
        .load = count_load, .open = some_open, .submit = some_submit,
    };
    static const struct kvs_backend second = {
        KVS_BACKEND_STAMP, .name = "built", .version = "1", .open = some_open, .submit = some_submit,
    };
    static const struct kvs_backend bad = {KVS_BACKEND_STAMP, .name = "built-bad", .version = "1",
                                           .open = some_open};
    struct kvs_error err = {0};
    expect_status(kvs_backend_register(&first, &err), KVS_NOT_SUPPORTED, &err);
    expect_text(err.text, "built in: backend 'built' cannot be loaded: not supported");
    expect_status(kvs_backend_register(&first, &err), KVS_OK, &err);
    expect_status(kvs_backend_register(&first, &err), KVS_OK, &err);
    assert_int_equal(registered_loads, 2);
    expect_status(kvs_backend_register(&second, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "there is a backend 'built' already");
    expect_status(kvs_backend_register(&bad, &err), KVS_INVALID_PARAM, &err);
    expect_text(err.text, "built in: backend 'built-bad'");
    expect_status(kvs_backend_register(NULL, &err), KVS_INVALID_PARAM, &err);
    assert_ptr_equal(find("built2:"), find("built"));
    struct listed listed = {0};
    assert_int_equal(kvs_backend_list(list_one, &listed), KVS_OK);
    expect_text(listed.text, "built=built in\n");
}

static void *load_and_find(void *arg)
{
    const struct kvs_backend *b = NULL;
    int bad = 0;
    for (int i = 0; i < 20; i++) {
        bad += kvs_plugin_load(arg, NULL, NULL) != KVS_OK;
        bad += kvs_backend_find("t-threads", &b, NULL) != KVS_OK;
        bad += kvs_backend_find("t-nothing", NULL, NULL) != KVS_NOT_FOUND;
    }
    return bad ? NULL : (void *)(uintptr_t)b;
}

static void many_threads_load_one_plugin(void **state)
{
    (void)state;
    pthread_t threads[6];
    char file[1200];
    snprintf(file, sizeof file, "%s", plugin_file("t-threads"));
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_and_find, file), 0);
    const struct kvs_backend *b = NULL;
    for (int i = 0; i < 6; i++) {
        void *got;
        assert_int_equal(pthread_join(threads[i], &got), 0);
        assert_non_null(got);
        assert_true(!b || b == got);
        b = got;
    }
    assert_int_equal(b->open(NULL, NULL, NULL), 1);
}

/* What is known stays known in a child, and more can be loaded there. */
static void a_child_keeps_what_is_known(void **state)
{
    (void)state;
    expect_load(plugin_file("t-good"), "t-good");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct kvs_backend *b = NULL;
        int good = kvs_backend_find("t-good", &b, NULL) == KVS_OK && b->open(NULL, NULL, NULL) == 1;
        _exit(good && kvs_backend_find("t-nothing", NULL, NULL) == KVS_NOT_FOUND ? 0 : 9);
    }
    int rc;
    assert_int_equal(waitpid(child, &rc, 0), child);
    assert_int_equal(rc, 0);
}

static int begin(void **state)
{
    (void)state;
    plugins = getenv("SDK_TEST_PLUGINS");
    if (!plugins) {
        print_error("SDK_TEST_PLUGINS does not name the folder of the test plugins\n");
        return -1;
    }
    setenv("KVSLOT_PLUGIN_PATH", plugins, 1);
    make_folder(folder, sizeof folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[1100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backends_are_found_by_name), /* first: it sees what is not loaded yet */
        cmocka_unit_test(a_good_plugin),
        cmocka_unit_test(bad_plugins),
        cmocka_unit_test(plugins_of_an_earlier_release),
        cmocka_unit_test(files_that_are_no_plugins),
        cmocka_unit_test(files_that_were_cut_short),
        cmocka_unit_test(a_load_that_fails),
        cmocka_unit_test(one_file_by_many_paths),
        cmocka_unit_test(two_files_with_one_name),
        cmocka_unit_test(targets_that_name_no_backend),
        cmocka_unit_test(backends_are_listed_in_order),
        cmocka_unit_test(folders_that_others_may_write_to),
        cmocka_unit_test(backends_are_registered),
        cmocka_unit_test(many_threads_load_one_plugin),
        cmocka_unit_test(a_child_keeps_what_is_known),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
