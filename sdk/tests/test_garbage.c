/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that answers with numbers that are no answer: never OK, never a number that a caller does not
 * know. KVS-REQ-013 KVS-REQ-178 */
#include "engines.h"
#include "toy.h"

#include <limits.h>

static struct kvs_backend blocking, async, mapped, polled;
static char buf[64];

static const int garbage[] = {KVS_IN_PROG, 7,    77777, KVS_NOT_POSTED, KVS_AGAIN, -12,
                              -99,         -108, -9999, INT_MIN,        INT_MAX};
#define GARBAGE (sizeof garbage / sizeof garbage[0])

static int setup(void **state)
{
    (void)state;
    toy_reset();
    return 0;
}

static const char *number(int n)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", n);
    return text;
}

static void both_are_backend(kvs_engine *e, uint32_t op, int rc)
{
    struct ask a;
    ask_for(&a, op, 2, buf, op < KVS_QUERY ? 8 : 0);
    kvs_xfer *x = prepared(e, &a);
    assert_int_equal(run_xfer(x), KVS_BACKEND);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(result_of(x, i), KVS_BACKEND);
        assert_int_equal(bytes_of(x, i), 0);
        expect_text(text_of(x, i), number(rc));
    }
    expect_text(kvs_xfer_error(x), number(rc));
    assert_int_equal(kvs_xfer_check(x), KVS_BACKEND);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

static void blocking_functions(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&blocking, NULL);
    toy_set("k0", 'v', 8);
    for (size_t g = 0; g < GARBAGE; g++) {
        toy.put_rc = toy.get_rc = toy.query_rc = toy.remove_rc = garbage[g];
        for (uint32_t op = KVS_READ; op <= KVS_REMOVE; op++)
            both_are_backend(e, op, garbage[g]);
        struct kvs_error err = {0};
        uint64_t size;
        void *data;
        expect_status(kvs_put(e, "k0", 2, buf, 8, &err), KVS_BACKEND, &err);
        expect_text(err.text, number(garbage[g]));
        expect_status(kvs_get(e, "k0", 2, buf, 8, &err), KVS_BACKEND, &err);
        expect_status(kvs_query(e, "k0", 2, &size, &err), KVS_BACKEND, &err);
        assert_int_equal(size, 0);
        expect_status(kvs_get_alloc(e, "k0", 2, 8, &data, &size, &err), KVS_BACKEND, &err);
        assert_null(data);
        expect_status(kvs_remove(e, "k0", 2, &err), KVS_BACKEND, &err);
    }
    close_engine(e);
}

static int count_one(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)key;
    (void)len;
    (void)size;
    ++*(int *)arg;
    return 0;
}

/* prep, on_register, list; and on_deregister, which cannot fail */
static void around_it(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&blocking, NULL);
    struct kvs_error err = {0};
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    for (size_t g = 0; g < GARBAGE; g++) {
        toy.prep_rc = toy.list_rc = garbage[g];
        unprepared(e, &a, KVS_BACKEND, number(garbage[g]));
        int n = 0;
        expect_status(kvs_list(e, NULL, 0, count_one, &n, &err), KVS_BACKEND, &err);
        expect_text(err.text, number(garbage[g]));
        toy.prep_rc = TOY_USUAL;
        kvs_mem *m = registered(e, KVS_MEM_DRAM, 1, NULL, 0, 0);
        toy.register_rc = toy.deregister_rc = garbage[g];
        kvs_mem *refused = m;
        expect_status(kvs_mem_register(e, KVS_MEM_DRAM, &a.l[0], &refused, &err), KVS_BACKEND, &err);
        expect_text(err.text, "the toy takes no more");
        assert_null(refused);
        uint64_t before = kvs_engine_violations(e);
        expect_status(kvs_mem_deregister(e, m, &err), KVS_OK, &err);
        assert_int_equal(kvs_engine_violations(e), before + 1);
        toy.register_rc = toy.deregister_rc = TOY_USUAL;
    }
    close_engine(e);
}

static int seat_rc;

static int worker_open(void *eng, void *worker)
{
    (void)eng;
    (void)worker;
    return seat_rc;
}

static void workers(void **state)
{
    (void)state;
    static struct kvs_backend seats;
    seats = toy_table("seats");
    seats.worker_open = worker_open;
    kvs_engine *e = toy_open(&seats, NULL);
    for (size_t g = 0; g < GARBAGE; g++) {
        seat_rc = garbage[g];
        both_are_backend(e, KVS_WRITE, garbage[g]);
    }
    assert_int_equal(atomic_load(&toy.calls), 0);
    close_engine(e);
}

/* ---- The async shape ---- */

static int complete_rc, vendor_rc, mapped_rc;
static bool by_vendor;

static int submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    if (toy.submit_rc != TOY_USUAL)
        return toy.submit_rc;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct kvs_io *io = kvs_batch_io(batch, i);
        if (by_vendor)
            toy.host->complete_cb(vendor_rc, (void *)(uintptr_t)io->token);
        else
            toy.host->complete(io, complete_rc);
    }
    return KVS_OK;
}

static int map_rc(int rc)
{
    (void)rc;
    return mapped_rc;
}

