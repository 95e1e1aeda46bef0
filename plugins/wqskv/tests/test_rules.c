/* SPDX-License-Identifier: Apache-2.0 */
/* What a library may do: every switch of the emulator's. The keys' names pick the rules. WQSKV_TEST_MODE: the
 * thread mode. */
#include "../emulator/control.h"
#include "util.h"

#include <kvslot/backend.h>
#include <time.h>

static const char rules[] =
    "put.refuse=-28@full* get.refuse=-7@odd* refuse=-2@none* lie=-28@lie* code=-110@late* "
    "get.code=-104@gone* "
    "code=-125@canceled* code=5@positive* code=-107@minus107* code=-2147483648@least* get.spoil=-5@spoilt* "
    "inline@inline* early@early* twice=0@twice* twice=-5@other* again=0@again* lose@lost* hold@held* "
    "delay=20@slow*";
static const char *config;
static char buffer[64];

static kvs_engine *engine_with(const char *more)
{
    return open_with(config, more);
}

static void text_has(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL)
        fail_msg("'%s' does not have '%s'", text, part);
}

static void roundtrip(kvs_engine *engine, const char *key)
{
    char back[8] = "";
    assert_int_equal(put_text(engine, key, "value", 6), KVS_OK);
    assert_int_equal(get_text(engine, key, back, 6), KVS_OK);
    assert_string_equal(back, "value");
    assert_int_equal(query_text(engine, key), KVS_OK);
}

static void ends_as(kvs_engine *engine, uint32_t op, const char *key, int status, const char *says)
{
    const char *text;
    kvs_xfer *x = prep_keys(engine, op, &key, 1, buffer, 6);
    int rc = kvs_xfer_post(x);
    if (rc == KVS_IN_PROG)
        rc = kvs_xfer_wait(x, WAIT);
    assert_int_equal(rc, status);
    assert_int_equal(result_of(x, 0, &text), status);
    text_has(text, says);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
}

static void await_kept(size_t n)
{
    while (wds_emulator_kept() < n)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Refused in the call: the io ends with it, and what it says is in the text. A batch goes on behind it. */
static void test_refused(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("");
    ends_as(engine, KVS_WRITE, "full", KVS_FULL, "wds_kvcache_put refused the request with -28");
    ends_as(engine, KVS_READ, "odd", KVS_BACKEND, "wds_kvcache_get_vec refused the request with -7");
    ends_as(engine, KVS_READ, "none", KVS_NOT_FOUND, "refused the request with -2");
    assert_int_equal(query_text(engine, "full"), KVS_UNKNOWN);
    static const char *const keys[] = {"refused-a", "full-b", "refused-c"};
    char values[] = "aabbcc";
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, keys, 3, values, 2);
    for (int i = 0; i < 2; i++) { /* posted again the first two exist */
        int rc = kvs_xfer_post(x);
        if (rc == KVS_IN_PROG)
            rc = kvs_xfer_wait(x, WAIT);
        assert_int_equal(result_of(x, 0, NULL), i == 0 ? KVS_OK : KVS_EXISTS);
        assert_int_equal(result_of(x, 1, NULL), KVS_FULL);
        assert_int_equal(result_of(x, 2, NULL), i == 0 ? KVS_OK : KVS_EXISTS);
        assert_true(rc == KVS_FULL || (i == 1 && rc == KVS_EXISTS));
    }
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(engine);
}

/* Refuses, and calls back all the same: one of the two ends the io, the other is counted. */
static void test_lies(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("");
    const char *key = "lie";
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, &key, 1, buffer, 6);
    int rc = kvs_xfer_post(x);
    assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_OK); /* the callback came first */
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    assert_true(kvs_engine_violations(engine) > 0);
    close_engine(engine);
}

