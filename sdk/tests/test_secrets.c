/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets that are kept in files and descriptors. */
#include "resolve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[4000];

static const char *write_file(const char *name, const void *data, size_t len)
{
    static char path[4100];
    snprintf(path, sizeof path, "@%s/%s", folder, name);
    FILE *f = fopen(path + 1, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void expect_secret(const char *given, const char *want)
{
    struct kvs_params *params = resolve(&redis, "redis", GIVEN({"password", given}));
    expect_str(params, "password", want);
    kvs_params_free(params);
}

static void expect_no_secret(const char *given, const char *why)
{
    struct kvs_error err = refused(&redis, "redis", GIVEN({"password", given}));
    expect_text(err.text, "parameter 'password'");
    expect_text(err.text, given + 1);
    expect_text(err.text, why);
    expect_no_text(err.text, "hunter2");
}

/* KVS-REQ-511 */
static void secrets_from_files(void **state)
{
    (void)state;
    expect_secret(write_file("a", "hunter2", 7), "hunter2");
    expect_secret(write_file("a", "hunter2\n", 8), "hunter2");
    expect_secret(write_file("a", "hunter2\n\n", 9), "hunter2\n");
    expect_secret(write_file("a", "hunter2\r\n", 9), "hunter2\r");
    expect_secret(write_file("a", "@fd:0", 5), "@fd:0");
    expect_secret(write_file("a", "", 0), "");
    expect_secret(write_file("a", "\n", 1), "");
    static char large[65538];
    memset(large, 'x', sizeof large);
    const char *path = write_file("a", large, 65536);
    struct kvs_params *params = resolve(&redis, "redis", GIVEN({"password", path}));
    const char *text;
    size_t len;
    kvs_params_str(params, "password", &text, &len);
    assert_int_equal(len, 65536);
    kvs_params_free(params);
    expect_no_secret(write_file("a", large, 65537), "more than 64KiB");
    expect_no_secret(write_file("a", "hunter2\0", 8), "NUL");
    expect_no_secret("@/nonexistent/file", "No such file");
    char given[4100];
    snprintf(given, sizeof given, "@%s", folder);
    expect_no_secret(given, "Is a directory");
    expect_no_secret("@", "cannot be read");
    /* In the target, and in the environment. */
    char target[4200];
    snprintf(target, sizeof target, "redis://h?password=%s", write_file("a", "hunter2\n", 8));
    params = resolve(&redis, target, NULL);
    expect_str(params, "password", "hunter2");
    kvs_params_free(params);
    setenv("TEST_PASSWORD", path, 1);
    params = resolve(&redis, "redis", NULL);
    expect_str(params, "password", "hunter2");
    kvs_params_free(params);
    unsetenv("TEST_PASSWORD");
    /* A number is a secret too, and is checked without being shown. */
    params = resolve(&redis, "redis", GIVEN({"pin", write_file("a", "42\n", 3)}));
    expect_i64(params, "pin", 42);
    kvs_params_free(params);
    struct kvs_error err = refused(&redis, "redis", GIVEN({"pin", write_file("a", "hunter2", 7)}));
    expect_no_text(err.text, "hunter2");
}

/* KVS-REQ-511 */
static void secrets_from_descriptors(void **state)
{
    (void)state;
    int ends[2];
    char given[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(given, sizeof given, "@fd:%d", ends[0]);
    assert_int_equal(write(ends[1], "hunter2\n", 8), 8);
    close(ends[1]);
    expect_secret(given, "hunter2");
    assert_int_equal(fcntl(ends[0], F_GETFD) >= 0, 1); /* the descriptor stays the caller's */
    expect_no_secret(given, "nothing left");
    close(ends[0]);
    expect_no_secret(given, "Bad file descriptor");
    expect_no_secret("@fd:", "not fd: and the number");
    expect_no_secret("@fd:x", "not fd: and the number");
    expect_no_secret("@fd:-1", "not fd: and the number");
    expect_no_secret("@fd:1x", "not fd: and the number");
    expect_no_secret("@fd:99999999999", "not fd: and the number");
}

/* KVS-REQ-512 */
static void other_parameters_are_plain_text(void **state)
{
    (void)state;
    struct kvs_params *params = resolve(
        &redis, "redis", GIVEN({"user", "@/nonexistent/file"}, {"host", "@fd:0"}, {"prefix", "@fd:99"}));
    expect_str(params, "user", "@/nonexistent/file");
    expect_str(params, "host", "@fd:0");
    expect_str(params, "prefix", "@fd:99");
    kvs_params_free(params);
}

static int begin(void **state)
{
    (void)state;
    make_folder(folder, sizeof folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char path[4100];
    snprintf(path, sizeof path, "%s/a", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_from_files),
        cmocka_unit_test(secrets_from_descriptors),
        cmocka_unit_test(other_parameters_are_plain_text),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
