/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: what its parameters do, and which of them two engines of a process must have in common. */
#include "disk.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char *in(const char *folder, const char *name)
{
    static char file[1024];
    snprintf(file, sizeof(file), "%s/%s", folder, name);
    return file;
}

static mode_t mode_of(const char *file)
{
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    return st.st_mode & 0777;
}

/* Nothing is made, nothing is written, and that is known before. */
static void test_read_only(void **state)
{
    (void)state;
    char folder[600], path[700], back[2];
    struct kvs_error err;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(path, sizeof(path), "%s/none", folder);
    assert_int_equal(open_fails(path, "&read_only=yes", &err), KVS_IO);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(open_fails(folder, "&read_only=yes", &err), KVS_IO);
    assert_int_equal(access(in(folder, "data.mdb"), F_OK), -1);
    kvs_engine *engine = open_at(folder, "");
    assert_int_equal(put_text(engine, "k", "v", 1), KVS_OK);
    close_engine(engine);
    engine = open_at(folder, "&read_only=yes");
    assert_int_equal(get_text(engine, "k", back, 1), KVS_OK);
    assert_int_equal(back[0], 'v');
    assert_int_equal(kvs_put(engine, "k", 1, "w", 1, &err), KVS_NOT_SUPPORTED);
    assert_int_equal(kvs_remove(engine, "k", 1, NULL), KVS_NOT_SUPPORTED);
    struct kvs_limits limits = {.size = sizeof(limits)};
    assert_int_equal(kvs_engine_limits(engine, &limits), KVS_OK);
    assert_true(limits.caps_none & KVS_CAP_WRITE);
    /* Another process writes; this one reads what it wrote. */
    assert_int_equal(run_self("write", folder), 0);
    assert_int_equal(get_text(engine, "k", back, 1), KVS_OK);
    assert_int_equal(back[0], 'w');
    close_engine(engine);
}

static void test_mode(void **state)
{
    (void)state;
    char folder[600];
    static const char *const wrong[] = {"", "rw", "08", "1777", "0o600", "-1", "00600"};
    struct kvs_error err;
    mode_t mask = umask(0);
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    close_engine(open_at(folder, "&mode=0640"));
    assert_int_equal(mode_of(in(folder, "data.mdb")), 0640);
    assert_int_equal(mode_of(in(folder, "lock.mdb")), 0640);
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    close_engine(open_at(folder, ""));
    assert_int_equal(mode_of(in(folder, "data.mdb")), 0600);
    assert_int_equal(mode_of(in(folder, "lock.mdb")), 0600);
    umask(mask);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char more[64];
        snprintf(more, sizeof(more), "&mode=%s", wrong[i]);
        assert_int_equal(open_fails(folder, more, &err), KVS_INVALID_PARAM);
        assert_non_null(strstr(err.text, "mode"));
        assert_non_null(strstr(err.text, "0777"));
    }
}

static int count(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)key;
    (void)len;
    (void)size;
    ++*(int *)arg;
    return 0;
}

/* Databases of one environment have keys of their own. */
static void test_database(void **state)
{
    (void)state;
    char folder[600], back, more[64];
    struct kvs_error err;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *a = open_at(folder, "&database=a"), *b = open_at(folder, "&database=b");
    assert_int_equal(put_text(a, "k", "a", 1), KVS_OK);
    assert_int_equal(put_text(b, "k", "b", 1), KVS_OK);
    assert_int_equal(put_text(b, "l", "l", 1), KVS_OK);
    assert_int_equal(get_text(a, "k", &back, 1), KVS_OK);
    assert_int_equal(back, 'a');
    int keys = 0;
    assert_int_equal(kvs_list(a, "", 0, count, &keys, NULL), KVS_OK);
    assert_int_equal(keys, 1);
    assert_int_equal(kvs_remove(a, "k", 1, NULL), KVS_OK);
    assert_int_equal(get_text(b, "k", &back, 1), KVS_OK);
    assert_int_equal(back, 'b');
    close_engine(a);
    close_engine(b);
    b = open_at(folder, "&database=b&create=no");
    assert_int_equal(get_text(b, "l", &back, 1), KVS_OK);
    assert_int_equal(open_fails(folder, "&database=c&create=no", &err), KVS_NOT_FOUND);
    assert_non_null(strstr(err.text, "'c'"));
    assert_int_equal(open_fails(folder, "&database=", &err), KVS_INVALID_PARAM);
    /* As many as a process may have: what fails leaves no place behind. */
    kvs_engine *many[31];
    for (int i = 0; i < 31; i++) {
        snprintf(more, sizeof(more), "&database=n%d", i);
        many[i] = open_at(folder, more);
    }
    assert_int_equal(open_fails(folder, "&database=over", &err), KVS_FULL);
    assert_non_null(strstr(err.text, "32"));
    for (int i = 0; i < 31; i++)
        close_engine(many[i]);
    close_engine(b);
    close_engine(open_at(folder, "&database=over"));
}

