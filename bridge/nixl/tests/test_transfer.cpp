/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: what is moved, what is answered, and what is refused. */
#include "host.h"

using namespace host;

static char from[64 * 64], into[64 * 64];

static int setup(void **)
{
    watch_log();
    for (std::size_t i = 0; i < sizeof from; i++)
        from[i] = static_cast<char>('a' + i / 64 % 26 + i % 3);
    return kvs_mock_register(nullptr);
}

static int fresh(void **)
{
    kvs_mock_reset("transfer");
    memset(into, 0, sizeof into);
    log().clear();
    return 0;
}

/* A host with both buffers registered. */
struct Pair : Host {
    explicit Pair(const char *model = "inline", const char *hold = "no")
        : Host("MOCK", {{"name", "transfer"}, {"model", model}, {"hold", hold}}),
          src(add(mem_dram, from, sizeof from, 0)), dst(add(mem_dram, into, sizeof into, 0))
    {
    }
    MetaList source(std::size_t len = sizeof from) const
    {
        return list(mem_dram, {desc(from, len, 0, src)});
    }
    MetaList sink(std::size_t len = sizeof into) const
    {
        return list(mem_dram, {desc(into, len, 0, dst)});
    }
    BackendMD *src, *dst;
};

/* KVS-REQ-058, KVS-REQ-060: both segments, with and without metaInfo */
static void test_write_and_read(void **)
{
    Pair h;
    BackendMD *keyed = h.add(mem_dram, from, sizeof from, 1, "keyed"),
              *plain = h.add(mem_dram, into, sizeof into, 2);
    BackendMD *object = h.add(mem_object, nullptr, sizeof from, 3, std::string("o\0\n", 3));
    BackendMD *number = h.add(mem_object, nullptr, sizeof from, 4);
    struct {
        MetaList remote;
        std::string key;
    } all[] = {
        {list(mem_dram, {desc(from, sizeof from, 1, keyed)}), "keyed"},
        {list(mem_dram, {desc(into, sizeof into, 2, plain)}), "2"},
        {list(mem_object, {desc(nullptr, sizeof from, 3, object)}), std::string("o\0\n", 3)},
        {list(mem_object, {desc(nullptr, sizeof from, 4, number)}), "4"},
    };
    kvs_engine *side;
    assert_int_equal(kvs_engine_open("mock:transfer", nullptr, 0, &side, nullptr), KVS_OK);
    for (auto &a : all) {
        memset(into, 0, sizeof into);
        assert_is(h.run(op_read, h.sink(), a.remote), not_found);
        assert_is(h.run(op_write, h.source(), a.remote), success);
        assert_is(h.run(op_read, h.sink(), a.remote), success);
        assert_memory_equal(from, into, sizeof from);
        std::uint64_t size = 0;
        assert_int_equal(kvs_query(side, a.key.data(), a.key.size(), &size, nullptr), KVS_OK);
        assert_int_equal(size, sizeof from);
    }
    kvs_engine_close(side, KVS_FOREVER, nullptr);
}

/* KVS-REQ-014: each of the SDK's statuses as the host gets it */
static void test_statuses(void **)
{
    static const struct {
        int kvs;
        Status host;
    } table[] = {
        {KVS_OK, success},
        {KVS_INVALID_PARAM, invalid_param},
        {KVS_BACKEND, backend_failed},
        {KVS_NOT_FOUND, not_found},
        {KVS_MISMATCH, mismatch},
        {KVS_NOT_ALLOWED, not_allowed},
        {KVS_BUSY, repost_active},
        {KVS_UNKNOWN, unknown},
        {KVS_NOT_SUPPORTED, not_supported},
        {KVS_DISCONNECTED, remote_disconnect},
        {KVS_CANCELED, canceled},
        {KVS_TIMEOUT, backend_failed},
        {KVS_FULL, backend_failed},
        {KVS_NO_MEMORY, backend_failed},
        {KVS_IO, backend_failed},
        {KVS_EXISTS, not_allowed},
        {KVS_ACCESS, not_allowed},
        {KVS_TOO_LARGE, invalid_param},
    };
    for (const char *model : {"inline", "thread"}) {
        Pair h(model);
        MetaList remote =
            list(mem_object, {desc(nullptr, sizeof from, 1, h.add(mem_object, nullptr, sizeof from, 1))});
        BackendReq *req = h.prepared(op_write, h.source(), remote);
        assert_is(h->checkXfer(req), not_posted);
        for (auto &t : table) {
            log().clear();
            kvs_mock_set_fault("transfer", KVS_MOCK_IO, 0, 1, t.kvs);
            Status rc = h.post(req);
            rc = rc == in_prog ? h.wait(req) : rc;
            assert_is(rc, t.host);
            assert_is(h->checkXfer(req), t.host); /* as often as asked */
            /* What the host's status does not say is in the log, once. */
            std::string said = "transfer: ";
            said += kvs_status_name(t.kvs);
            bool folded = static_cast<int>(t.host) != t.kvs || t.kvs == KVS_BACKEND;
            assert_int_equal(log().find(said) != std::string::npos, folded);
            assert_is(log().find(said, log().find(said) + 1) == std::string::npos, true);
        }
        assert_is(h->releaseReqH(req), success);
    }
}

