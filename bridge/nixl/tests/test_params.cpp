/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's parameters may be, what is said of those that are not, and what is shown of secrets. */
#include "host.h"

#include <kvslot/backend.h>

using namespace host;

/* ---- A backend that declares what it has to, and no more; its parameters are those of a server ---- */

static int bare_open(void *, void *, kvs_limits *)
{
    return KVS_OK;
}

static int bare_io(void *, void *, const kvs_batch *, kvs_io *)
{
    return KVS_OK;
}

static constexpr kvs_param param(const char *name, const char *uri, std::uint32_t flags = 0)
{
    kvs_param p = {};
    p.name = name;
    p.uri = uri;
    p.flags = flags;
    return p;
}
static const kvs_param server_params[] = {
    param("user", "user"), param("password", "password", KVS_PARAM_SECRET),
    param("host", "host"), param("port", "port"),
    param("db", "path"),   param("token", nullptr, KVS_PARAM_SECRET),
};
/* Where the user is a secret as well. */
static const kvs_param shy_params[] = {param("user", "user", KVS_PARAM_SECRET),
                                       param("password", "password", KVS_PARAM_SECRET),
                                       param("host", "host")};

static int add_backend(kvs_backend &b, const char *name, const kvs_param *params, std::uint32_t n)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
    b = {KVS_BACKEND_STAMP, .name = name, .version = "1", .params = params, .nparams = n};
#pragma GCC diagnostic pop
    b.open = bare_open;
    b.put = b.get = bare_io;
    kvs_error err = {};
    int rc = kvs_backend_register(&b, &err);
    if (rc != KVS_OK)
        print_error("%s\n", err.text);
    return rc;
}

static int setup(void **)
{
    static kvs_backend bare, server, shy;
    watch_log();
    return add_backend(bare, "bare", nullptr, 0) ||
           add_backend(server, "server", server_params, std::size(server_params)) ||
           add_backend(shy, "shy", shy_params, std::size(shy_params)) || kvs_mock_register(nullptr);
}

static int fresh(void **)
{
    log().clear();
    return 0;
}

/* KVS-REQ-448: objects are there for a backend that has nothing to say about memory */
static void test_nothing_declared(void **)
{
    Host h("KVSLOT", {{"backend", "bare"}});
    assert_false(h->failed());
    assert_true(h->getSupportedMems() == (MemList{mem_dram, mem_object}));
    char byte = 0;
    BackendMD *memory = h.add(mem_dram, &byte, 1, 0), *key = h.add(mem_object, nullptr, 1, 5, "k");
    assert_is(h.run(op_write, list(mem_dram, {desc(&byte, 1, 0, memory)}),
                    list(mem_object, {desc(nullptr, 1, 5, key)})),
              success);
}

/* KVS-REQ-509: the text lists what the plugin takes, the bridge's own first */
static void test_unknown(void **)
{
    const struct {
        const char *plugin;
        Params params;
        const char *said;
    } rows[] = {
        {"MOCK",
         {{"modle", "poll"}},
         "no parameter 'modle'; did you mean 'model'? It takes release_timeout, drain_timeout, name, "
         "model, "},
        {"MOCK", {{"drian_timeout", "1s"}}, "did you mean 'drain_timeout'?"},
        {"MOCK", {{"zzz", "1s"}}, ", timeout, cancel_grace"},
        {"KVSLOT",
         {{"backend", "bare"}, {"zzz", ""}},
         "it takes backend, release_timeout, drain_timeout, timeout, "},
        {"KVSLOT", {{"backend", "bare"}, {"baxkend", "x"}}, "did you mean 'backend'?"},
        {"KVSLOT", {{"backend", "bare:?zzz=1"}}, "backend 'bare' has no parameter 'zzz'"},
    };
    for (auto &r : rows) {
        log().clear();
        Host h(r.plugin, r.params);
        assert_true(h->failed());
        expect_text(log().c_str(), r.said);
    }
}

