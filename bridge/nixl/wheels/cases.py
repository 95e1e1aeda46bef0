# SPDX-License-Identifier: Apache-2.0
"""What has to work through a real NIXL agent: cases.py BACKEND [CASE...], BACKEND as the plugin is named, LMDB, MOCK or WQSKV.

Each case prints a line. The first that fails ends the program, with exit code 1.
"""
import gc
import glob
import importlib.metadata
import json
import os
import shutil
import sys
import time
import traceback

import numpy as np

import capi
import vtable
from agent import Agent, Refused, done

BACKEND = sys.argv[1]
BLOCK = 4096
CASES = []
WQSKV = {"poolid": 1, "thread_num": 2, "thread_mode": "event", "wengine_conf": "", "node_id": 1, "bvar_port": 0,
         "bind_cpus": "", "mem_size": 1024}
if BACKEND == "WQSKV":
    Agent.remote = "DRAM"


def release():
    return tuple(int(part) for part in importlib.metadata.version("nixl-cu12").split(".")[:2])


def case(*only, since=(1, 0), but=()):
    """Registers a case; with names of backends, for these alone, or for all but some; for releases from the one that
    brought what it takes."""

    def add(function):
        if (not only or BACKEND in only) and BACKEND not in but and release() >= since:
            CASES.append(function)
        return function

    return add


def store(name):
    """Parameters for a store of that name, which all agents that get them share."""
    if BACKEND == "LMDB":
        return {"path": os.path.abspath("store-" + name), "sync": "none"}
    if BACKEND == "WQSKV":  # one configuration a process: stores are apart by their keys
        with open("wqskv.json", "w") as file:
            json.dump(WQSKV, file)
        return {"config_path": os.path.abspath("wqskv.json"), "prefix": name + ":"}
    return {"name": name, "model": "thread"}


def blocks(count, size=BLOCK, seed=1):
    return np.random.default_rng(seed).integers(0, 256, (count, size), dtype=np.uint8)


