/* SPDX-License-Identifier: Apache-2.0 */
/* What few hosts do: lists without end, forks, calls that meet, and ends with a real store at work. */
#include "host.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace host;

#ifdef KVS_TESTS_WRAPPED
enum { ROUNDS = 20 };
#else
enum { ROUNDS = 300 };
#endif
enum : std::size_t { MOST = 65536 };

static char bytes[MOST];

static int setup(void **)
{
    watch_log();
    return kvs_mock_register(nullptr);
}

static int fresh(void **)
{
    kvs_mock_reset("edges");
    log().clear();
    return 0;
}

static MetaList many(std::size_t count)
{
    MetaList l(mem_dram);
    for (std::size_t i = 0; i < count; i++)
        l.descs.push_back(desc(bytes + i % MOST, 1, 0, nullptr));
    return l;
}

static std::string keys(std::size_t count)
{
    std::string all;
    for (std::size_t i = 0; i < count; i++)
        all += (i ? "\n" : "") + std::to_string(i);
    return all;
}

/* KVS-REQ-103, KVS-REQ-105, KVS-REQ-138 */
static void test_long_lists(void **)
{
    Host h("MOCK", {{"name", "edges"}, {"timeout", "10m"}}); /* so many take long on a slow machine */
    for (std::size_t i = 0; i < MOST; i++)
        bytes[i] = static_cast<char>(i % 251);
    MetaList most = many(MOST);
    assert_is(h.run(op_write, most, most, keys(MOST)), success);
    memset(bytes, 0, sizeof bytes);
    assert_is(h.run(op_read, most, most, keys(MOST)), success);
    for (std::size_t i = 0; i < MOST; i++)
        assert_int_equal(bytes[i], static_cast<char>(i % 251));
    BackendReq *req = nullptr;
    for (std::size_t count : {MOST + 1, std::size_t{1000000}}) {
        MetaList more = many(count);
        assert_is(h.prep(op_write, more, more, req, keys(count)), invalid_param);
        assert_is(h.prep(op_write, more, more, req), invalid_param);
    }
    expect_text(log().c_str(), "65537");
    /* What is asked is asked in parts. */
    RegList ask(mem_object);
    for (std::size_t i = 0; i < 2 * MOST + 7; i++)
        ask.descs.push_back(blob(nullptr, 0, i));
    std::vector<QueryAnswer> answers;
    assert_is(h->queryMem(ask, answers), success);
    assert_int_equal(answers.size(), 2 * MOST + 7);
    for (std::size_t i = 0; i < answers.size(); i++)
        assert_int_equal(answers[i].has_value(), i < MOST);
    BackendMD *md = nullptr;
    assert_is(h->registerMem(blob(bytes, SIZE_MAX, 1), mem_dram, md), invalid_param);
    assert_null(md);
}

/* KVS-REQ-450, KVS-REQ-458: in a child all is refused, and can be ended */
static int in_child(Host &h, BackendMD *md, BackendReq *req)
{
    BackendReq *another = nullptr;
    BackendMD *out = nullptr;
    std::vector<QueryAnswer> answers;
    RegList ask(mem_object);
    ask.descs = {blob(nullptr, 0, 1)};
    MetaList one = many(1);
    int wrong = 0;
    wrong |= h->registerMem(blob(bytes, 1, 7), mem_dram, out) == not_allowed ? 0 : 1;
    OptArgs keyed;
    keyed.custom = "k";
    wrong |= h->prepXfer(op_read, one, one, self, another, &keyed) == not_allowed ? 0 : 2;
    wrong |= h->queryMem(ask, answers) == not_allowed ? 0 : 4;
    wrong |= h.post(req) == not_allowed ? 0 : 8;
    wrong |= h->checkXfer(req) == not_allowed ? 0 : 16;
    wrong |= h->releaseReqH(req) == success ? 0 : 32;
    h->deregisterMem(md);
    h.destroy();
    return wrong;
}