/* KVS-REQ-505, KVS-REQ-535 */
static void test_durations(void **)
{
    for (const char *name : {"release_timeout", "drain_timeout"}) {
        for (const char *bad : {"soon", "5", "-1s", "1 s", "99999999999999h"}) {
            log().clear();
            Host h("MOCK", {{name, bad}});
            assert_true(h->failed());
            expect_text(log().c_str(), (std::string("parameter '") + name + "' is '" + bad).c_str());
            expect_text(log().c_str(), "a duration such as");
        }
        for (const char *good : {"", "0", "3ms", "24h"}) {
            Host h("MOCK", {{name, good}});
            assert_false(h->failed());
        }
    }
}

/* A text that ends early would be another's. */
static void test_nul(void **)
{
    const Params rows[] = {{{"backend", std::string("mock\0:x", 7)}},
                           {{"backend", "mock"}, {"release_timeout", std::string("1s\0", 3)}},
                           {{"backend", "mock"}, {std::string("name\0x", 6), "a"}}};
    for (auto &params : rows) {
        log().clear();
        Host h("KVSLOT", params);
        assert_true(h->failed());
        expect_text(log().c_str(), "has a NUL in it");
    }
}

/* What an agent tells of a backend's parameters is not for all to see. */
static void test_secrets(void **)
{
    const struct {
        const char *target, *shown;
    } rows[] = {
        {"server", "server"},
        {"server:", "server:"},
        {"server://h:1/db?timeout=1s", "server://h:1/db?timeout=1s"},
        {"server://me@h", "server://me@h"},
        {"server://me:hunter2@h:1/a:b@c?timeout=1s", "server://me:***@h:1/a:b@c?timeout=1s"},
        {"server://:hunter2@h", "server://:***@h"},
        {"server://me:hunter2:@hunter2@h", "server://me:***@h"},
        {"server://h?token=hunter2&timeout=1s", "server://h?token=***&timeout=1s"},
        {"server://h?timeout=1s&t%6Fken=hunter2", "server://h?timeout=1s&t%6Fken=***"},
        {"server://h?&timeout=1s&&password=hunter2&", "server://h?&timeout=1s&&password=***&"},
        {"server:a@b", "server:a@b"},
        {"server:///a:b@c", "server:///a:b@c"},
        {"shy://hunter2@h", "shy://***@h"},
        {"shy://hunter2:hunter2@h", "shy://***:***@h"},
    };
    for (auto &r : rows) {
        Host h("KVSLOT", {{"backend", r.target}, {"cancel_grace", "2s"}});
        if (h->failed())
            print_error("%s: %s\n", r.target, log().c_str());
        assert_false(h->failed());
        assert_string_equal(h->shown().at("backend").c_str(), r.shown);
        assert_string_equal(h->shown().at("cancel_grace").c_str(), "2s");
    }
    Params given = {{"backend", "server://h"}, {"password", "hunter2"}, {"token", ""}, {"db", "7"}};
    Host h("KVSLOT", given);
    assert_string_equal(h->shown().at("password").c_str(), "***");
    assert_string_equal(h->shown().at("token").c_str(), "");
    assert_string_equal(h->shown().at("db").c_str(), "7");
    assert_string_equal(h->shown().at("backend").c_str(), "server://h");
}

/* The name of a file is no secret, and an engine that failed shows nothing. */
static void test_secret_places(void **)
{
    FILE *f = fopen("secret", "w");
    assert_non_null(f);
    fputs("hunter2", f);
    fclose(f);
    Host h("KVSLOT", {{"backend", "server://h"}, {"password", "@secret"}});
    assert_false(h->failed());
    assert_string_equal(h->shown().at("password").c_str(), "@secret");
    Host bad("KVSLOT", {{"backend", "server://me:hunter2@h:port"}, {"token", "hunter2"}});
    assert_true(bad->failed());
    assert_true(bad->shown().empty());
    expect_no_text(log().c_str(), "hunter2");
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing_declared, fresh),
        cmocka_unit_test_setup(test_unknown, fresh),
        cmocka_unit_test_setup(test_durations, fresh),
        cmocka_unit_test_setup(test_nul, fresh),
        cmocka_unit_test_setup(test_secrets, fresh),
        cmocka_unit_test_setup(test_secret_places, fresh),
    };
    return cmocka_run_group_tests(tests, setup, nullptr);
}
