/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: opening beside a process that writes, and in a forked child. */
#include "../../../sdk/tests/quiet.h"
#include "util.h"

#include <lmdb.h>
#include <signal.h>
#include <sys/wait.h>

static int child_uses(kvs_engine *inherited, const char *folder)
{
    kvs_engine *mine;
    char target[700], back[2];
    snprintf(target, sizeof(target), "lmdb:%s?sync=none", folder);
    int maps = times_mapped(folder);
    bool ok = put_text(inherited, "k", "x", 1) == KVS_NOT_ALLOWED;
    ok = ok && kvs_engine_open(target, NULL, 0, &mine, NULL) == KVS_OK;
    ok = ok && times_mapped(folder) == maps + 1; /* its own beside the inherited one */
    ok = ok && get_text(mine, "k", back, 1) == KVS_OK && put_text(mine, "c", "c", 1) == KVS_OK;
    ok = ok && kvs_engine_close(mine, WAIT, NULL) == KVS_OK;
    return ok && kvs_engine_close(inherited, WAIT, NULL) == KVS_OK ? 0 : 1;
}

/* KVS-REQ-459 KVS-REQ-460: a child opens anew, and leaves the parent's alone. At the fork the environment is
 * open, but no worker runs: ThreadSanitizer cannot follow a child that has lost threads. */
static void test_fork(void **state)
{
    (void)state;
    char folder[600], back[2] = "";
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_at(folder, "");
    assert_int_equal(put_text(engine, "k", "p", 1), KVS_OK);
    close_engine(engine);
    static kvs_engine *volatile inherited; /* a child leaves its memory alone: valgrind is to find it there */
    for (int i = 0; i < 3; i++) {
        engine = open_at(folder, "");
        inherited = engine;
        let_others_sleep();
        pid_t child = fork();
        if (child == 0)
            _exit(child_uses(inherited, folder));
        int wstatus;
        assert_int_equal(waitpid(child, &wstatus, 0), child);
        assert_true(WIFEXITED(wstatus));
        assert_int_equal(WEXITSTATUS(wstatus), 0);
        assert_int_equal(get_text(engine, "c", back, 1), KVS_OK);
        assert_int_equal(kvs_remove(engine, "c", 1, NULL), KVS_OK);
        assert_int_equal(put_text(engine, "k", "p", 1), KVS_OK);
        close_engine(engine);
    }
}

/* Takes the writer's lock of an environment, and keeps it until it is killed. */
static pid_t lock_elsewhere(const char *folder)
{
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    let_others_sleep();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        MDB_env *mdb;
        MDB_txn *txn;
        if (mdb_env_create(&mdb) != 0 || mdb_env_open(mdb, folder, 0, 0600) != 0 ||
            mdb_txn_begin(mdb, NULL, 0, &txn) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

/* A write of one byte that was posted; *status: what post answered. */
static kvs_xfer *post_byte(kvs_engine *engine, char *byte, int *status)
{
    struct kvs_key key = {"k", 1};
    kvs_xfer *x = prep_batch(engine, KVS_WRITE, &key, 1, byte, 1, NULL, NULL);
    *status = kvs_xfer_post(x);
    return x;
}

/* KVS-REQ-109: post writes where it has to wait for nobody: neither for another process, nor for what was
 * posted before, which it does not overtake either */
static void test_write_at_once(void **state)
{
    (void)state;
    char folder[600], bytes[] = "abcde", back;
    int status;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_at(folder, "&timeout=1m"), *second = open_at(folder, "");
    kvs_xfer *x = post_byte(engine, &bytes[0], &status);
    assert_int_equal(status, KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    pid_t other = lock_elsewhere(folder); /* it can open: the lock was given back */
    kvs_xfer *xfers[2];
    for (int i = 0; i < 2; i++) {
        xfers[i] = post_byte(engine, &bytes[1 + i], &status);
        assert_int_equal(status, KVS_IN_PROG);
    }
    assert_int_equal(get_text(second, "k", &back, 1), KVS_OK);
    assert_int_equal(back, 'a');
    assert_int_equal(kill(other, SIGKILL), 0);
    assert_int_equal(waitpid(other, NULL, 0), other);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kvs_xfer_wait(xfers[i], WAIT), KVS_OK);
        assert_int_equal(kvs_xfer_release(xfers[i], 0), KVS_OK);
    }
    assert_int_equal(get_text(second, "k", &back, 1), KVS_OK);
    assert_int_equal(back, 'c');
    close_engine(second);
    close_engine(engine);
}

/* KVS-REQ-384: where many writes follow each other, others are kept from opening the environment for a while;
 * not for longer, though nothing else is written */
static void test_open_after_many_writes(void **state)
{
    (void)state;
    char folder[600], value = 'v';
    int status;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_at(folder, "");
    kvs_xfer *x = post_byte(engine, &value, &status);
    for (int i = 0; i < 50; i++) {
        if (status == KVS_IN_PROG)
            status = kvs_xfer_wait(x, WAIT);
        assert_int_equal(status, KVS_OK);
        status = kvs_xfer_post(x);
    }
    pid_t other = lock_elsewhere(folder);
    assert_int_equal(kill(other, SIGKILL), 0);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_int_equal(kvs_xfer_wait(x, WAIT), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(engine);
}

/* KVS-REQ-384 KVS-REQ-387: a write that waits for another process keeps no engine from being opened */
static void test_open_beside_a_waiting_write(void **state)
{
    (void)state;
    char folder[600], space[1] = "v", back;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    close_engine(open_at(folder, ""));
    pid_t other = lock_elsewhere(folder);
    kvs_engine *first = open_at(folder, "&timeout=1m");
    struct kvs_key key = {"k", 1};
    kvs_xfer *x = prep_batch(first, KVS_WRITE, &key, 1, space, 1, NULL, NULL);
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_xfer_wait(x, KVS_MS(100)), KVS_IN_PROG);
    kvs_engine *second = open_at(folder, "");
    assert_int_equal(get_text(second, "k", &back, 1), KVS_NOT_FOUND);
    assert_int_equal(kvs_xfer_check(x), KVS_IN_PROG);
    assert_int_equal(kill(other, SIGKILL), 0);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_int_equal(kvs_xfer_wait(x, WAIT), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(second);
    close_engine(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_at_once),
        cmocka_unit_test(test_open_after_many_writes),
        cmocka_unit_test(test_open_beside_a_waiting_write),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
