/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of loading and finding share: the plugins built from plugins/plugin.c, and a folder of the
 * test's own. */
#ifndef KVS_TESTS_PLUGIN_FILES_H
#define KVS_TESTS_PLUGIN_FILES_H

#include "expect.h"

#include <dlfcn.h>
#include <kvslot/backend.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[1000]; /* the tests' own, made new */
static const char *plugins;

static inline const char *plugin_file(const char *name)
{
    static char path[2][1200];
    static int turn;
    char *out = path[turn ^= 1];
    snprintf(out, sizeof path[0], "%s/kvslot-%s.so", plugins, name);
    return out;
}

static inline const char *own_file(const char *name)
{
    static char path[2][1200];
    static int turn;
    char *out = path[turn ^= 1];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

/* The first `most` bytes of a file. */
static inline void copy_file(const char *from, const char *to, size_t most)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (int c; most > 0 && (c = getc(in)) != EOF; most--)
        putc(c, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static inline size_t size_of(const char *file)
{
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    return (size_t)st.st_size;
}

static inline void expect_load(const char *file, const char *want)
{
    const char *name = "?";
    struct kvs_error err = {0};
    expect_status(kvs_plugin_load(file, &name, &err), KVS_OK, &err);
    assert_string_equal(name, want);
}

static inline struct kvs_error expect_refused(const char *file, int status, const char *text)
{
    const char *name = "?";
    struct kvs_error err = {0};
    expect_status(kvs_plugin_load(file, &name, &err), status, &err);
    assert_null(name);
    expect_text(err.text, text);
    return err;
}

static inline const struct kvs_backend *find(const char *target)
{
    const struct kvs_backend *backend = NULL;
    struct kvs_error err = {0};
    expect_status(kvs_backend_find(target, &backend, &err), KVS_OK, &err);
    assert_non_null(backend);
    return backend;
}

static inline struct kvs_error not_found(const char *target, int status, const char *text)
{
    const struct kvs_backend *backend = (const void *)plugins;
    struct kvs_error err = {0};
    expect_status(kvs_backend_find(target, &backend, &err), status, &err);
    assert_null(backend);
    expect_text(err.text, text);
    return err;
}

static inline bool is_mapped(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
}

static inline int begin(void **state)
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

static inline int end(void **state)
{
    (void)state;
    char command[1100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