/* KVS-REQ-101, KVS-REQ-102, KVS-REQ-106, KVS-REQ-107 */
static void test_refused_at_prep(void **)
{
    Pair h;
    BackendMD *key = h.add(mem_object, nullptr, 64, 1);
    MetaList remote = list(mem_object, {desc(nullptr, 64, 1, key)});
    BackendReq *req = reinterpret_cast<BackendReq *>(0xdead0);
    assert_is(h->prepXfer(op_write, h.source(64), remote, "another", req, nullptr), not_supported);
    assert_null(req);
    assert_is(h.prep(op_write, h.source(65), remote, req), invalid_param);
    assert_is(h.prep(op_write, MetaList(mem_dram), MetaList(mem_object), req), invalid_param);
    assert_is(h.prep(op_write, h.source(64),
                     list(mem_object, {desc(nullptr, 64, 1, key), desc(nullptr, 64, 1, key)}), req),
              invalid_param);
    assert_is(h.prep(static_cast<XferOp>(2), h.source(64), remote, req), invalid_param);
    assert_is(h.prep(op_write, remote, remote, req), not_supported); /* an object is no memory */
    assert_is(h.prep(op_write, list(mem_dram, {desc(from + 64, sizeof from, 0, h.src)}), remote, req),
              invalid_param);
    OptArgs notify;
    notify.has_notif = true;
    assert_is(h->prepXfer(op_write, h.source(64), remote, self, req, &notify), not_supported);
    assert_null(req);
    assert_is(counts("transfer").ios, 0);
    assert_is(h->prepXfer(op_write, h.source(64), remote, self, req, nullptr), success);
    MetaList none(mem_dram);
    assert_is(h->postXfer(op_write, none, none, self, req, &notify), not_supported);
    assert_is(h->postXfer(op_write, none, none, self, req, nullptr), success);
    assert_is(h->releaseReqH(req), success);
}

/* KVS-REQ-068 to KVS-REQ-074: offsets from the registration's address */
static void test_ranges(void **)
{
    Pair h;
    std::uintptr_t base = 0x10000;
    BackendMD *big = h.add(mem_object, reinterpret_cast<void *>(base), sizeof from, 9, "big");
    auto at = [&](std::size_t offset, std::size_t len) {
        return desc(reinterpret_cast<void *>(base + offset), len, 9, big);
    };
    assert_is(h.run(op_write, h.source(), list(mem_object, {at(0, sizeof from)})), success);
    MetaList local(mem_dram), remote(mem_object);
    for (std::size_t i = 0; i < 64; i++) { /* backwards, so that an offset that is not looked at shows */
        local.descs.push_back(desc(into + i * 64, 64, 0, h.dst));
        remote.descs.push_back(at((63 - i) * 64, 64));
    }
    assert_is(h.run(op_read, local, remote), success);
    for (std::size_t i = 0; i < 64; i++)
        assert_memory_equal(into + i * 64, from + (63 - i) * 64, 64);
    BackendReq *req = nullptr;
    assert_is(h.prep(op_write, local, remote, req), not_supported);
    assert_is(h.prep(op_read, h.sink(64), list(mem_object, {at(sizeof from - 63, 64)}), req), invalid_param);
    assert_is(h.prep(op_read, h.sink(64),
                     list(mem_object, {desc(reinterpret_cast<void *>(base - 1), 64, 9, big)}), req),
              invalid_param);
    /* A value that is shorter than what is registered. */
    BackendMD *shorter = h.add(mem_object, nullptr, 64, 10, "short");
    assert_is(h.run(op_write, h.source(64), list(mem_object, {desc(nullptr, 64, 10, shorter)})), success);
    BackendMD *frame = h.add(mem_object, nullptr, 128, 11, "short");
    assert_is(h.run(op_read, h.sink(128), list(mem_object, {desc(nullptr, 128, 11, frame)})), mismatch);
    assert_is(
        h.run(op_read, h.sink(64), list(mem_object, {desc(reinterpret_cast<void *>(32), 64, 11, frame)})),
        mismatch);
}

