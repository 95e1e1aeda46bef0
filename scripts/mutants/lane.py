# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree with builds of its own, in which one mutant after the other is made, built and tested."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from cites import Suite
from records import Broken, changed, project_files

OPTIONS_OF = {"plain": [], "build": [], "asan": ["-DKVSLOT_SANITIZE=address,undefined"]}
OPTIONS = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
           "-DKVSLOT_WERROR=OFF", "-DKVSLOT_TESTS=ON", "-DBUILD_TESTING=ON", "-DKVSLOT_TESTKIT=ON", "-DKVSLOT_COMMAND=ON", "-DKVSLOT_NIXL=ON"]


class Lane:
    def __init__(self, root, folder):
        self.root, self.folder, self.tree = root, folder, folder / "tree"
        self.suites = {}

    def copy(self):
        """Makes the tree as the project's is; a file that is the same keeps its time, so that it is not built again."""
        names = set(project_files(self.root))
        for name in names:
            source, target = self.root / name, self.tree / name
            data = source.read_bytes()
            if not target.is_file() or target.read_bytes() != data:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                target.chmod(source.stat().st_mode)
        for path in list(self.tree.rglob("*")):
            if path.is_file() and path.relative_to(self.tree).as_posix() not in names:
                path.unlink()

    def build_folder(self, flavour):
        return self.folder / ("asan" if flavour == "asan" else "plain")

    def suite(self, flavour):
        if flavour not in self.suites:
            build = self.build_folder(flavour)
            self.must(["cmake", "-S", self.tree, "-B", build, *OPTIONS, *OPTIONS_OF[flavour]], "configuring")
            self.must(["cc", "-shared", "-fPIC", "-o", build / "only.so", self.tree / "scripts/mutants/only.c", "-lcmocka"],
                      "building only.c")
            self.suites[flavour] = Suite(self.tree, build)
        return self.suites[flavour]

    def must(self, command, what):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Broken(f"{what} in {self.folder} failed:\n{done.stdout}")

    def refused(self):
        """Does a static assertion of the SDK's end its build?"""
        done = subprocess.run(["cmake", "--build", self.build_folder("plain"), "-j1", "--target", "kvslot_objects"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode != 0 and "static assertion failed" in done.stdout

    def build(self, flavour, tests, what):
        """Builds what the tests need."""
        targets = self.suite(flavour).targets(tests)
        if not targets:  # scripts that look at files
            return
        self.must(["cmake", "--build", self.build_folder(flavour), "-j1", "--target", *targets], f"building {what}")

    def run(self, flavour, test, limit):
        """(outcome, seconds, what it wrote); the outcome is 'passed', 'failed', 'crashed', 'hung' or 'empty'."""
        suite, build = self.suite(flavour), self.build_folder(flavour)
        env = {**os.environ, **suite.environment(test)}
        env.pop("KVS_TEST_ONLY", None)
        if test.pattern:
            env.update(LD_PRELOAD=str(build / "only.so"), KVS_TEST_ONLY=test.pattern)
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        begun, log = time.monotonic(), self.folder / "output"
        with open(log, "wb") as out:
            child = subprocess.Popen(suite.command(test), env=env, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            try:
                rc = child.wait(limit)
                outcome = "passed" if rc == 0 else "failed" if 0 < rc < 128 else "crashed"
            except subprocess.TimeoutExpired:
                outcome = "hung"
            finally:
                kill_session(child)
        text = log.read_text(errors="replace")
        if outcome == "passed" and test.pattern and not re.search(r"Running [1-9]\d* test", text):
            outcome = "empty"
        return outcome, time.monotonic() - begun, text

    def made(self, mutant):
        """Makes the change, for the time of a `with`."""
        return Made(self, mutant)


class Made:
    def __init__(self, lane, mutant):
        self.tree, self.texts = lane.tree, changed(lane.tree, mutant)
        self.before = {file: (self.tree / file).read_text() for file in self.texts}

    def __enter__(self):
        for file, text in self.texts.items():
            (self.tree / file).write_text(text)

    def __exit__(self, *_):
        for file, text in self.before.items():
            (self.tree / file).write_text(text)


def kill_session(child):
    """Ends what the test left running, its own children too, and collects it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
