/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names, prefill and decode objects, and what a prefill may answer. */
#include "connector_test.h"

#define FLAGS_PREFILL "\"do_remote_decode\":true,\"do_remote_prefill\":false"
#define FLAGS_DECODE  "\"do_remote_decode\":false,\"do_remote_prefill\":true"

/* Golden: each field by its exact name, and nothing beside them. B113 */
static void prefill_objects(void **state)
{
    (void)state;
    static const struct {
        const char *name, *json;
    } rows[] = {
        {"kv-nixl", "{" FLAGS_PREFILL ",\"remote_block_ids\":null,\"remote_engine_id\":null,"
                    "\"remote_host\":null,\"remote_port\":null}"},
        {"kv-shared-storage", "{" FLAGS_PREFILL "}"},
        {"", "{" FLAGS_PREFILL "}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        kvs_connector *c = build(rows[i].name, NULL, NULL);
        is_text(prefill(c), rows[i].json);
        is_text(prefill(c), rows[i].json);
        kvs_connector_free(c);
    }
}

/* B108, B109, B113 */
static void decode_objects(void **state)
{
    (void)state;
    static const struct {
        const char *input, *json;
        int handoff;
    } rows[] = {
        {NULL, "{" FLAGS_DECODE "}", KVS_HANDOFF_MISSING},
        {"", "{" FLAGS_DECODE "}", KVS_HANDOFF_MISSING},
        {"{}", "{" FLAGS_DECODE "}", KVS_HANDOFF_MISSING},
        {"{\"remote_engine_id\":\"e-1\",\"remote_host\":\"10.0.0.7\",\"remote_port\":5600,"
         "\"remote_block_ids\":[1,2,3],\"tp_size\":2}",
         "{" FLAGS_DECODE ",\"remote_block_ids\":[1,2,3],\"remote_engine_id\":\"e-1\",\"remote_host\":"
         "\"10.0.0.7\",\"remote_port\":5600,\"tp_size\":2}",
         KVS_HANDOFF_GIVEN},
        /* The flags win over the input, whatever it says. */
        {"{\"do_remote_prefill\":false,\"do_remote_decode\":true}", "{" FLAGS_DECODE "}", KVS_HANDOFF_GIVEN},
        {"{\"do_remote_prefill\":{\"a\":[]},\"do_remote_decode\":null,\"do_remote_decode\":1}",
         "{" FLAGS_DECODE "}", KVS_HANDOFF_GIVEN},
        {"{\"do_remote_\\u0070refill\":7}", "{" FLAGS_DECODE "}", KVS_HANDOFF_GIVEN},
        /* Those of other names stay, also inside. */
        {"{\"x\":{\"do_remote_decode\":true},\"Do_remote_decode\":0}",
         "{\"Do_remote_decode\":0," FLAGS_DECODE ",\"x\":{\"do_remote_decode\":true}}", KVS_HANDOFF_GIVEN},
        /* Empty and nested groups of blocks are something. */
        {"{\"remote_block_ids\":[]}", "{" FLAGS_DECODE ",\"remote_block_ids\":[]}", KVS_HANDOFF_GIVEN},
        {"{\"remote_block_ids\":[[1,2],[],[[3]]]}",
         "{" FLAGS_DECODE ",\"remote_block_ids\":[[1,2],[],[[3]]]}", KVS_HANDOFF_GIVEN},
        /* Ports go as they came: they are the pods' to judge. */
        {"{\"remote_port\":\"5600\"}", "{" FLAGS_DECODE ",\"remote_port\":\"5600\"}", KVS_HANDOFF_GIVEN},
        {"{\"remote_port\":0}", "{" FLAGS_DECODE ",\"remote_port\":0}", KVS_HANDOFF_GIVEN},
        {"{\"remote_port\":65536}", "{" FLAGS_DECODE ",\"remote_port\":65536}", KVS_HANDOFF_GIVEN},
        {"{\"remote_port\":-1}", "{" FLAGS_DECODE ",\"remote_port\":-1}", KVS_HANDOFF_GIVEN},
        {"{\"remote_port\":5600.5}", "{" FLAGS_DECODE ",\"remote_port\":5600.5}", KVS_HANDOFF_GIVEN},
        {"{\"bootstrap_room\":9223372036854775807,\"bootstrap_port\":8998}",
         "{\"bootstrap_port\":8998,\"bootstrap_room\":9223372036854775807," FLAGS_DECODE "}",
         KVS_HANDOFF_GIVEN},
    };
    static const char *const names[] = {"kv-nixl", "kv-sglang"};
    catch_log();
    for (size_t n = 0; n < COUNT(names); n++) {
        kvs_connector *c = build(names[n], NULL, NULL);
        for (size_t i = 0; i < COUNT(rows); i++)
            is_text(decode(c, rows[i].input, rows[i].handoff), rows[i].json);
        kvs_connector_free(c);
    }
    assert_int_equal(caught.lines, 0);
}

/* B107: it counts as none, with a line in the log, and fails nothing. */
static void no_object(void **state)
{
    (void)state;
    static const struct {
        const char *input, *called;
    } rows[] = {
        {"null", "null"},      {"[]", "an array"},     {"[{\"a\":1}]", "an array"},
        {"\"x\"", "a string"}, {"7", "a number"},      {"-0", "a number"},
        {"true", "a boolean"}, {"false", "a boolean"}, {" null\n", "null"},
    };
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        catch_log();
        is_text(decode(c, rows[i].input, KVS_HANDOFF_MISSING), "{" FLAGS_DECODE "}");
        assert_int_equal(caught.lines, 1);
        assert_int_equal(caught.level, KVS_LOG_WARN);
        assert_non_null(strstr(caught.last, "kv-nixl"));
        assert_non_null(strstr(caught.last, rows[i].called));
    }
    catch_log();
    is_text(decode(c, " \t\r\n", KVS_HANDOFF_MISSING), "{" FLAGS_DECODE "}");
    assert_int_equal(caught.lines, 0);
    kvs_connector_free(c);
}

