/* SPDX-License-Identifier: Apache-2.0 */
/* What JSON may hold, and what is none. Each input stands in memory of exactly its size. */
#include "connector_test.h"

/* Decodes {"v":VALUE}, and looks at what became of VALUE. */
static void value_becomes(const kvs_connector *c, const char *value, size_t len, const char *want)
{
    char *text = malloc(len + 8), *expected = malloc(strlen(want) + 80);
    size_t n = 0;
    memcpy(text, "{\"v\":", 5);
    memcpy(text + 5, value, len);
    n = 5 + len;
    text[n++] = '}';
    sprintf(expected, "{\"do_remote_decode\":false,\"do_remote_prefill\":true,\"v\":%s}", want);
    char *input = exact(text, n);
    is_text(decode_bytes(c, input, n, KVS_HANDOFF_GIVEN), expected);
    free(input);
    free(text);
    free(expected);
}

/* B108: as it came, byte for byte. */
static void unchanged(void **state)
{
    (void)state;
    static const char *const values[] = {
        "0",
        "-0",
        "1",
        "-1",
        "1.0",
        "1.50",
        "-0.0",
        "1e400",
        "-1e400",
        "1E+2",
        "1e-999999999999",
        "0e0",
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890123456789012345678901234567890.123456789012345678901234567890",
        "null",
        "true",
        "false",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "[[],{},[{}]]",
        "[null,true,false,0,\"\"]",
        "\"\xc3\xa9\"",
        "\"\xe2\x82\xac\"",
        "\"\xf0\x9f\x98\x80\"",
        "\"\xf4\x8f\xbf\xbf\"",
        "\"\xef\xbf\xbf\"",
        "\"\xed\x9f\xbf\xee\x80\x80\"",
        "\"\x7f\"",
        "\"\xc2\x80\"",
        "\"\xe2\x80\xa8\"",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\"",
        "\"\\u0000\\u0001\\u000b\\u001f\"",
        "\"/<>&'\"",
        "\"\\ud800\"",
        "\"\\udfff\"",
        "\"\\udc00\\ud800\"",
        "\"a\\ud83dx\"",
    };
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    for (size_t i = 0; i < COUNT(values); i++)
        value_becomes(c, values[i], strlen(values[i]), values[i]);
    kvs_connector_free(c);
}

static void one_form(void **state)
{
    (void)state;
    static const struct {
        const char *value, *want;
    } rows[] = {
        {" [ 1 ,\t2\r\n, { \"a\" : 3 } ] ", "[1,2,{\"a\":3}]"},
        {"\"\\/\\u0041\\u00e9\\u20AC\"", "\"/A\xc3\xa9\xe2\x82\xac\""},
        {"\"\\uD83D\\uDE00\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\""},
        {"\"\\udbff\\udfff\"", "\"\xf4\x8f\xbf\xbf\""},
        {"\"\\uD83D\\u0041\"", "\"\\ud83dA\""},
        {"\"\\uD83D\\n\\uDE00\"", "\"\\ud83d\\n\\ude00\""},
        {"\"\\ud83d\\ud83d\\ude00\"", "\"\\ud83d\xf0\x9f\x98\x80\""},
        {"\"\\u0008\\u000C\\u000a\\u000D\\u0009\\u0022\\u005c\"", "\"\\b\\f\\n\\r\\t\\\"\\\\\""},
        {"\"\\u007f\\u0080\"", "\"\x7f\xc2\x80\""},
        /* The last of each name, in the order of bytes, at each level. */
        {"{\"b\":1,\"a\":2,\"b\":3}", "{\"a\":2,\"b\":3}"},
        {"[{\"b\":1,\"b\":{\"y\":1,\"x\":[{\"q\":1,\"q\":2}],\"y\":3},\"a\":2}]",
         "[{\"a\":2,\"b\":{\"x\":[{\"q\":2}],\"y\":3}}]"},
        {"{\"\":1,\"\":2}", "{\"\":2}"},
        {"{\"a\":1,\"\":2,\"aa\":3,\"A\":4}", "{\"\":2,\"A\":4,\"a\":1,\"aa\":3}"},
        {"{\"a\":1,\"\\u0061\":2}", "{\"a\":2}"},
        {"{\"\\u0000\":1,\"\":2,\"\\u0000\\u0000\":3,\"\\u0000\":4}",
         "{\"\":2,\"\\u0000\":4,\"\\u0000\\u0000\":3}"},
        /* Bytes of UTF-8, not units of UTF-16. */
        {"{\"\\ud83d\\ude00\":1,\"\\uffff\":2,\"\xc3\xa9\":3,\"z\":4}",
         "{\"z\":4,\"\xc3\xa9\":3,\"\xef\xbf\xbf\":2,\"\xf0\x9f\x98\x80\":1}"},
        {"{\"\\ud800\":1,\"\\ud800\":2,\"?\":3}", "{\"?\":3,\"\\ud800\":2}"},
        {"{\"a\\\"b\\nc\":1}", "{\"a\\\"b\\nc\":1}"},
    };
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    for (size_t i = 0; i < COUNT(rows); i++)
        value_becomes(c, rows[i].value, strlen(rows[i].value), rows[i].want);
    kvs_connector_free(c);
}

