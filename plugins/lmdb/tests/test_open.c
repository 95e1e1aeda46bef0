/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: paths, one environment in several engines, opening what is none, closing under load. */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* KVS-REQ-387: by whatever path, a file is open once; closing one engine does not hurt the other (BAD_RSLOT)
 */
static void test_one_environment(void **state)
{
    (void)state;
    char folder[600], dots[700], link[700], relative[700], back[2] = "";
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(dots, sizeof(dots), "%s/./../%s/.", folder, strrchr(folder, '/') + 1);
    snprintf(link, sizeof(link), "%s-link", folder);
    assert_int_equal(symlink(folder, link), 0);
    char *cwd = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    snprintf(relative, sizeof(relative), "../%s", strrchr(folder, '/') + 1);
    kvs_engine *first = open_at(folder, "");
    assert_int_equal(put_text(first, "k", "v", 1), KVS_OK);
    assert_int_equal(times_mapped(folder), 1);
    const char *const paths[] = {folder, dots, link, relative, "."};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        kvs_engine *second = open_at(paths[i], "");
        assert_int_equal(times_mapped(folder), 1);
        assert_int_equal(get_text(second, "k", back, 1), KVS_OK);
        close_engine(second);
        assert_int_equal(get_text(first, "k", back, 1), KVS_OK);
        assert_int_equal(put_text(first, "k", "w", 1), KVS_OK);
    }
    kvs_engine *last = open_at(link, "");
    close_engine(first);
    assert_int_equal(get_text(last, "k", back, 1), KVS_OK);
    assert_string_equal(back, "w");
    close_engine(last);
    assert_int_equal(times_mapped(folder), 0);
    assert_int_equal(chdir(cwd), 0);
    free(cwd);
    first = open_at(folder, ""); /* KVS-REQ-388 */
    assert_int_equal(get_text(first, "k", back, 1), KVS_OK);
    close_engine(first);
}

static void test_contradictions(void **state)
{
    (void)state;
    const char *folder = fresh_folder();
    struct kvs_error err;
    char target[1200];
    kvs_engine *first = open_at(folder, "&map_size=64KiB&map_limit=64KiB"), *second;
    snprintf(target, sizeof(target), "lmdb:%s?sync=full", folder);
    assert_int_equal(kvs_engine_open(target, NULL, 0, &second, &err), KVS_INVALID_PARAM);
    assert_non_null(strstr(err.text, "sync=none"));
    assert_non_null(strstr(err.text, "sync=full"));
    /* The larger map counts, for both. */
    static char value[200000];
    assert_int_equal(put_text(first, "k", value, sizeof(value)), KVS_FULL);
    second = open_at(folder, "&map_size=1MiB&map_limit=1MiB");
    assert_int_equal(put_text(first, "k", value, sizeof(value)), KVS_OK);
    close_engine(second);
    second = open_at(folder, "&map_size=8MiB&map_limit=16MiB");
    size_t bytes;
    assert_int_equal(mapped(folder, &bytes), 1);
    assert_int_equal(bytes, 8u << 20);
    close_engine(second);
    close_engine(first);
    second = open_at(folder, "");
    close_engine(second);
}

