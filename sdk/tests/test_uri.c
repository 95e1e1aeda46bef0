/* SPDX-License-Identifier: Apache-2.0 */
/* Targets taken apart, and shown without their secrets. */
#include "expect.h"
#include "nearest.h"
#include "params.h"
#include "schemes.h"
#include "uri.h"

struct row {
    const char *target;
    const char *scheme, *variant, *user, *password, *host, *port, *path;
    const char *query; /* "name=value;name=value" */
};

static void check_part(const struct row *row, const char *what, const char *got, const char *want)
{
    if (got == want || (got && want && strcmp(got, want) == 0))
        return;
    fail_msg("%s: %s is '%s', wanted '%s'", row->target, what, got ? got : "(none)", want ? want : "(none)");
}

static const struct row good[] = {
    {.target = "mock", .scheme = "mock"},
    {.target = "my-store_2", .scheme = "my-store_2"},
    {.target = "mock:", .scheme = "mock"},
    {.target = "mock:a", .scheme = "mock", .path = "a"},
    {.target = "lmdb:/dir", .scheme = "lmdb", .path = "/dir"},
    {.target = "lmdb:./a b/c", .scheme = "lmdb", .path = "./a b/c"},
    {.target = "lmdb:/d?map_size=1GiB&create=no",
     .scheme = "lmdb",
     .path = "/d",
     .query = "map_size=1GiB;create=no"},
    {.target = "lmdb:?x=", .scheme = "lmdb", .query = "x="},
    {.target = "lmdb:/d?", .scheme = "lmdb", .path = "/d"},
    {.target = "lmdb:/d?a=b=c&&d=?&", .scheme = "lmdb", .path = "/d", .query = "a=b=c;d=?"},
    {.target = "lmdb:/%25%41%2fx%3F?p=%26%3d", .scheme = "lmdb", .path = "/%A/x?", .query = "p=&="},
    {.target = "lmdb:a:b@c", .scheme = "lmdb", .path = "a:b@c"},
    {.target = "redis://h", .scheme = "redis", .host = "h"},
    {.target = "redis://h/", .scheme = "redis", .host = "h"},
    {.target = "redis://h:6379/0", .scheme = "redis", .host = "h", .port = "6379", .path = "0"},
    {.target = "redis://h:1?db=3", .scheme = "redis", .host = "h", .port = "1", .query = "db=3"},
    {.target = "redis://u:p@h:65535/a/b",
     .scheme = "redis",
     .user = "u",
     .password = "p",
     .host = "h",
     .port = "65535",
     .path = "a/b"},
    {.target = "redis://:p%40%3a%2f@h", .scheme = "redis", .password = "p@:/", .host = "h"},
    {.target = "redis://u@h", .scheme = "redis", .user = "u", .host = "h"},
    {.target = "redis://u:@h", .scheme = "redis", .user = "u", .password = "", .host = "h"},
    {.target = "redis://u:a@b@h", .scheme = "redis", .user = "u", .password = "a@b", .host = "h"},
    {.target = "redis://u:a:b@h", .scheme = "redis", .user = "u", .password = "a:b", .host = "h"},
    {.target = "redis://:7/", .scheme = "redis", .port = "7"},
    {.target = "redis://[::1]", .scheme = "redis", .host = "::1"},
    {.target = "redis://u:p@[fe80::1%25eth0]:6379/2",
     .scheme = "redis",
     .user = "u",
     .password = "p",
     .host = "fe80::1%eth0",
     .port = "6379",
     .path = "2"},
    {.target = "redis+unix:/run/s?db=1",
     .scheme = "redis",
     .variant = "unix",
     .path = "/run/s",
     .query = "db=1"},
    {.target = "redis+unix:///run/s", .scheme = "redis", .variant = "unix", .path = "/run/s"},
    {.target = "redis://", .scheme = "redis"},
};

/* KVS-REQ-519 KVS-REQ-520 KVS-REQ-523 */
static void good_targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const struct row *row = &good[i];
        struct kvs_uri uri;
        struct kvs_error err = {0};
        expect_status(kvs_uri_parse(row->target, &uri, &err), KVS_OK, &err);
        check_part(row, "scheme", uri.scheme, row->scheme);
        check_part(row, "variant", uri.variant, row->variant);
        check_part(row, "user", uri.parts[KVS_PART_USER], row->user);
        check_part(row, "password", uri.parts[KVS_PART_PASSWORD], row->password);
        check_part(row, "host", uri.parts[KVS_PART_HOST], row->host);
        check_part(row, "port", uri.parts[KVS_PART_PORT], row->port);
        check_part(row, "path", uri.parts[KVS_PART_PATH], row->path);
        char query[200] = "";
        for (size_t q = 0; q < uri.nquery; q++)
            snprintf(query + strlen(query), sizeof query - strlen(query), "%s%s=%s", q ? ";" : "",
                     uri.query[q].name, uri.query[q].value);
        check_part(row, "query", query, row->query ? row->query : "");
        assert_int_equal(kvs_target_scheme(row->target), strlen(row->scheme));
        kvs_uri_free(&uri);
    }
}

