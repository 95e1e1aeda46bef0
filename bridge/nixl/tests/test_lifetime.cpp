/* SPDX-License-Identifier: Apache-2.0 */
/* What the host does to transfers that still run: its releases, its deregistrations, its destruction of the
 * engine. It ignores most of what it is answered, and asks a second time only from a destructor. */
#include "host.h"

#include <thread>

using namespace host;

static char buffer[64];

static int setup(void **)
{
    watch_log();
    return kvs_mock_register(nullptr);
}

static int fresh(void **)
{
    kvs_mock_reset("lifetime");
    log().clear();
    return 0;
}

/* A store that keeps what it is given: until let go, or with cancel=native until it is asked to cancel. */
struct Held : Host {
    explicit Held(const char *cancel, Params more = {})
        : Host("MOCK", (more["name"] = "lifetime", more["model"] = "thread", more["hold"] = "yes",
                        more["cancel"] = cancel, more)),
          md(add(mem_dram, buffer, sizeof buffer, 5, "k")),
          both(list(mem_dram, {desc(buffer, sizeof buffer, 5, md)}))
    {
    }
    BackendReq *running()
    {
        BackendReq *req = prepared(op_write, both, both);
        assert_is(post(req), in_prog);
        assert_int_equal(kvs_mock_wait_held("lifetime", 1, KVS_SEC(20)), KVS_OK);
        return req;
    }
    BackendMD *md;
    MetaList both;
};

static void let_go()
{
    kvs_mock_let_go("lifetime", SIZE_MAX);
}

/* Until the store has carried out so many writes. */
static void wait_puts(std::uint64_t n)
{
    while (counts("lifetime").puts < n)
        std::this_thread::yield();
}

static void test_release_cancels(void **)
{
    Held h("native", {{"release_timeout", "20s"}});
    BackendReq *req = h.running();
    assert_is(h->releaseReqH(req), success); /* it waits no longer than the cancel takes */
    assert_is(h->releaseReqH(req), invalid_param);
    assert_is(counts("lifetime").puts, 0);
    expect_no_text(log().c_str(), "abandoned");
}

/* At once where release_timeout is 0: the host may poll a refused request on. */
static void test_release_refused_then_done(void **)
{
    Held h("none");
    BackendReq *req = h.running();
    assert_is(h->releaseReqH(req), repost_active);
    assert_is(h->checkXfer(req), in_prog);
    assert_is(h.post(req), repost_active);
    let_go();
    assert_is(h.wait(req), success);
    assert_is(h->releaseReqH(req), success);
    expect_no_text(log().c_str(), "abandoned");
}

static void test_second_release_abandons(void **)
{
    for (const char *timeout : {"0", "1ms"}) {
        fresh(nullptr);
        Held h("none", {{"release_timeout", timeout}});
        BackendReq *req = h.running();
        assert_is(h->releaseReqH(req), repost_active);
        expect_no_text(log().c_str(), "abandoned");
        assert_is(h->releaseReqH(req), success);
        char address[64];
        snprintf(address, sizeof address, "%p+64", static_cast<void *>(buffer));
        expect_text(log().c_str(), "abandoned");
        expect_text(log().c_str(), address);
        assert_is(h->releaseReqH(req), invalid_param);
        assert_is(h->checkXfer(req), invalid_param);
        let_go();
        wait_puts(1);
    }
}

/* What was posted again after a refused release is another run: its first release is the first. */
static void test_refused_then_posted_again(void **)
{
    Held h("none");
    BackendReq *req = h.running();
    assert_is(h->releaseReqH(req), repost_active);
    let_go();
    assert_is(h.wait(req), success);
    assert_is(h.post(req), in_prog);
    assert_int_equal(kvs_mock_wait_held("lifetime", 1, KVS_SEC(20)), KVS_OK);
    assert_is(h->releaseReqH(req), repost_active);
    expect_no_text(log().c_str(), "abandoned");
    assert_is(h.post(req), repost_active); /* which is no other run */
    assert_is(h->releaseReqH(req), success);
    expect_text(log().c_str(), "abandoned");
    let_go();
    wait_puts(2);
}

