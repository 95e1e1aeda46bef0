/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input to all functions but those of transfers: handles that are none, pointers that are NULL, counts
 * and lengths that cannot be. KVS-REQ-107 KVS-REQ-137 KVS-REQ-138 */
#include "inputs.h"
#include "toy.h"

static int each_held(void *arg, const struct kvs_held *memory)
{
    (void)arg;
    (void)memory;
    return 0;
}

/* ---- The library ---- */

static void version(void)
{
    assert_string_equal(kvs_version(), KVS_VERSION_TEXT);
}

static void status_name(void)
{
    static const int none[] = {INT_MIN, INT_MAX, 2, -12, -99, -108};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_string_equal(kvs_status_name(none[i]), "?");
        assert_string_equal(kvs_status_text(none[i]), "unknown status");
    }
}

static void set_log(void)
{
    kvs_set_log(NULL, NULL, INT_MIN);
    kvs_set_log(NULL, NULL, INT_MAX);
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
}

static unsigned lines;
static size_t longest;

static void count_lines(void *arg, int level, const char *line)
{
    (void)arg;
    (void)level;
    lines++;
    longest = strlen(line) > longest ? strlen(line) : longest;
}

static void write_log(void)
{
    static char long_name[8192];
    memset(long_name, 'x', sizeof long_name - 1);
    kvs_set_log(count_lines, NULL, KVS_LOG_ERROR);
    kvs_log(INT_MAX, "who", "%s", "nobody asked for it");
    assert_int_equal(lines, 0);
    kvs_log(KVS_LOG_ERROR, long_name, "%s", long_name);
    kvs_log(KVS_LOG_ERROR, "", "%s", "");
    assert_int_equal(lines, 2);
    assert_in_range(longest, 1, 1100);
    kvs_set_log(NULL, NULL, KVS_LOG_WARN);
}

static void free_it(void)
{
    kvs_free(NULL);
}

static void latency(void)
{
    assert_true(kvs_latency_floor(UINT_MAX) == UINT64_MAX);
    assert_true(kvs_latency_floor(KVS_LATENCY_BUCKETS) == UINT64_MAX);
    uint64_t counts[KVS_LATENCY_BUCKETS] = {0};
    const double zero = 0, shares[] = {-1e300, 1e300, zero / zero, 0.5};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(kvs_latency_quantile(NULL, shares[i]), 0);
        assert_int_equal(kvs_latency_quantile(counts, shares[i]), 0);
        counts[5] = 1;
        assert_int_equal(kvs_latency_quantile(counts, shares[i]), 5);
        counts[5] = 0;
    }
}

/* ---- Backends ---- */

static void plugin_load(void)
{
    static char long_name[8192];
    memset(long_name, 'x', sizeof long_name - 1);
    const char *found = name;
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_plugin_load(NULL, &found, err));
    assert_null(found);
    REFUSED(KVS_INVALID_PARAM, "empty", kvs_plugin_load("", NULL, err));
    REFUSED(KVS_INVALID_PARAM, "", kvs_plugin_load(long_name, NULL, err));
    REFUSED(KVS_INVALID_PARAM, "", kvs_plugin_load("/", NULL, err));
}

static void backend_register(void)
{
    REFUSED(KVS_INVALID_PARAM, "", kvs_backend_register(NULL, err));
    FOR_BAD(i)
    if (bad_engine(i))
        REFUSED(KVS_INVALID_PARAM, "", kvs_backend_register((const struct kvs_backend *)bad_engine(i), err));
}

static void backend_find(void)
{
    static char long_name[8192];
    memset(long_name, 'x', sizeof long_name - 1);
    const struct kvs_backend *found = &store;
    REFUSED(KVS_INVALID_PARAM, "", kvs_backend_find(NULL, &found, err));
    assert_null(found);
    REFUSED(KVS_INVALID_PARAM, "", kvs_backend_find("", NULL, err));
    REFUSED(KVS_NOT_FOUND, "", kvs_backend_find(long_name, NULL, err));
    assert_int_equal(kvs_backend_find("inputs", NULL, NULL), KVS_OK);
}

static void backend_list(void)
{
    INVALID(kvs_backend_list(NULL, buf));
}

static void sdk_params(void)
{
    assert_non_null(kvs_sdk_params(NULL));
}

