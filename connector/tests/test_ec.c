/* SPDX-License-Identifier: Apache-2.0 */
/* Connectors of the encoder cache. */
#include "connector_test.h"

static kvs_ec_request *begin(const char *name)
{
    kvs_ec_connector *c;
    kvs_ec_request *r;
    assert_int_equal(kvs_ec_connector_build(name, NULL, 0, &c, NULL), KVS_OK);
    assert_int_equal(kvs_ec_request_begin(c, &r, NULL), KVS_OK);
    kvs_ec_connector_free(c); /* requests outlive it */
    return r;
}

static void merge(kvs_ec_request *r, const char *input)
{
    struct kvs_error err = {0};
    size_t len = input ? strlen(input) : 0;
    char *copy = exact(input ? input : "", len);
    if (kvs_ec_request_merge(r, input ? copy : NULL, len, &err) != KVS_OK)
        fail_msg("merge of '%s': %s", input, err.text);
    memset(copy, 'x', len); /* it is not used any more */
    free(copy);
}

static char *result(const kvs_ec_request *r)
{
    struct kvs_error err = {0};
    char *json;
    size_t len;
    if (kvs_ec_request_prefill(r, &json, &len, &err) != KVS_OK)
        fail_msg("prefill: %s", err.text);
    assert_int_equal(len, strlen(json));
    return json;
}