static const char *const bad[][2] = {
    {"", "neither a name"},
    {"Lmdb:/x", "neither a name"},
    {"1x", "neither a name"},
    {"-x", "neither a name"},
    {"lmdb/x", "neither a name"},
    {"lmdb x", "neither a name"},
    {"lmdb?x=1", "neither a name"},
    {":x", "neither a name"},
    {"+unix:x", "neither a name"},
    {"redis+:x", "neither a name"},
    {"redis+Unix:x", "neither a name"},
    {"redis+unix", "neither a name"},
    {"redis+a+b:x", "neither a name"},
    {"l\xc3\xa9:x", "neither a name"},
    {"lmdb:/%", "two hexadecimal digits"},
    {"lmdb:/%4", "two hexadecimal digits"},
    {"lmdb:/%zz", "two hexadecimal digits"},
    {"lmdb:/%0", "two hexadecimal digits"},
    {"lmdb:/a%00b", "two hexadecimal digits"},
    {"lmdb:/a?b=%00", "two hexadecimal digits"},
    {"lmdb:/a?%=b", "two hexadecimal digits"},
    {"redis://%zz@h", "two hexadecimal digits"},
    {"redis://u:%zz@h", "two hexadecimal digits"},
    {"redis://%zz", "two hexadecimal digits"},
    {"lmdb:/a?b", "name=value"},
    {"lmdb:/a?b=1&c", "name=value"},
    {"lmdb:/a?=1", "a name in its query"},
    {"lmdb:/a?B=1", "a name in its query"},
    {"lmdb:/a?b-c=1", "a name in its query"},
    {"redis://h:", "port"},
    {"redis://h:0", "port"},
    {"redis://h:65536", "port"},
    {"redis://h:-1", "port"},
    {"redis://h:6379x/", "port"},
    {"redis://h:99999999999999999999/", "port"},
    {"redis://h:%37", "port"},
    {"redis://::1/", "brackets"},
    {"redis://[::1", "no ']'"},
    {"redis://[::1]x", "between"},
    {"redis://[::1]:", "port"},
    {"redis://[]", "IPv6"},
    {"redis://[h]", "IPv6"},
    {"redis://[1.2.3.4]", "IPv6"},
    {"redis://[::1::2]", "IPv6"},
    {"redis://[%zz]", "two hexadecimal digits"},
};

static void bad_targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct kvs_uri uri;
        struct kvs_error err = {0};
        int rc = kvs_uri_parse(bad[i][0], &uri, &err);
        if (rc != KVS_INVALID_PARAM)
            fail_msg("'%s' was taken", bad[i][0]);
        expect_text(err.text, bad[i][1]);
        assert_null(uri.text);
        assert_null(uri.query);
    }
}

/* KVS-REQ-516 */
static void secrets_are_not_shown(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"lmdb:/dir", "lmdb:/dir"},
        {"redis://h:6379/0", "redis://h:6379/0"},
        {"redis://user:hunter2@h:6379/0", "redis://***@h:6379/0"},
        {"redis://user:hun/ter2@h:6379/0", "redis://***@h:6379/0"},
        {"redis://user:hun?ter2@h/0", "redis://***?..."},
        {"redis://user:hun@ter2@h/0", "redis://***@h/0"},
        {"redis:user:hunter2@h", "redis:***@h"},
        {"redis//user:hunter2@h", "redis//user:***@h"},
        {"hunter2@h", "***@h"},
        {"redis://user:hunter2", "redis://user:***"},
        {"redis://user:7hunter2/0?db=1", "redis://user:***?..."},
        {"redis://host:6379/0", "redis://host:6379/0"},
        {"redis://[::1]:6379/0", "redis://[::1]:6379/0"},
        {"redis://[::1]:hunter2", "redis://[::1]:***"},
        {"redis://[::1", "redis://[::1"},
        {"redis://host:", "redis://host:"},
        {"redis://host/a:b", "redis://host/a:b"},
        {"redis://h?password=hunter2", "redis://h?..."},
        {"redis://u:x@h?password=hunter2", "redis://***@h?..."},
        {"mock?password=hunter2", "mock?..."},
        {"a\nb:c", "a\\x0ab:c"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buf[100];
        assert_string_equal(kvs_target_show(buf, sizeof buf, rows[i][0]), rows[i][1]);
    }
    static const char *const malformed[] = {
        "redis://user:hunter2@h:0",      "redis://user:hunter2@[h",      "redis://user:hunter2%@h",
        "redis://user:a/hunter2@h",      "redis://user:hunter2/b@h",     "redis://user:a?hunter2@h",
        "redis://h?password:hunter2",    "redis://h?password=x&hunter2", "redis://h?PASS=hunter2",
        "redis://h?hunter2%=x",          "Redis://user:hunter2@h",       "redis//user:hunter2@h:0",
        "redis://h?password=hunter2%zz",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct kvs_uri uri;
        struct kvs_error err = {0};
        expect_status(kvs_uri_parse(malformed[i], &uri, &err), KVS_INVALID_PARAM, &err);
        expect_no_text(err.text, "hunter2");
    }
}

