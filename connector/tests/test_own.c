/* SPDX-License-Identifier: Apache-2.0 */
/* Connectors of one's own. */
#include "connector_test.h"

#include <kvslot/backend.h>
#include <stdatomic.h>

struct state {
    char label[32];
};

static int built, destroyed;

static int build_it(const struct kvs_connector_own *own, const struct kvs_param_value *params, size_t nparams,
                    void **state, struct kvs_error *err)
{
    struct state *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_string_equal(own->name, "my-kv");
    strcpy(s->label, "none");
    for (size_t i = 0; i < nparams; i++) {
        assert_string_equal(params[i].name, "label"); /* max_input is not ours */
        snprintf(s->label, sizeof s->label, "%s", params[i].value);
    }
    if (strcmp(s->label, "bad") == 0) {
        free(s);
        strcpy(err->text, "the label is bad");
        return KVS_ACCESS;
    }
    built++;
    *state = s;
    return KVS_OK;
}

static void destroy_it(void *state)
{
    destroyed++;
    free(state);
}

static int prefill_it(void *state, kvs_connector_answer *answer, struct kvs_error *err)
{
    struct state *s = state;
    char text[128];
    (void)err;
    assert_int_equal(kvs_connector_answer_set(answer, "what is left twice", 18), KVS_OK);
    int n = snprintf(text, sizeof text, " {\"z\" : 1, \"label\":\"%s\", \"z\":2} ", s->label);
    return kvs_connector_answer_set(answer, text, (size_t)n);
}

static int decode_it(void *state, const char *input, size_t len, kvs_connector_answer *answer,
                     struct kvs_error *err)
{
    (void)state;
    (void)err;
    if (!input) {
        assert_int_equal(len, 0);
        return kvs_connector_answer_set(answer, "{\"nothing\":true}", 16);
    }
    assert_int_equal(len, strlen(input));
    return kvs_connector_answer_set(answer, input, len);
}

static const struct kvs_param params[] = {
    {.name = "label", .def = "none", .type = KVS_PARAM_STRING, .help = "any text"},
};

static const struct kvs_connector_own mine = {
    .size = sizeof mine,
    .name = "my-kv",
    .help = "one of our own",
    .params = params,
    .nparams = 1,
    .param_size = sizeof params[0],
    .build = build_it,
    .destroy = destroy_it,
    .prefill = prefill_it,
    .decode = decode_it,
};

static int collect(void *arg, const struct kvs_connector_info *info)
{
    strcat(strcat((char *)arg, info->name), " ");
    return 0;
}

static void works(void **state)
{
    (void)state;
    struct kvs_error err = {0};
    kvs_connector *c;
    char names[256] = "";
    assert_int_equal(kvs_connector_build("my-kv", NULL, 0, &c, &err), KVS_NOT_FOUND);
    assert_int_equal(kvs_connector_register(&mine, &err), KVS_OK);
    assert_int_equal(kvs_connector_register(&mine, &err), KVS_OK);
    assert_int_equal(kvs_connector_list(KVS_CONNECTOR_KV, collect, names), KVS_OK);
    assert_string_equal(names, "kv-nixl kv-sglang kv-shared-storage my-kv ");

    struct kvs_param_value given[] = {{"max_input", "16"}, {"label", "blue"}};
    assert_int_equal(kvs_connector_build("my-kv", given, 2, &c, &err), KVS_OK);
    assert_string_equal(kvs_connector_name(c), "my-kv");
    is_text(prefill(c), "{\"label\":\"blue\",\"z\":2}");
    is_text(decode(c, "{\"b\":1, \"a\":2 }", KVS_HANDOFF_GIVEN), "{\"a\":2,\"b\":1}");
    is_text(decode(c, NULL, KVS_HANDOFF_MISSING), "{\"nothing\":true}");
    catch_log();
    is_text(decode(c, "7", KVS_HANDOFF_MISSING), "{\"nothing\":true}");
    assert_int_equal(caught.lines, 1);
    char *json;
    assert_int_equal(kvs_connector_decode(c, "{\"b\":1234567890 }", 17, &json, NULL, NULL, &err),
                     KVS_TOO_LARGE);
    assert_int_equal(kvs_connector_decode(c, "{", 1, &json, NULL, NULL, &err), KVS_INVALID_PARAM);
    kvs_connector_free(c);
    assert_int_equal(built, 1);
    assert_int_equal(destroyed, 1);

    given[1].value = "bad";
    assert_int_equal(kvs_connector_build("my-kv", given, 2, &c, &err), KVS_ACCESS);
    assert_null(c);
    assert_string_equal(err.text, "connector 'my-kv' was not built: the label is bad");
    given[1] = (struct kvs_param_value){"colour", "blue"};
    assert_int_equal(kvs_connector_build("my-kv", given, 2, &c, &err), KVS_INVALID_PARAM);
    assert_int_equal(built, 1);
}

/* ---- Answers that are none ---- */

static const char *left; /* NULL: nothing */
static int answered;