static void shared_storage_looks_at_nothing(void **state)
{
    (void)state;
    static const char *const inputs[] = {NULL, "{\"a\":1}", "[", "\xff", "{\"do_remote_decode\":true}"};
    kvs_connector *c = build("kv-shared-storage", NULL, NULL);
    catch_log();
    for (size_t i = 0; i < COUNT(inputs); i++)
        is_text(decode(c, inputs[i], KVS_HANDOFF_UNUSED), "{" FLAGS_DECODE "}");
    assert_int_equal(caught.lines, 0);
    kvs_connector_free(c);
}

/* B114 */
static void names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"kv-nixL", "unknown kv_connector: \"kv-nixL\""},
        {" kv-nixl", "unknown kv_connector: \" kv-nixl\""},
        {"ec-nixl", "unknown kv_connector: \"ec-nixl\""},
        {"none", "unknown kv_connector: \"none\""},
        {"a\"b\\c\n\x1b[1m", "unknown kv_connector: \"a\\\"b\\\\c\\x0a\\x1b[1m\""},
        {"gr\xc3\xbc\xc3\x9f\xff", "unknown kv_connector: \"gr\xc3\xbc\xc3\x9f\\xff\""},
    };
    struct kvs_error err;
    kvs_connector *c;
    for (size_t i = 0; i < COUNT(rows); i++) {
        c = (kvs_connector *)&err;
        assert_int_equal(kvs_connector_build(rows[i].name, NULL, 0, &c, &err), KVS_NOT_FOUND);
        assert_null(c);
        assert_int_equal(err.status, KVS_NOT_FOUND);
        assert_string_equal(err.text, rows[i].text);
    }
    char huge[5000];
    memset(huge, 'x', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    assert_int_equal(kvs_connector_build(huge, NULL, 0, &c, &err), KVS_NOT_FOUND);
    assert_non_null(strstr(err.text, "xxx...\""));
    assert_int_equal(kvs_connector_build(huge, NULL, 0, &c, NULL), KVS_NOT_FOUND);

    static const char *const known[] = {"kv-nixl", "kv-sglang", "kv-shared-storage"};
    for (size_t i = 0; i < COUNT(known); i++) {
        c = build(known[i], NULL, NULL);
        assert_string_equal(kvs_connector_name(c), known[i]);
        kvs_connector_free(c);
    }
    c = build("", NULL, NULL);
    assert_string_equal(kvs_connector_name(c), "kv-shared-storage");
    kvs_connector_free(c);
}

static int collect(void *arg, const struct kvs_connector_info *info)
{
    char *text = arg;
    assert_int_equal(info->size, sizeof *info);
    assert_true(info->nparams > 0 && info->params && info->help[0] != '\0');
    strcat(strcat(text, info->name), info->is_default ? "* " : " ");
    return 0;
}

static int stop(void *arg, const struct kvs_connector_info *info)
{
    (void)info;
    return ++*(int *)arg;
}