/* KVS-REQ-075 to KVS-REQ-078, KVS-REQ-082: keys of a transfer's own, which only the custom parameter gives */
static void test_custom_keys(void **)
{
    Pair h;
    MetaList out(mem_dram), in(mem_dram), remote(mem_dram);
    std::string keys;
    for (std::size_t i = 0; i < 64; i++) {
        out.descs.push_back(desc(from + i * 64, 64, 0, h.src));
        in.descs.push_back(desc(into + i * 64, 64, 0, h.dst));
        /* Not looked at, a pointer from elsewhere included. */
        remote.descs.push_back(desc(nullptr, 64, 99, reinterpret_cast<BackendMD *>(into)));
        keys += (i ? "\nkey " : "key ") + std::to_string(i);
    }
    assert_is(h.run(op_read, in, remote, keys), not_found);
    assert_is(h.run(op_write, out, remote, keys), success);
    assert_is(h.run(op_read, in, remote, keys), success);
    assert_memory_equal(from, into, sizeof from);
    RegList ask(mem_object);
    ask.descs = {blob(nullptr, 0, 0, "key 63"), blob(nullptr, 0, 0, "key 64")};
    std::vector<QueryAnswer> answers;
    assert_is(h->queryMem(ask, answers), success);
    assert_string_equal(answers[0]->at("size").c_str(), "64");
    assert_false(answers[1].has_value());
    BackendReq *req = nullptr;
    assert_is(h.prep(op_read, in, remote, req, keys + "\none more"), invalid_param);
    assert_is(h.prep(op_read, in, remote, req, "one"), invalid_param);
    assert_is(h.prep(op_read, in, remote, req, std::string(63, '\n')), invalid_param); /* 64 empty ones */
}

/* KVS-REQ-113, KVS-REQ-114, KVS-REQ-132 */
static void test_post_again(void **)
{
    for (const char *model : {"inline", "thread", "poll", "blocking"}) {
        Pair h(model);
        BackendMD *key = h.add(mem_object, nullptr, 64, 1, model);
        MetaList remote = list(mem_object, {desc(nullptr, 64, 1, key)});
        assert_is(h.run(op_write, h.source(64), remote), success);
        BackendReq *req = h.prepared(op_read, h.sink(64), remote);
        for (int i = 0; i < 1000; i++) {
            into[0] = 0;
            Status rc = h.post(req);
            if (rc == in_prog)
                rc = h.wait(req);
            assert_is(rc, success);
            assert_int_equal(into[0], from[0]);
        }
        assert_is(h->releaseReqH(req), success);
    }
}

static void test_post_while_running(void **)
{
    Pair h("thread", "yes");
    BackendMD *key = h.add(mem_object, nullptr, 64, 1);
    BackendReq *req = h.prepared(op_write, h.source(64), list(mem_object, {desc(nullptr, 64, 1, key)}));
    assert_is(h.post(req), in_prog);
    assert_is(h.post(req), repost_active);
    assert_is(h->checkXfer(req), in_prog);
    assert_int_equal(kvs_mock_wait_held("transfer", 1, KVS_SEC(20)), KVS_OK);
    kvs_mock_let_go("transfer", 1);
    assert_is(h.wait(req), success);
    assert_is(counts("transfer").ios, 1);
    assert_is(h->releaseReqH(req), success);
}

