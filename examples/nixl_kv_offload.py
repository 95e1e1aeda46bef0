#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Offloads the KV cache of a language model to a store through NIXL, and restores it.

    NIXL_PLUGIN_DIR=/usr/local/lib/kvslot/nixl examples/nixl_kv_offload.py --param path=/var/cache/kv

The cache is one array of blocks, as inference engines keep it: layers x blocks x (keys, values) x tokens x heads x
dimensions. Each layer's part of a block is one value in the store, under a key that says what it holds, so that another
process with the same tokens finds it. A request's blocks are offloaded as one transfer a step, then the memory is wiped, as
if another request had had it, and the blocks come back.
"""
import argparse
import sys
import time

import numpy as np

try:
    from nixl._api import nixl_agent, nixl_agent_config
except ImportError:  # the wheel by itself
    from nixl_cu12._api import nixl_agent, nixl_agent_config


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plugin", default="LMDB", help="which libplugin_NAME.so (default: %(default)s)")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the plugin")
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--blocks", type=int, default=64, help="blocks that are offloaded")
    parser.add_argument("--tokens", type=int, default=16, help="tokens of a block")
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--step", type=int, default=8, help="blocks of one transfer")
    return parser.parse_args()


class Offload:
    """A cache in memory that is registered with an agent, and the places of its values in the store."""

    def __init__(self, plugin, params, cache, model):
        self.cache, self.model, self.plugin, self.name = cache, model, plugin, "offload"
        self.agent = nixl_agent(self.name, nixl_agent_config(backends=[]))
        self.agent.create_backend(plugin, params)
        # The whole cache is one registration; transfers name pieces of it.
        memory = [(cache.ctypes.data, cache.nbytes, 0, "")]
        self.memory = self.agent.register_memory(memory, "DRAM", backends=[plugin])
        self.size = cache[0, 0].nbytes
        # A value's place: no address, the size, a devId of its own, and the key.
        places = [(0, self.size, self.device(layer, block), self.key(layer, block)) for layer, block in self.pieces()]
        self.places = self.agent.register_memory(places, "OBJ", backends=[plugin])

    def pieces(self, blocks=None):
        layers, count = self.cache.shape[:2]
        return [(layer, block) for block in (range(count) if blocks is None else blocks) for layer in range(layers)]

    def device(self, layer, block):
        return 1 + layer + block * self.cache.shape[0]

    def key(self, layer, block):
        return f"{self.model}/block{block:06}/layer{layer:03}"

    def found(self):
        """How many of the first blocks the store has whole: what a request can take from it."""
        keys = [(0, 0, 0, self.key(layer, block)) for layer, block in self.pieces()]
        have = [answer is not None for answer in self.agent.query_memory(keys, self.plugin, mem_type="OBJ")]
        layers = self.cache.shape[0]
        whole = [all(have[i : i + layers]) for i in range(0, len(have), layers)]
        return whole.index(False) if False in whole else len(whole)

    def move(self, op, blocks):
        """WRITE: from the cache into the store; READ: back."""
        pieces = self.pieces(blocks)
        local = [(self.cache[layer, block].ctypes.data, self.size, 0) for layer, block in pieces]
        remote = [(0, self.size, self.device(layer, block)) for layer, block in pieces]
        handle = self.agent.initialize_xfer(
            op,
            self.agent.get_xfer_descs(local, "DRAM"),
            self.agent.get_xfer_descs(remote, "OBJ"),
            self.name,
            backends=[self.plugin],
        )
        state = self.agent.transfer(handle)
        while state == "PROC":  # an inference engine computes meanwhile
            time.sleep(0.0001)
            state = self.agent.check_xfer_state(handle)
        self.agent.release_xfer_handle(handle)
        if state != "DONE":
            raise RuntimeError(f"{op} of blocks {blocks[0]} to {blocks[-1]} ended {state}")

    def close(self):
        self.agent.deregister_memory(self.places, backends=[self.plugin])
        self.agent.deregister_memory(self.memory, backends=[self.plugin])


def progress(what, done, count, started, nbytes):
    seconds = max(time.perf_counter() - started, 1e-9)
    line = f"{what} {done}/{count} blocks, {nbytes / 1e6 / seconds:.0f} MB/s"
    print(line, end="\r" if sys.stdout.isatty() and done < count else "\n", flush=True)


def run(offload, op, what, step):
    count = offload.cache.shape[1]
    started, moved = time.perf_counter(), 0
    for first in range(0, count, step):
        blocks = range(first, min(first + step, count))
        offload.move(op, blocks)
        moved += len(blocks) * offload.cache.shape[0] * offload.size
        if sys.stdout.isatty() or blocks[-1] == count - 1:
            progress(what, blocks[-1] + 1, count, started, moved)


def main():
    args = arguments()
    params = dict(pair.split("=", 1) for pair in args.param)
    shape = (args.layers, args.blocks, 2, args.tokens, args.heads, args.dimensions)
    cache = np.random.default_rng(7).standard_normal(shape, dtype=np.float32).astype(np.float16)
    before = cache.copy()
    model = f"example-{args.layers}x{args.tokens}x{args.heads}x{args.dimensions}"
    offload = Offload(args.plugin, params, cache, model)
    print(f"{cache.nbytes / 1e6:.1f} MB in {cache.shape[0] * cache.shape[1]} values of {offload.size} bytes")

    run(offload, "WRITE", "offloaded", args.step)
    cache[:] = 0
    print(f"the store has {offload.found()} of {args.blocks} blocks")
    run(offload, "READ", "restored", args.step)
    offload.close()
    if not np.array_equal(cache, before):
        sys.exit("what came back is not what went out")
    print("what came back is what went out")


if __name__ == "__main__":
    main()