/* A name that a value has, and one of another kind of database. */
static void test_no_database(void **state)
{
    (void)state;
    char folder[600];
    struct kvs_error err;
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_at(folder, "");
    assert_int_equal(put_text(engine, "value", "v", 1), KVS_OK);
    assert_int_equal(open_fails(folder, "&database=value", &err), KVS_NOT_SUPPORTED);
    assert_non_null(strstr(err.text, "'value'"));
    close_engine(engine);
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 1), 0);
    assert_int_equal(mdb_env_open(env, folder, 0, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, "sorted", MDB_CREATE | MDB_DUPSORT, &dbi), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
    assert_int_equal(open_fails(folder, "&database=sorted", &err), KVS_NOT_SUPPORTED);
    assert_non_null(strstr(err.text, "duplicates"));
}

/* KVS-REQ-387: what there can be only one of is refused with both values */
static void test_contradictions(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
    } rows[] = {{"sync=meta", "sync=full"},
                {"read_only=yes", "read_only=no"},
                {"read_only=no", "read_only=yes"},
                {"writemap=yes", "writemap=no"},
                {"max_readers=10", "max_readers=20"}};
    char folder[600], target[700];
    struct kvs_error err;
    kvs_engine *first, *second;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    close_engine(open_at(folder, ""));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(target, sizeof(target), "lmdb:%s?map_size=1MiB&%s", folder, rows[i].first);
        assert_int_equal(kvs_engine_open(target, NULL, 0, &first, &err), KVS_OK);
        snprintf(target, sizeof(target), "lmdb:%s?map_size=1MiB&%s", folder, rows[i].second);
        assert_int_equal(kvs_engine_open(target, NULL, 0, &second, &err), KVS_INVALID_PARAM);
        assert_non_null(strstr(err.text, rows[i].first));
        assert_non_null(strstr(err.text, rows[i].second));
        close_engine(first);
    }
}

/* What is not ours, but this process has it mapped: LMDB's locks would not stand both. */
static void test_mapped_elsewhere(void **state)
{
    (void)state;
    char folder[600];
    struct kvs_error err;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    close_engine(open_at(folder, ""));
    int fd = open(in(folder, "data.mdb"), O_RDONLY);
    assert_true(fd >= 0);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    close(fd);
    assert_int_equal(open_fails(folder, "", &err), KVS_NOT_ALLOWED);
    assert_non_null(strstr(err.text, folder));
    assert_int_equal(munmap(map, 4096), 0);
    close_engine(open_at(folder, ""));
}

/* KVS-REQ-384: what is written through the map has its space on the disk before; without any it is FULL, and
 * no signal */
static void test_writemap(void **state)
{
    (void)state;
    char folder[600];
    struct kvs_error err;
    struct stat st;
    size_t len = (size_t)3 << 20;
    char *value = malloc(len), *back = malloc(len);
    memset(value, 'v', len);
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    disk_fail_allocation(ENOSPC);
    assert_int_equal(open_fails(folder, "&writemap=yes&map_size=1MiB", &err), KVS_FULL);
    disk_fail_allocation(EOPNOTSUPP);
    assert_int_equal(open_fails(folder, "&writemap=yes&map_size=1MiB", &err), KVS_NOT_SUPPORTED);
    assert_non_null(strstr(err.text, "writemap"));
    disk_mend();
    kvs_engine *engine = open_at(folder, "&writemap=yes&map_size=1MiB");
    assert_int_equal(stat(in(folder, "data.mdb"), &st), 0);
    assert_true(st.st_blocks * 512 >= 1 << 20);
    disk_fail_allocation(ENOSPC);
    assert_int_equal(kvs_put(engine, "k", 1, value, len, &err), KVS_FULL);
    assert_int_equal(put_text(engine, "small", value, 1000), KVS_OK);
    disk_mend();
    assert_int_equal(put_text(engine, "k", value, len), KVS_OK);
    assert_int_equal(stat(in(folder, "data.mdb"), &st), 0);
    assert_true(st.st_size > (off_t)len);
    assert_true(st.st_blocks * 512 >= st.st_size);
    close_engine(engine);
    engine = open_at(folder, "&writemap=yes&map_size=1MiB");
    assert_int_equal(get_text(engine, "k", back, len), KVS_OK);
    assert_memory_equal(back, value, len);
    close_engine(engine);
    engine = open_at(folder, ""); /* another time without */
    assert_int_equal(get_text(engine, "small", back, 1000), KVS_OK);
    close_engine(engine);
    free(value);
    free(back);
}

