/* SPDX-License-Identifier: Apache-2.0 */
/* One engine, many threads: transfers come and go while the memory under them is deregistered. */
#include "host.h"

#include <atomic>
#include <thread>

using namespace host;

#ifdef KVS_TESTS_WRAPPED
enum { ROUNDS = 20 };
#else
enum { ROUNDS = 300 };
#endif
enum { THREADS = 4 };

/* cmocka's assertions belong to the main thread: the others count what went wrong. */
static std::atomic<int> wrong;

static void expect(bool holds)
{
    if (!holds)
        wrong++;
}

static Status end(BackendEngine *e, BackendReq *req, Status rc)
{
    while (rc == in_prog)
        rc = e->checkXfer(req);
    return rc;
}

/* What the host does with memory that nobody else names. */
static void alone(BackendEngine *e, int id)
{
    char buffer[64];
    MetaList none(mem_dram);
    for (int round = 0; round < ROUNDS; round++) {
        BackendMD *md = nullptr;
        std::uint64_t dev = static_cast<std::uint64_t>(id);
        expect(e->registerMem(blob(buffer, sizeof buffer, dev, "key" + std::to_string(id)), mem_dram, md) ==
               success);
        MetaList both = list(mem_dram, {desc(buffer, sizeof buffer, dev, md)});
        memset(buffer, round, sizeof buffer);
        for (XferOp op : {op_write, op_read}) {
            BackendReq *req = nullptr;
            expect(e->prepXfer(op, both, both, self, req, nullptr) == success);
            expect(end(e, req, e->postXfer(op, none, none, self, req, nullptr)) == success);
            expect(buffer[0] == static_cast<char>(round));
            memset(buffer, 0, sizeof buffer);
            expect(e->releaseReqH(req) == success);
        }
        expect(e->deregisterMem(md) == success);
    }
}

/* And with memory that another thread deregisters at any moment: each call is taken or refused, and nothing
 * else. */
struct Shared {
    std::atomic<BackendMD *> md{nullptr};
    char buffer[64] = {};
};

static void under_fire(BackendEngine *e, Shared &s, std::atomic<bool> &over)
{
    MetaList none(mem_dram);
    while (!over) {
        BackendMD *md = s.md;
        MetaList both = list(mem_dram, {desc(s.buffer, sizeof s.buffer, 99, md)});
        BackendReq *req = nullptr;
        Status rc = e->prepXfer(op_read, both, both, self, req, nullptr);
        if (rc != success) {
            expect(rc == not_allowed || rc == invalid_param || rc == not_found);
            continue;
        }
        for (int i = 0; i < 3; i++) {
            rc = end(e, req, e->postXfer(op_read, none, none, self, req, nullptr));
            expect(rc == success || rc == not_allowed || rc == canceled || rc == not_found);
        }
        if (e->releaseReqH(req) == repost_active)
            expect(e->releaseReqH(req) == success);
    }
}

static void deregister(BackendEngine *e, Shared &s, std::atomic<bool> &over)
{
    for (int round = 0; round < ROUNDS; round++) {
        BackendMD *md = nullptr;
        expect(e->registerMem(blob(s.buffer, sizeof s.buffer, 99), mem_dram, md) == success);
        s.md = md;
        std::this_thread::yield();
        expect(e->deregisterMem(md) == success);
    }
    over = true;
}

static void test_many_threads(void **)
{
    watch_log();
    assert_int_equal(kvs_mock_register(nullptr), KVS_OK);
    for (const char *model : {"inline", "thread", "poll", "blocking"}) {
        kvs_mock_reset("threads");
        wrong = 0;
        {
            Host h("MOCK", {{"name", "threads"}, {"model", model}, {"drain_timeout", "60s"}});
            Shared shared;
            std::atomic<bool> over = false;
            std::vector<std::thread> all;
            for (int i = 0; i < THREADS; i++)
                all.emplace_back(alone, h.engine, i);
            for (int i = 0; i < THREADS; i++)
                all.emplace_back(under_fire, h.engine, std::ref(shared), std::ref(over));
            all.emplace_back(deregister, h.engine, std::ref(shared), std::ref(over));
            for (std::thread &t : all)
                t.join();
        }
        if (wrong)
            print_error("with model=%s\n", model);
        assert_int_equal(wrong, 0);
        assert_int_equal(counts("threads").registers, counts("threads").deregisters);
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(test_many_threads)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