static void refuse(const kvs_connector *c, const char *text, size_t len, int status, const char *says)
{
    struct kvs_error err = {0};
    char *json = (char *)&err, *input = exact(text, len);
    size_t json_len = 7;
    int handoff = 7;
    int got = kvs_connector_decode(c, input, len, &json, &json_len, &handoff, &err);
    if (got != status || err.status != status || !strstr(err.text, says))
        fail_msg("'%.60s' answered %d '%s', not %d with '%s'", text, got, err.text, status, says);
    assert_null(json);
    assert_int_equal(json_len, 0);
    assert_int_equal(handoff, 0);
    assert_null(strchr(err.text, '\n'));
    free(input);
}

static void no_json(void **state)
{
    (void)state;
#define ROW(text, says)                                                                                      \
    {                                                                                                        \
        text, sizeof text - 1, says                                                                          \
    }
    static const struct {
        const char *text;
        size_t len;
        const char *says;
    } rows[] = {
        ROW("{", "premature EOF"),
        ROW("{\"a\":1", "premature EOF"),
        ROW("{\"a\":\"", "premature EOF"),
        ROW("{\"a\":\"\\", "no JSON"),
        ROW("{\"a\":\"\\u12", "no JSON"),
        ROW("nul", "no JSON"),
        ROW("{\"a\":1}}", "trailing garbage"),
        ROW("{\"a\":1} {}", "trailing garbage"),
        ROW("{\"a\":1}x", "trailing garbage"),
        ROW("{\"a\":1}\"x", "trailing garbage"),
        ROW("null \"", "trailing garbage"),
        ROW("7\"", "trailing garbage"),
        ROW("{\"a\":1}/", "trailing garbage"),
        ROW("{\"a\":1}nul", "trailing garbage"),
        ROW("{\"a\":1}-", "trailing garbage"),
        ROW("{\"a\":1,}", "no JSON"),
        ROW("{,}", "no JSON"),
        ROW("{\"a\"}", "no JSON"),
        ROW("{\"a\" 1}", "no JSON"),
        ROW("{\"a\":}", "no JSON"),
        ROW("{1:2}", "no JSON"),
        ROW("{'a':1}", "no JSON"),
        ROW("{a:1}", "no JSON"),
        ROW("[1 2]", "no JSON"),
        ROW("[1,]", "no JSON"),
        ROW("[}", "no JSON"),
        ROW("]", "no JSON"),
        ROW("{\"a\":01}", "no JSON"),
        ROW("{\"a\":+1}", "no JSON"),
        ROW("{\"a\":.5}", "no JSON"),
        ROW("{\"a\":1.}", "no JSON"),
        ROW("{\"a\":-}", "no JSON"),
        ROW("{\"a\":1e}", "no JSON"),
        ROW("{\"a\":0x1}", "no JSON"),
        ROW("{\"a\":NaN}", "no JSON"),
        ROW("{\"a\":Infinity}", "no JSON"),
        ROW("{\"a\":True}", "no JSON"),
        ROW("{\"a\":\"\\x41\"}", "no JSON"),
        ROW("{\"a\":\"\\u12g4\"}", "no JSON"),
        ROW("{\"a\":\"\n\"}", "invalid character inside string"),
        ROW("{\"a\":\"\t\"}", "invalid character inside string"),
        ROW("{\"a\":\"\x01\"}", "no JSON"),
        ROW("/* c */ {}", "comment"),
        ROW("{} // c", "trailing garbage"),
        ROW("\0", "control character at byte 0 (0x00)"),
        ROW("{\"a\":1}\0", "control character at byte 7"),
        ROW("{\"a\":\"b\0c\"}", "no JSON"),
        ROW("{\"a\0\":1}", "no JSON"),
        ROW("\xef\xbb\xbf{\"a\":1}", "byte order mark"),
        ROW("\xfe\xff\0{\0}", "no UTF-8 at byte 0 (0xfe)"),
        ROW("{\"a\":\"\xff\"}", "no UTF-8 at byte 6 (0xff)"),
        ROW("{\"\xc0\x80\":1}", "no UTF-8 at byte 2 (0xc0)"),
        ROW("{\"a\":\"\xe0\x9f\xbf\"}", "no UTF-8 at byte 6"),
        ROW("{\"a\":\"\xed\xa0\x80\"}", "no UTF-8 at byte 6"),
        ROW("{\"a\":\"\xf0\x8f\xbf\xbf\"}", "no UTF-8 at byte 6"),
        ROW("{\"a\":\"\xf4\x90\x80\x80\"}", "no UTF-8 at byte 6"),
        ROW("{\"a\":\"\xf5\x80\x80\x80\"}", "no UTF-8 at byte 6"),
        ROW("{\"a\":\"\x80\"}", "no UTF-8 at byte 6"),
        ROW("{\"a\":\"\xe2\x82\"}", "no UTF-8 at byte 6"),
        ROW("{\"a\":\"abcdefghijklmnop\xe2\x82", "no UTF-8 at byte 22"),
        ROW("{}\v", "control character at byte 2 (0x0b)"),
        ROW("{\f\"a\":1}", "control character at byte 1 (0x0c)"),
        ROW("{\v\"a\":1}", "control character"),
        ROW("[\v1]", "control character"),
    };
#undef ROW
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse(c, rows[i].text, rows[i].len, KVS_INVALID_PARAM, rows[i].says);
    kvs_connector_free(c);
}

