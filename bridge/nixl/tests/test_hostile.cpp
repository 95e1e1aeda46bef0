/* SPDX-License-Identifier: Apache-2.0 */
/* A host that calls in any order and with anything: at random, by a seed that is printed (KVSLOT_NIXL_SEED
 * gives it). Whatever it does, each call answers, and with a status that is the host's. */
#include "host.h"

#include <cstdlib>
#include <random>

using namespace host;

#ifdef KVS_TESTS_WRAPPED
enum { CALLS = 400 };
#else
enum { CALLS = 4000 };
#endif
enum { BLOCK = 64, BLOCKS = 32 };

/* Of all engines, which only read it. */
static char memory[BLOCKS * BLOCK];

/* For one transfer alone, and until the program ends, as what was abandoned may write to it. */
static char *own_memory(std::size_t size)
{
    static std::vector<std::unique_ptr<char[]>> &all = *new std::vector<std::unique_ptr<char[]>>;
    all.push_back(std::make_unique<char[]>(size));
    return all.back().get();
}

static std::mt19937 random_bits;

static unsigned below(unsigned n)
{
    return static_cast<unsigned>(random_bits() % n);
}

template <class T> static T any_of(const std::vector<T> &all, T otherwise)
{
    return all.empty() ? otherwise : all[below(static_cast<unsigned>(all.size()))];
}

static void is_of_hosts(Status rc)
{
    assert_true(rc <= in_prog && rc >= canceled);
}

class Hostile : Host
{
  public:
    Hostile(const char *plugin, const Params &params) : Host(plugin, params)
    {
        if (engine->failed())
            print_error("%s", log().c_str());
        assert_false(engine->failed());
    }
    /* One call, whichever. */
    void call()
    {
        static void (Hostile::*const calls[])() = {
            &Hostile::add_some, &Hostile::add_some, &Hostile::drop,    &Hostile::load,    &Hostile::prepare,
            &Hostile::prepare,  &Hostile::prepare,  &Hostile::post_it, &Hostile::post_it, &Hostile::check,
            &Hostile::release,  &Hostile::query,    &Hostile::ask,     &Hostile::others,
        };
        (this->*calls[below(std::size(calls))])();
    }

    unsigned taken = 0; /* posts */

  private:
    /* Now and then one that was never one, or is one no more. */
    BackendMD *some_md()
    {
        switch (below(12)) {
        case 0:
            return nullptr;
        case 1:
            return reinterpret_cast<BackendMD *>(memory + below(sizeof memory));
        case 2:
            return any_of<BackendMD *>(old_mds_, nullptr);
        default:
            return any_of<BackendMD *>(mds_, nullptr);
        }
    }
    BackendReq *some_req()
    {
        switch (below(12)) {
        case 0:
            return nullptr;
        case 1:
            return reinterpret_cast<BackendReq *>(memory + below(sizeof memory));
        default:
            return any_of<BackendReq *>(reqs_, nullptr);
        }
    }
    static std::size_t some_len()
    {
        static const std::size_t odd[] = {0, 1, BLOCK - 1, BLOCK + 1, SIZE_MAX, SIZE_MAX / 2, PTRDIFF_MAX};
        return below(8) ? std::size_t{BLOCK} : odd[below(std::size(odd))];
    }
    static std::uintptr_t some_addr()
    {
        static const std::uintptr_t odd[] = {0, 1, UINTPTR_MAX, UINTPTR_MAX - BLOCK};
        return below(8) ? reinterpret_cast<std::uintptr_t>(memory + below(BLOCKS) * BLOCK)
                        : odd[below(std::size(odd))];
    }
    static MemType some_type()
    {
        static const int odd[] = {mem_vram, mem_block, mem_file, 5, 31, 32, 77, -1, INT32_MIN};
        return static_cast<MemType>(below(10) ? (below(2) ? mem_dram : mem_object)
                                              : odd[below(std::size(odd))]);
    }
    static std::string some_key()
    {
        static const std::string odd[] = {"",     "\n",  std::string("a\0b", 3), std::string(5000, 'k'),
                                          "%s%n", "\xff"};
        return below(4) ? "key" + std::to_string(below(BLOCKS)) : odd[below(std::size(odd))];
    }
    static std::uint64_t some_dev()
    {
        return below(20) ? below(4) : UINT64_MAX;
    }

