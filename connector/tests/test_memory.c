/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out at any allocation, and a system without random numbers. */
#include "connector_test.h"

#include <errno.h>
#include <sys/types.h>

/* Linked with --wrap: the library's calls come here. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
ssize_t __real_getrandom(void *to, size_t len, unsigned flags);
KVS_EXPORT void *__wrap_malloc(size_t size);
KVS_EXPORT void *__wrap_calloc(size_t n, size_t size);
KVS_EXPORT void *__wrap_realloc(void *p, size_t size);
KVS_EXPORT ssize_t __wrap_getrandom(void *to, size_t len, unsigned flags);

static long left = -1; /* calls until one fails; negative: none does */
static int random_error, interrupts;

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

ssize_t __wrap_getrandom(void *to, size_t len, unsigned flags)
{
    if (interrupts > 0) {
        interrupts--;
        errno = EINTR;
        return -1;
    }
    if (random_error) {
        errno = random_error;
        return -1;
    }
    return __real_getrandom(to, len, flags);
}

/* An input that takes several blocks of memory, escapes, sorting, and a longer output than guessed. */
static char *input;
static size_t input_len;

static int exchange(struct kvs_error *err)
{
    kvs_connector *c = NULL;
    char *json = NULL;
    int status = kvs_connector_build("kv-sglang", NULL, 0, &c, err);
    if (status == KVS_OK)
        status = kvs_connector_prefill(c, &json, NULL, err);
    kvs_connector_text_free(json);
    json = NULL;
    if (status == KVS_OK)
        status = kvs_connector_decode(c, input, input_len, &json, NULL, NULL, err);
    assert_true(status == KVS_OK || json == NULL);
    kvs_connector_text_free(json);
    kvs_connector_free(c);
    return status;
}

static int encode(struct kvs_error *err)
{
    kvs_ec_connector *c = NULL;
    kvs_ec_request *r = NULL;
    char *json = NULL;
    int status = kvs_ec_connector_build("ec-nixl", NULL, 0, &c, err);
    if (status == KVS_OK)
        status = kvs_ec_request_begin(c, &r, err);
    for (int i = 0; i < 2 && status == KVS_OK; i++)
        status = kvs_ec_request_merge(r, input, input_len, err);
    if (status == KVS_OK)
        status = kvs_ec_request_prefill(r, &json, NULL, err);
    assert_true(status == KVS_OK || json == NULL);
    kvs_connector_text_free(json);
    kvs_ec_request_end(r);
    kvs_ec_connector_free(c);
    return status;
}

static int prefill_own(void *state, kvs_connector_answer *answer, struct kvs_error *err)
{
    (void)state;
    (void)err;
    return kvs_connector_answer_set(answer, "{\"a\":\"\\n\"}", 10);
}

static int decode_own(void *state, const char *text, size_t len, kvs_connector_answer *answer,
                      struct kvs_error *err)
{
    (void)state;
    (void)err;
    return text ? kvs_connector_answer_set(answer, text, len) : KVS_NO_MEMORY;
}

static int build_own(const struct kvs_connector_own *own, const struct kvs_param_value *params,
                     size_t nparams, void **state, struct kvs_error *err)
{
    (void)own;
    (void)params;
    (void)nparams;
    (void)state;
    (void)err;
    return KVS_OK;
}

static int own(struct kvs_error *err)
{
    static const struct kvs_connector_own mine = {.size = sizeof mine,
                                                  .name = "mine",
                                                  .build = build_own,
                                                  .prefill = prefill_own,
                                                  .decode = decode_own};
    kvs_connector *c = NULL;
    char *json = NULL;
    int status = kvs_connector_register(&mine, err);
    if (status == KVS_OK)
        status = kvs_connector_build("mine", NULL, 0, &c, err);
    if (status == KVS_OK)
        status = kvs_connector_prefill(c, &json, NULL, err);
    kvs_connector_text_free(json);
    json = NULL;
    if (status == KVS_OK)
        status = kvs_connector_decode(c, input, input_len, &json, NULL, NULL, err);
    assert_true(status == KVS_OK || json == NULL);
    kvs_connector_text_free(json);
    kvs_connector_free(c);
    return status;
}

/* Each of its allocations fails once; nothing is leaked, which the sanitizers watch. */
static void each_fails(int (*work)(struct kvs_error *err), int least)
{
    for (int at = 0;; at++) {
        struct kvs_error err = {0};
        left = at;
        int status = work(&err);
        bool reached = left < 0;
        left = -1;
        if (!reached) {
            assert_int_equal(status, KVS_OK);
            assert_true(at >= least);
            return;
        }
        if (status != KVS_NO_MEMORY || !strstr(err.text, "out of memory"))
            fail_msg("allocation %d failed, and the answer was %d '%s'", at, status, err.text);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    each_fails(exchange, 6);
    each_fails(encode, 6);
    each_fails(own, 6);
}

static void no_random_numbers(void **state)
{
    (void)state;
    static const char *const rooms[] = {"uuid", "int"};
    for (size_t i = 0; i < COUNT(rooms); i++) {
        struct kvs_error err = {0};
        kvs_connector *c = build("kv-sglang", "room", rooms[i]);
        char *json;
        random_error = ENOSYS;
        assert_int_equal(kvs_connector_prefill(c, &json, NULL, &err), KVS_IO);
        assert_null(json);
        assert_non_null(strstr(err.text, "no random numbers"));
        random_error = 0;
        interrupts = 3; /* by signals: it is asked again */
        kvs_connector_text_free(prefill(c));
        assert_int_equal(interrupts, 0);
        kvs_connector_free(c);
    }
}

int main(void)
{
    size_t n = 400;
    char *p = input = malloc(64 * n + 16);
    if (!p)
        return 1;
    *p++ = '{';
    for (size_t i = 0; i < n; i++)
        p += sprintf(p, "%s\"k%03zu\":[\"\\u0001\\u0001\\ud83d\\ude00\",1e400,{}]", i ? "," : "", n - i);
    *p++ = '}';
    input_len = (size_t)(p - input);
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_runs_out),
                                       cmocka_unit_test(no_random_numbers)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(input);
    return failed;
}