static void param_read(void)
{
    size_t n;
    int64_t number = 7;
    const struct kvs_param *sdk = kvs_sdk_params(&n);
    const struct kvs_param_list all = {sdk, n, 0};
    const struct kvs_param_value given = {"timeout", "1s"}, half = {"timeout", NULL}, other = {NULL, "1s"};
    REFUSED(KVS_INVALID_PARAM, "whose is NULL", kvs_param_read(NULL, &all, 1, &given, &number, err));
    assert_int_equal(number, 0);
    REFUSED(KVS_INVALID_PARAM, "lists of parameters are NULL",
            kvs_param_read("x", NULL, 1, &given, NULL, err));
    REFUSED(KVS_INVALID_PARAM, "x has no parameter 'timeout'",
            kvs_param_read("x", NULL, 0, &given, NULL, err));
    REFUSED(KVS_INVALID_PARAM, "given is NULL", kvs_param_read("x", &all, 1, NULL, &number, err));
    REFUSED(KVS_INVALID_PARAM, "value is NULL", kvs_param_read("x", &all, 1, &half, &number, err));
    REFUSED(KVS_INVALID_PARAM, "name is NULL", kvs_param_read("x", &all, 1, &other, &number, err));
    assert_int_equal(kvs_param_read("x", &all, 1, &half, NULL, NULL), KVS_OK);
    static const struct {
        struct kvs_param_list list;
        const char *part;
    } bad[] = {{{NULL, 1, 0}, "list 0 of parameters is NULL"},
               {{(const struct kvs_param *)zeros, 1, 0}, "parameter 0 of list 0 has no name"},
               {{(const struct kvs_param *)zeros, 1, 8}, "stride 8"},
               {{(const struct kvs_param *)zeros, SIZE_MAX, 0}, "end of memory"},
               {{(const struct kvs_param *)zeros, 2, SIZE_MAX}, "end of memory"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        REFUSED(KVS_INVALID_PARAM, bad[i].part, kvs_param_read("x", &bad[i].list, 1, &given, &number, err));
}

/* ---- Engines ---- */

static void engine_open(void)
{
    kvs_engine *e = good;
    const struct kvs_param_value half[] = {{"timeout", NULL}}, other[] = {{NULL, "1s"}};
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_engine_open("inputs", NULL, 0, NULL, err));
    REFUSED(KVS_INVALID_PARAM, "", kvs_engine_open(NULL, NULL, 0, &e, err));
    assert_null(e);
    REFUSED(KVS_INVALID_PARAM, "at NULL", kvs_engine_open("inputs", NULL, SIZE_MAX, &e, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_engine_open("inputs", half, SIZE_MAX, &e, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_engine_open("inputs", half, SIZE_MAX / 16 + 2, &e, err));
    REFUSED(KVS_INVALID_PARAM, "value", kvs_engine_open("inputs", half, 1, &e, err));
    REFUSED(KVS_INVALID_PARAM, "name", kvs_engine_open("inputs", other, 1, &e, err));
    assert_null(e);
}

static void engine_close(void)
{
    FOR_BAD(i)
    REFUSED(KVS_INVALID_PARAM, "no valid handle", kvs_engine_close(bad_engine(i), KVS_FOREVER, err));
}

static void engine_abandon(void)
{
    FOR_BAD(i) kvs_engine_abandon(bad_engine(i));
}

static void engine_limits(void)
{
    struct kvs_limits l = {.size = sizeof l};
    FOR_BAD(i) INVALID(kvs_engine_limits(bad_engine(i), &l));
    INVALID(kvs_engine_limits(good, NULL));
    l.size = 0;
    INVALID(kvs_engine_limits(good, &l));
}

static void engine_backend(void)
{
    FOR_BAD(i) assert_null(kvs_engine_backend(bad_engine(i)));
}

static void engine_violations(void)
{
    FOR_BAD(i) assert_int_equal(kvs_engine_violations(bad_engine(i)), 0);
}

static void engine_progress(void)
{
    FOR_BAD(i) INVALID(kvs_engine_progress(bad_engine(i)));
}

static void engine_stats(void)
{
    struct kvs_stats s = {.size = sizeof s};
    FOR_BAD(i) INVALID(kvs_engine_stats(bad_engine(i), &s));
    INVALID(kvs_engine_stats(good, NULL));
    s.size = 0;
    INVALID(kvs_engine_stats(good, &s));
}

static void engine_held(void)
{
    FOR_BAD(i) INVALID(kvs_engine_held(bad_engine(i), each_held, NULL));
    INVALID(kvs_engine_held(good, NULL, NULL));
}

static void engine_fd(void)
{
    int fd = 77;
    FOR_BAD(i)
    {
        INVALID(kvs_engine_fd(bad_engine(i), &fd));
        assert_int_equal(fd, -1);
        fd = 77;
    }
    INVALID(kvs_engine_fd(good, NULL));
}

static void engine_reap(void)
{
    kvs_xfer *one = NULL;
    size_t n = 77;
    FOR_BAD(i) INVALID(kvs_engine_reap(bad_engine(i), &one, 1, KVS_FOREVER, &n));
    assert_int_equal(n, 0);
    INVALID(kvs_engine_reap(good, NULL, 1, KVS_FOREVER, &n));
    INVALID(kvs_engine_reap(good, &one, 0, KVS_FOREVER, &n));
    INVALID(kvs_engine_reap(good, &one, 1, KVS_FOREVER, NULL));
    assert_int_equal(kvs_engine_reap(good, &one, SIZE_MAX, 0, &n), KVS_IN_PROG); /* nothing has ended */
}

static void engine_leaks(void)
{
    struct kvs_leaks leaks = {.size = 0};
    INVALID(kvs_engine_leaks(NULL));
    INVALID(kvs_engine_leaks(&leaks));
}

/* ---- Registrations ---- */

/* One bad descriptor, alone and in a list, gives no registration. */
static void refused_desc(uint32_t type, struct kvs_desc d, int status, const char *part)
{
    kvs_mem *m = mine, *two[2] = {mine, mine};
    const struct kvs_desc descs[2] = {{.dev_id = 1}, d};
    const struct kvs_dlist list = {descs, 2, 0, type};
    REFUSED(status, part, kvs_mem_register(good, type, &d, &m, err));
    assert_null(m);
    REFUSED(status, part, kvs_mem_register_list(good, &list, two, err));
    assert_null(two[0]);
    assert_null(two[1]);
}

static void mem_register(void)
{
    struct kvs_desc d = {.addr = 8, .len = 8};
    kvs_mem *m = mine;
    FOR_BAD(i) REFUSED(KVS_INVALID_PARAM, "no valid handle", kvs_mem_register(bad_engine(i), 0, &d, &m, err));
    assert_null(m);
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_mem_register(good, 0, NULL, &m, err));
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_mem_register(good, 0, &d, NULL, err));
    refused_desc(UINT32_MAX, d, KVS_NOT_SUPPORTED, "memory type");
    refused_desc(0, (struct kvs_desc){.addr = UINT64_MAX, .len = UINT64_MAX}, KVS_INVALID_PARAM, "end of");
    refused_desc(0, (struct kvs_desc){.addr = 1, .len = UINT64_MAX}, KVS_INVALID_PARAM, "end of");
    refused_desc(0, (struct kvs_desc){.meta_len = 1}, KVS_INVALID_PARAM, "NULL");
    /* Also those that are small again with the prefix before them. */
    for (uint64_t len = UINT64_MAX; len > UINT64_MAX - 8; len--)
        refused_desc(0, (struct kvs_desc){.meta_info = name, .meta_len = len}, KVS_TOO_LARGE,
                     "1844674407370955161");
    refused_desc(0, (struct kvs_desc){.meta_info = name, .meta_len = UINT32_MAX}, KVS_TOO_LARGE, "");
    refused_desc(0, (struct kvs_desc){.meta_info = (const void *)(UINTPTR_MAX - 15), .meta_len = 100},
                 KVS_INVALID_PARAM, "100 bytes is beyond");
}

static void mem_register_list(void)
{
    struct kvs_desc d[2] = {{.dev_id = 1}, {.dev_id = 2}};
    kvs_mem *m[2] = {mine, mine};
    struct kvs_dlist list = {d, 2, 0, 0};
    FOR_BAD(i) REFUSED(KVS_INVALID_PARAM, "no valid", kvs_mem_register_list(bad_engine(i), &list, m, err));
    assert_null(m[1]);
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_mem_register_list(good, NULL, m, err));
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_mem_register_list(good, &list, NULL, err));
    list = (struct kvs_dlist){NULL, 2, 0, 0};
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_mem_register_list(good, &list, m, err));
    static const struct {
        size_t count, stride;
        const char *part;
    } rows[] = {{0, 0, "empty"},
                {2, 1, "stride"},
                {2, SIZE_MAX, "end of memory"},
                {2, (size_t)PTRDIFF_MAX, "end of memory"},
                {SIZE_MAX, 0, "end of memory"},
                {SIZE_MAX / sizeof(struct kvs_desc) + 2, 0, "end of memory"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        list = (struct kvs_dlist){d, rows[i].count, rows[i].stride, 0};
        REFUSED(KVS_INVALID_PARAM, rows[i].part, kvs_mem_register_list(good, &list, m, err));
    }
}

