# SPDX-License-Identifier: Apache-2.0
"""A NIXL agent through the C functions of libnixl_capi.so, for what its Python side has not: the custom parameter."""
import ctypes
import glob
import os

from agent import api

IN_PROG, DRAM = 1, 0
OPS = {"READ": 0, "WRITE": 1}


def library():
    """The one of the release that is tested. All of its functions answer 0 for success."""
    base = os.path.dirname(os.path.dirname(api.__file__))
    return ctypes.CDLL(glob.glob(os.path.join(base, ".*.libs", "libnixl_capi.so"))[0])


def size(number):
    return ctypes.c_size_t(number)


class Agent:
    def __init__(self, backend, params):
        self.lib, self.name = library(), b"through-c"
        self.agent = self.make("create_agent", self.name)
        given = self.make("create_params")
        for name, value in params.items():
            self.call("params_add", given, name.encode(), value.encode())
        self.backend = self.make("create_backend", self.agent, backend.encode(), given)
        self.call("destroy_params", given)
        self.args = self.make("create_opt_args")
        self.call("opt_args_add_backend", self.args, self.backend)

    def result(self, function, *arguments):
        return getattr(self.lib, "nixl_capi_" + function)(*arguments)

    def call(self, function, *arguments):
        result = self.result(function, *arguments)
        if result != 0:
            raise AssertionError(f"{function} answered {result}")

    def make(self, function, *arguments):
        """What the function's last but for optional arguments gives: a pointer, which comes after the others."""
        out = ctypes.c_void_p()
        self.call(function, *arguments, ctypes.byref(out))
        return out

    def register(self, array):
        descs = ctypes.c_void_p()
        self.call("create_reg_dlist", DRAM, ctypes.byref(descs), False)
        self.call("reg_dlist_add_desc", descs, size(array.ctypes.data), size(array.nbytes), ctypes.c_uint64(0), b"", size(0))
        self.call("register_mem", self.agent, descs, self.args)
        self.call("destroy_reg_dlist", descs)

    def rows(self, array):
        descs = ctypes.c_void_p()
        self.call("create_xfer_dlist", DRAM, ctypes.byref(descs), False)
        for row in array:
            self.call("xfer_dlist_add_desc", descs, size(row.ctypes.data), size(row.nbytes), ctypes.c_uint64(0))
        return descs

    def run(self, op, array, keys):
        """Each row of the array to or from the key in its place; answers whether all went well."""
        custom = b"\n".join(keys)
        self.call("opt_args_set_custom_param", self.args, custom, size(len(custom)))
        # Rows that lie side by side stay apart: each has a key.
        self.call("opt_args_set_skip_desc_merge", self.args, True)
        local, remote, request = self.rows(array), self.rows(array), ctypes.c_void_p()
        result = self.result(
            "create_xfer_req", self.agent, OPS[op], local, remote, self.name, ctypes.byref(request), self.args
        )
        if result == 0:
            result = self.result("post_xfer_req", self.agent, request, self.args)
            while result == IN_PROG:
                result = self.result("get_xfer_status", self.agent, request)
            self.call("release_xfer_req", self.agent, request)
            self.call("destroy_xfer_req", request)
        self.call("destroy_xfer_dlist", local)
        self.call("destroy_xfer_dlist", remote)
        return result == 0

    def end(self):
        self.call("destroy_opt_args", self.args)
        self.call("destroy_backend", self.backend)
        self.call("destroy_agent", self.agent)