/* A folder that is gone and made again is another environment */
static void test_made_again(void **state)
{
    (void)state;
    char folder[600], moved[700];
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(moved, sizeof(moved), "%s-moved", folder);
    kvs_engine *old = open_at(folder, "");
    assert_int_equal(put_text(old, "k", "v", 1), KVS_OK);
    assert_int_equal(rename(folder, moved), 0);
    kvs_engine *fresh = open_at(folder, "");
    assert_int_equal(kvs_query(fresh, "k", 1, NULL, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_query(old, "k", 1, NULL, NULL), KVS_OK);
    close_engine(fresh);
    close_engine(old);
}

/* KVS-REQ-504 KVS-REQ-532: what cannot be made or opened fails the open */
static void test_create(void **state)
{
    (void)state;
    char folder[600], deep[700], wrong[800];
    struct kvs_error err;
    struct stat st;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(deep, sizeof(deep), "%s/a//b/c/", folder);
    assert_int_equal(open_fails(deep, "&create=no", &err), KVS_IO);
    assert_non_null(strstr(err.text, deep));
    assert_non_null(strstr(err.text, "create=no"));
    mode_t mask = umask(0);
    close_engine(open_at(deep, ""));
    umask(mask);
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    close_engine(open_at(deep, "&create=no"));
    snprintf(wrong, sizeof(wrong), "%sdata.mdb", deep);
    assert_int_equal(open_fails(wrong, "", &err), KVS_IO);
    assert_non_null(strstr(err.text, wrong));
    snprintf(wrong, sizeof(wrong), "%sdata.mdb/below", deep);
    assert_int_equal(open_fails(wrong, "", &err), KVS_IO);
    assert_int_equal(open_fails("/proc/1/none/such", "", &err), KVS_IO);
    assert_non_null(strstr(err.text, "/proc/1/none"));
    assert_non_null(strstr(err.text, strerror(ENOENT)));
}

/* A folder that this process may not look into. The superuser may, so that a child gives that up. KVS-REQ-009
 */
static void test_no_permission(void **state)
{
    (void)state;
    char folder[600], path[700];
    int how = -1;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(path, sizeof(path), "%s/within", folder);
    close_engine(open_at(path, ""));
    assert_int_equal(chmod(path, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        struct kvs_error err;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        int rc = open_fails(path, "", &err);
        _exit(rc == KVS_ACCESS && strstr(err.text, path) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(chmod(path, 0700), 0);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

/* KVS-REQ-503: with connect=lazy nothing is touched by open, and the first io says what is wrong */
static void test_lazy(void **state)
{
    (void)state;
    char folder[600], path[700];
    struct kvs_error err;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(path, sizeof(path), "%s/made", folder);
    kvs_engine *engine = open_at(path, "&connect=lazy");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(put_text(engine, "k", "v", 1), KVS_OK);
    assert_int_equal(access(path, F_OK), 0);
    close_engine(engine);
    engine = open_at("/proc/1/none", "&connect=lazy");
    assert_int_equal(kvs_get(engine, "k", 1, path, 1, &err), KVS_IO);
    assert_non_null(strstr(err.text, "/proc/1/none"));
    assert_int_equal(kvs_query(engine, "k", 1, NULL, NULL), KVS_IO); /* KVS-REQ-373: never NOT_FOUND */
    close_engine(engine);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t len)
{
    char file[1024];
    snprintf(file, sizeof(file), "%s/%s", folder, name);
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    close(fd);
}

static void test_no_environment(void **state)
{
    (void)state;
    char folder[600], file[700];
    struct kvs_error err;
    static char garbage[100000];
    for (size_t i = 0; i < sizeof(garbage); i++)
        garbage[i] = (char)(i * 2654435761u >> 24);
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    write_file(folder, "data.mdb", garbage, sizeof(garbage));
    assert_int_equal(open_fails(folder, "", &err), KVS_BACKEND);
    assert_non_null(strstr(err.text, folder));
    /* A few bytes only. */
    write_file(folder, "data.mdb", garbage, 10);
    assert_int_equal(open_fails(folder, "", &err), KVS_BACKEND);
    /* An environment that lost its end. */
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_at(folder, "");
    assert_int_equal(put_text(engine, "k", garbage, sizeof(garbage)), KVS_OK);
    close_engine(engine);
    snprintf(file, sizeof(file), "%s/data.mdb", folder);
    assert_int_equal(truncate(file, 16384), 0);
    assert_int_equal(open_fails(folder, "", &err), KVS_BACKEND);
    assert_non_null(strstr(err.text, "shorter"));
    /* A folder in its place. */
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(file, sizeof(file), "%s/data.mdb", folder);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_int_equal(open_fails(folder, "", &err), KVS_IO);
}

/* An environment whose unnamed database is no plain one. */
static void test_other_flags(void **state)
{
    (void)state;
    static const unsigned flags[] = {MDB_DUPSORT, MDB_INTEGERKEY, MDB_REVERSEKEY};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const char *folder = fresh_folder();
        MDB_env *env;
        MDB_txn *txn;
        MDB_dbi dbi;
        size_t number = 1;
        MDB_val key = {sizeof(number), &number}, value = {sizeof(number), &number};
        struct kvs_error err;
        assert_int_equal(mdb_env_create(&env), 0);
        assert_int_equal(mdb_env_open(env, folder, 0, 0600), 0);
        assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
        assert_int_equal(mdb_dbi_open(txn, NULL, flags[i], &dbi), 0);
        assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
        assert_int_equal(mdb_txn_commit(txn), 0);
        mdb_env_close(env);
        assert_int_equal(open_fails(folder, "", &err), KVS_NOT_SUPPORTED);
        assert_non_null(strstr(err.text, folder));
        assert_non_null(strstr(err.text, "plain"));
    }
}

/* KVS-REQ-290 KVS-REQ-292: close drains what the workers do; nothing grows */
static void test_close_under_load(void **state)
{
    (void)state;
    enum { N = 64 };
    char folder[600];
    static char from[N][1000], to[N][1000];
    struct kvs_key keys[N];
    char names[N][8];
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof(names[i]), "k%zu", i);
        keys[i] = (struct kvs_key){names[i], strlen(names[i])};
    }
    for (int round = 0; round < 100; round++) {
        kvs_engine *engine = open_at(folder, round % 2 ? "&map_size=64KiB&map_limit=64KiB" : "");
        kvs_xfer *writes = prep_batch(engine, KVS_WRITE, keys, N, from[0], 1000, NULL, NULL);
        kvs_xfer *reads = prep_batch(engine, KVS_READ, keys, N, to[0], 1000, NULL, NULL);
        kvs_xfer_post(round % 3 == 0 ? reads : writes);
        kvs_xfer_post(round % 3 == 0 ? writes : reads);
        close_engine(engine);
        assert_int_not_equal(kvs_xfer_check(writes), KVS_IN_PROG);
        assert_int_not_equal(kvs_xfer_check(reads), KVS_IN_PROG);
        assert_int_equal(kvs_xfer_release(reads, 0), KVS_OK);
        assert_int_equal(kvs_xfer_release(writes, 0), KVS_OK);
    }
    assert_int_equal(times_mapped(folder), 0);
}

/* The default, with every write on the disk. */
static void test_sync(void **state)
{
    (void)state;
    char target[700], back[2] = "";
    kvs_engine *engine;
    snprintf(target, sizeof(target), "lmdb:%s", fresh_folder());
    assert_int_equal(kvs_engine_open(target, NULL, 0, &engine, NULL), KVS_OK);
    assert_int_equal(put_text(engine, "k", "v", 1), KVS_OK);
    close_engine(engine);
    assert_int_equal(kvs_engine_open(target, NULL, 0, &engine, NULL), KVS_OK);
    assert_int_equal(get_text(engine, "k", back, 1), KVS_OK);
    close_engine(engine);
}

/* KVS-REQ-384: the lock file is written through a map, so that it has all its blocks before the disk can be
 * full */
static void test_lock_file_has_its_blocks(void **state)
{
    (void)state;
    char file[700];
    struct stat st;
    const char *folder = fresh_folder();
    snprintf(file, sizeof(file), "%s/lock.mdb", folder);
    close_engine(open_at(folder, ""));
    assert_int_equal(stat(file, &st), 0);
    assert_true(st.st_size > 0);
    assert_true((uint64_t)st.st_blocks * 512 >= (uint64_t)st.st_size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_file_has_its_blocks),
        cmocka_unit_test(test_one_environment),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_made_again),
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_no_permission),
        cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_no_environment),
        cmocka_unit_test(test_other_flags),
        cmocka_unit_test(test_close_under_load),
        cmocka_unit_test(test_sync),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
