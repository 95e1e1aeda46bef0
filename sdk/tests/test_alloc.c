/* SPDX-License-Identifier: Apache-2.0 */
/* Values whose size is not known before. */
#include "engines.h"
#include "one_store.h"
#include "toy.h"

#include <semaphore.h>

static char buf[64];

/* KVS-REQ-379 KVS-REQ-380 KVS-REQ-381 KVS-REQ-360 */
static void alloc(void **state)
{
    (void)state;
    void *data = buf;
    uint64_t len = 77;
    struct kvs_error err = {0};
    toy_set("k", 'v', 10);
    toy_set("empty", ' ', 0);
    expect_status(kvs_get_alloc(e, "k", 1, 10, &data, &len, &err), KVS_OK, &err);
    assert_int_equal(len, 10);
    assert_memory_equal(data, "vvvvvvvvvv", 10);
    kvs_free(data);
    expect_status(kvs_get_alloc(e, "k", 1, UINT64_MAX, &data, &len, &err), KVS_OK, &err);
    kvs_free(data);
    expect_status(kvs_get_alloc(e, "empty", 5, 0, &data, &len, &err), KVS_OK, &err);
    assert_int_equal(len, 0);
    assert_non_null(data);
    kvs_free(data);
    static const struct {
        const char *key;
        uint64_t max;
        int status;
        const char *text;
    } rows[] = {{"k", 9, KVS_TOO_LARGE, "the value has 10 bytes; at most 9"},
                {"k", 0, KVS_TOO_LARGE, "at most 0"},
                {"absent", 9, KVS_NOT_FOUND, "key 'absent': not found"},
                {"", 9, KVS_INVALID_PARAM, "empty"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        data = buf;
        len = 77;
        expect_status(kvs_get_alloc(e, rows[i].key, strlen(rows[i].key), rows[i].max, &data, &len, &err),
                      rows[i].status, &err);
        expect_text(err.text, rows[i].text);
        assert_null(data);
        assert_int_equal(len, 0);
    }
    expect_status(kvs_get_alloc(e, "k", 1, 10, NULL, &len, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_get_alloc(e, "k", 1, 10, &data, NULL, &err), KVS_INVALID_PARAM, &err);
    expect_status(kvs_get_alloc(NULL, "k", 1, 10, &data, &len, &err), KVS_INVALID_PARAM, &err);
    kvs_free(NULL);
}

static unsigned
    changes; /* how often the value still changes; read and written by the one worker that has an io */

/* Between the QUERY and its READ the value gets one byte longer. */
static void change(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    if (batch->op == KVS_READ && changes > 0) {
        changes--;
        toy_set("k", 'n', (size_t)io->len + 1);
    }
}

/* KVS-REQ-379 */
static void alloc_while_it_changes(void **state)
{
    (void)state;
    void *data;
    uint64_t len;
    struct kvs_error err = {0};
    toy.before = change;
    toy_set("k", 'v', 10);
    changes = 7;
    expect_status(kvs_get_alloc(e, "k", 1, 100, &data, &len, &err), KVS_OK, &err);
    assert_int_equal(len, 17);
    assert_memory_equal(data, "nnnnnnnnnnnnnnnnn", 17);
    kvs_free(data);
    changes = 1000;
    atomic_store(&toy.calls, 0);
    expect_status(kvs_get_alloc(e, "k", 1, 100, &data, &len, &err), KVS_MISMATCH, &err);
    assert_null(data);
    assert_int_equal(atomic_load(&toy.calls), 16); /* 8 of QUERY, 8 of READ */
    changes = 1000;
    toy_set("k", 'v', 10);
    expect_status(kvs_get_alloc(e, "k", 1, 13, &data, &len, &err), KVS_TOO_LARGE, &err);
}

/* A key that is gone when its value is asked for, after it was there: no value, and no part of one.
 * KVS-REQ-379 KVS-REQ-371 */
static void alloc_of_what_goes(void **state)
{
    (void)state;
    void *data = buf;
    uint64_t len = 77;
    struct kvs_error err = {0};
    toy_set("k", 'v', 10);
    expect_status(kvs_query(e, "k", 1, &len, &err), KVS_OK, &err);
    toy.get_rc = KVS_NOT_FOUND; /* the store has let it go in between */
    expect_status(kvs_get_alloc(e, "k", 1, 100, &data, &len, &err), KVS_NOT_FOUND, &err);
    assert_null(data);
    assert_int_equal(len, 0);
    memset(buf, '#', 10);
    expect_status(kvs_get(e, "k", 1, buf, 10, &err), KVS_NOT_FOUND, &err);
    assert_memory_equal(buf, "##########", 10);
}

static sem_t may_go;

/* A store that sits on its READs. */
static void sit(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)io;
    while (batch->op == KVS_READ && sem_wait(&may_go) != 0)
        ;
}

/* What the store has in hand when the time is up is freed when it lets go of it, and not before. KVS-REQ-282
 */
static void alloc_that_times_out(void **state)
{
    (void)state;
    void *data;
    uint64_t len;
    struct kvs_error err = {0};
    toy_set("k", 'v', 1000);
    toy.get_rc = KVS_TIMEOUT; /* here it has let go already */
    expect_status(kvs_get_alloc(e, "k", 1, 1000, &data, &len, &err), KVS_TIMEOUT, &err);
    assert_null(data);
    toy.get_rc = TOY_USUAL;
    sem_init(&may_go, 0, 0);
    toy.before = sit;
    kvs_engine *m = open_with("store:?timeout=20ms&cancel_grace=10ms", NULL);
    expect_status(kvs_get_alloc(m, "k", 1, 1000, &data, &len, &err), KVS_TIMEOUT, &err);
    assert_null(data);
    sem_post(&may_go);
    close_engine(m);
    sem_destroy(&may_go);
}

/* KVS-REQ-382 */
static void alloc_of_unknown_size(void **state)
{
    (void)state;
    void *data;
    uint64_t len;
    struct kvs_error err = {0};
    toy_set("k", 'v', 10);
    static const uint64_t unknown[] = {KVS_SIZE_UNKNOWN, KVS_ACTUAL_UNSET};
    for (size_t i = 0; i < 2; i++) {
        toy.actual = unknown[i];
        expect_status(kvs_get_alloc(e, "k", 1, UINT64_MAX, &data, &len, &err), KVS_NOT_SUPPORTED, &err);
        expect_text(err.text, "backend 'store' cannot tell");
        assert_null(data);
        expect_status(kvs_query(e, "k", 1, &len, &err), KVS_OK, &err);
        assert_true(len == KVS_SIZE_UNKNOWN);
    }
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    store = toy_table("store");
    const struct CMUnitTest tests[] = {
        WITH_ENGINE(alloc),
        WITH_ENGINE(alloc_while_it_changes),
        WITH_ENGINE(alloc_of_what_goes),
        WITH_ENGINE(alloc_of_unknown_size),
        WITH_ENGINE(alloc_that_times_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