/* It grows by less than the double where there is no space for that. */
static void test_writemap_grows_by_less(void **state)
{
    (void)state;
    static char value[500000];
    char key[16];
    disk_mend();
    kvs_engine *engine = open_at(fresh_folder(), "&writemap=yes&map_size=4MiB");
    disk_limit_allocation(6 << 20);
    for (int i = 0; i < 9; i++) { /* more than 4 MiB, and less than 6 */
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_text(engine, key, value, sizeof(value)), KVS_OK);
    }
    disk_mend();
    close_engine(engine);
}

static bool marked(const char *folder)
{
    return access(in(folder, "not-synced"), F_OK) == 0;
}

/* The mark as a machine leaves it that goes down: of another start. */
static void leave_mark(const char *folder)
{
    FILE *file = fopen(in(folder, "not-synced"), "w");
    assert_non_null(file);
    assert_true(fputs("00000000-0000-0000-0000-000000000000", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remember(void *arg, int level, const char *text)
{
    (void)level;
    if (strstr(text, "made anew") != NULL)
        ++*(int *)arg;
}

/* Under sync=none a crash of the machine may leave anything: then the environment is made anew, and that is
 * said. */
static void test_crash_of_the_machine(void **state)
{
    (void)state;
    static const char *const durable[] = {"full", "meta"};
    char folder[600], target[700], back;
    struct kvs_error err;
    kvs_engine *engine, *other;
    int told = 0;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    engine = open_at(folder, "");
    assert_true(marked(folder));
    assert_int_equal(put_text(engine, "k", "v", 1), KVS_OK);
    close_engine(engine);
    assert_false(marked(folder)); /* flushed */
    engine = open_at(folder, "&read_only=yes");
    assert_false(marked(folder));
    assert_int_equal(get_text(engine, "k", &back, 1), KVS_OK);
    close_engine(engine);
    /* A process that is killed takes nothing: the mark is of this start. */
    assert_int_equal(run_self("write-and-die", folder), 3);
    assert_true(marked(folder));
    engine = open_at(folder, "");
    assert_int_equal(get_text(engine, "k", &back, 1), KVS_OK);
    close_engine(engine);
    assert_false(marked(folder));
    leave_mark(folder);
    for (size_t i = 0; i < 2; i++) {
        snprintf(target, sizeof(target), "lmdb:%s?sync=%s", folder, durable[i]);
        assert_int_equal(kvs_engine_open(target, NULL, 0, &other, &err), KVS_BACKEND);
        assert_non_null(strstr(err.text, folder));
        assert_non_null(strstr(err.text, "sync=none"));
    }
    kvs_set_log(remember, &told, KVS_LOG_WARN);
    engine = open_at(folder, "");
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
    assert_int_equal(told, 1);
    assert_int_equal(kvs_query(engine, "k", 1, NULL, NULL), KVS_NOT_FOUND);
    assert_int_equal(put_text(engine, "k", "v", 1), KVS_OK);
    close_engine(engine);
    assert_false(marked(folder));
    engine = open_at(folder, "");
    assert_int_equal(get_text(engine, "k", &back, 1), KVS_OK);
    close_engine(engine);
}

/* What could not be opened is not held against its next user. */
static void test_no_mark_of_a_failure(void **state)
{
    (void)state;
    char folder[600];
    struct kvs_error err;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    FILE *file = fopen(in(folder, "data.mdb"), "w");
    assert_non_null(file);
    assert_true(fputs("no environment", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(open_fails(folder, "", &err), KVS_BACKEND);
    assert_false(marked(folder));
}

/* The mark stays as long as another process has the environment open. */
static void test_mark_is_shared(void **state)
{
    (void)state;
    char folder[600];
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_at(folder, "");
    assert_int_equal(run_self("write", folder), 0);
    assert_true(marked(folder));
    close_engine(engine);
    assert_false(marked(folder));
}

static int write_one(const char *folder, bool die)
{
    kvs_engine *engine = open_at(folder, "");
    int status = put_text(engine, "k", "w", 1);
    if (die)
        _exit(3);
    close_engine(engine);
    return status == KVS_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        return write_one(argv[2], false);
    if (argc == 3 && strcmp(argv[1], "write-and-die") == 0)
        return write_one(argv[2], true);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_mode),
        cmocka_unit_test(test_database),
        cmocka_unit_test(test_no_database),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_mapped_elsewhere),
        cmocka_unit_test(test_writemap),
        cmocka_unit_test(test_writemap_grows_by_less),
        cmocka_unit_test(test_crash_of_the_machine),
        cmocka_unit_test(test_no_mark_of_a_failure),
        cmocka_unit_test(test_mark_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