def is_equal(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: got {got!r}, wanted {wanted!r}")


def same(a, b):
    if not np.array_equal(a, b):
        raise AssertionError(f"{np.count_nonzero(a != b)} of {a.size} bytes differ")


def refused(what, call):
    try:
        call()
    except Refused as e:
        return e
    raise AssertionError(f"{what} was not refused")


@case()
def table(name):
    agent = Agent(BACKEND, store(name))
    options = agent.nixl.get_plugin_params(BACKEND)
    for option, value in ("timeout", "30s"), ("release_timeout", "0"), ("drain_timeout", "5s"):
        is_equal(options[option], value, option)
    for segments in agent.nixl.get_plugin_mem_types(BACKEND), agent.nixl.get_backend_mem_types(BACKEND):
        is_equal(sorted(segments), ["DRAM_SEG"] if BACKEND == "WQSKV" else ["DRAM_SEG", "OBJ_SEG"], "segments")


@case()
def virtual_functions(_name):
    vtable.check()


@case()
def creation_fails(name):
    agent = Agent(None, None)
    refused("a parameter that is none", lambda: agent.create(BACKEND, {**store(name), "no_such": "1"}))
    agent.create(BACKEND, store(name))
    refused("a second engine of one name", lambda: agent.create(BACKEND, store(name)))
    agent.roundtrip(blocks(1))


@case()
def options_handed_back(name):
    agent = Agent(None, None)
    agent.create(BACKEND, {**agent.nixl.get_plugin_params(BACKEND), **store(name)})
    agent.roundtrip(blocks(1))


@case()
def any_backend(name):
    params = {"backend": "mock:" + name}
    if BACKEND == "LMDB":
        params = {"backend": f"lmdb:{store(name)['path']}?sync=none"}
    elif BACKEND == "WQSKV":
        params = {"backend": "wqskv", **store(name)}
    agent = Agent(None, None)
    refused("a file", lambda: agent.create("KVSLOT", {"backend": "./kvslot-mock.so"}))
    agent.create("KVSLOT", params)
    agent.roundtrip(blocks(4))


@case(but=["WQSKV"])
def more_names(name):
    """A link to a plugin is a plugin of another name, and so another engine of the agent."""
    agent = Agent(BACKEND, store(name))
    agent.create(BACKEND + "2", store(name + "-second"))
    agent.backend = BACKEND
    data = blocks(1)
    agent.roundtrip(data)
    is_equal(agent.query(["0"]), [{"size": str(BLOCK)}], "in the first")
    agent.backend = BACKEND + "2"
    is_equal(agent.query(["0"]), [None], "in the second")
    agent.roundtrip(data)


@case()
def dram_keys(name):
    """Both sides in DRAM: the remote registration's metaInfo is the key, or its devId."""
    agent = Agent(BACKEND, store(name))
    data, back = blocks(2), np.zeros((2, BLOCK), np.uint8)
    agent.memory(back)
    agent.register([(data[0].ctypes.data, BLOCK, 11, "a key"), (data[1].ctypes.data, BLOCK, 12, "")], "DRAM")
    where = [(data[i].ctypes.data, BLOCK, 11 + i) for i in range(2)]
    agent.run("WRITE", where, where, remote_type="DRAM")
    agent.run("READ", agent.rows(back), where, remote_type="DRAM")
    same(data, back)
    is_equal(agent.query(["a key", "12"]), [{"size": str(BLOCK)}] * 2, "keys")
    if BACKEND == "WQSKV":
        refused("a query that nobody can answer", lambda: agent.query(["11"]))
    else:
        is_equal(agent.query(["11"]), [None], "a key that is none")


@case()
def batches(name):
    agent = Agent(BACKEND, store(name))
    for count in 1, 64, 4096:
        agent.roundtrip(blocks(count, 512, count), f"batch{count}-")
        is_equal(agent.query([f"batch{count}-{i}" for i in range(count)]), [{"size": "512"}] * count, "query")


@case(but=["WQSKV"])
def absent_and_mismatch(name):
    agent = Agent(BACKEND, store(name))
    data = blocks(1)
    agent.roundtrip(data, "there")
    back = np.full((1, BLOCK), 7, np.uint8)
    agent.memory(back)
    for key, size in ("nowhere", BLOCK), ("there0", BLOCK // 2):
        device = agent.object(key, size)
        handle = agent.prepare("READ", [(back.ctypes.data, size, 0)], [(0, size, device)])
        is_equal(agent.finish(handle), "ERR", key)
        agent.nixl.release_xfer_handle(handle)
    is_equal(int(back.min()), 7, "least byte of a buffer that nothing was read into")
    is_equal(int(back.max()), 7, "largest byte")
    is_equal(agent.query(["nowhere", "there0"]), [None, {"size": str(BLOCK)}], "query")


@case(but=["WQSKV"])
def ranges(name):
    agent = Agent(BACKEND, store(name))
    data, back = blocks(64), np.zeros((64, BLOCK), np.uint8)
    agent.memory(data)
    agent.memory(back)
    device = agent.object("large", data.size)
    agent.run("WRITE", [(data.ctypes.data, data.size, 0)], [(0, data.size, device)])
    pieces = [(i * BLOCK, BLOCK, device) for i in reversed(range(64))]
    agent.run("READ", agent.rows(back), pieces)
    same(data[::-1], back)
    error = refused("a ranged WRITE", lambda: agent.prepare("WRITE", agent.rows(data), pieces))
    is_equal("NOT_SUPPORTED" in repr(error), True, repr(error))


@case(but=["WQSKV"])
def prepared_lists(name):
    """The other way to a transfer: lists once, then indices. The agent joins what lies side by side."""
    agent = Agent(BACKEND, store(name))
    data, back = blocks(8), np.zeros((8, BLOCK), np.uint8)
    agent.memory(data)
    agent.memory(back)
    device = agent.object("joined", data.size)
    agent.run("WRITE", [(data.ctypes.data, data.size, 0)], [(0, data.size, device)])
    nixl = agent.nixl
    mine = nixl.prep_xfer_dlist("", agent.rows(back), "DRAM", backends=[BACKEND])
    theirs = nixl.prep_xfer_dlist(agent.name, [(i * BLOCK, BLOCK, device) for i in range(8)], "OBJ", backends=[BACKEND])
    for indices in [0, 1, 2, 3], [7, 5, 6, 4]:
        handle = nixl.make_prepped_xfer("READ", mine, indices, theirs, indices, backends=[BACKEND])
        done(agent.finish(handle))
        nixl.release_xfer_handle(handle)
    same(data, back)
    for side in mine, theirs:
        nixl.release_dlist_handle(side)


@case(since=(1, 5))
def custom_keys(name):
    """One DRAM registration cut into 64, each piece with a key of its own; the C functions alone can say so."""
    agent = capi.Agent(BACKEND, store(name))
    data, back = blocks(64), np.zeros((64, BLOCK), np.uint8)
    keys = [b"custom %d \xff" % i for i in range(64)]
    agent.register(data)
    agent.register(back)
    is_equal(agent.run("READ", back, keys), False, "READ of absent keys")
    is_equal(agent.run("WRITE", data, keys), True, "WRITE")
    is_equal(agent.run("READ", back[::-1], keys[::-1]), True, "READ")
    same(data, back)
    is_equal(agent.run("WRITE", data, keys[1:]), False, "WRITE with a key too few")
    agent.end()


@case()
def post_again(name):
    agent = Agent(BACKEND, store(name))
    data, back = blocks(1), np.zeros((1, BLOCK), np.uint8)
    agent.roundtrip(data)
    agent.memory(back)
    device = agent.object("0", BLOCK)
    handle = agent.prepare("READ", agent.rows(back), [(0, BLOCK, device)])
    for _ in range(1000):
        back[0, 0] = ~data[0, 0]
        done(agent.finish(handle))
        is_equal(back[0, 0], data[0, 0], "first byte")
    agent.nixl.release_xfer_handle(handle)
    same(data, back)


@case(but=["WQSKV"])
def estimate(name):
    agent = Agent(BACKEND, store(name))
    data = blocks(1)
    agent.memory(data)
    handle = agent.prepare("WRITE", agent.rows(data), [(0, BLOCK, agent.object("key", BLOCK))])
    refused("an estimate before there is anything to go by", lambda: agent.nixl.estimate_xfer_cost(handle))
    for _ in range(20):
        done(agent.finish(handle))
    duration, margin, _method = agent.nixl.estimate_xfer_cost(handle)
    if duration < 0 or margin < 0:
        raise AssertionError(f"{duration} us, give or take {margin} us")
    agent.nixl.release_xfer_handle(handle)


@case(but=["WQSKV"])
def two_agents(name):
    first, second = Agent(BACKEND, store(name)), Agent(BACKEND, store(name))
    data = blocks(64)
    first.roundtrip(data, "shared-")
    back = np.zeros((64, BLOCK), np.uint8)
    second.memory(back)
    second.run("READ", second.rows(back), second.objects("shared-", 64, BLOCK))
    same(data, back)
    del first
    gc.collect()
    is_equal(second.query(["shared-0"]), [{"size": str(BLOCK)}], "query after the first agent went")
    second.roundtrip(data, "more-")


@case(but=["WQSKV"])
def registered_anew(name):
    """A devId that stood for one key, and then for another: nothing may go to the former one."""
    agent = Agent(BACKEND, store(name))
    data, other = blocks(1, seed=1), blocks(1, seed=2)
    agent.memory(data)
    agent.memory(other)
    old = agent.register([(0, BLOCK, 77, "old")], "OBJ")
    agent.run("WRITE", agent.rows(data), [(0, BLOCK, 77)])
    agent.nixl.deregister_memory(old, backends=[BACKEND])
    agent.register([(0, BLOCK, 77, "new")], "OBJ")
    try:
        agent.run("WRITE", agent.rows(other), [(0, BLOCK, 77)])
    except Refused:
        is_equal(agent.query(["new"]), [None], "a refused WRITE")
    back = np.zeros((1, BLOCK), np.uint8)
    agent.memory(back)
    device = agent.object("old", BLOCK)
    agent.run("READ", agent.rows(back), [(0, BLOCK, device)])
    same(data, back)


@case(but=["WQSKV"])
def in_and_out(name):
    for _ in range(5):
        agent = Agent(BACKEND, store(name))
        data = blocks(4)
        agent.roundtrip(data)
        agent.deregister_all()
        agent.roundtrip(data)
        del agent
        gc.collect()


@case("WQSKV")
def write_once(name):
    """The first value stays, and whoever writes a second one gets to know; another agent sees it, and cannot say so."""
    first, second = Agent(BACKEND, store(name)), Agent(BACKEND, store(name))
    data, other, back = blocks(1, seed=1), blocks(1, seed=2), np.zeros((1, BLOCK), np.uint8)
    first.roundtrip(data)
    second.memory(other)
    second.memory(back)
    places = second.objects("", 1, BLOCK)
    handle = second.prepare("WRITE", second.rows(other), places)
    is_equal(second.finish(handle), "ERR", "the second WRITE")
    second.nixl.release_xfer_handle(handle)
    second.run("READ", second.rows(back), places)
    same(data, back)
    is_equal(first.query(["0"]), [{"size": str(BLOCK)}], "query of who wrote it")
    refused("a query of who did not", lambda: second.query(["0"]))


@case("WQSKV")
def one_configuration(name):
    agent = Agent(BACKEND, store(name))
    with open("other.json", "w") as file:
        json.dump({**WQSKV, "poolid": 2}, file)
    params = {**store(name), "config_path": os.path.abspath("other.json")}
    refused("a second configuration", lambda: Agent(BACKEND, params))
    agent.roundtrip(blocks(2))


def slow(name, cancel, **more):
    """A store that takes 300 ms for everything, and an agent with a WRITE to it that runs."""
    agent = Agent(BACKEND, {"name": name, "model": "thread", "latency": "300ms", "cancel": cancel, **more})
    data = blocks(1)
    agent.memory(data)
    handle = agent.prepare("WRITE", agent.rows(data), [(0, BLOCK, agent.object("slow", BLOCK))])
    is_equal(agent.nixl.transfer(handle), "PROC", "state after the post")
    return agent, handle, data


@case("MOCK")
def release_in_flight(name):
    agent, handle, _ = slow(name, "native", release_timeout="20s")
    agent.nixl.release_xfer_handle(handle)
    is_equal(agent.query(["slow"]), [None], "a cancelled WRITE")


@case("MOCK")
def release_refused(name):
    """Where the store cannot cancel: refused first, and at the second time it goes in any case."""
    agent, handle, _data = slow(name, "none")
    refused("the first release", lambda: agent.nixl.release_xfer_handle(handle))
    agent.nixl.release_xfer_handle(handle)
    while agent.query(["slow"]) == [None]:
        time.sleep(0.01)


@case("MOCK")
def release_by_destructor(name):
    agent, handle, _data = slow(name, "none")
    del handle
    gc.collect()
    del agent
    gc.collect()


@case("MOCK")
def deregister_in_flight(name):
    for cancel, state in ("native", "ERR"), ("none", "DONE"):
        agent, handle, _data = slow(name + cancel, cancel)
        agent.deregister_all()
        is_equal(agent.wait(handle), state, f"with cancel={cancel}")
        is_equal(agent.finish(handle), "ERR", "post that names what is deregistered")
        agent.nixl.release_xfer_handle(handle)
        agent.roundtrip(blocks(2), "after-")


@case("MOCK")
def destroy_in_flight(name):
    for cancel in "native", "none":
        for drain in "20s", "1ms":
            agent, handle, _data = slow(f"{name}-{cancel}-{drain}", cancel, drain_timeout=drain)
            # The agent that goes first: no handle of Python's may come to an agent that is gone.
            agent.keep(handle)
            del agent
            gc.collect()
            # The memory of what was abandoned has to stay until the store has let go of it.
            time.sleep(0.5 if (cancel, drain) == ("none", "1ms") else 0)


def plugins_with_links():
    """The plugins, and each a second time under another name, in folders that lie as the real ones do."""
    plugins = os.environ["NIXL_PLUGIN_DIR"]
    libraries = os.path.dirname(os.path.dirname(plugins))
    shutil.rmtree("lib", ignore_errors=True)
    folder = os.path.abspath("lib/kvslot/nixl")
    os.makedirs(folder)
    for file in glob.glob(os.path.join(libraries, "libkvslot.so.*")):
        os.symlink(file, os.path.join("lib", os.path.basename(file)))
    for file in glob.glob(os.path.join(plugins, "libplugin_*.so")):
        name = os.path.basename(file)
        os.symlink(file, os.path.join(folder, name))
        os.symlink(name, os.path.join(folder, name.replace(".so", "2.so")))
    os.environ["NIXL_PLUGIN_DIR"] = folder
    os.environ.setdefault("KVSLOT_PLUGIN_PATH", os.path.dirname(plugins))


def main():
    plugins_with_links()
    chosen = [c for c in CASES if not sys.argv[2:] or c.__name__ in sys.argv[2:]]
    for number, run in enumerate(chosen):
        print(f"{BACKEND}: {run.__name__}", flush=True)
        try:
            run(f"case{number}")
        except BaseException:
            traceback.print_exc()
            print(f"FAILED: {BACKEND}: {run.__name__}", flush=True)
            os._exit(1)
        gc.collect()
    print(f"{BACKEND}: {len(chosen)} cases passed", flush=True)


main()