static void merged(void **state)
{
    (void)state;
    static const struct {
        const char *inputs[4];
        const char *json; /* NULL: they conflict */
        const char *mm_hash;
        int warnings;
    } rows[] = {
        {{NULL}, "{}", NULL, 0},
        {{"{\"h1\":{\"port\":1}}"}, "{\"h1\":{\"port\":1}}", NULL, 0},
        {{"{\"h2\":{\"b\":1,\"a\":2}}", "{\"h1\":[1]}", "{\"h3\":\"x\",\"h0\":7}"},
         "{\"h0\":7,\"h1\":[1],\"h2\":{\"a\":2,\"b\":1},\"h3\":\"x\"}",
         NULL,
         0},
        /* Empty answers, and those that are none. */
        {{"{}", "{\"h\":1}", ""}, "{\"h\":1}", NULL, 2},
        {{"null", "[]", "7"}, "{}", NULL, 3},
        /* A descriptor that is null. */
        {{"{\"h\":null}"}, "{}", NULL, 0},
        {{"{\"h\":null,\"i\":1}", "{\"h\":2,\"i\":null}"}, "{\"h\":2,\"i\":1}", NULL, 0},
        {{"{\"h\":{\"x\":null}}"}, "{\"h\":{\"x\":null}}", NULL, 0},
        /* Equal ones. */
        {{"{\"h\":{\"a\":1,\"b\":[true,\"\\u0041\"]}}", "{\"h\":{\"b\":[true,\"A\"],\"a\":1}}"},
         "{\"h\":{\"a\":1,\"b\":[true,\"A\"]}}",
         NULL,
         0},
        {{"{\"h\":[1.0,100,-0,1e400,0.00]}", "{\"h\":[1,1e2,0,10E399,0e7]}"},
         "{\"h\":[1.0,100,-0,1e400,0.00]}",
         NULL,
         0},
        {{"{\"h\":[0.001,12.50,120e-1,5e1099511627776]}", "{\"h\":[1e-3,1.25e1,12,5e1099511627776]}"},
         "{\"h\":[0.001,12.50,120e-1,5e1099511627776]}",
         NULL,
         0},
        {{"{\"h\":1,\"h\":2}", "{\"h\":2}"}, "{\"h\":2}", NULL, 0}, /* the last of one answer */
        /* Different ones. */
        {{"{\"h\":1}", "{\"h\":2}"}, NULL, "mm_hash \"h\"", 0},
        {{"{\"h\":18446744073709551615}", "{\"h\":18446744073709551614}"}, NULL, "\"h\"", 0},
        {{"{\"h\":9007199254740993}", "{\"h\":9007199254740992}"}, NULL, "\"h\"", 0},
        {{"{\"h\":1e400}", "{\"h\":1e401}"}, NULL, "\"h\"", 0},
        {{"{\"h\":1e99999999999999999999}", "{\"h\":1e9999999999999999999}"}, NULL, "\"h\"", 0},
        {{"{\"h\":1}", "{\"h\":-1}"}, NULL, "\"h\"", 0},
        {{"{\"h\":10}", "{\"h\":1}"}, NULL, "\"h\"", 0},
        {{"{\"h\":1.5}", "{\"h\":15}"}, NULL, "\"h\"", 0},
        {{"{\"h\":0.1}", "{\"h\":0.01}"}, NULL, "\"h\"", 0},
        {{"{\"h\":1}", "{\"h\":\"1\"}"}, NULL, "\"h\"", 0},
        {{"{\"h\":true}", "{\"h\":false}"}, NULL, "\"h\"", 0},
        {{"{\"h\":[1,2]}", "{\"h\":[2,1]}"}, NULL, "\"h\"", 0},
        {{"{\"h\":[1,2]}", "{\"h\":[1]}"}, NULL, "\"h\"", 0},
        {{"{\"h\":{\"a\":1}}", "{\"h\":{\"a\":1,\"b\":2}}"}, NULL, "\"h\"", 0},
        {{"{\"h\":{\"a\":1}}", "{\"h\":{\"b\":1}}"}, NULL, "\"h\"", 0},
        {{"{\"h\":[]}", "{\"h\":{}}"}, NULL, "\"h\"", 0},
        {{"{\"a\\\"\\n\":1}", "{\"a\\\"\\n\":2}"}, NULL, "mm_hash \"a\\\"\\x0a\"", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        kvs_ec_request *r = begin("ec-nixl");
        catch_log();
        for (size_t k = 0; k < COUNT(rows[i].inputs) && rows[i].inputs[k]; k++)
            merge(r, rows[i].inputs[k]);
        assert_int_equal(caught.lines, rows[i].warnings);
        for (int again = 0; again < 2; again++) { /* asking changes nothing */
            if (rows[i].json) {
                char *json = result(r);
                assert_string_equal(json, rows[i].json);
                memset(json, 'x', strlen(json));
                kvs_connector_text_free(json);
                continue;
            }
            struct kvs_error err = {0};
            char *json = (char *)&err;
            if (kvs_ec_request_prefill(r, &json, NULL, &err) != KVS_MISMATCH)
                fail_msg("row %zu: no conflict of %s and %s", i, rows[i].inputs[0], rows[i].inputs[1]);
            assert_null(json);
            assert_non_null(strstr(err.text, rows[i].mm_hash));
        }
        kvs_ec_request_end(r);
    }
}

static void more_after_a_result(void **state)
{
    (void)state;
    kvs_ec_request *r = begin("ec-nixl");
    merge(r, "{\"b\":1,\"a\":1}");
    is_text(result(r), "{\"a\":1,\"b\":1}");
    merge(r, "{\"c\":1,\"a\":1}");
    is_text(result(r), "{\"a\":1,\"b\":1,\"c\":1}");
    kvs_ec_request_end(r);
}

static void array_of_answers(void **state)
{
    (void)state;
    kvs_ec_request *r = begin("ec-nixl");
    struct kvs_error err = {0};
    static const char all[] = "[{\"b\":{\"p\":18446744073709551615}}, {}, null, {\"a\":1.50}]";
    catch_log();
    assert_int_equal(kvs_ec_request_merge_all(r, all, sizeof all - 1, &err), KVS_OK);
    assert_int_equal(caught.lines, 2);
    merge(r, "{\"c\":0}");
    is_text(result(r), "{\"a\":1.50,\"b\":{\"p\":18446744073709551615},\"c\":0}");
    assert_int_equal(kvs_ec_request_merge_all(r, "{\"d\":1}", 7, &err), KVS_INVALID_PARAM);
    assert_string_equal(err.text, "the encoders' answers: an object; an array is needed");
    assert_int_equal(kvs_ec_request_merge_all(r, "", 0, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_merge_all(r, "[{\"d\":1},", 9, &err), KVS_INVALID_PARAM);
    is_text(result(r), "{\"a\":1.50,\"b\":{\"p\":18446744073709551615},\"c\":0}"); /* nothing was taken */
    kvs_ec_request_end(r);
}

static void shared_storage(void **state)
{
    (void)state;
    static const char *const names[] = {"ec-shared-storage", ""};
    for (size_t i = 0; i < COUNT(names); i++) {
        kvs_ec_request *r = begin(names[i]);
        catch_log();
        merge(r, "{\"h\":1}");
        merge(r, "{\"h\":2}");
        merge(r, "[");
        merge(r, "{}");
        assert_int_equal(kvs_ec_request_merge_all(r, "no", 2, NULL), KVS_OK);
        assert_int_equal(caught.lines, 0);
        is_text(result(r), "{}");
        kvs_ec_request_end(r);
    }
}

static void refused(void **state)
{
    (void)state;
    kvs_ec_connector *c = (kvs_ec_connector *)&state;
    kvs_ec_request *r = (kvs_ec_request *)&state;
    struct kvs_error err = {0};
    uint64_t none[16] = {0};
    char *json = (char *)&err;

    assert_int_equal(kvs_ec_connector_build("ec-NIXL", NULL, 0, &c, &err), KVS_NOT_FOUND);
    assert_null(c);
    assert_string_equal(err.text, "unknown ec_connector: \"ec-NIXL\"");
    assert_int_equal(kvs_ec_connector_build("kv-nixl", NULL, 0, &c, &err), KVS_NOT_FOUND);
    assert_int_equal(kvs_ec_connector_build(NULL, NULL, 0, &c, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_connector_build("", NULL, 0, NULL, &err), KVS_INVALID_PARAM);
    struct kvs_param_value room = {"room", "int"}, most = {"max_input", "16"};
    assert_int_equal(kvs_ec_connector_build("ec-nixl", &room, 1, &c, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_begin(NULL, &r, &err), KVS_INVALID_PARAM);
    assert_null(r);
    assert_int_equal(kvs_ec_connector_build("ec-nixl", &most, 1, &c, &err), KVS_OK);
    assert_string_equal(kvs_ec_connector_name(c), "ec-nixl");
    assert_string_equal(kvs_ec_connector_name(NULL), "");
    assert_int_equal(kvs_ec_request_begin(c, NULL, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_begin(c, &r, &err), KVS_OK);
    assert_int_equal(kvs_ec_request_merge(r, "{\"h\":\"12345678\"}", 16, &err), KVS_OK);
    assert_int_equal(kvs_ec_request_merge(r, "{\"h\":\"123456789\"}", 17, &err), KVS_TOO_LARGE);
    assert_int_equal(kvs_ec_request_merge(r, "{", 1, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_merge(r, "{\"\xff\":1}", 7, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_merge(r, NULL, 1, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_merge(NULL, "{}", 2, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_merge_all((kvs_ec_request *)none, "{}", 2, &err), KVS_INVALID_PARAM);
    assert_int_equal(kvs_ec_request_prefill((kvs_ec_request *)none, &json, NULL, &err), KVS_INVALID_PARAM);
    assert_null(json);
    assert_int_equal(kvs_ec_request_prefill(r, NULL, NULL, &err), KVS_INVALID_PARAM);
    is_text(result(r), "{\"h\":\"12345678\"}");
    kvs_ec_request_end(r);
    kvs_ec_request_end(NULL);
    kvs_ec_connector_free(c);
    kvs_ec_connector_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged),           cmocka_unit_test(more_after_a_result),
        cmocka_unit_test(array_of_answers), cmocka_unit_test(shared_storage),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
