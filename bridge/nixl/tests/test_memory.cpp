/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations, and the pointers that stand for them. */
#include "host.h"

using namespace host;

static char memory[4096];

static int setup(void **)
{
    watch_log();
    return kvs_mock_register(nullptr);
}

static int fresh(void **)
{
    kvs_mock_reset("memory");
    log().clear();
    return 0;
}

/* KVS-REQ-054, KVS-REQ-055: out is set on success, NULL on failure */
static void test_out_pointer(void **)
{
    Host h("MOCK", {{"name", "memory"}});
    auto garbage = reinterpret_cast<BackendMD *>(0xdead0);
    BackendMD *md = garbage;
    assert_is(h->registerMem(blob(memory, sizeof memory, 1), mem_dram, md), success);
    assert_non_null(md);
    assert_ptr_not_equal(md, garbage);
    assert_is(h->deregisterMem(md), success);

    for (MemType type : {mem_vram, mem_block, mem_file, static_cast<MemType>(77)}) {
        md = garbage;
        assert_is(h->registerMem(blob(memory, sizeof memory, 1), type, md), not_supported);
        assert_null(md);
    }
    kvs_mock_set_fault("memory", KVS_MOCK_REGISTER, 0, 1, KVS_ACCESS);
    md = garbage;
    assert_is(h->registerMem(blob(memory, sizeof memory, 1), mem_dram, md), not_allowed);
    assert_null(md);
    expect_text(log().c_str(), "registerMem: ACCESS");
    md = garbage;
    assert_is(h->registerMem(blob(memory, 1, 1, std::string(5000, 'k')), mem_object, md),
              invalid_param); /* TOO_LARGE */
    assert_null(md);
}

static void test_local_metadata(void **)
{
    Host h("MOCK", {{"name", "memory"}});
    BackendMD *md = h.add(mem_dram, memory, sizeof memory, 1);
    BackendMD *out = reinterpret_cast<BackendMD *>(0xdead0);
    assert_is(h->loadLocalMD(nullptr, out), invalid_param);
    assert_null(out);
    assert_is(h->loadLocalMD(reinterpret_cast<BackendMD *>(memory), out), invalid_param);
    assert_null(out);
    assert_is(h->unloadMD(md), success);
    assert_is(h->unloadMD(nullptr), success);
    assert_is(h->deregisterMem(md), success);
    assert_is(h->unloadMD(md), success); /* the host's order at its end */
    assert_is(h->loadLocalMD(md, out), invalid_param);
}

static void test_deregister_out_of_order(void **)
{
    Host h("MOCK", {{"name", "memory"}}), other("MOCK", {{"name", "memory"}});
    BackendMD *md = h.add(mem_dram, memory, sizeof memory, 1);
    assert_is(h->deregisterMem(nullptr), success);
    assert_is(h->deregisterMem(reinterpret_cast<BackendMD *>(memory)), not_found);
    assert_is(other->deregisterMem(md), not_found);
    assert_is(counts("memory").deregisters, 0);
    assert_is(h->deregisterMem(md), success);
    assert_is(counts("memory").deregisters, 1);
    assert_is(h->deregisterMem(md), not_found);
    assert_is(counts("memory").deregisters, 1);
}

/* A hook that fails is logged, and the registration goes all the same: the host takes no other answer. */
static void test_deregister_hook_fails(void **)
{
    Host h("MOCK", {{"name", "memory"}});
    BackendMD *md = h.add(mem_dram, memory, sizeof memory, 1);
    kvs_mock_set_fault("memory", KVS_MOCK_DEREGISTER, 0, 1, KVS_IO);
    assert_is(h->deregisterMem(md), success);
    expect_text(log().c_str(), "on_deregister of dev_id 1");
    assert_is(h->deregisterMem(md), not_found);
}

/* Pointers that are not ours are refused without a look at what they point to. */
static void test_foreign_metadata(void **)
{
    Host h("MOCK", {{"name", "memory"}}), other("MOCK", {{"name", "memory"}});
    BackendMD *mine = h.add(mem_dram, memory, 64, 1, "k");
    BackendMD *theirs = other.add(mem_dram, memory, 64, 1, "k");
    BackendMD *gone = h.add(mem_dram, memory, 64, 1, "gone");
    assert_is(h->deregisterMem(gone), success);
    auto wild = reinterpret_cast<BackendMD *>(static_cast<std::uintptr_t>(0x1001)); /* no address at all */
    MetaList good = list(mem_dram, {desc(memory, 64, 1, mine)});
    for (BackendMD *bad : {theirs, gone, wild}) {
        MetaList evil = list(mem_dram, {desc(memory, 64, 1, mine), desc(memory, 64, 1, bad)});
        MetaList pair = list(mem_dram, {desc(memory, 64, 1, mine), desc(memory, 64, 1, mine)});
        BackendReq *req = nullptr;
        log().clear();
        assert_is(h.prep(op_write, evil, pair, req), invalid_param);
        expect_text(log().c_str(), "local descriptor 1: its metadata is not of this backend");
        log().clear();
        assert_is(h.prep(op_write, pair, evil, req), invalid_param);
        expect_text(log().c_str(), "remote descriptor 1: its metadata is not of this backend");
    }
    assert_is(counts("memory").preps, 0);
    assert_is(h.run(op_write, good, good), success);
}