/* Every number that is not 0 is a failure, also one that would be a status of ours. */
static void test_codes(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("");
    static const struct {
        const char *key;
        int status;
        const char *says;
    } codes[] = {{"late", KVS_TIMEOUT, ""},
                 {"canceled", KVS_CANCELED, ""},
                 {"positive", KVS_BACKEND, "5"},
                 {"minus107", KVS_DISCONNECTED, ""},
                 {"least", KVS_BACKEND, "2147483648"}};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        ends_as(engine, KVS_WRITE, codes[i].key, codes[i].status, codes[i].says);
        ends_as(engine, KVS_READ, codes[i].key, codes[i].status, codes[i].says);
        assert_int_equal(query_text(engine, codes[i].key), KVS_UNKNOWN);
    }
    ends_as(engine, KVS_READ, "gone", KVS_DISCONNECTED, "");
    ends_as(engine, KVS_READ, "absent", KVS_NOT_FOUND, "");
    /* The first failure by time stands, whatever comes before and after it. */
    static const char *const keys[] = {"mixed-a", "canceled-b", "mixed-c"};
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, keys, 3, buffer, 6);
    int rc = kvs_xfer_post(x);
    assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_CANCELED);
    assert_int_equal(result_of(x, 0, NULL), KVS_OK);
    assert_int_equal(result_of(x, 2, NULL), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(engine);
}

/* Called back on the calling thread inside the call, and on another thread before the call returns. */
static void test_early(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("");
    roundtrip(engine, "inline");
    roundtrip(engine, "early");
    char keys[40][24], space[400] = "";
    const char *names[40];
    for (int i = 0; i < 40; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%s-%d",
                 i % 3 == 0   ? "inline"
                 : i % 3 == 1 ? "early"
                              : "usual",
                 i);
        names[i] = keys[i];
    }
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, names, 40, space, 10);
    int rc = kvs_xfer_post(x);
    assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(engine);
}

/* A second callback, with the same and with another number, at once: counted, and the first one counts. */
static void test_twice(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("");
    static const char *const keys[] = {"twice", "other", "twice-2", "other-2"};
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, keys, 4, buffer, 6);
    int rc = kvs_xfer_post(x);
    assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_OK);
    /* It may still be on its way: a new one for the same keys is not ended by it. */
    for (int i = 0; i < 20; i++) {
        rc = kvs_xfer_post(x);
        assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_EXISTS);
    }
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    while (kvs_engine_violations(engine) < 84)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(query_text(engine, keys[i]), KVS_OK);
    close_engine(engine);
}

/* A second callback after the transfer was released, and one after it was posted again. */
static void test_much_later(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("");
    uint64_t before = kvs_engine_violations(engine);
    assert_int_equal(put_text(engine, "again", "value", 6), KVS_OK);
    await_kept(1);
    assert_int_equal(wds_emulator_let_go(), 1);
    assert_int_equal(kvs_engine_violations(engine), before + 1);
    const char *key = "again-2";
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, &key, 1, buffer, 6);
    int rc = kvs_xfer_post(x);
    assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_OK);
    await_kept(1);
    rc = kvs_xfer_post(x);
    assert_int_equal(rc == KVS_IN_PROG ? kvs_xfer_wait(x, WAIT) : rc, KVS_EXISTS);
    await_kept(2);
    assert_int_equal(wds_emulator_let_go(), 2);
    assert_int_equal(kvs_xfer_check(x), KVS_EXISTS);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(engine);
}

static int count_held(void *arg, const struct kvs_held *held)
{
    (void)held;
    ++*(int *)arg;
    return 0;
}

/* A callback that comes late, when the transfer has timed out: held until then, and the library used key and
 * memory until then, which AddressSanitizer and valgrind would not let it where they were freed. */
static void test_late(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("timeout=10ms&cancel_grace=10ms");
    char *value = malloc(64);
    memset(value, 'v', 64);
    const char *key = "held-with-a-key-that-is-longer-than-a-short-string";
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, &key, 1, value, 64);
    int n = 0;
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_xfer_wait(x, WAIT), KVS_TIMEOUT);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_BUSY);
    assert_int_equal(kvs_xfer_post(x), KVS_BUSY);
    assert_int_equal(query_text(engine, key), KVS_UNKNOWN);
    assert_int_equal(kvs_engine_close(engine, KVS_MS(1), NULL), KVS_BUSY);
    kvs_engine_held(engine, count_held, &n);
    assert_int_equal(n, 1);
    assert_int_equal(wds_emulator_kept(), 1);
    assert_int_equal(wds_emulator_let_go(), 1);
    assert_int_equal(kvs_xfer_check(x), KVS_TIMEOUT);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    free(value);
    close_engine(engine);
}