    void add_some()
    {
        BackendMD *md = reinterpret_cast<BackendMD *>(memory);
        BlobDesc d;
        d.addr = some_addr();
        d.len = below(2) ? some_len() : sizeof memory;
        d.dev_id = some_dev();
        d.meta_info = some_key();
        Status rc = engine->registerMem(d, some_type(), md);
        is_of_hosts(rc);
        assert_int_equal(rc == success, md != nullptr);
        if (md)
            mds_.push_back(md);
    }
    void drop()
    {
        BackendMD *md = some_md();
        Status rc = engine->deregisterMem(md);
        is_of_hosts(rc);
        if (rc == success)
            std::erase(mds_, md);
        if (rc == success && md)
            old_mds_.push_back(md);
    }
    void load()
    {
        BackendMD *out = reinterpret_cast<BackendMD *>(memory), *md = some_md();
        Status rc = engine->loadLocalMD(md, out);
        is_of_hosts(rc);
        assert_ptr_equal(out, rc == success ? md : nullptr);
        assert_is(engine->unloadMD(some_md()), success);
    }

    MetaList some_list(unsigned count)
    {
        MetaList l(some_type());
        BackendMD *md = some_md();
        for (unsigned i = 0; i < count; i++) {
            MetaDesc d;
            d.addr = some_addr();
            d.len = some_len();
            d.dev_id = some_dev();
            d.md = below(4) ? md : some_md();
            l.descs.push_back(d);
        }
        return l;
    }
    /* Nothing wrong with it. */
    static MetaList plain(unsigned count)
    {
        MetaList l(mem_dram);
        char *blocks = own_memory(count * BLOCK);
        for (unsigned i = 0; i < count; i++)
            l.descs.push_back(desc(blocks + i * BLOCK, BLOCK, 0, nullptr));
        return l;
    }
    /* Where there is no memory a store may not be sent. */
    static bool is_memory(const MetaList &l)
    {
        auto start = reinterpret_cast<std::uintptr_t>(memory);
        for (const MetaDesc &d : l.descs)
            if (d.len > 0 &&
                (d.addr < start || d.len > sizeof memory || d.addr - start > sizeof memory - d.len))
                return false;
        return true;
    }
    void prepare()
    {
        unsigned count = below(10) ? below(6) : below(300);
        bool right = below(2);
        MetaList local = right ? plain(count % BLOCKS) : some_list(count);
        MetaList remote = right ? local : some_list(below(10) ? count : below(6));
        XferOp op = static_cast<XferOp>(below(10) ? below(2) : 7);
        OptArgs args;
        args.has_notif = below(20) == 0;
        for (unsigned i = 0; (right || below(4) == 0) && i < local.descs.size(); i++)
            args.custom += (i ? "\n" : "") + (right ? "key" + std::to_string(i) : some_key());
        BackendReq *req = reinterpret_cast<BackendReq *>(memory);
        Status rc =
            engine->prepXfer(op, local, remote, below(20) ? self : "", req, below(10) ? &args : nullptr);
        is_of_hosts(rc);
        assert_true(rc != in_prog);
        assert_int_equal(rc == success, req != nullptr);
        if (req && !right && (op == op_read || !is_memory(local)))
            assert_is(engine->releaseReqH(req), success);
        else if (req)
            reqs_.push_back(req);
    }
    void post_it()
    {
        BackendReq *req = some_req();
        MetaList none(mem_dram);
        Status rc = engine->postXfer(op_read, none, none, "", req, nullptr);
        is_of_hosts(rc);
        taken += rc == success || rc == in_prog;
    }
    void check()
    {
        is_of_hosts(engine->checkXfer(some_req()));
    }
    void release()
    {
        BackendReq *req = some_req();
        Status rc = engine->releaseReqH(req);
        assert_true(rc == success || rc == repost_active || rc == invalid_param);
        if (rc == success)
            std::erase(reqs_, req);
    }
    void query()
    {
        RegList ask(some_type());
        for (unsigned n = below(5); n > 0; n--)
            ask.descs.push_back(blob(nullptr, some_len(), some_dev(), some_key()));
        std::vector<QueryAnswer> answers(3);
        Status rc = engine->queryMem(ask, answers);
        is_of_hosts(rc);
        assert_int_equal(answers.size(), rc == success ? ask.descs.size() : 0);
    }
    void ask()
    {
        std::chrono::microseconds duration(-1), margin(-1);
        CostMethod method;
        BackendReq *req = some_req();
        Status rc = engine->estimateXferCost(static_cast<XferOp>(below(3)), some_list(below(5)), some_list(0),
                                             "", req, duration, margin, method, nullptr);
        is_of_hosts(rc);
        assert_true(rc != success || (duration.count() >= 0 && margin.count() >= 0));
    }
    void others()
    {
        std::string text;
        Notifs notifs;
        MemView view = nullptr;
        BackendMD *md = nullptr;
        is_of_hosts(engine->connect(below(2) ? self : ""));
        is_of_hosts(engine->disconnect(below(2) ? self : "\xff"));
        is_of_hosts(engine->getPublicData(some_md(), text));
        is_of_hosts(engine->loadRemoteMD(blob(nullptr, 0, 0), some_type(), "", md));
        is_of_hosts(engine->getNotifs(notifs));
        is_of_hosts(engine->prepMemView(some_list(2), view, nullptr));
        engine->releaseMemView(view);
        engine->getSupportedMems();
    }