/* What is no request of this engine is refused without a look at it. */
static void test_foreign_requests(void **)
{
    Pair h;
    Host other("MOCK", {{"name", "transfer"}});
    BackendMD *key = h.add(mem_object, nullptr, 64, 1);
    MetaList remote = list(mem_object, {desc(nullptr, 64, 1, key)});
    BackendReq *released = h.prepared(op_write, h.source(64), remote);
    assert_is(h->releaseReqH(released), success);
    BackendReq *mine = h.prepared(op_write, h.source(64), remote);
    for (BackendReq *bad : {static_cast<BackendReq *>(nullptr), released == mine ? nullptr : released,
                            reinterpret_cast<BackendReq *>(from), reinterpret_cast<BackendReq *>(0x1001)}) {
        assert_is(h.post(bad), invalid_param);
        assert_is(h->checkXfer(bad), invalid_param);
        assert_is(h->releaseReqH(bad), invalid_param);
    }
    assert_is(other.post(mine), invalid_param);
    assert_is(other->checkXfer(mine), invalid_param);
    assert_is(other->releaseReqH(mine), invalid_param);
    assert_is(h.post(mine), success);
    assert_is(h->releaseReqH(mine), success);
}

/* KVS-REQ-370, KVS-REQ-371, KVS-REQ-373: absent is what the store says, and never a failure */
static void test_query(void **)
{
    Pair h("thread");
    BackendMD *key = h.add(mem_object, nullptr, 0, 1, "empty");
    assert_is(h.run(op_write, h.source(0), list(mem_object, {desc(nullptr, 0, 1, key)})), success);
    RegList ask(mem_object);
    std::vector<QueryAnswer> answers(3);
    assert_is(h->queryMem(ask, answers), success);
    assert_true(answers.empty());
    for (std::uint64_t i = 0; i < 300; i++)
        ask.descs.push_back(blob(nullptr, 0, i));
    ask.descs.push_back(blob(nullptr, 0, 0, "empty"));
    assert_is(h->queryMem(ask, answers), success);
    assert_is(answers.size(), 301);
    assert_false(answers[299].has_value());
    assert_string_equal(answers[300]->at("size").c_str(), "0");
    assert_is(h->queryMem(RegList(mem_vram), answers), not_supported);
    static const struct {
        int kvs;
        Status host;
    } bad[] = {{KVS_DISCONNECTED, remote_disconnect},
               {KVS_UNKNOWN, unknown},
               {KVS_ACCESS, not_allowed},
               {KVS_TIMEOUT, backend_failed}};
    for (auto &b : bad) {
        kvs_mock_set_fault("transfer", KVS_MOCK_IO, 300, 1, b.kvs);
        assert_is(h->queryMem(ask, answers), b.host);
        assert_true(answers.empty());
    }
}

/* From what was measured: nothing before there is something, and more for more bytes. */
static void test_estimate(void **)
{
    Pair h("thread");
    BackendMD *key = h.add(mem_object, nullptr, 64, 1);
    MetaList remote = list(mem_object, {desc(nullptr, 64, 1, key)});
    std::chrono::microseconds small(-1), large(-1), margin(-1);
    CostMethod method;
    BackendReq *none = nullptr;
    auto ask = [&](XferOp op, const MetaList &local, std::chrono::microseconds &to) {
        return h->estimateXferCost(op, local, remote, self, none, to, margin, method, nullptr);
    };
    assert_is(ask(op_write, h.source(64), small), not_supported);
    for (int i = 0; i < 100; i++)
        assert_is(h.run(op_write, h.source(64), remote), success);
    assert_is(ask(op_write, h.source(64), small), success);
    assert_is(ask(op_write, list(mem_dram, {desc(from, 64 * 1000, 0, h.src)}), large), success);
    assert_true(small.count() >= 0 && large.count() >= 500 * (small.count() - 1));
    assert_true(margin.count() >= 0);
    assert_is(method, CostMethod::by_backend);
    assert_is(ask(op_read, h.source(64), small), not_supported);
    assert_is(ask(static_cast<XferOp>(7), h.source(64), small), invalid_param);
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_write_and_read, fresh),
        cmocka_unit_test_setup(test_statuses, fresh),
        cmocka_unit_test_setup(test_refused_at_prep, fresh),
        cmocka_unit_test_setup(test_ranges, fresh),
        cmocka_unit_test_setup(test_custom_keys, fresh),
        cmocka_unit_test_setup(test_post_again, fresh),
        cmocka_unit_test_setup(test_post_while_running, fresh),
        cmocka_unit_test_setup(test_foreign_requests, fresh),
        cmocka_unit_test_setup(test_query, fresh),
        cmocka_unit_test_setup(test_estimate, fresh),
    };
    return cmocka_run_group_tests(tests, setup, nullptr);
}
