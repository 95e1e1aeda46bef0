/* SPDX-License-Identifier: Apache-2.0 */
/* Handles that are NULL or another's, and arguments that may be left out. */
#include "engine_test.h"
#include "hand.h"

static unsigned char memory[8 * 16];

/* KVS-REQ-107: none of them crashes. */
static void test_null(void **state)
{
    (void)state;
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    struct kvs_error err = {0, ""};
    struct kvs_limits limits = {.size = sizeof limits};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16};
    struct kvs_dlist list = {&d, 1, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req};
    kvs_xfer *x = (kvs_xfer *)(uintptr_t)1;
    kvs_mem *mem = (kvs_mem *)(uintptr_t)1;
    void *p = memory;
    uint64_t n = 1;
    for (int with_err = 0; with_err < 2; with_err++) {
        struct kvs_error *e = with_err ? &err : NULL;
        expect_rc(kvs_xfer_post(NULL), KVS_INVALID_PARAM);
        expect_rc(kvs_xfer_check(NULL), KVS_INVALID_PARAM);
        expect_rc(kvs_xfer_wait(NULL, LONG), KVS_INVALID_PARAM);
        expect_rc(kvs_xfer_wait_any(NULL, 1, LONG, NULL), KVS_INVALID_PARAM);
        expect_rc(kvs_engine_reap(NULL, NULL, 0, LONG, NULL), KVS_INVALID_PARAM);
        expect_rc(kvs_engine_fd(NULL, NULL), KVS_INVALID_PARAM);
        expect_rc(kvs_xfer_cancel(NULL), KVS_INVALID_PARAM);
        expect_rc(kvs_xfer_result(NULL, 0, NULL, NULL, NULL), KVS_INVALID_PARAM);
        expect_rc(kvs_xfer_release(NULL, 0), KVS_INVALID_PARAM);
        assert_string_equal(kvs_xfer_error(NULL), "");
        assert_int_equal(kvs_xfer_count(NULL), 0);
        expect_rc(kvs_xfer_prep(NULL, &req, &x, e), KVS_INVALID_PARAM);
        assert_null(x);
        expect_rc(kvs_engine_open(NULL, NULL, 0, NULL, e), KVS_INVALID_PARAM);
        expect_rc(kvs_engine_close(NULL, 0, e), KVS_INVALID_PARAM);
        expect_rc(kvs_engine_limits(NULL, &limits), KVS_INVALID_PARAM);
        expect_rc(kvs_engine_progress(NULL), KVS_INVALID_PARAM);
        assert_null(kvs_engine_backend(NULL));
        assert_int_equal(kvs_engine_violations(NULL), 0);
        expect_rc(kvs_mem_register(NULL, KVS_MEM_DRAM, &d, &mem, e), KVS_INVALID_PARAM);
        assert_null(mem);
        expect_rc(kvs_mem_register_list(NULL, &list, &mem, e), KVS_INVALID_PARAM);
        expect_rc(kvs_mem_deregister(NULL, NULL, e), KVS_INVALID_PARAM);
        expect_rc(kvs_put(NULL, "k", 1, "v", 1, e), KVS_INVALID_PARAM);
        expect_rc(kvs_get(NULL, "k", 1, memory, 1, e), KVS_INVALID_PARAM);
        expect_rc(kvs_query(NULL, "k", 1, NULL, e), KVS_INVALID_PARAM);
        expect_rc(kvs_remove(NULL, "k", 1, e), KVS_INVALID_PARAM);
        expect_rc(kvs_get_alloc(NULL, "k", 1, 9, &p, &n, e), KVS_INVALID_PARAM);
        assert_null(p);
        kvs_xfer_abandon(NULL);
        kvs_engine_abandon(NULL);
        kvs_free(NULL);
    }
    assert_int_equal(err.status, KVS_INVALID_PARAM);
}