    std::vector<BackendMD *> mds_, old_mds_;
    std::vector<BackendReq *> reqs_;
};

/* To the end, with whatever then runs. */
static void play(const char *plugin, const Params &params)
{
    Hostile h(plugin, params);
    for (int i = 0; i < CALLS; i++)
        h.call();
    assert_true(h.taken > CALLS / 100);
}

static void test_mock(void **)
{
    const Params all[] = {
        {{"model", "inline"}},
        {{"model", "thread"}, {"latency", "1ms"}, {"drain_timeout", "0"}},
        {{"model", "thread"}, {"cancel", "none"}, {"latency", "1ms"}, {"release_timeout", "10us"}},
        {{"model", "poll"}, {"latency", "100us"}, {"timeout", "1ms"}, {"cancel_grace", "1ms"}},
        {{"model", "blocking"}, {"threads", "2"}, {"drain_timeout", "1us"}},
        {{"model", "thread"}, {"bounce", "yes"}, {"drain_timeout", "0"}},
    };
    for (Params params : all) {
        kvs_mock_reset("hostile");
        params["name"] = "hostile";
        play("MOCK", params);
    }
}

static void test_lmdb(void **)
{
    for (const char *drain : {"60s", "0"})
        play("KVSLOT",
             {{"backend", "lmdb:store?sync=none"}, {"map_size", "64MiB"}, {"drain_timeout", drain}});
}

static int setup(void **)
{
    watch_log();
    const char *given = getenv("KVSLOT_NIXL_SEED");
    unsigned seed = given ? static_cast<unsigned>(strtoul(given, nullptr, 10)) : std::random_device{}();
    print_message("KVSLOT_NIXL_SEED=%u\n", seed);
    random_bits.seed(seed);
    return kvs_mock_register(nullptr);
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_mock),
#ifdef HAVE_LMDB
        cmocka_unit_test(test_lmdb),
#endif
    };
    return cmocka_run_group_tests(tests, setup, nullptr);
}
