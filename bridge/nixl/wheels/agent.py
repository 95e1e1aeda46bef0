# SPDX-License-Identifier: Apache-2.0
"""A NIXL agent with one backend that is in use, and what the cases do with it again and again."""
import itertools

import numpy as np

try:
    from nixl_cu12 import _api as api
except ImportError:  # another build of the same
    from nixl import _api as api

numbers = itertools.count(1)
# What the wheels raise has other bases from release to release.
Refused = Exception


def done(state):
    if state != "DONE":
        raise AssertionError(f"the transfer ended {state}")


class Agent:
    remote = "OBJ"  # segment of what stands for a value

    def __init__(self, backend, params):
        self.name = f"agent{next(numbers)}"
        self.nixl = api.nixl_agent(self.name, api.nixl_agent_config(backends=[]))
        self.registered = []
        self.kept = []
        self.devices = itertools.count(1000)
        if backend:
            self.create(backend, params)

    def create(self, backend, params):
        self.nixl.create_backend(backend, params)
        self.backend = backend

    def register(self, descs, segment):
        reg = self.nixl.register_memory(descs, segment, backends=[self.backend])
        self.registered.append(reg)
        return reg

    def deregister_all(self):
        for reg in self.registered:
            self.nixl.deregister_memory(reg, backends=[self.backend])
        self.registered = []

    def memory(self, array):
        """Registers an array as DRAM, and keeps it."""
        self.kept.append(array)
        self.register([(array.ctypes.data, array.size, 0, "")], "DRAM")

    def object(self, key, size):
        """Registers the place of a value, and answers its devId."""
        device = next(self.devices)
        self.register([(0, size, device, key)], self.remote)
        return device

    def objects(self, prefix, count, size):
        devices = [next(self.devices) for _ in range(count)]
        self.register([(0, size, device, f"{prefix}{i}") for i, device in enumerate(devices)], self.remote)
        return [(0, size, device) for device in devices]

    def rows(self, array):
        return [(row.ctypes.data, row.size, 0) for row in array]

    def keep(self, *things):
        self.kept.extend(things)

    def prepare(self, op, local, remote, remote_type=None):
        return self.nixl.initialize_xfer(
            op,
            self.nixl.get_xfer_descs(local, "DRAM"),
            self.nixl.get_xfer_descs(remote, remote_type or self.remote),
            self.name,
            backends=[self.backend],
        )

    def wait(self, handle):
        state = "PROC"
        while state == "PROC":
            state = self.state(lambda: self.nixl.check_xfer_state(handle))
        return state

    def finish(self, handle):
        """Posts, and waits for the end."""
        state = self.state(lambda: self.nixl.transfer(handle))
        return self.wait(handle) if state == "PROC" else state

    @staticmethod
    def state(call):
        try:
            return call()
        except Refused:  # some releases raise where others answer ERR
            return "ERR"

    def run(self, op, local, remote, remote_type=None):
        handle = self.prepare(op, local, remote, remote_type)
        state = self.finish(handle)
        self.nixl.release_xfer_handle(handle)
        if state != "DONE":
            raise RuntimeError(f"{op} ended {state}")

    def roundtrip(self, data, prefix=""):
        """Writes the rows under prefix0, prefix1, ..., and reads them back."""
        back = np.zeros_like(data)
        self.memory(data)
        self.memory(back)
        places = self.objects(prefix, *data.shape)
        self.run("WRITE", self.rows(data), places)
        self.run("READ", self.rows(back), places)
        if not np.array_equal(data, back):
            raise AssertionError("what was read is not what was written")

    def query(self, keys):
        return self.nixl.query_memory([(0, 0, 0, key) for key in keys], self.backend, mem_type=self.remote)
