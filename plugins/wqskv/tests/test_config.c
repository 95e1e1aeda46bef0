/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration: each member right, missing, of another type, out of range, and files that are none. All
 * here fails before the library is called, but for the last. */
#include "../config.h"
#include "../places.h"
#include "util.h"

#include <sys/stat.h>
#include <unistd.h>

static char warned[2048];

static void warn(void *arg, const char *text)
{
    (void)arg;
    strcat(strcat(warned, text), "\n");
}

static struct config config;
static struct config_text errors;

static int read_it(const char *path)
{
    warned[0] = '\0';
    return config_read(path, &config, &errors, warn, NULL);
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not have '%s'", text, part);
}

static const char whole[] = "{\n"
                            "  \"poolid\": 4294967295,\n"
                            "  \"thread_num\": 4, \"thread_mode\": \"poll\",\n"
                            "  \"wengine_conf\": \"/etc/w \\\"x\\\".conf\",\n"
                            "  \"node_id\": 9,\n"
                            "  \"bvar_port\": 65535,\n"
                            "  \"bind_cpus\": \",20, 21 ,,3\",\n"
                            "  \"mem_size\": 1024,\n"
                            "  \"mempool_objsz\": 4096, \"mempool_objnum\": 7,\n"
                            "  \"use_round_robin\": true,\n"
                            "  \"wds_debug_log\": true\n"
                            "}\n";

static void test_all_members(void **state)
{
    (void)state;
    if (read_it(write_text("whole", whole)) != KVS_OK)
        fail_msg("%s", errors.text);
    const struct wqskv_options *o = &config.options;
    assert_int_equal(o->poolid, UINT32_MAX);
    assert_int_equal(o->thread_num, 4);
    assert_false(o->event);
    assert_string_equal(o->conf, "/etc/w \"x\".conf");
    assert_int_equal(o->node_id, 9);
    assert_int_equal(o->bvar_port, 65535);
    assert_int_equal(o->ncpus, 3);
    assert_int_equal(o->cpus[0], 20);
    assert_int_equal(o->cpus[1], 21);
    assert_int_equal(o->cpus[2], 3);
    assert_int_equal(o->mem_size, 1024);
    assert_true(o->has_objsz && o->objsz == 4096);
    assert_true(o->has_objnum && o->objnum == 7);
    assert_true(o->has_round_robin && o->round_robin);
    assert_true(o->debug_log);
    assert_string_equal(warned, "");
    config_free(&config);
}

static void test_defaults(void **state)
{
    (void)state;
    assert_int_equal(read_it(write_config("usual", "\"wds_debug_log\": false")),
                     KVS_INVALID_PARAM); /* twice */
    has(errors.text, "duplicate");
    assert_int_equal(
        read_it(write_text("defaults", "{\"poolid\":0,\"thread_num\":1,\"thread_mode\":\"event\","
                                       "\"wengine_conf\":\"\",\"node_id\":0,\"bvar_port\":0,"
                                       "\"bind_cpus\":\"\",\"mem_size\":1}")),
        KVS_OK);
    assert_true(config.options.event);
    assert_int_equal(config.options.ncpus, 0);
    assert_false(config.options.has_objsz || config.options.has_objnum || config.options.has_round_robin);
    assert_false(config.options.debug_log);
    config_free(&config);
}

/* Name, where it has to be there, and values that it cannot have. */
static const struct {
    const char *name;
    bool required;
    const char *bad[8];
} members[] = {
    {"poolid", true, {"-1", "4294967296", "\"1\"", "1.0", "true", "null", "[1]", "1e2"}},
    {"thread_num", true, {"0", "-1", "2147483648", "\"4\"", "4.5", "{\"a\": [1, \"}\"]}"}},
    {"thread_mode", true, {"\"poll2\"", "\"\"", "\"Poll\"", "0", "null", "[\"poll\"]"}},
    {"wengine_conf", true, {"1", "null", "[]", "false"}},
    {"node_id", true, {"-1", "4294967296", "\"3\"", "3.5"}},
    {"bvar_port", true, {"-1", "65536", "\"80\"", "80.5"}},
    {"bind_cpus",
     true,
     {"20", "\"x\"", "\"1,x\"", "\"-1\"", "\"1 2\"", "\"1;2\"", "\"2147483648\"", "[20, 21]"}},
    {"mem_size", true, {"0", "-5", "4294967296", "\"1\"", "null"}},
    {"mempool_objsz", false, {"-1", "4294967296", "\"1\"", "null"}},
    {"mempool_objnum", false, {"-1", "4294967296", "\"1\"", "0.5"}},
    {"use_round_robin", false, {"0", "1", "\"true\"", "null"}},
    {"wds_debug_log", false, {"0", "\"no\"", "null", "[]"}},
};

/* The whole text, with the member's value replaced, or without it. */
static const char *with(const char *name, const char *value)
{
    static char text[1024];
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": ", name);
    const char *at = strstr(whole, quoted), *end = at + strlen(quoted);
    assert_non_null(at);
    end = *end == '"' ? strstr(end + 1, "\",") ? strstr(end + 1, "\",") + 1 : end : end + strcspn(end, ",\n");
    if (value != NULL)
        snprintf(text, sizeof(text), "%.*s%s%s%s", (int)(at - whole), whole, quoted, value, end);
    else
        snprintf(text, sizeof(text), "%.*s\"x\": 0%s", (int)(at - whole), whole, end);
    return text;
}

static unsigned line_of(const char *name)
{
    char quoted[64];
    unsigned line = 1;
    snprintf(quoted, sizeof(quoted), "\"%s\": ", name);
    for (const char *at = whole, *end = strstr(whole, quoted); at < end; at++)
        line += *at == '\n';
    return line;
}