static void mem_deregister(void)
{
    FOR_BAD(i) REFUSED(KVS_INVALID_PARAM, "no valid handle", kvs_mem_deregister(bad_engine(i), mine, err));
    FOR_BAD(i) if (bad_mem(i)) REFUSED(KVS_NOT_FOUND, "none of", kvs_mem_deregister(good, bad_mem(i), err));
    for (uintptr_t at = 1; at < 64; at++) /* no address is looked at */
        REFUSED(KVS_NOT_FOUND, "none of", kvs_mem_deregister(good, (kvs_mem *)at, err));
    REFUSED(KVS_NOT_FOUND, "none of", kvs_mem_deregister(good, (kvs_mem *)UINTPTR_MAX, err));
    assert_int_equal(kvs_mem_deregister(good, NULL, NULL), KVS_OK);
}

static void mem_deregister_list(void)
{
    FOR_BAD(i) REFUSED(KVS_INVALID_PARAM, "no valid", kvs_mem_deregister_list(bad_engine(i), &mine, 1, err));
    FOR_BAD(i) if (bad_mem(i))
    {
        kvs_mem *both[2] = {mine, bad_mem(i)};
        REFUSED(KVS_NOT_FOUND, "registration 1", kvs_mem_deregister_list(good, both, 2, err));
    }
    REFUSED(KVS_INVALID_PARAM, "NULL", kvs_mem_deregister_list(good, NULL, 1, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_mem_deregister_list(good, &mine, SIZE_MAX, err));
    REFUSED(KVS_INVALID_PARAM, "end of memory", kvs_mem_deregister_list(good, &mine, SIZE_MAX / 8 + 2, err));
    assert_int_equal(kvs_mem_deregister_list(good, NULL, 0, NULL), KVS_OK);
}

static const struct row rows[] = {
    {"kvs_version", version},
    {"kvs_status_name", status_name},
    {"kvs_status_text", status_name},
    {"kvs_set_log", set_log},
    {"kvs_log", write_log},
    {"kvs_free", free_it},
    {"kvs_plugin_load", plugin_load},
    {"kvs_backend_register", backend_register},
    {"kvs_backend_find", backend_find},
    {"kvs_backend_list", backend_list},
    {"kvs_sdk_params", sdk_params},
    {"kvs_param_read", param_read},
    {"kvs_engine_open", engine_open},
    {"kvs_engine_close", engine_close},
    {"kvs_engine_abandon", engine_abandon},
    {"kvs_engine_limits", engine_limits},
    {"kvs_engine_backend", engine_backend},
    {"kvs_engine_violations", engine_violations},
    {"kvs_engine_progress", engine_progress},
    {"kvs_engine_stats", engine_stats},
    {"kvs_latency_floor", latency},
    {"kvs_latency_quantile", latency},
    {"kvs_engine_held", engine_held},
    {"kvs_engine_leaks", engine_leaks},
    {"kvs_engine_fd", engine_fd},
    {"kvs_engine_reap", engine_reap},
    {"kvs_mem_register", mem_register},
    {"kvs_mem_register_list", mem_register_list},
    {"kvs_mem_deregister", mem_deregister},
    {"kvs_mem_deregister_list", mem_deregister_list},
};
#define ROWS (sizeof rows / sizeof rows[0])

static void every_function(void **state)
{
    (void)state;
    check_rows(rows, ROWS, false);
    run_rows(rows, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_function, inputs_setup, inputs_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