/* A callback that never comes: TIMEOUT within the deadline, and held for good; the engine is given up,
 * counted. */
static void test_lost(void **state)
{
    (void)state;
    static char value[8] = "value";
    kvs_engine *engine = engine_with("timeout=10ms&cancel_grace=10ms");
    static const char *const keys[] = {"lost", "not-lost"};
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, keys, 2, value, 4);
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_xfer_wait(x, WAIT), KVS_TIMEOUT);
    assert_int_equal(result_of(x, 0, NULL), KVS_TIMEOUT);
    assert_int_equal(kvs_xfer_release(x, KVS_MS(1)), KVS_BUSY);
    kvs_xfer_abandon(x);
    assert_int_equal(kvs_engine_close(engine, KVS_MS(1), NULL), KVS_BUSY);
    kvs_engine_abandon(engine);
}

/* bounce=yes: the library has memory of the SDK's, so that the user's is free at TIMEOUT. */
static void test_bounce(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("timeout=10ms&cancel_grace=10ms&bounce=yes");
    char *value = malloc(6);
    int n = 0;
    memcpy(value, "value", 6);
    const char *key = "held-bounced";
    kvs_xfer *x = prep_keys(engine, KVS_READ, &key, 1, value, 6);
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_xfer_wait(x, WAIT), KVS_TIMEOUT);
    kvs_engine_held(engine, count_held, &n);
    assert_int_equal(n, 0);
    free(value); /* it is the user's again, whatever the library does */
    kvs_xfer_abandon(x);
    while (wds_emulator_let_go() == 0)
        ;
    close_engine(engine);
}

/* Rubbish in the buffer, and then a failure: read_atomic is none, and bounce=yes gives it back. */
static void test_spoilt(void **state)
{
    (void)state;
    char back[6] = "empty";
    struct kvs_limits limits = {.size = sizeof(limits)};
    kvs_engine *engine = engine_with("");
    assert_int_equal(kvs_engine_limits(engine, &limits), KVS_OK);
    assert_true(limits.caps_none & KVS_CAP_READ_ATOMIC);
    assert_int_equal(put_text(engine, "spoilt", "value", 6), KVS_OK);
    assert_int_equal(get_text(engine, "spoilt", back, 6), KVS_IO);
    assert_int_equal((unsigned char)back[0], 0xee);
    close_engine(engine);
    memcpy(back, "empty", 6);
    engine = engine_with("bounce=yes");
    assert_int_equal(kvs_engine_limits(engine, &limits), KVS_OK);
    assert_false((limits.caps_none | limits.caps_native) & KVS_CAP_READ_ATOMIC); /* emulated */
    assert_true(limits.caps_none & KVS_CAP_SIZE_CHECK);
    assert_int_equal(get_text(engine, "spoilt", back, 6), KVS_IO);
    assert_string_equal(back, "empty");
    close_engine(engine);
}

static void test_slow(void **state)
{
    (void)state;
    kvs_engine *engine = engine_with("");
    roundtrip(engine, "slow");
    static const char *const keys[] = {"slow-a", "quick", "slow-b"};
    char space[30];
    kvs_xfer *x = prep_keys(engine, KVS_WRITE, keys, 3, space, 10);
    memset(space, 'x', sizeof(space));
    assert_int_equal(kvs_xfer_post(x), KVS_IN_PROG);
    assert_int_equal(kvs_xfer_wait(x, WAIT), KVS_OK);
    assert_int_equal(kvs_xfer_release(x, 0), KVS_OK);
    close_engine(engine);
}

static int start(void **state)
{
    (void)state;
    char members[64];
    const char *mode = getenv("WQSKV_TEST_MODE");
    setenv("WQSKV_EMULATOR", rules, 1);
    snprintf(members, sizeof(members), "\"thread_mode\": \"%s\"", mode != NULL ? mode : "event");
    static char path[600];
    snprintf(path, sizeof(path), "%s", write_config("config", members));
    config = path;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_lies),   cmocka_unit_test(test_codes),
        cmocka_unit_test(test_early),   cmocka_unit_test(test_twice),  cmocka_unit_test(test_much_later),
        cmocka_unit_test(test_late),    cmocka_unit_test(test_bounce), cmocka_unit_test(test_spoilt),
        cmocka_unit_test(test_slow),    cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
