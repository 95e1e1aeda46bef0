/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin's table, its engines' parameters, and how they come and go. */
#include "host.h"

#include "guard.h"

#include <cstdlib>
#include <stdexcept>

using namespace host;

static int setup(void **)
{
    watch_log();
    return kvs_mock_register(nullptr);
}

static void test_table(void **)
{
    Plugin *mock = load("MOCK");
    assert_is(mock->api, plugin_api);
    assert_string_equal(mock->name(), "MOCK");
    assert_string_equal(mock->version(), kvs_version());
    Params options = mock->options();
    assert_string_equal(options.at("timeout").c_str(), "30s");       /* the SDK's, */
    assert_string_equal(options.at("model").c_str(), "inline");      /* the backend's, */
    assert_string_equal(options.at("release_timeout").c_str(), "0"); /* and the bridge's own */
    assert_string_equal(options.at("drain_timeout").c_str(), "5s");
    assert_is(options.count("backend"), 0);
    assert_true(mock->mems() == (MemList{mem_dram, mem_object}));

    Plugin *any = load("KVSLOT");
    assert_string_equal(any->name(), "KVSLOT");
    assert_string_equal(mock->name(), "MOCK"); /* each file has its own */
    options = any->options();
    assert_string_equal(options.at("backend").c_str(), "");
    assert_string_equal(options.at("timeout").c_str(), "30s");
    assert_is(options.count("model"), 0);
    assert_true(any->mems() == (MemList{mem_dram, mem_object}));
}

static void test_what_it_supports(void **)
{
    Host h("MOCK", {{"name", "life"}});
    assert_false(h->supportsRemote());
    assert_true(h->supportsLocal());
    assert_false(h->supportsNotif());
    assert_true(h->getSupportedMems() == (MemList{mem_dram, mem_object}));
    assert_is(h->connect(self), success);
    assert_is(h->disconnect(self), success);
    assert_is(h->connect("another"), not_supported);
    assert_is(h->disconnect("another"), not_supported);

    std::string text;
    BackendMD *md = nullptr;
    Notifs notifs;
    MemView view = nullptr;
    assert_is(h->getPublicData(nullptr, text), backend_failed);
    assert_is(h->getConnInfo(text), backend_failed);
    assert_is(h->loadRemoteConnInfo("another", text), backend_failed);
    assert_is(h->loadRemoteMD(blob(nullptr, 0, 0), mem_dram, "another", md), backend_failed);
    assert_is(h->getNotifs(notifs), backend_failed);
    assert_is(h->genNotif("another", text), backend_failed);
    assert_is(h->prepMemView(MetaList(mem_dram), view, nullptr), not_supported);
    h->releaseMemView(view);
}

/* What the host hands in never crosses as an exception, and what fails leaves an engine that only says so. */
static void test_creation_fails(void **)
{
    Plugin *mock = load("MOCK");
    assert_null(mock->create_engine(nullptr));
    InitParams init;
    assert_null(mock->create_engine(&init));
    mock->destroy_engine(nullptr);

    struct {
        const char *plugin;
        Params params;
        const char *said;
    } bad[] = {
        {"MOCK", {{"model", "steam"}}, "parameter 'model'"},
        {"MOCK", {{"modle", "poll"}}, "modle"},
        {"MOCK", {{"release_timeout", "soon"}}, "parameter 'release_timeout'"},
        {"MOCK", {{"drain_timeout", "5"}}, "parameter 'drain_timeout'"},
        {"MOCK", {{"backend", "mock:a"}}, "backend"},
        {"MOCK", {{"name", std::string("a\0b", 3)}}, "NUL"},
        {"KVSLOT", {}, "parameter 'backend' is missing"},
        {"KVSLOT", {{"backend", ""}}, "parameter 'backend' is missing"},
        {"KVSLOT", {{"backend", "nosuch"}}, "nosuch"},
        {"KVSLOT", {{"backend", "./kvslot-mock.so"}}, "kvslot-mock.so"},
        {"KVSLOT", {{"backend", "kvslot-mock.so"}}, "kvslot-mock.so"},
        {"KVSLOT", {{"backend", "mock:a"}, {"name", "b"}}, "name"},
    };
    for (auto &b : bad) {
        log().clear();
        Host h(b.plugin, b.params);
        assert_true(h->failed());
        expect_text(log().c_str(), b.said);
        /* Until it is destroyed it answers, and never well. */
        BackendMD *md = nullptr;
        BackendReq *req = nullptr;
        std::vector<QueryAnswer> answers;
        assert_is(h->registerMem(blob(nullptr, 0, 1), mem_dram, md), not_allowed);
        assert_is(h->prepXfer(op_read, MetaList(mem_dram), MetaList(mem_dram), self, req, nullptr),
                  not_allowed);
        assert_is(h->queryMem(RegList(mem_object), answers), not_allowed);
        assert_is(h->checkXfer(nullptr), invalid_param);
        assert_is(h->deregisterMem(nullptr), success);
        assert_true(h->getSupportedMems().empty());
    }
}

static void test_names_and_uris(void **)
{
    char byte = 'x';
    for (const char *target : {"mock", "mock:default", "mock:default?model=thread"}) {
        Host h("KVSLOT", {{"backend", target}});
        assert_false(h->failed());
        BackendMD *memory = h.add(mem_dram, &byte, 1, 0), *key = h.add(mem_object, nullptr, 1, 5);
        assert_is(h.run(op_write, list(mem_dram, {desc(&byte, 1, 0, memory)}),
                        list(mem_object, {desc(nullptr, 1, 5, key)})),
                  success);
    }
    kvs_mock_reset(nullptr);
}

/* A host may hand the plugin's whole table of options back, with some changed: the others are then as if they
 * had not been given, in a URI or the environment too. */
static void test_defaults_handed_back(void **)
{
    Params all = load("MOCK")->options();
    all["name"] = "handed";
    all["model"] = "thread";
    all["hold"] = "yes";
    assert_is(setenv("KVSLOT_TIMEOUT", "20ms", 1), 0);
    Host h("MOCK", all);
    assert_is(unsetenv("KVSLOT_TIMEOUT"), 0);
    assert_false(h->failed());
    char byte = 'x';
    BackendMD *memory = h.add(mem_dram, &byte, 1, 3);
    MetaList one = list(mem_dram, {desc(&byte, 1, 3, memory)});
    assert_is(h.run(op_write, one, one), backend_failed); /* TIMEOUT, long before 30s */
    expect_text(log().c_str(), "TIMEOUT");

    all = load("KVSLOT")->options();
    all["backend"] = "mock:handed?timeout=10s";
    Host u("KVSLOT", all);
    assert_false(u->failed());
}

static void test_exceptions_stay(void **)
{
    using kvslot::nixl::guarded;
    log().clear();
    assert_is(guarded("nixl/X", "a call", 7, []() -> int { throw std::runtime_error("a reason"); }), 7);
    expect_text(log().c_str(), "nixl/X: a call: a reason");
    assert_is(guarded("nixl/X", "another", 8, []() -> int { throw 1; }), 8);
    expect_text(log().c_str(), "nixl/X: another: unknown exception");
    assert_is(guarded("nixl/X", "none", 9, [] { return 10; }), 10);
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_what_it_supports),
        cmocka_unit_test(test_creation_fails),
        cmocka_unit_test(test_names_and_uris),
        cmocka_unit_test(test_defaults_handed_back),
        cmocka_unit_test(test_exceptions_stay),
    };
    return cmocka_run_group_tests(tests, setup, nullptr);
}