static void test_wrong_members(void **state)
{
    (void)state;
    char expected[128];
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        for (size_t b = 0; b < 8 && members[i].bad[b] != NULL; b++) {
            const char *path = write_text("wrong", with(members[i].name, members[i].bad[b]));
            assert_int_equal(read_it(path), KVS_INVALID_PARAM);
            snprintf(expected, sizeof(expected), "line %u: '%s' is %s; ", line_of(members[i].name),
                     members[i].name, members[i].bad[b]);
            has(errors.text, path);
            has(errors.text, expected);
            has(errors.text, "expected");
            assert_null(strstr(errors.text, "missing"));
        }
    }
}

static void test_missing_members(void **state)
{
    (void)state;
    char expected[128];
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        int status = read_it(write_text("missing", with(members[i].name, NULL)));
        assert_int_equal(status, members[i].required ? KVS_INVALID_PARAM : KVS_OK);
        has(warned, "'x' is no member"); /* KVS: warned of, and nothing more */
        snprintf(expected, sizeof(expected), "line %u: ", line_of(members[i].name));
        has(warned, expected);
        snprintf(expected, sizeof(expected), "'%s' is missing", members[i].name);
        if (members[i].required)
            has(errors.text, expected);
        config_free(&config);
    }
    assert_int_equal(read_it(write_text("none", "{}")), KVS_INVALID_PARAM);
    has(errors.text, "'poolid' is missing"); /* and all others, as far as there is room */
    has(errors.text, "'thread_mode' is missing");
}

static void test_no_json(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } files[] = {
        {"", "line 1: "},
        {"   \n\n", "expected"},
        {"{\n\"poolid\": 1,\n}\n", "line 3: "},
        {"{\n\"poolid\": 1,\n\"poolid\": 2}\n", "line 3: "},
        {"{\"poolid\": 99999999999999999999}", "line 1: too big integer"},
        {"{\"poolid\": 1} x", "line 1: "},
        {"[1, 2]", "it is no object"},
        {"7", "it is no object"},
        {"{'poolid': 1}", "line 1: "},
        {"{\"wengine_conf\": \"\\u0000\"}", "line 1: "},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        assert_int_equal(read_it(write_text("no-json", files[i].text)), KVS_INVALID_PARAM);
        has(errors.text, files[i].says);
        has(errors.text, "/no-json: ");
    }
}

static void test_no_file(void **state)
{
    (void)state;
    char path[700];
    snprintf(path, sizeof(path), "%s.none", write_text("a-file", "{}"));
    assert_int_equal(read_it(path), KVS_INVALID_PARAM);
    has(errors.text, path);
    has(errors.text, "No such file");
    snprintf(path, sizeof(path), "%s/below", write_text("a-file", "{}"));
    assert_int_equal(read_it(path), KVS_INVALID_PARAM);
    assert_int_equal(read_it("/"), KVS_INVALID_PARAM);
    has(errors.text, "/ is no file");
    snprintf(path, sizeof(path), "%s.fifo", write_text("a-file", "{}"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(read_it(path), KVS_INVALID_PARAM); /* at once: it does not wait for a writer */
    has(errors.text, "is no file");
    if (geteuid() != 0) {
        const char *closed = write_text("closed", "{}");
        assert_int_equal(chmod(closed, 0), 0);
        assert_int_equal(read_it(closed), KVS_ACCESS);
    }
}

static void test_places(void **state)
{
    (void)state;
    static const char text[] = "\n{ \"a\\\"}\" :\n [1,\n{\"b\":2}] ,\n\"c\":\"x,}\" }";
    struct place places[2];
    assert_int_equal(places_find(text, strlen(text), places, 2), 2);
    assert_int_equal(places[0].line, 2);
    assert_memory_equal(places[0].text, "[1,\n{\"b\":2}]", places[0].len);
    assert_int_equal(places[1].line, 5);
    assert_int_equal(places[1].len, 5);
    assert_int_equal(places_find(text, strlen(text), places, 1), 2);
    assert_int_equal(places_find("{ }", 3, places, 2), 0);
}

/* Through an engine: nothing is called yet, so that the next open may be right; then unknown members are
 * warned of. */
static void test_at_open(void **state)
{
    (void)state;
    struct kvs_error err;
    kvs_engine *engine;
    unsetenv("WDS_BACKEND_CONFIG_PATH");
    assert_int_equal(try_open(NULL, "", &engine, &err), KVS_INVALID_PARAM);
    has(err.text, "'config_path'");
    has(err.text, "WDS_BACKEND_CONFIG_PATH");
    assert_int_equal(try_open(write_config("bad", "\"thread_mode\": \"poll2\""), "", &engine, &err),
                     KVS_INVALID_PARAM);
    has(err.text, "line 2: 'thread_mode' is \"poll2\"");
    assert_int_equal(try_open(write_config("bad", "\"mem_size\": -1"), "connect=lazy", &engine, &err),
                     KVS_INVALID_PARAM);
    has(err.text, "'mem_size' is -1");
    catch_log();
    setenv("WDS_BACKEND_CONFIG_PATH", write_config("good", "\"new_member\": {\"a\": 1}"), 1);
    assert_int_equal(try_open(NULL, "config_path=", &engine, &err), KVS_OK);
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
    has(logged, "line 2: 'new_member' is no member that is known");
    close_engine(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_members),   cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_wrong_members), cmocka_unit_test(test_missing_members),
        cmocka_unit_test(test_no_json),       cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_places),        cmocka_unit_test(test_at_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