/* KVS-REQ-126 KVS-REQ-127: post's answer, and nothing has happened; AGAIN apart, which means to wait */
static void submits(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&async, NULL);
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    for (size_t g = 0; g < GARBAGE; g++) {
        if (garbage[g] == KVS_AGAIN)
            continue;
        toy.submit_rc = garbage[g];
        kvs_xfer *x = prepared(e, &a);
        assert_int_equal(kvs_xfer_post(x), KVS_BACKEND);
        assert_int_equal(kvs_xfer_check(x), KVS_NOT_POSTED);
        assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
        struct kvs_error err = {0};
        expect_status(kvs_put(e, "k", 1, buf, 8, &err), KVS_BACKEND, &err);
    }
    close_engine(e);
}

static void completions(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&async, NULL);
    by_vendor = false;
    for (size_t g = 0; g < GARBAGE; g++) {
        complete_rc = garbage[g];
        both_are_backend(e, KVS_READ, garbage[g]);
        both_are_backend(e, KVS_WRITE, garbage[g]);
    }
    close_engine(e);
}

/* KVS-REQ-169 KVS-REQ-170: a vendor's number is no status, with a map_rc and without */
static void vendors_numbers(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&async, NULL), *m = toy_open(&mapped, NULL);
    by_vendor = true;
    static const int rcs[] = {1, 2, -1, -4, -100, KVS_NOT_FOUND, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof rcs / sizeof rcs[0]; i++) {
        vendor_rc = rcs[i];
        both_are_backend(e, KVS_WRITE, rcs[i]);
        mapped_rc = KVS_BACKEND;
        both_are_backend(m, KVS_WRITE, rcs[i]);
    }
    struct ask a; /* KVS-REQ-116: the number is that of this post, not of the one before */
    ask_for(&a, KVS_WRITE, 1, buf, 8);
    kvs_xfer *x = prepared(e, &a);
    for (vendor_rc = 41; vendor_rc < 44; vendor_rc++) {
        assert_int_equal(run_xfer(x), KVS_BACKEND);
        expect_text(text_of(x, 0), number(vendor_rc));
    }
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    struct kvs_error err = {0};
    vendor_rc = 0;
    expect_status(kvs_put(e, "k", 1, buf, 8, &err), KVS_OK, &err);
    vendor_rc = 5;
    for (size_t g = 0; g < GARBAGE; g++) {
        mapped_rc = garbage[g];
        both_are_backend(m, KVS_WRITE, 5);
    }
    mapped_rc = KVS_FULL;
    expect_status(kvs_put(m, "k", 1, buf, 8, &err), KVS_FULL, &err);
    close_engine(e);
    close_engine(m);
}

static struct kvs_io *kept;    /* of the one post that is out; test and service thread know of it in turn */
static atomic_int poll_rc, fd; /* the service thread may poll still when the next round sets them */

static int keep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    kept = kvs_batch_io(batch, 0);
    return KVS_OK;
}

static int garbage_poll(void *eng, int max)
{
    (void)eng;
    (void)max;
    return poll_rc;
}

static int garbage_fd(void *eng)
{
    (void)eng;
    return fd;
}

/* A poll that lies completes nothing: the deadline ends it. */
static void polls(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&polled, WITH({"timeout", "5ms"}, {"cancel_grace", "5ms"}));
    kvs_set_log(NULL, NULL, KVS_LOG_ERROR);
    static const int rcs[] = {7, -9999, INT_MIN, INT_MAX, KVS_AGAIN, 0};
    for (size_t i = 0; i < sizeof rcs / sizeof rcs[0]; i++) {
        struct ask a;
        ask_for(&a, KVS_WRITE, 1, buf, 8);
        poll_rc = rcs[i];
        fd = i % 2 ? 999999 : -1;
        kvs_xfer *x = prepared(e, &a);
        int rc = kvs_xfer_post(x);
        assert_true(rc == KVS_IN_PROG || rc == KVS_TIMEOUT); /* its 10 ms may be over before post is */
        assert_int_equal(kvs_xfer_wait(x, KVS_SEC(30)), KVS_TIMEOUT);
        toy.host->complete(kept, KVS_OK);
        assert_int_equal(kvs_xfer_check(x), KVS_TIMEOUT);
        assert_int_equal(kvs_xfer_release(x, KVS_SEC(30)), KVS_OK);
    }
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
    close_engine(e);
}

static struct kvs_backend async_table(const char *name)
{
    struct kvs_backend b = toy_table(name);
    b.put = b.get = b.query = b.remove = NULL;
    b.submit = submit;
    return b;
}

int main(void)
{
    blocking = toy_table("blocking");
    async = async_table("async");
    mapped = async_table("mapped");
    mapped.map_rc = map_rc;
    polled = async_table("polled");
    polled.submit = keep;
    polled.poll = garbage_poll;
    polled.poll_fd = garbage_fd;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocking_functions, setup),
        cmocka_unit_test_setup(around_it, setup),
        cmocka_unit_test_setup(workers, setup),
        cmocka_unit_test_setup(submits, setup),
        cmocka_unit_test_setup(completions, setup),
        cmocka_unit_test_setup(vendors_numbers, setup),
        cmocka_unit_test_setup(polls, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