/* The log names the first of many buffers. */
static void test_abandon_names_buffers(void **)
{
    Held h("none");
    MetaList many(mem_dram);
    for (std::size_t i = 0; i < 12; i++)
        many.descs.push_back(desc(buffer + i, 1, 5, h.md));
    BackendReq *req = h.prepared(op_write, many, many, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11");
    assert_is(h.post(req), in_prog);
    assert_is(h->releaseReqH(req), repost_active);
    assert_is(h->releaseReqH(req), success);
    expect_text(log().c_str(), " and 4 more");
    assert_int_equal(kvs_mock_wait_held("lifetime", 12, KVS_SEC(20)), KVS_OK);
    let_go();
    wait_puts(12);
}

/* Held: out of time, and the store still has the memory. */
static void test_release_of_held(void **)
{
    Held h("none", {{"timeout", "1ms"}, {"cancel_grace", "1ms"}});
    BackendReq *req = h.prepared(op_write, h.both, h.both);
    Status rc = h.post(req); /* on a busy machine its time is up before post is back */
    assert_true(rc == in_prog || rc == backend_failed);
    assert_int_equal(kvs_mock_wait_held("lifetime", 1, KVS_SEC(20)), KVS_OK);
    assert_is(h.wait(req), backend_failed);
    expect_text(log().c_str(), "TIMEOUT");
    assert_is(h.post(req), repost_active);
    assert_is(h->releaseReqH(req), repost_active);
    assert_is(h->checkXfer(req), backend_failed);
    assert_is(h->releaseReqH(req), success);
    expect_text(log().c_str(), "abandoned");
    let_go();
}

/* The host deregisters memory that a transfer uses, and takes success for the answer. */
static void test_deregister_in_flight(void **)
{
    Held h("none");
    BackendReq *running = h.running(), *idle = h.prepared(op_read, h.both, h.both), *req = nullptr;
    assert_is(h->deregisterMem(h.md), success);
    expect_text(log().c_str(), "deregisterMem of dev_id 5");
    assert_is(counts("lifetime").deregisters, 0);
    /* Dead: nothing takes it any more. */
    BackendMD *out;
    assert_is(h->deregisterMem(h.md), not_found);
    assert_is(h->loadLocalMD(h.md, out), not_allowed);
    assert_is(h.prep(op_write, h.both, h.both, req), not_allowed);
    assert_is(h.prep(op_write, list(mem_dram, {desc(buffer, sizeof buffer, 5, nullptr)}), h.both, req),
              not_allowed);
    MetaList nameless = list(mem_dram, {desc(buffer, sizeof buffer, 5, nullptr)});
    assert_is(h.prep(op_write, nameless, nameless, req), not_allowed); /* found by its dev_id */
    assert_is(h.post(idle), not_allowed);
    assert_is(h.post(running), not_allowed);
    assert_is(h->checkXfer(running), in_prog);
    assert_is(h->checkXfer(idle), not_posted);
    /* It goes with the last that names it. */
    assert_is(h->releaseReqH(idle), success);
    assert_is(counts("lifetime").deregisters, 0);
    let_go();
    assert_is(h.wait(running), success);
    assert_is(h.post(running), not_allowed);
    assert_is(h->releaseReqH(running), success);
    assert_is(counts("lifetime").deregisters, 1);
    assert_is(h.prep(op_write, h.both, h.both, req), invalid_param);
    /* Another registration of the same memory is another. */
    BackendMD *again = h.add(mem_dram, buffer, sizeof buffer, 5, "k");
    MetaList fine = list(mem_dram, {desc(buffer, sizeof buffer, 5, again)});
    BackendReq *fresh_one = h.prepared(op_write, fine, fine);
    assert_is(h->releaseReqH(fresh_one), success);
}

static void test_deregister_cancels(void **)
{
    Held h("native");
    BackendReq *req = h.running();
    assert_is(h->deregisterMem(h.md), success);
    assert_is(h.wait(req), canceled);
    assert_is(h->releaseReqH(req), success);
    assert_is(counts("lifetime").deregisters, 1);
    assert_is(counts("lifetime").puts, 0);
}

/* Others run on. */
static void test_deregister_spares_others(void **)
{
    static char elsewhere[64];
    Held h("native");
    BackendMD *other = h.add(mem_dram, elsewhere, sizeof elsewhere, 6);
    MetaList theirs = list(mem_dram, {desc(elsewhere, sizeof elsewhere, 6, other)});
    BackendReq *req = h.prepared(op_write, theirs, h.both), *doomed = h.running();
    assert_is(h.post(req), in_prog);
    assert_is(h->deregisterMem(h.md), success); /* of req only the key was in it */
    assert_is(h.wait(doomed), canceled);
    assert_is(h->checkXfer(req), in_prog);
    let_go();
    assert_is(h.wait(req), success);
    assert_is(h.post(req), in_prog);
    let_go();
    while (h->checkXfer(req) == in_prog)
        let_go();
    assert_is(h->releaseReqH(req), success);
    assert_is(h->releaseReqH(doomed), success);
}

/* Abandoned transfers count their memory until they end: the registration waits for that. */
static void test_deregister_abandoned(void **)
{
    Held h("none");
    BackendReq *req = h.running();
    assert_is(h->releaseReqH(req), repost_active);
    assert_is(h->releaseReqH(req), success);
    assert_is(h->deregisterMem(h.md), success);
    assert_is(counts("lifetime").deregisters, 0);
    let_go();
    wait_puts(1);
    /* The next release has it taken away, once the SDK has let go of the transfer. */
    MetaList bare = list(mem_dram, {desc(buffer, sizeof buffer, 8, nullptr)});
    while (counts("lifetime").deregisters == 0)
        assert_is(h->releaseReqH(h.prepared(op_read, bare, bare, "any")), success);
}

static void test_destroy_drains(void **)
{
    for (bool asked : {false, true}) {
        fresh(nullptr);
        Held h("native", {{"drain_timeout", "20s"}});
        BackendReq *never = h.prepared(op_read, h.both, h.both), *req = h.running();
        (void)never;
        if (asked)
            assert_is(h->deregisterMem(h.md), success);
        (void)req;
        h.destroy();
        expect_no_text(log().c_str(), "abandoned");
        assert_is(counts("lifetime").engines, 0);
    }
}

static void test_destroy_abandons(void **)
{
    Held h("none", {{"drain_timeout", "1ms"}});
    h.running();
    h.destroy();
    char address[64];
    snprintf(address, sizeof address, "%p+64", static_cast<void *>(buffer));
    expect_text(log().c_str(), "the backend is destroyed: a transfer still runs and is abandoned");
    expect_text(log().c_str(), address);
    expect_text(log().c_str(), "given up with its threads");
    let_go();
    wait_puts(1);
}

/* A release of the host's destructor comes once, and its refusal is not read: destroy has it, too. */
static void test_destroy_after_refused_release(void **)
{
    std::uint64_t leaked = counts("lifetime").engines; /* on purpose, by other tests */
    Held h("none", {{"drain_timeout", "20s"}});
    BackendReq *req = h.running();
    assert_is(h->releaseReqH(req), repost_active);
    std::thread later([] { let_go(); });
    h.destroy();
    later.join();
    expect_no_text(log().c_str(), "abandoned");
    assert_is(counts("lifetime").engines, leaked);
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_release_cancels, fresh),
        cmocka_unit_test_setup(test_release_refused_then_done, fresh),
        cmocka_unit_test_setup(test_second_release_abandons, fresh),
        cmocka_unit_test_setup(test_refused_then_posted_again, fresh),
        cmocka_unit_test_setup(test_abandon_names_buffers, fresh),
        cmocka_unit_test_setup(test_release_of_held, fresh),
        cmocka_unit_test_setup(test_deregister_in_flight, fresh),
        cmocka_unit_test_setup(test_deregister_cancels, fresh),
        cmocka_unit_test_setup(test_deregister_spares_others, fresh),
        cmocka_unit_test_setup(test_deregister_abandoned, fresh),
        cmocka_unit_test_setup(test_destroy_drains, fresh),
        cmocka_unit_test_setup(test_destroy_abandons, fresh),
        cmocka_unit_test_setup(test_destroy_after_refused_release, fresh),
    };
    return cmocka_run_group_tests(tests, setup, nullptr);
}