static void schemes_and_what_they_set(void **state)
{
    (void)state;
    const char *list = "  rediss?tls=yes&port=6380 valkey bad? x?novalue&=v";
    struct kvs_scheme scheme;
    struct kvs_setting setting;
    size_t at = 0;
    assert_true(kvs_scheme_find(list, "rediss", 6, &scheme));
    assert_true(kvs_setting_next(&scheme, &at, &setting));
    assert_memory_equal(setting.name, "tls", setting.name_len);
    assert_int_equal(setting.value_len, 3);
    assert_true(kvs_setting_next(&scheme, &at, &setting));
    assert_memory_equal(setting.value, "6380", setting.value_len);
    assert_false(kvs_setting_next(&scheme, &at, &setting));
    assert_true(kvs_scheme_find(list, "valkey", 6, &scheme));
    at = 0;
    assert_false(kvs_setting_next(&scheme, &at, &setting));
    assert_true(kvs_scheme_find(list, "bad", 3, &scheme));
    assert_false(kvs_setting_next(&scheme, &at, &setting));
    assert_true(kvs_scheme_find(list, "x", 1, &scheme));
    assert_true(kvs_setting_next(&scheme, &at, &setting));
    assert_null(setting.value);
    assert_true(kvs_setting_next(&scheme, &at, &setting));
    assert_int_equal(setting.name_len, 0);
    assert_false(kvs_scheme_find(list, "redis", 5, &scheme));
    assert_false(kvs_scheme_find(NULL, "x", 1, &scheme));
    assert_false(kvs_scheme_find("   ", "x", 1, &scheme));
}

static const char *nearest_of(const char *wanted, const char *const *names)
{
    static struct kvs_nearest nearest;
    nearest = (struct kvs_nearest){.wanted = wanted};
    for (; *names; names++)
        kvs_nearest_offer(&nearest, *names, strlen(*names));
    return nearest.best;
}

static void the_nearest_name(void **state)
{
    (void)state;
    static const char *const names[] = {"timeout", "ttl", "threads", "trace", "prefix", "map_size", NULL};
    assert_string_equal(nearest_of("timout", names), "timeout");
    assert_string_equal(nearest_of("tiemout", names), "timeout");
    assert_string_equal(nearest_of("tmieuot", names), "timeout");
    assert_string_equal(nearest_of("map-size", names), "map_size");
    assert_string_equal(nearest_of("map", names), "map_size");
    assert_string_equal(nearest_of("prefixes", names), "prefix");
    assert_string_equal(nearest_of("thread", names), "threads");
    assert_string_equal(nearest_of("zzzzzz", names), "");
    assert_string_equal(nearest_of("xy", names), "");
    assert_string_equal(nearest_of("", names), "");
    char text[200];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_string_equal(nearest_of(text, names), "");
    struct kvs_nearest nearest = {.wanted = "a"};
    kvs_nearest_offer(&nearest, text, strlen(text));
    assert_string_equal(nearest.best, "");
}

/* Random targets over the characters that matter: no crash, no leak, and no secret in an error. */
static void random_targets(void **state)
{
    (void)state;
    static const char *const pieces[] = {"redis", ":",   "//", "/",    "?",   "&", "=",    "@",    "%",
                                         "%41",   "%00", "[",  "]",    "::1", "+", "unix", "6379", "h",
                                         "a",     "#",   " ",  "\xff", "-",   "_", "A"};
    uint64_t seed = 3;
    for (int i = 0; i < 30000; i++) {
        char text[200] = "";
        if (next_random(&seed) % 2)
            strcpy(text, "redis://");
        for (uint32_t n = next_random(&seed) % 14; n > 0; n--)
            strcat(text, pieces[next_random(&seed) % (sizeof pieces / sizeof pieces[0])]);
        char *heap = strdup(text);
        struct kvs_uri uri;
        struct kvs_error err = {0};
        int rc = kvs_uri_parse(heap, &uri, &err);
        assert_true(rc == KVS_OK || rc == KVS_INVALID_PARAM);
        if (rc == KVS_OK)
            assert_true(kvs_target_scheme(heap) == strlen(uri.scheme));
        kvs_uri_free(&uri);
        char shown[64];
        for (size_t size = 0; size < sizeof shown; size += 7)
            kvs_target_show(shown, size, heap);
        free(heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_targets),          cmocka_unit_test(bad_targets),
        cmocka_unit_test(secrets_are_not_shown), cmocka_unit_test(schemes_and_what_they_set),
        cmocka_unit_test(the_nearest_name),      cmocka_unit_test(random_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