static int prefill_odd(void *state, kvs_connector_answer *answer, struct kvs_error *err)
{
    (void)state;
    (void)err;
    if (left)
        assert_int_equal(kvs_connector_answer_set(answer, left, strlen(left)), KVS_OK);
    return answered;
}

static int decode_odd(void *state, const char *input, size_t len, kvs_connector_answer *answer,
                      struct kvs_error *err)
{
    (void)input;
    (void)len;
    return prefill_odd(state, answer, err);
}

static const struct kvs_connector_own odd = {
    .size = sizeof odd, .name = "odd", .prefill = prefill_odd, .decode = decode_odd};

static void odd_answers(void **state)
{
    (void)state;
    static const struct {
        const char *left;
        int answered, status;
        const char *says;
    } rows[] = {
        {"{}", KVS_OK, KVS_OK, ""},
        {NULL, KVS_OK, KVS_BACKEND, "left nothing, not an object"},
        {"", KVS_OK, KVS_BACKEND, "left nothing, not an object"},
        {"[]", KVS_OK, KVS_BACKEND, "left an array, not an object"},
        {"{", KVS_OK, KVS_BACKEND, "premature EOF"},
        {"{\"\xff\":1}", KVS_OK, KVS_BACKEND, "no UTF-8"},
        {"{}", KVS_TIMEOUT, KVS_TIMEOUT, "timed out"},
        {"{}", 5, KVS_BACKEND, "answered 5, which is no error"},
    };
    struct kvs_error err;
    assert_int_equal(kvs_connector_register(&odd, NULL), KVS_OK);
    kvs_connector *c = build("odd", NULL, NULL);
    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        char *json = (char *)&err;
        size_t k = i / 2;
        left = rows[k].left;
        answered = rows[k].answered;
        err = (struct kvs_error){0};
        int status = i % 2 ? kvs_connector_prefill(c, &json, NULL, &err)
                           : kvs_connector_decode(c, "{\"a\":1}", 7, &json, NULL, NULL, &err);
        assert_int_equal(status, rows[k].status);
        if (!strstr(err.text, rows[k].says))
            fail_msg("row %zu: '%s'", k, err.text);
        assert_true((json != NULL) == (status == KVS_OK));
        kvs_connector_text_free(json);
    }
    kvs_connector_free(c);
}

static void refused(void **state)
{
    (void)state;
    static struct kvs_connector_own bad[16];
    static const char *const names[] = {
        NULL,    "",
        "Kv",    "1kv",
        "kv/x",  "kv x",
        "-kv",   "kv-nixl",
        "my-kv", "a23456789012345678901234567890123456789012345678901234567890abcd"};
    struct kvs_param input = {.name = "max_input", .type = KVS_PARAM_INT};
    struct kvs_error err;
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = odd;
    for (size_t i = 0; i < COUNT(names); i++) {
        bad[i].name = names[i];
        if (kvs_connector_register(&bad[i], &err) != KVS_INVALID_PARAM)
            fail_msg("'%s' was taken", names[i] ? names[i] : "NULL");
    }
    bad[10].name = bad[11].name = bad[12].name = bad[13].name = bad[14].name = "fine";
    bad[10].size--;
    bad[11].prefill = NULL;
    bad[12].decode = NULL;
    bad[13].params = &input, bad[13].nparams = 1, bad[13].param_size = sizeof input;
    bad[14].nparams = 1;
    for (size_t i = 10; i < 15; i++)
        assert_int_equal(kvs_connector_register(&bad[i], &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_register(NULL, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_answer_set(NULL, "{}", 2), KVS_INVALID_PARAM);
}

/* ---- Threads ---- */

enum { THREADS = 8, NAMES = 16 };

static struct kvs_connector_own rivals[THREADS][NAMES];
static char rival_names[NAMES][24];
static atomic_int won[NAMES];
static pthread_barrier_t start;

static void *register_all(void *arg)
{
    struct kvs_connector_own *own = arg;
    pthread_barrier_wait(&start);
    for (int i = 0; i < NAMES; i++) {
        if (kvs_connector_register(&own[i], NULL) == KVS_OK)
            atomic_fetch_add(&won[i], 1);
        kvs_connector *c;
        if (kvs_connector_build(rival_names[i], NULL, 0, &c, NULL) == KVS_OK)
            kvs_connector_free(c);
        else
            atomic_fetch_add(&won[i], 100); /* it has to be there, whoever was first */
    }
    return NULL;
}

/* Of several that register one name at once, one has it. */
static void one_wins(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    char names[1024] = "";
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < NAMES; i++)
        snprintf(rival_names[i], sizeof rival_names[i], "rival-%02d", i);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < NAMES; i++) {
            rivals[t][i] = odd;
            rivals[t][i].name = rival_names[i];
        }
        assert_int_equal(pthread_create(&threads[t], NULL, register_all, rivals[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(atomic_load(&won[i]), 1);
    assert_int_equal(kvs_connector_list(KVS_CONNECTOR_KV, collect, names), KVS_OK);
    assert_non_null(strstr(names, "odd rival-00 rival-01 rival-02 rival-03 rival-04 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works),
        cmocka_unit_test(odd_answers),
        cmocka_unit_test(refused),
        cmocka_unit_test(one_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