/* Everything that the header calls optional is left out. KVS-REQ-107 */
static void test_optional(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    assert_int_equal(kvs_put(f.e, "k0", 2, "0123456789abcdef", 16, NULL), KVS_OK);
    assert_int_equal(kvs_put(f.e, "empty", 5, NULL, 0, NULL), KVS_OK);
    assert_int_equal(kvs_query(f.e, "k0", 2, NULL, NULL), KVS_OK);
    assert_int_equal(kvs_get(f.e, "none", 4, memory, 1, NULL), KVS_NOT_FOUND);
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .meta_info = "k0", .meta_len = 2};
    kvs_mem *mem;
    assert_int_equal(kvs_mem_register(f.e, KVS_MEM_DRAM, &d, &mem, NULL), KVS_OK);
    struct kvs_desc at = {.mem = mem, .addr = d.addr, .len = 16};
    struct kvs_dlist list = {&at, 1, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_READ, .local = &list, .remote = &list};
    kvs_xfer *x;
    assert_int_equal(kvs_xfer_prep(f.e, &req, &x, NULL), KVS_OK);
    expect_rc(run_it(x), KVS_OK);
    expect_rc(kvs_xfer_result(x, 0, NULL, NULL, NULL), KVS_OK);
    assert_memory_equal(memory, "0123456789abcdef", 16);
    assert_int_equal(kvs_mem_deregister(f.e, mem, NULL), KVS_BUSY);
    release(x);
    assert_int_equal(kvs_mem_deregister(f.e, mem, NULL), KVS_OK);
    assert_int_equal(kvs_mem_deregister(f.e, NULL, NULL), KVS_OK);
    assert_int_equal(kvs_engine_close(f.e, LONG, NULL), KVS_OK);
}

/* A handle of another kind is none. */
static void test_wrong_kind(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 1, memory, 16), *out = (kvs_xfer *)(uintptr_t)1;
    kvs_xfer *no_xfer = (kvs_xfer *)(void *)f.e;
    kvs_engine *no_engine = (kvs_engine *)(void *)x;
    struct kvs_error err = {0, ""};
    expect_rc(kvs_xfer_post(no_xfer), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_check(no_xfer), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_wait(no_xfer, 0), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_cancel(no_xfer), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_release(no_xfer, 0), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_result(no_xfer, 0, NULL, NULL, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_xfer_count(no_xfer), 0);
    assert_string_equal(kvs_xfer_error(no_xfer), "");
    kvs_xfer_abandon(no_xfer);
    expect_status(kvs_engine_close(no_engine, 0, &err), KVS_INVALID_PARAM, &err);
    expect_rc(kvs_engine_progress(no_engine), KVS_INVALID_PARAM);
    expect_rc(prep_rc(no_engine, KVS_WRITE, 1, memory, 16, NULL, NULL, &out, &err), KVS_INVALID_PARAM);
    assert_null(out);
    expect_rc(kvs_put(no_engine, "k", 1, "v", 1, &err), KVS_INVALID_PARAM);
    kvs_engine_abandon(no_engine);
    expect_rc(run_it(x), KVS_OK);
    release(x);
    close_mock(&f);
}

/* A registration of another engine is none of this one. KVS-REQ-555 */
static void test_foreign(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_engine *other = open_same(&f, *state, "");
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)memory, .len = 16, .dev_id = 5};
    kvs_mem *mine, *theirs;
    expect_status(kvs_mem_register(f.e, KVS_MEM_DRAM, &d, &mine, &err), KVS_OK, &err);
    expect_status(kvs_mem_register(other, KVS_MEM_DRAM, &d, &theirs, &err), KVS_OK, &err);
    struct kvs_desc bad = {.mem = theirs, .addr = d.addr, .len = 16};
    struct kvs_desc good = {.mem = mine, .addr = d.addr, .len = 16};
    struct kvs_dlist bad_list = {&bad, 1, 0, KVS_MEM_DRAM}, good_list = {&good, 1, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_WRITE, .local = &bad_list, .remote = &good_list};
    kvs_xfer *x;
    expect_status(kvs_xfer_prep(f.e, &req, &x, &err), KVS_INVALID_PARAM, &err);
    req.local = &good_list;
    req.remote = &bad_list;
    expect_status(kvs_xfer_prep(f.e, &req, &x, &err), KVS_INVALID_PARAM, &err);
    kvs_mem *both[] = {mine, theirs};
    expect_status(kvs_mem_deregister_list(f.e, both, 2, &err), KVS_NOT_FOUND, &err);
    expect_status(kvs_mem_deregister(f.e, theirs, &err), KVS_NOT_FOUND, &err);
    req.remote = &good_list; /* the set that was refused has lost nothing */
    expect_status(kvs_xfer_prep(f.e, &req, &x, &err), KVS_OK, &err);
    release(x);
    expect_status(kvs_mem_deregister(f.e, mine, &err), KVS_OK, &err);
    expect_status(kvs_mem_deregister(other, theirs, &err), KVS_OK, &err);
    expect_rc(kvs_engine_close(other, LONG, NULL), KVS_OK);
    close_mock(&f);
}

