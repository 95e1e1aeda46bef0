/* SPDX-License-Identifier: Apache-2.0 */
/* The word by which a handle knows its process. */
#include "engine.h"
#include "engines.h"
#include "epoch.h"
#include "toy.h"

#include <sys/wait.h>
#include <unistd.h>

static struct kvs_backend store;

/* In the child: no assertion of cmocka, which would go on with the parent's tests. */
static int wait_for(pid_t child)
{
    int how = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    return how;
}

/* A page of its own, that the kernel wipes in a child, and never zero where there is an epoch. KVS-REQ-451 */
static void the_page(void **state)
{
    (void)state;
    uint64_t mine = kvs_epoch_begin();
    assert_int_not_equal(mine, 0);
    assert_int_equal(*kvs_epoch_word, mine);
    assert_int_equal(kvs_epoch_begin(), mine);
    assert_int_equal((uintptr_t)kvs_epoch_word % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    pid_t child = fork();
    if (child == 0) {
        bool wiped = *kvs_epoch_word == 0 && !kvs_epoch_is(mine);
        uint64_t other = kvs_epoch_begin();
        _exit(wiped && other != 0 && other != mine && *kvs_epoch_word == other ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    assert_int_equal(*kvs_epoch_word, mine);
}

/* KVS-REQ-452 */
static void an_engine_has_that_of_its_open(void **state)
{
    (void)state;
    toy_reset();
    kvs_engine *e = toy_open(&store, NULL);
    assert_int_equal(e->epoch, *kvs_epoch_word);
    pid_t child = fork();
    if (child == 0) {
        kvs_engine *own = NULL;
        int rc = kvs_engine_open("store", NULL, 0, &own, NULL);
        _exit(rc == KVS_OK && own->epoch == *kvs_epoch_word && own->epoch != e->epoch ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    assert_int_equal(e->epoch, *kvs_epoch_word);
    close_engine(e);
}

static int calls_answer(kvs_engine *e, kvs_xfer *x)
{
    struct kvs_limits limits = {.size = sizeof limits};
    int rc = kvs_xfer_check(x);
    bool not_allowed = rc == KVS_NOT_ALLOWED;
    assert_int_equal(kvs_engine_progress(e), not_allowed ? rc : KVS_OK);
    assert_int_equal(kvs_engine_limits(e, &limits), not_allowed ? rc : KVS_OK);
    assert_int_equal(kvs_xfer_result(x, 0, NULL, NULL, NULL), not_allowed ? rc : KVS_OK);
    assert_int_equal(kvs_xfer_cancel(x), not_allowed ? rc : KVS_OK);
    return rc;
}

/* Nothing but this word is asked: with another number in it, be it smaller or larger, this process is no more
 * that of the handle. KVS-REQ-453 */
static void one_word_decides(void **state)
{
    (void)state;
    toy_reset();
    kvs_engine *e = toy_open(&store, NULL);
    char buf[8] = "";
    struct ask a;
    ask_for(&a, KVS_WRITE, 1, buf, sizeof buf);
    kvs_xfer *x = prepared(e, &a);
    volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)kvs_epoch_word;
    const uint64_t mine = *word;
    const uint64_t others[] = {0, mine + 1, mine - 1, UINT64_MAX, mine | UINT64_C(1) << 32};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        *word = others[i];
        int rc = calls_answer(e, x);
        *word = mine;
        assert_int_equal(rc, KVS_NOT_ALLOWED);
        assert_int_equal(calls_answer(e, x), KVS_NOT_POSTED);
    }
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(e);
}

int main(void)
{
    store = toy_table("store");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page),
        cmocka_unit_test(an_engine_has_that_of_its_open),
        cmocka_unit_test(one_word_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