/* {"v":[[...]]}, n levels in all. */
static char *nested(size_t n, bool objects, size_t *len)
{
    size_t unit = objects ? 5 : 1;
    char *text = malloc(n * (unit + 1) + 16), *p = text;
    for (size_t i = 0; i < n; i++)
        p += sprintf(p, "%s", i == 0 || objects ? "{\"v\":" : "[");
    p += sprintf(p, "7");
    for (size_t i = n; i > 0; i--)
        *p++ = i == 1 || objects ? '}' : ']';
    *len = (size_t)(p - text);
    return text;
}

static void depth(void **state)
{
    (void)state;
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    for (int objects = 0; objects < 2; objects++) {
        size_t len, out_len;
        char *text = nested(KVS_CONNECTOR_DEPTH, objects, &len), *json;
        int handoff;
        assert_int_equal(kvs_connector_decode(c, text, len, &json, &out_len, &handoff, NULL), KVS_OK);
        assert_non_null(memmem(json, out_len, text + 1, len - 1)); /* behind the two flags */
        kvs_connector_text_free(json);
        free(text);
        text = nested(KVS_CONNECTOR_DEPTH + 1, objects, &len);
        refuse(c, text, len, KVS_TOO_LARGE, "nested deeper than 128 levels at byte ");
        free(text);
    }
    size_t mib = (size_t)1 << 20;
    char *many = malloc(mib);
    memset(many, '[', mib);
    refuse(c, many, mib, KVS_TOO_LARGE, "nested deeper than 128 levels at byte 128");
    free(many);
    kvs_connector_free(c);
}