/* KVS-REQ-001: no descriptor beyond the last */
static void test_index(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    expect_rc(kvs_xfer_result(x, 3, NULL, NULL, NULL), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_result(x, SIZE_MAX, NULL, NULL, NULL), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_result(x, (size_t)1 << 32, NULL, NULL, NULL), KVS_INVALID_PARAM);
    expect_rc(kvs_xfer_result(x, 2, NULL, NULL, NULL), KVS_OK);
    release(x);
    close_mock(&f);
}

/* Two engines of one store: what one has written the other reads, and each lives without the other.
 * KVS-REQ-387 */
static void test_two_engines(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_engine *other = open_same(&f, model_inline, "");
    kvs_engine *held = open_same(&f, *state, "hold=yes&cancel=none");
    unsigned char in[4 * 16], out[4 * 16];
    kvs_xfer *w = prep(f.e, KVS_WRITE, 4, in, 16), *r = prep(other, KVS_READ, 4, out, 16);
    kvs_xfer *stuck = prep(held, KVS_READ, 1, memory, 16);
    expect_rc(kvs_xfer_post(stuck), KVS_IN_PROG);
    for (int i = 0; i < 100; i++) {
        memset(in, i, sizeof in);
        expect_rc(run_it(w), KVS_OK);
        expect_rc(run_it(r), KVS_OK);
        assert_memory_equal(in, out, sizeof in);
    }
    release(w);
    assert_int_equal(kvs_engine_close(f.e, LONG, NULL), KVS_OK);
    expect_rc(run_it(r), KVS_OK);
    expect_rc(kvs_xfer_check(stuck), KVS_IN_PROG);
    wait_held(&f, 1);
    let_go(&f, 1);
    expect_rc(wait_end(stuck), KVS_OK);
    release(stuck);
    release(r);
    expect_rc(kvs_engine_close(held, LONG, NULL), KVS_OK);
    expect_rc(kvs_engine_close(other, LONG, NULL), KVS_OK);
    f.e = open_same(&f, *state, "");
    assert_int_equal(kvs_query(f.e, "k3", 2, NULL, NULL), KVS_OK);
    close_mock(&f);
}

static void *wait_main(void *arg)
{
    return (void *)(intptr_t)kvs_xfer_wait(arg, LONG);
}

static void *post_main(void *arg)
{
    int rc = kvs_xfer_post(arg);
    return (void *)(intptr_t)(rc == KVS_OK ? KVS_IN_PROG : rc); /* inline it has ended already */
}

static void *check_main(void *arg)
{
    int rc = kvs_xfer_check(arg);
    return (void *)(intptr_t)(rc == KVS_OK ? KVS_IN_PROG : rc);
}

static void *result_main(void *arg)
{
    int status = 99;
    int rc = kvs_xfer_result(arg, 1, &status, NULL, NULL);
    return (void *)(intptr_t)(rc == KVS_OK && kvs_xfer_error(arg)[0] == '\0' ? status : rc);
}

static void *cancel_main(void *arg)
{
    return (void *)(intptr_t)kvs_xfer_cancel(arg);
}

static void *release_main(void *arg)
{
    return (void *)(intptr_t)kvs_xfer_release(arg, 0);
}

static int on_a_thread(void *(*call)(void *), kvs_xfer *x)
{
    pthread_t thread;
    void *rc;
    assert_int_equal(pthread_create(&thread, NULL, call, x), 0);
    assert_int_equal(pthread_join(thread, &rc), 0);
    return (int)(intptr_t)rc;
}

/* One call after the other, each on a thread of its own: a handle belongs to none. KVS-REQ-133 */
static void test_any_thread(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    kvs_xfer *x = prep(f.e, KVS_WRITE, 3, memory, 16);
    for (int i = 0; i < 20; i++) {
        expect_rc(on_a_thread(post_main, x), KVS_IN_PROG);
        expect_rc(on_a_thread(check_main, x), KVS_IN_PROG);
        expect_rc(on_a_thread(wait_main, x), KVS_OK);
        expect_rc(on_a_thread(cancel_main, x), KVS_OK);
        expect_rc(on_a_thread(result_main, x), KVS_OK);
    }
    expect_rc(on_a_thread(release_main, x), KVS_OK);
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null), EACH_MODEL(test_optional), EACH_MODEL(test_wrong_kind),
        EACH_MODEL(test_foreign),    EACH_MODEL(test_index),    EACH_MODEL(test_two_engines),
        EACH_MODEL(test_any_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