/* A pointer that the host kept too long may stand for another registration by now. */
static void test_metadata_of_another_device(void **)
{
    Host h("MOCK", {{"name", "memory"}});
    BackendMD *mine = h.add(mem_dram, memory, 64, 1);
    BackendMD *key = h.add(mem_object, nullptr, 64, 2, "two");
    MetaList local = list(mem_dram, {desc(memory, 64, 1, mine)});
    BackendReq *req = nullptr;
    assert_is(h.prep(op_write, local, list(mem_object, {desc(nullptr, 64, 3, key)}), req), invalid_param);
    assert_is(h.prep(op_write, local, list(mem_dram, {desc(nullptr, 64, 2, key)}), req), invalid_param);
    assert_is(h.prep(op_write, list(mem_dram, {desc(memory, 64, 9, mine)}),
                     list(mem_object, {desc(nullptr, 64, 2, key)}), req),
              invalid_param);
    assert_is(h.run(op_write, local, list(mem_object, {desc(nullptr, 64, 2, key)})), success);
}

/* KVS-REQ-056, KVS-REQ-057, KVS-REQ-060: registrations that share a dev_id are apart by their pointer */
static void test_shared_device(void **)
{
    Host h("MOCK", {{"name", "memory"}});
    BackendMD *m = h.add(mem_dram, memory, 64, 0);
    BackendMD *a = h.add(mem_object, nullptr, 64, 7, "a"), *b = h.add(mem_object, nullptr, 64, 7, "b");
    MetaList local = list(mem_dram, {desc(memory, 64, 0, m)});
    memset(memory, 'A', 64);
    assert_is(h.run(op_write, local, list(mem_object, {desc(nullptr, 64, 7, a)})), success);
    assert_is(h->deregisterMem(a), success);
    memset(memory, 'B', 64);
    assert_is(h.run(op_write, local, list(mem_object, {desc(nullptr, 64, 7, b)})), success);
    a = h.add(mem_object, nullptr, 64, 7, "a");
    assert_is(h.run(op_read, local, list(mem_object, {desc(nullptr, 64, 7, a)})), success);
    assert_int_equal(memory[0], 'A');
    assert_is(h.run(op_read, local, list(mem_object, {desc(nullptr, 64, 7, b)})), success);
    assert_int_equal(memory[63], 'B');
}

/* KVS-REQ-058, KVS-REQ-061, KVS-REQ-062, KVS-REQ-063, KVS-REQ-065: without a pointer the SDK's own rules hold
 */
static void test_no_metadata(void **)
{
    Host h("MOCK", {{"name", "memory"}});
    h.add(mem_object, nullptr, 64, 7);
    MetaList local = list(mem_dram, {desc(memory, 64, 0, nullptr)});
    memset(memory, 'x', 64);
    assert_is(h.run(op_write, local, list(mem_object, {desc(nullptr, 64, 7, nullptr)})), success);
    BackendReq *req = nullptr;
    assert_is(h.prep(op_read, local, list(mem_object, {desc(nullptr, 64, 8, nullptr)}), req), not_found);
    h.add(mem_object, nullptr, 64, 7, "another");
    assert_is(h.prep(op_read, local, list(mem_object, {desc(nullptr, 64, 7, nullptr)}), req), invalid_param);

    RegList ask(mem_object);
    ask.descs = {blob(nullptr, 0, 7), blob(nullptr, 0, 0, "7"), blob(nullptr, 0, 7, "another")};
    std::vector<QueryAnswer> answers;
    assert_is(h->queryMem(ask, answers), success);
    assert_true(answers[0].has_value());
    assert_true(answers[1].has_value()); /* KVS-REQ-059: the same key */
    assert_false(answers[2].has_value());
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_out_pointer, fresh),
        cmocka_unit_test_setup(test_local_metadata, fresh),
        cmocka_unit_test_setup(test_deregister_out_of_order, fresh),
        cmocka_unit_test_setup(test_deregister_hook_fails, fresh),
        cmocka_unit_test_setup(test_foreign_metadata, fresh),
        cmocka_unit_test_setup(test_metadata_of_another_device, fresh),
        cmocka_unit_test_setup(test_shared_device, fresh),
        cmocka_unit_test_setup(test_no_metadata, fresh),
    };
    return cmocka_run_group_tests(tests, setup, nullptr);
}
