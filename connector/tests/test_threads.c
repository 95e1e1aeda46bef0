/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that share one connector. */
#include "connector_test.h"

#include <stdatomic.h>

enum { THREADS = 8 };

#ifdef KVS_TESTS_WRAPPED
enum { ROUNDS = 30 };
#else
enum { ROUNDS = 300 };
#endif

static kvs_connector *nixl, *sglang;
static kvs_ec_connector *ec;
static pthread_barrier_t start;
static atomic_int failures;

static void expect(bool holds)
{
    if (!holds)
        atomic_fetch_add(&failures, 1);
}

/* cmocka's asserts are for the test's own thread. */
static bool is(char *json, const char *want)
{
    bool same = json && strcmp(json, want) == 0;
    kvs_connector_text_free(json);
    return same;
}

static void one_ec(int number)
{
    kvs_ec_request *r;
    char text[64], *json = NULL;
    int n = snprintf(text, sizeof text, "{\"h\":%d}", number);
    expect(kvs_ec_request_begin(ec, &r, NULL) == KVS_OK);
    expect(kvs_ec_request_merge(r, text, (size_t)n, NULL) == KVS_OK);
    expect(kvs_ec_request_prefill(r, &json, NULL, NULL) == KVS_OK);
    expect(is(json, text));
    kvs_ec_request_end(r);
}

static void *work(void *arg)
{
    int self = *(int *)arg, handoff;
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        char input[96], want[160], *json = NULL;
        int id = self * ROUNDS + i,
            len = snprintf(input, sizeof input, "{\"id\":%d,\"a\":[\"\\u0041\"]}", id);
        snprintf(want, sizeof want,
                 "{\"a\":[\"A\"],\"do_remote_decode\":false,\"do_remote_prefill\":true,\"id\":%d}", id);
        expect(kvs_connector_decode(nixl, input, (size_t)len, &json, NULL, &handoff, NULL) == KVS_OK);
        expect(is(json, want) && handoff == KVS_HANDOFF_GIVEN);
        json = NULL;
        expect(kvs_connector_decode(sglang, input, (size_t)len, &json, NULL, NULL, NULL) == KVS_OK);
        expect(is(json, want));
        json = NULL;
        expect(kvs_connector_prefill(sglang, &json, NULL, NULL) == KVS_OK && strstr(json, "bootstrap_room"));
        kvs_connector_text_free(json);
        expect(kvs_connector_decode(nixl, "[", 1, &json, NULL, NULL, NULL) == KVS_INVALID_PARAM);
        expect(strcmp(kvs_connector_name(nixl), "kv-nixl") == 0);
        one_ec(id);
    }
    return NULL;
}

static void shared(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int selves[THREADS];
    nixl = build("kv-nixl", NULL, NULL);
    sglang = build("kv-sglang", "room", "int");
    assert_int_equal(kvs_ec_connector_build("ec-nixl", NULL, 0, &ec, NULL), KVS_OK);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; t++) {
        selves[t] = t;
        assert_int_equal(pthread_create(&threads[t], NULL, work, &selves[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    assert_int_equal(atomic_load(&failures), 0);
    kvs_connector_free(nixl);
    kvs_connector_free(sglang);
    kvs_ec_connector_free(ec);
}

static void *build_many(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        kvs_connector *c = NULL;
        expect(kvs_connector_build("kv-sglang", NULL, 0, &c, NULL) == KVS_OK);
        kvs_connector_free(c);
    }
    return NULL;
}

/* A wrong port is logged once, however many threads meet it. */
static void built_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    setenv("SGLANG_BOOTSTRAP_PORT", "eight", 1);
    catch_log();
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, build_many, NULL), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    unsetenv("SGLANG_BOOTSTRAP_PORT");
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(caught.lines, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared), cmocka_unit_test(built_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
