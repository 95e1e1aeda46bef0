# SPDX-License-Identifier: Apache-2.0
"""The order of an engine's virtual functions in a release of NIXL, as one of its own plugins has them, without any header."""
import glob
import itertools
import os
import re
import subprocess

from agent import api

# That of src/abi.h, to which tests/test_slots.cpp holds it; the destructor has the first two places.
ORDER = """
~ ~ supportsRemote supportsLocal supportsNotif getSupportedMems registerMem deregisterMem connect disconnect unloadMD
prepXfer postXfer checkXfer releaseReqH prepMemView prepMemView releaseMemView getPublicData getConnInfo
loadRemoteConnInfo loadRemoteMD loadLocalMD getNotifs genNotif queryMem estimateXferCost
""".split()


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, check=True, text=True).stdout


def table(plugin, name):
    """The symbols in the class's table of virtual functions, two words in, as they stand."""
    symbols = {}
    where = count = None
    for line in readelf("--dyn-syms", plugin).splitlines():
        field = line.split()
        if len(field) < 8 or not field[0][:-1].isdigit() or field[6] == "UND":
            continue
        symbols.setdefault(int(field[1], 16), field[7])
        if field[7] == f"_ZTV{len(name)}{name}":
            where, count = int(field[1], 16), int(field[2]) // 8
    if where is None:
        raise AssertionError(f"{plugin} has no table of {name}")
    slots = {}
    for line in readelf("--relocs", plugin).splitlines():
        field = line.split()
        if len(field) > 3 and re.fullmatch(r"[0-9a-f]{16}", field[0]):
            # of a symbol: offset, info, type, value, name; of an address: offset, info, type, address
            slots[int(field[0], 16)] = field[4].split("@")[0] if len(field) > 4 else symbols.get(int(field[3], 16), "?")
    return [slots.get(where + 8 * i, "?") for i in range(2, count)]


def method(symbol):
    """Of _ZNK15nixlPosixEngine8queryMemE...: queryMem; of a destructor: ~"""
    match = re.match(r"_ZNK?(\d+)", symbol)
    if not match:
        return symbol
    rest = symbol[match.end() + int(match[1]) :]
    if re.match(r"D[0-9]", rest):
        return "~"
    match = re.match(r"(\d+)", rest)
    return rest[match.end() : match.end() + int(match[1])] if match else symbol


def check():
    folder = os.path.dirname(os.path.dirname(api.__file__))
    plugin = glob.glob(os.path.join(folder, ".*.libs", "plugins", "libplugin_POSIX.so"))[0]
    found = [method(symbol) for symbol in table(plugin, "nixlPosixEngine")]
    if found != ORDER:
        for place, (theirs, ours) in enumerate(itertools.zip_longest(found, ORDER, fillvalue="-")):
            print(f"{place:2} {theirs:24} {ours}" + ("" if theirs == ours else "  <--"))
        raise AssertionError(f"NIXL has other virtual functions than src/abi.h: {len(found)} and {len(ORDER)}")
