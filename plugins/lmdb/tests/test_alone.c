/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: the lock that keeps other processes from having an environment open, alone. */
#include "../alone.h"
#include "util.h"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/wait.h>

/* Could another process open it now? A child tries to get the lock that LMDB asks for. */
static bool others_may_open(const char *folder)
{
    char file[700];
    int wstatus;
    snprintf(file, sizeof(file), "%s/lock.mdb", folder);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
        int fd = open(file, O_RDWR | O_CLOEXEC);
        _exit(fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &wstatus, 0), child);
    assert_true(WIFEXITED(wstatus));
    return WEXITSTATUS(wstatus) == 0;
}

static void write_once(struct alone *alone, const char *folder, bool keep)
{
    assert_true(alone_begin(alone));
    assert_false(others_may_open(folder));
    alone_end(alone, keep);
}

/* The lock comes back after each write, until so many have followed each other that it is kept; then after
 * none, until its time is over; then it is not kept again at once. */
static void test_kept(void **state)
{
    (void)state;
    char folder[600];
    struct alone alone = {.fd = -1};
    MDB_env *mdb;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    assert_int_equal(mdb_env_create(&mdb), 0);
    assert_int_equal(mdb_env_open(mdb, folder, 0, 0600), 0);
    alone_open(&alone, folder);
    for (int i = 0; i < 20; i++) { /* nobody would see to its end */
        write_once(&alone, folder, false);
        assert_true(others_may_open(folder));
    }
    for (int round = 0; round < 2; round++) {
        int n = 0;
        assert_int_equal(alone_is_due(&alone), round == 0);
        while (!alone_is_due(&alone) && n++ < 1000) {
            write_once(&alone, folder, true);
            assert_true(others_may_open(folder));
        }
        assert_true(round == 0 || (n > 3 && n < 100));
        for (int i = 0; i < 3; i++) {
            write_once(&alone, folder, true);
            assert_false(others_may_open(folder));
        }
        atomic_store(&alone.over, true);
        write_once(&alone, folder, true);
        assert_true(others_may_open(folder));
    }
    while (others_may_open(folder))
        write_once(&alone, folder, true);
    alone_let_go(&alone);
    assert_true(others_may_open(folder));
    mdb_env_close(mdb);
    alone_close(&alone);
}

/* Beside another process nothing is done at once. */
static void test_not_alone(void **state)
{
    (void)state;
    char folder[600], byte;
    int ready[2], end[2];
    struct alone alone = {.fd = -1};
    MDB_env *mdb;
    assert_false(alone_begin(&alone)); /* nothing is known */
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool open = mdb_env_create(&mdb) == 0 && mdb_env_open(mdb, folder, 0, 0600) == 0;
        close(end[1]);
        _exit(open && write(ready[1], "", 1) == 1 && read(end[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ready[1]);
    close(end[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(mdb_env_create(&mdb), 0);
    assert_int_equal(mdb_env_open(mdb, folder, 0, 0600), 0);
    alone_open(&alone, folder);
    assert_false(alone_begin(&alone));
    close(end[1]);
    close(ready[0]);
    int wstatus;
    assert_int_equal(waitpid(child, &wstatus, 0), child);
    assert_true(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0);
    assert_true(alone_begin(&alone));
    alone_end(&alone, false);
    mdb_env_close(mdb);
    alone_close(&alone);
    alone_open(&alone, folder);
    assert_false(alone_begin(&alone)); /* LMDB has no lock of its own for us */
    alone_close(&alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_not_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
