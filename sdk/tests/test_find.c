/* SPDX-License-Identifier: Apache-2.0 */
/* Finding backends: names and targets, folders, the list, and what is built in. Each test uses plugins of its
 * own, since what is loaded stays. */
#include "plugin_files.h"

#include <pthread.h>
#include <sys/wait.h>

/* ---- Folders ---- */

/* KVS-REQ-441 KVS-REQ-442 */
static void backends_are_found_by_name(void **state)
{
    (void)state;
    char path[3000];
    unsetenv("KVSLOT_PLUGIN_PATH");
    /* Beside the running library, which here is part of the program. */
    char beside[1100];
    ssize_t len = readlink("/proc/self/exe", beside, sizeof beside - 20);
    assert_true(len > 0);
    beside[len] = '\0';
    strcpy(strrchr(beside, '/') + 1, "kvslot");
    struct kvs_error where = not_found("t-found", KVS_NOT_FOUND, "looked for kvslot-t-found.so in ");
    expect_text(where.text, beside);
    *strrchr(beside, '/') = '\0';
    strcpy(strrchr(beside, '/') + 1, "lib/kvslot");
    expect_text(where.text, beside);
    snprintf(path, sizeof path, "::/nonexistent/folder:%s::%s:", folder, plugins);
    setenv("KVSLOT_PLUGIN_PATH", path, 1);
    assert_false(is_mapped(plugin_file("t-found")));
    struct kvs_error err =
        not_found("t-fuond:/x", KVS_NOT_FOUND, "there is no backend 't-fuond' (did you mean 't-found'?)");
    expect_text(err.text, "kvslot-t-fuond.so in /nonexistent/folder, ");
    expect_text(err.text, folder);
    expect_text(err.text, plugins);
    assert_false(is_mapped(plugin_file("t-found"))); /* nothing is loaded to be looked at */
    const struct kvs_backend *b = find("t-found:/x");
    assert_string_equal(b->name, "t-found");
    assert_ptr_equal(find("t-found:x/y:z"), b); /* KVS-REQ-526 */
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

/* ---- Built in, and at once ---- */

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

static int in_load[5];
static int list_none(void *arg, const char *name, const char *where)
{
    (void)arg, (void)name, (void)where;
    return 1;
}

static int load_that_asks(const struct kvs_host *host)
{
    static const struct kvs_backend inner = {
        KVS_BACKEND_STAMP, .name = "inner", .version = "1", .open = some_open, .submit = some_submit,
    };
    struct kvs_error err = {0};
    kvs_engine *engine;
    (void)host;
    in_load[0] = kvs_backend_find("built", NULL, &err);
    expect_text(err.text, "inside a backend's load()");
    in_load[1] = kvs_backend_register(&inner, NULL);
    in_load[2] = kvs_plugin_load("/nowhere/kvslot-x.so", NULL, NULL);
    in_load[3] = kvs_backend_list(list_none, NULL);
    in_load[4] = kvs_engine_open("built", NULL, 0, &engine, NULL);
    return KVS_OK;
}

/* KVS-REQ-449: what would wait for itself is refused, and all is as usual afterwards */
static void loads_that_ask_for_backends(void **state)
{
    (void)state;
    static const struct kvs_backend asking = {
        KVS_BACKEND_STAMP,      .name = "asking",  .version = "1",
        .load = load_that_asks, .open = some_open, .submit = some_submit,
    };
    struct kvs_error err = {0};
    expect_status(kvs_backend_register(&asking, &err), KVS_OK, &err);
    for (size_t i = 0; i < sizeof in_load / sizeof in_load[0]; i++)
        assert_int_equal(in_load[i], KVS_NOT_ALLOWED);
    expect_status(kvs_backend_find("asking", NULL, &err), KVS_OK, &err);
    expect_status(kvs_backend_find("inner", NULL, &err), KVS_NOT_FOUND, &err);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backends_are_found_by_name),   cmocka_unit_test(targets_that_name_no_backend),
        cmocka_unit_test(backends_are_listed_in_order), cmocka_unit_test(folders_that_others_may_write_to),
        cmocka_unit_test(backends_are_registered),      cmocka_unit_test(many_threads_load_one_plugin),
        cmocka_unit_test(a_child_keeps_what_is_known),  cmocka_unit_test(loads_that_ask_for_backends),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
