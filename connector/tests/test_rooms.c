/* SPDX-License-Identifier: Apache-2.0 */
/* kv-sglang: bootstrap ports and rooms. */
#include "connector_test.h"

/* What stands behind "bootstrap_port": in the prefill's object. */
static long port_of(const kvs_connector *c)
{
    char *json = prefill(c), *at = strstr(json, "\"bootstrap_port\":");
    assert_non_null(at);
    long port = strtol(at + strlen("\"bootstrap_port\":"), NULL, 10);
    kvs_connector_text_free(json);
    return port;
}

/* B111 */
static void port_of_environment(void **state)
{
    (void)state;
    static const struct {
        const char *value; /* NULL: not set */
        long port;
        bool logged;
    } rows[] = {
        {NULL, 8998, false},    {"", 8998, false},           {"8998", 8998, false},
        {"1", 1, false},        {"65535", 65535, false},     {"08000", 8000, false},
        {" 8998", 8998, true},  {"0", 8998, true},           {"65536", 8998, true},
        {"-1", 8998, true},     {"99999999999", 8998, true}, {"8998x", 8998, true},
        {"0x22", 8998, true},   {"8000 ", 8998, true},       {"1e3", 8998, true},
        {"80.5", 8998, true},   {"-", 8998, true},           {"18446744073709551617", 8998, true},
        {"5000\n", 8998, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char quoted[64];
        if (rows[i].value)
            setenv("SGLANG_BOOTSTRAP_PORT", rows[i].value, 1);
        else
            unsetenv("SGLANG_BOOTSTRAP_PORT");
        catch_log();
        for (int again = 0; again < 2; again++) { /* it is said once */
            kvs_connector *c = build("kv-sglang", NULL, NULL);
            assert_int_equal(port_of(c), rows[i].port);
            kvs_connector_free(c);
        }
        if (caught.lines != rows[i].logged)
            fail_msg("'%s': %d lines in the log", rows[i].value ? rows[i].value : "(none)", caught.lines);
        if (rows[i].logged) {
            snprintf(quoted, sizeof quoted, "\"%.*s", (int)strcspn(rows[i].value, "\n"), rows[i].value);
            assert_int_equal(caught.level, KVS_LOG_ERROR);
            assert_non_null(strstr(caught.last, "SGLANG_BOOTSTRAP_PORT"));
            assert_non_null(strstr(caught.last, quoted));
        }
    }
    unsetenv("SGLANG_BOOTSTRAP_PORT");
}

/* A parameter stands before the environment, which is then not looked at; and it is read when the connector
 * is built. */
static void port_of_parameter(void **state)
{
    (void)state;
    catch_log();
    setenv("SGLANG_BOOTSTRAP_PORT", "bad", 1);
    kvs_connector *c = build("kv-sglang", "bootstrap_port", "7000");
    assert_int_equal(port_of(c), 7000);
    kvs_connector_free(c);
    assert_int_equal(caught.lines, 0);
    setenv("SGLANG_BOOTSTRAP_PORT", "7001", 1);
    c = build("kv-sglang", NULL, NULL);
    setenv("SGLANG_BOOTSTRAP_PORT", "7002", 1);
    assert_int_equal(port_of(c), 7001);
    kvs_connector_free(c);
    c = build("kv-sglang", NULL, NULL);
    assert_int_equal(port_of(c), 7002);
    kvs_connector_free(c);
    /* The other connectors have no port. */
    setenv("SGLANG_BOOTSTRAP_PORT", "bad again", 1);
    c = build("kv-nixl", NULL, NULL);
    kvs_connector_free(c);
    assert_int_equal(caught.lines, 0);
    unsetenv("SGLANG_BOOTSTRAP_PORT");
}

#define BEFORE "{\"bootstrap_port\":8998,\"bootstrap_room\":"
#define AFTER  ",\"do_remote_decode\":true,\"do_remote_prefill\":false}"

/* The room's text out of the object, whose other members are as they have to be. */
static void room_of(const kvs_connector *c, char room[64])
{
    char *json = prefill(c);
    size_t len = strlen(json), before = strlen(BEFORE), after = strlen(AFTER);
    assert_true(len > before + after && len < before + after + 64);
    assert_memory_equal(json, BEFORE, before);
    assert_string_equal(json + len - after, AFTER);
    memcpy(room, json + before, len - before - after);
    room[len - before - after] = '\0';
    kvs_connector_text_free(json);
}

static int order(const void *a, const void *b)
{
    return strcmp(a, b);
}

#ifdef KVS_TESTS_WRAPPED
enum { ROOMS = 200 };
#else
enum { ROOMS = 20000 };
#endif

/* B104, B105: no two are the same, whatever a client says; decode hands on that of the prefill. */
static void fresh_rooms(void **state)
{
    (void)state;
    static const char *const kinds[] = {"uuid", "int"};
    size_t n = ROOMS;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        kvs_connector *c[2] = {build("kv-sglang", "room", kinds[k]), build("kv-sglang", "room", kinds[k])};
        char(*rooms)[64] = calloc(n, sizeof *rooms);
        for (size_t i = 0; i < n; i++) {
            room_of(c[i % 2], rooms[i]);
            if (k == 1) {
                char *end;
                unsigned long long room = strtoull(rooms[i], &end, 10);
                assert_true(*end == '\0' && room <= INT64_MAX);
                continue;
            }
            assert_int_equal(strspn(rooms[i] + 1, "0123456789abcdef-"), 36);
            assert_true(rooms[i][0] == '"' && strcmp(rooms[i] + 37, "\"") == 0);
            assert_true(rooms[i][9] == '-' && rooms[i][14] == '-' && rooms[i][19] == '-' &&
                        rooms[i][24] == '-');
            assert_int_equal(rooms[i][15], '4');
            assert_non_null(strchr("89ab", rooms[i][20]));
        }
        qsort(rooms, n, sizeof *rooms, order);
        for (size_t i = 1; i < n; i++)
            assert_string_not_equal(rooms[i - 1], rooms[i]);
        free(rooms);
        kvs_connector_free(c[0]);
        kvs_connector_free(c[1]);
    }
}

/* Every bit of a random number is now 0 and now 1: of 200 draws, but for one time in 2^193. */
static void all_bits(void **state)
{
    (void)state;
    kvs_connector *c = build("kv-sglang", "room", "int");
    unsigned long long ones = 0, zeros = 0;
    for (int i = 0; i < 200; i++) {
        char room[64];
        room_of(c, room);
        unsigned long long n = strtoull(room, NULL, 10);
        ones |= n;
        zeros |= ~n;
    }
    assert_true(ones == INT64_MAX);
    assert_true(zeros == UINT64_MAX);
    kvs_connector_free(c);
}

static void uuid_is_the_default(void **state)
{
    (void)state;
    kvs_connector *c = build("kv-sglang", NULL, NULL);
    char room[64];
    room_of(c, room);
    assert_int_equal(strlen(room), 38);
    kvs_connector_free(c);
}

int main(void)
{
    unsetenv("SGLANG_BOOTSTRAP_PORT");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_of_environment), cmocka_unit_test(port_of_parameter),
        cmocka_unit_test(fresh_rooms),         cmocka_unit_test(all_bits),
        cmocka_unit_test(uuid_is_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
