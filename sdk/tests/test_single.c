/* SPDX-License-Identifier: Apache-2.0 */
/* One key at a time. KVS-REQ-390 */
#include "engine.h"
#include "engines.h"
#include "one_store.h"
#include "toy.h"

#include <kvslot/mock.h>

static struct kvs_backend once, mute, strict;
static char buf[64];

/* KVS-REQ-350: the text has both lengths, the buffer is as it was */
static void another_length(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    toy_set("k", 'v', 10);
    static const uint64_t lens[] = {0, 9, 11, 16, 64};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        char text[64];
        memset(buf, '-', sizeof buf);
        snprintf(text, sizeof text, "key 'k': the value has 10 bytes; %u were expected", (unsigned)lens[i]);
        expect_status(kvs_get(e, "k", 1, buf, lens[i], &err), KVS_MISMATCH, &err);
        expect_text(err.text, text);
        for (size_t at = 0; at < sizeof buf; at++)
            assert_int_equal(buf[at], '-');
    }
    expect_status(kvs_get(e, "k", 1, buf, 10, &err), KVS_OK, &err);
    expect_status(kvs_get(e, "k", 1, NULL, 10, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_put(e, "k", 1, NULL, 10, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_put(e, NULL, 1, buf, 10, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_put(e, "k", 1, NULL, 0, &err), KVS_OK, &err);
    expect_status(kvs_get(e, "k", 1, NULL, 0, &err), KVS_OK, &err);
}

/* KVS-REQ-006 KVS-REQ-377 KVS-REQ-446: what the store says is what the caller hears, in every call */
static void statuses_pass(void **state)
{
    (void)state;
    static const int all[] = {
        KVS_INVALID_PARAM, KVS_BACKEND,       KVS_NOT_FOUND,    KVS_NOT_ALLOWED, KVS_BUSY,
        KVS_UNKNOWN,       KVS_NOT_SUPPORTED, KVS_DISCONNECTED, KVS_CANCELED,    KVS_TIMEOUT,
        KVS_FULL,          KVS_NO_MEMORY,     KVS_IO,           KVS_EXISTS,      KVS_ACCESS,
        KVS_TOO_LARGE,     KVS_MISMATCH};
    struct kvs_error err = {0};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *data;
        uint64_t len = 77;
        toy.put_rc = toy.get_rc = toy.query_rc = toy.remove_rc = all[i];
        expect_status(kvs_put(e, "k", 1, buf, 8, &err), all[i], &err);
        expect_text(err.text, kvs_status_text(all[i]));
        expect_status(kvs_get(e, "k", 1, buf, 8, &err), all[i], &err);
        expect_status(kvs_query(e, "k", 1, &len, &err), all[i], &err);
        assert_int_equal(len, 0);
        expect_text(err.text, kvs_status_text(all[i]));
        expect_status(kvs_remove(e, "k", 1, &err), all[i], &err);
        if (all[i] != KVS_MISMATCH) {
            expect_status(kvs_get_alloc(e, "k", 1, 9, &data, &len, &err), all[i], &err);
            assert_null(data);
        }
    }
    assert_int_equal(kvs_put(NULL, "k", 1, buf, 1, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_get(NULL, "k", 1, buf, 1, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_query(NULL, "k", 1, NULL, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_remove(NULL, "k", 1, NULL), KVS_INVALID_PARAM);
}

static uint32_t seen_op, seen_iovcnt;
static uint64_t seen_len;

static void look(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    seen_op = batch->op;
    seen_iovcnt = io->iovcnt;
    seen_len = io->len;
}

static void found_ten(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    io->actual = 10;
}

/* KVS-REQ-425 KVS-REQ-369: by a get of length 0 */
static void query_by_get(void **state)
{
    (void)state;
    kvs_engine *m = toy_open(&mute, NULL);
    struct kvs_limits limits = {.size = sizeof limits};
    assert_int_equal(kvs_engine_limits(m, &limits), KVS_OK);
    assert_int_equal((limits.caps_native | limits.caps_none) & (KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE), 0);
    struct kvs_error err = {0};
    uint64_t size = 77;
    toy.before = look;
    expect_status(kvs_query(m, "k", 1, &size, &err), KVS_NOT_FOUND, &err);
    toy_set("k", 'v', 10);
    toy_set("empty", 'v', 0);
    expect_status(kvs_query(m, "k", 1, &size, &err), KVS_OK, &err);
    assert_int_equal(size, 10);
    assert_int_equal(seen_op, KVS_READ);
    assert_int_equal(seen_len, 0);
    assert_int_equal(seen_iovcnt, 0);
    expect_status(kvs_query(m, "empty", 5, &size, &err), KVS_OK, &err);
    assert_int_equal(size, 0);
    void *data;
    expect_status(kvs_get_alloc(m, "k", 1, 10, &data, &size, &err), KVS_OK, &err);
    assert_int_equal(size, 10);
    kvs_free(data);
    toy.actual = KVS_ACTUAL_UNSET; /* the whole of no bytes */
    expect_status(kvs_query(m, "empty", 5, &size, &err), KVS_OK, &err);
    assert_int_equal(size, 0);
    /* A store that answers a wrong size with MISMATCH, and the size. */
    toy.get_rc = KVS_MISMATCH;
    toy.before = found_ten;
    expect_status(kvs_query(m, "k", 1, &size, &err), KVS_OK, &err);
    assert_int_equal(size, 10);
    toy.get_rc = KVS_DISCONNECTED;
    expect_status(kvs_query(m, "k", 1, &size, &err), KVS_DISCONNECTED, &err);
    close_engine(m);
}

static atomic_uint without_priv;

static void needs_priv(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    if (batch->op < KVS_QUERY && !io->mem_priv)
        atomic_fetch_add(&without_priv, 1);
}

/* KVS-REQ-066: a call for one key registers what the backend needs registered, and takes it back */
static void registers_for_itself(void **state)
{
    (void)state;
    kvs_engine *s = toy_open(&strict, NULL);
    struct kvs_error err = {0};
    void *data;
    uint64_t len;
    toy.before = needs_priv;
    toy.log[0] = '\0';
    expect_status(kvs_put(s, "key", 3, "12345678", 8, &err), KVS_OK, &err);
    expect_text(toy.log, "+key prep ");
    assert_int_equal(s->mems.count, 0);
    expect_status(kvs_get(s, "key", 3, buf, 8, &err), KVS_OK, &err);
    assert_memory_equal(buf, "12345678", 8);
    expect_status(kvs_get_alloc(s, "key", 3, 8, &data, &len, &err), KVS_OK, &err);
    assert_memory_equal(data, "12345678", 8);
    kvs_free(data);
    expect_status(kvs_get(s, "other", 5, buf, 8, &err), KVS_NOT_FOUND, &err);
    expect_status(kvs_put(s, "", 0, buf, 8, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_put(s, "123456789", 9, buf, 8, &err), KVS_TOO_LARGE, &err);
    toy.register_rc = KVS_ACCESS;
    expect_status(kvs_put(s, "key", 3, buf, 8, &err), KVS_ACCESS, &err);
    expect_text(err.text, "the toy takes no more");
    assert_int_equal(s->mems.count, 0);
    assert_int_equal(atomic_load(&without_priv), 0);
    close_engine(s);
}

struct writer {
    pthread_t id;
    pthread_barrier_t *start;
    kvs_engine *e;
    char value;
    int status;
};

static void *write_once(void *arg)
{
    struct writer *w = arg;
    pthread_barrier_wait(w->start);
    w->status = kvs_put(w->e, "k", 1, &w->value, 1, NULL);
    return NULL;
}

/* KVS-REQ-008: exactly one of those who write a key first has written it */
static void write_once_stores(void **state)
{
    (void)state;
    kvs_engine *o = toy_open(&once, NULL);
    struct kvs_error err = {0};
    toy.write_once = true;
    expect_status(kvs_put(o, "a", 1, "A", 1, &err), KVS_OK, &err);
    expect_status(kvs_put(o, "a", 1, "B", 1, &err), KVS_EXISTS, &err);
    expect_text(err.text, "key exists and the store writes once");
    expect_status(kvs_get(o, "a", 1, buf, 1, &err), KVS_OK, &err);
    assert_int_equal(buf[0], 'A');
    for (int round = 0; round < 50; round++) {
        pthread_barrier_t start;
        pthread_barrier_init(&start, NULL, 2);
        struct writer w[2];
        for (int i = 0; i < 2; i++) {
            w[i] = (struct writer){.start = &start, .e = o, .value = (char)('0' + i)};
            assert_int_equal(pthread_create(&w[i].id, NULL, write_once, &w[i]), 0);
        }
        for (int i = 0; i < 2; i++)
            pthread_join(w[i].id, NULL);
        pthread_barrier_destroy(&start);
        int winner = w[0].status == KVS_OK ? 0 : 1;
        assert_int_equal(w[winner].status, KVS_OK);
        assert_int_equal(w[1 - winner].status, KVS_EXISTS);
        expect_status(kvs_get(o, "k", 1, buf, 1, &err), KVS_OK, &err);
        assert_int_equal(buf[0], '0' + winner);
        expect_status(kvs_remove(o, "k", 1, &err), KVS_OK, &err);
    }
    /* The same key twice in one list. */
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 1);
    a.keys[1] = a.keys[0];
    kvs_xfer *x = prepared(o, &a);
    assert_int_equal(run_xfer(x), KVS_EXISTS);
    assert_true((result_of(x, 0) == KVS_OK && result_of(x, 1) == KVS_EXISTS) ||
                (result_of(x, 0) == KVS_EXISTS && result_of(x, 1) == KVS_OK));
    expect_text(kvs_xfer_error(x), "writes once");
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(o);
}

/* KVS-REQ-386: a store that never answers, and that answers when nobody waits any more */
static void late_answers(void **state)
{
    (void)state;
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    static const char *const models[] = {"inline", "thread", "poll"};
    for (size_t i = 0; i < 3; i++) {
        kvs_engine *m = open_with("mock:late?hold=yes&cancel=none&timeout=20ms&cancel_grace=10ms",
                                  WITH({"model", models[i]}));
        struct kvs_error err = {0};
        uint64_t size = 77;
        void *data;
        expect_status(kvs_query(m, "k", 1, &size, &err), KVS_TIMEOUT, &err);
        assert_int_equal(size, 0);
        expect_status(kvs_get_alloc(m, "k", 1, 8, &data, &size, &err), KVS_TIMEOUT, &err);
        assert_null(data);
        expect_status(kvs_engine_close(m, 0, &err), KVS_BUSY, &err);
        assert_int_equal(kvs_mock_let_go("late", SIZE_MAX), 2);
        close_engine(m);
    }
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    store = toy_table("store");
    once = toy_table("once");
    once.caps_native &= ~(uint64_t)KVS_CAP_OVERWRITE;
    strict = toy_table("strict");
    strict.flags = KVS_F_NEEDS_REGISTRATION;
    strict.max_key = 8;
    mute = toy_table("mute");
    mute.query = NULL;
    mute.caps_native &= ~(uint64_t)KVS_CAP_QUERY_SIZE;
    const struct CMUnitTest tests[] = {
        WITH_ENGINE(another_length),       WITH_ENGINE(statuses_pass),     WITH_ENGINE(query_by_get),
        WITH_ENGINE(registers_for_itself), WITH_ENGINE(write_once_stores), WITH_ENGINE(late_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