static void test_fork(void **)
{
    Host h("MOCK", {{"name", "edges"}, {"model", "thread"}, {"hold", "yes"}, {"drain_timeout", "60s"}});
    BackendMD *md = h.add(mem_dram, bytes, 1, 5);
    MetaList both = list(mem_dram, {desc(bytes, 1, 5, md)});
    BackendReq *req = h.prepared(op_write, both, both), *running = h.prepared(op_write, both, both);
    assert_is(h.post(running), in_prog);
    /* All other threads sleep then, and none holds a lock of the allocator's. */
    assert_int_equal(kvs_mock_wait_held("edges", 1, KVS_SEC(20)), KVS_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(in_child(h, md, req));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* And here nothing has changed. */
    kvs_mock_let_go("edges", SIZE_MAX);
    assert_is(h.wait(running), success);
    assert_is(h->releaseReqH(running), success);
    assert_is(h->releaseReqH(req), success);
}

/* Two threads with one request: one checks, the other releases it. */
static void test_check_beside_release(void **)
{
    Host h("MOCK", {{"name", "edges"}, {"model", "thread"}, {"release_timeout", "60s"}});
    MetaList one = many(1);
    for (int i = 0; i < ROUNDS; i++) {
        BackendReq *req = h.prepared(op_write, one, one, "k");
        std::atomic<bool> checks = false;
        Status last = in_prog;
        std::thread checker([&] {
            do {
                last = h->checkXfer(req);
                checks = true;
            } while (last == in_prog || last == success || last == not_posted);
        });
        while (!checks)
            std::this_thread::yield();
        Status rc = h.post(req);
        assert_true(rc == success || rc == in_prog);
        assert_is(h->releaseReqH(req), success);
        checker.join();
        assert_true(last == invalid_param || last == canceled);
    }
}

#ifdef HAVE_LMDB
/* KVS-REQ-503, KVS-REQ-504: where the store is not to be had, creating fails, or with connect=lazy the
 * transfer */
static void test_lazy(void **)
{
    const Params nowhere = {{"backend", "lmdb:/proc/1/none"}};
    Params lazy = nowhere;
    lazy["connect"] = "lazy";
    Host eager("KVSLOT", nowhere);
    assert_true(eager->failed());
    expect_text(log().c_str(), "cannot be opened");
    log().clear();
    Host h("KVSLOT", lazy);
    assert_false(h->failed());
    assert_string_equal(log().c_str(), "");
    MetaList one = many(1);
    Status rc = h.run(op_write, one, one, "k");
    assert_true(rc < success);
    expect_text(log().c_str(), "/proc/1/none");
}

/* KVS-REQ-286: destroyed with a batch at a real store, which is drained or left behind */
static void test_destroy_lmdb(void **)
{
    enum : std::size_t { COUNT = 16, SIZE = 1 << 18 };
    static char blocks[COUNT][SIZE];
    for (const char *drain : {"60s", "0"}) {
        log().clear();
        Host h("KVSLOT",
               {{"backend", std::string("lmdb:store-") + drain}, {"sync", "none"}, {"drain_timeout", drain}});
        if (h->failed())
            print_error("%s", log().c_str());
        BackendMD *md = h.add(mem_dram, blocks, sizeof blocks, 1);
        MetaList local(mem_dram);
        for (auto &block : blocks)
            local.descs.push_back(desc(block, SIZE, 1, md));
        for (int i = 0; i < 3; i++) {
            BackendReq *req = h.prepared(i % 2 ? op_read : op_write, local, local, keys(COUNT));
            Status rc = h.post(req);
            assert_true(rc == in_prog || rc == success || rc == not_found);
        }
        assert_is(h->deregisterMem(md), success);
        h.destroy();
        if (*drain != '0')
            expect_no_text(log().c_str(), "abandoned");
    }
}
#endif

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_long_lists, fresh),
        cmocka_unit_test_setup(test_fork, fresh),
        cmocka_unit_test_setup(test_check_beside_release, fresh),
#ifdef HAVE_LMDB
        cmocka_unit_test_setup(test_lazy, fresh),
        cmocka_unit_test_setup(test_destroy_lmdb, fresh),
#endif
    };
    return cmocka_run_group_tests(tests, setup, nullptr);
}