static void lists(void **state)
{
    (void)state;
    char text[256] = "";
    int n = 41;
    assert_int_equal(kvs_connector_list(KVS_CONNECTOR_KV, collect, text), KVS_OK);
    assert_string_equal(text, "kv-nixl kv-sglang kv-shared-storage* ");
    text[0] = '\0';
    assert_int_equal(kvs_connector_list(KVS_CONNECTOR_EC, collect, text), KVS_OK);
    assert_string_equal(text, "ec-nixl ec-shared-storage* ");
    assert_int_equal(kvs_connector_list(KVS_CONNECTOR_KV, stop, &n), 42);
    assert_int_equal(kvs_connector_list(2, collect, text), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_list(-1, collect, text), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_list(KVS_CONNECTOR_KV, NULL, text), KVS_INVALID_PARAM);
}

static void wrong_params(void **state)
{
    (void)state;
    static const struct {
        const char *name, *param, *value, *text;
    } rows[] = {
        {"kv-nixl", "bootstrap_port", "8998", "connector 'kv-nixl'"},
        {"kv-nixl", "max_imput", "1KiB", "max_imput"},
        {"kv-nixl", "max_input", "0", "max_input"},
        {"kv-nixl", "max_input", "-1", "max_input"},
        {"kv-nixl", "max_input", "2GiB", "max_input"},
        {"kv-sglang", "bootstrap_port", "0", "bootstrap_port"},
        {"kv-sglang", "bootstrap_port", "65536", "bootstrap_port"},
        {"kv-sglang", "bootstrap_port", "-1", "bootstrap_port"},
        {"kv-sglang", "bootstrap_port", "8998x", "'8998x'"},
        {"kv-sglang", "bootstrap_port", "", "bootstrap_port"},
        {"kv-sglang", "bootstrap_port", NULL, ""},
        {"kv-sglang", "room", "text", "'text'"},
        {"kv-sglang", NULL, "1", ""},
    };
    struct kvs_error err;
    kvs_connector *c;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct kvs_param_value given = {rows[i].param, rows[i].value};
        assert_int_equal(kvs_connector_build(rows[i].name, &given, 1, &c, &err), KVS_INVALID_PARAM);
        assert_null(c);
        if (!strstr(err.text, rows[i].text))
            fail_msg("row %zu: '%s'", i, err.text);
    }
    struct kvs_param_value twice[] = {{"room", "int"}, {"max_input", "1KiB"}, {"room", "int"}};
    assert_int_equal(kvs_connector_build("kv-sglang", twice, 3, &c, &err), KVS_INVALID_PARAM);
    assert_string_equal(err.text, "connector 'kv-sglang': parameter 'room' is given twice");
    assert_int_equal(kvs_connector_build("kv-nixl", NULL, 1, &c, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_build("kv-nixl", NULL, 0, NULL, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_build(NULL, NULL, 0, &c, &err), KVS_INVALID_PARAM);
    assert_null(c);
}

static void wrong_calls(void **state)
{
    (void)state;
    struct kvs_error err;
    char *json = (char *)&err;
    size_t len = 7;
    int handoff = 7;
    uint64_t none[8] = {0};
    kvs_connector *c = build("kv-nixl", NULL, NULL), *bad = (kvs_connector *)none;

    assert_int_equal(kvs_connector_prefill(NULL, &json, &len, &err), KVS_INVALID_PARAM);
    assert_null(json);
    assert_int_equal(len, 0);
    assert_int_equal(kvs_connector_prefill(bad, &json, NULL, NULL), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_prefill(c, NULL, &len, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_decode(NULL, "{}", 2, &json, &len, &handoff, &err), KVS_INVALID_PARAM);
    assert_int_equal(handoff, 0);
    assert_int_equal(kvs_connector_decode(c, "{}", 2, NULL, &len, &handoff, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_connector_decode(c, NULL, 2, &json, &len, &handoff, &err), KVS_INVALID_PARAM);
    assert_null(json);
    /* All that may be NULL. */
    assert_int_equal(kvs_connector_decode(c, "{\"a\":1}", 7, &json, NULL, NULL, NULL), KVS_OK);
    kvs_connector_free(c);
    is_text(json, "{\"a\":1," FLAGS_DECODE "}"); /* texts outlive the connector */
    assert_string_equal(kvs_connector_name(NULL), "");
    assert_string_equal(kvs_connector_name(bad), "");
    kvs_connector_free(NULL);
    kvs_connector_free(bad);
    kvs_connector_text_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefill_objects), cmocka_unit_test(decode_objects),
        cmocka_unit_test(no_object),       cmocka_unit_test(shared_storage_looks_at_nothing),
        cmocka_unit_test(names),           cmocka_unit_test(lists),
        cmocka_unit_test(wrong_params),    cmocka_unit_test(wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