/* An object with one string, of `len` bytes in all. */
static char *of_size(size_t len)
{
    char *text = malloc(len);
    memset(text, 'x', len);
    memcpy(text, "{\"v\":\"", 6);
    memcpy(text + len - 2, "\"}", 2);
    return text;
}

static void size(void **state)
{
    (void)state;
    static const struct {
        const char *param;
        size_t most;
    } rows[] = {{NULL, (size_t)1 << 20}, {"1KiB", 1024}, {"10", 10}, {"2MiB", (size_t)2 << 20}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        kvs_connector *c = build("kv-nixl", rows[i].param ? "max_input" : NULL, rows[i].param);
        char *text = of_size(rows[i].most), *json = decode_bytes(c, text, rows[i].most, KVS_HANDOFF_GIVEN),
             says[64];
        assert_int_equal(strlen(json),
                         rows[i].most + strlen("\"do_remote_decode\":false,\"do_remote_prefill\":true,"));
        kvs_connector_text_free(json);
        free(text);
        text = of_size(rows[i].most + 1);
        snprintf(says, sizeof says, "%zu bytes; max_input allows %zu", rows[i].most + 1, rows[i].most);
        refuse(c, text, rows[i].most + 1, KVS_TOO_LARGE, says);
        free(text);
        /* A length that is none is refused before the text is looked at. */
        assert_int_equal(kvs_connector_decode(c, "{}", SIZE_MAX, &json, NULL, NULL, NULL), KVS_TOO_LARGE);
        kvs_connector_free(c);
    }
}

/* Many values take memory and time in proportion; sorting names, little more. */
static void many_members(void **state)
{
    (void)state;
    size_t n = 20000, at = 1, out_len;
    char *text = malloc(n * 16 + 3), *json;
    text[0] = '{';
    for (size_t i = 0; i < n; i++)
        at += (size_t)sprintf(text + at, "%s\"%05zu\":%zu", i ? "," : "", n - 1 - i / 2, i);
    text[at++] = '}';
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    assert_int_equal(kvs_connector_decode(c, text, at, &json, &out_len, NULL, NULL), KVS_OK);
    assert_memory_equal(json, "{\"10000\":19999,\"10001\":19997,", 29);
    assert_non_null(strstr(json, "\"19999\":1,\"do_remote_decode\":false"));
    kvs_connector_text_free(json);
    kvs_connector_free(c);
    free(text);
}

static void input_stays(void **state)
{
    (void)state;
    static const char text[] = "{\"b\":\"\\u0041\",\"a\":[1, 2],\"do_remote_prefill\":0}";
    char *input = exact(text, sizeof text - 1);
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    char *first = decode_bytes(c, input, sizeof text - 1, KVS_HANDOFF_GIVEN);
    assert_memory_equal(input, text, sizeof text - 1);
    memset(first, 'x', strlen(first)); /* results are copies */
    is_text(decode_bytes(c, input, sizeof text - 1, KVS_HANDOFF_GIVEN),
            "{\"a\":[1,2],\"b\":\"A\",\"do_remote_decode\":false,\"do_remote_prefill\":true}");
    kvs_connector_text_free(first);
    kvs_connector_free(c);
    free(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged),   cmocka_unit_test(one_form), cmocka_unit_test(no_json),
        cmocka_unit_test(depth),       cmocka_unit_test(size),     cmocka_unit_test(many_members),
        cmocka_unit_test(input_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
