# SPDX-License-Identifier: Apache-2.0
"""Which tests cite a requirement: a function of a cmocka program, a whole program, or a script."""
import json
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from records import ID

# A function as clang-format leaves it: its name stands in the first column or behind its type, its end in the first column.
FUNCTION = re.compile(r"^[a-z][^;={}]*?\b(\w+)\([^;{}]*\)\n\{\n.*?^\}$", re.M | re.S)


@dataclass(frozen=True)
class Test:
    """What is run: a ctest test, whole or only those of its cmocka tests whose name matches."""
    name: str
    pattern: str  # or None

    def shown(self):
        return f"{self.name} {self.pattern}" if self.pattern else self.name


def functions(text):
    """[(name, begin, end)]: each function with what stands between it and the one before."""
    found, begin = [], 0
    for match in FUNCTION.finditer(text):
        found.append((match[1], begin, match.end()))
        begin = match.end()
    return found


def patterns(text):
    """{id: patterns of the cmocka tests that cite it}; None among them: the file as a whole cites it."""
    spans = functions(text)
    bodies = {name: text[begin:end] for name, begin, end in spans}
    main = bodies.get("main", "")
    calls = {name: [other for other in bodies if other != name and re.search(rf"\b{other}\b", body)]
             for name, body in bodies.items()}
    head = text.find("#include")
    cited = defaultdict(set)
    for match in ID.finditer(text):
        if match.start() < head:
            cited[match[0]].add(None)
            continue
        inside = [name for name, begin, end in spans if begin <= match.start() < end]
        found = {pattern(main, test) for name in inside for test in callers(name, calls)} - {None}
        cited[match[0]].update(found or {None})  # None: a backend's function, say, which tests reach by a table
    return cited


def callers(name, calls):
    """The function and those that lead to it."""
    seen, todo = set(), [name]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [caller for caller, called in calls.items() if name in called and caller != "main"]
    return seen


def pattern(main, function):
    """cmocka's name of the test in main's table: those that run for several models have the model behind their name."""
    if re.search(rf'EACH_\w+\(\s*{function}\)|"{function} \(', main):
        return f"{function} (*"
    return function if re.search(rf"\b(cmocka_unit_test\w*|WITH_\w+)\(\s*{function}\b", main) else None


def cited_ids(root, files):
    """{id: the test files that cite it}."""
    found = defaultdict(set)
    for file in files:
        if is_test(file):
            for cited in ID.findall((root / file).read_text(errors="replace")):
                found[cited].add(file)
    return found


def is_test(file):
    return "/tests/" in file and "/tests/mutants/" not in file and Path(file).suffix in (".c", ".cpp", ".sh")


class Suite:
    """The tests of one configured build."""

    def __init__(self, source, build):
        listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True,
                                text=True).stdout
        self.tests = {test["name"]: test for test in json.loads(listed)["tests"] if test.get("command")}
        self.build = str(build)
        programs = {Path(word).name: name for name, test in self.tests.items() for word in test["command"]
                    if word.startswith(f"{self.build}/")}
        scripts = {word: name for name, test in self.tests.items() for word in test["command"] if word.endswith(".sh")}
        self.citing = defaultdict(set)  # id: tests
        self.home = {}  # a test's name: the folder it is in
        for entry in json.loads((Path(build) / "compile_commands.json").read_text()):
            self.add_program(source, entry, programs)
        for path, name in scripts.items():
            if Path(path).is_relative_to(source) and is_test(path):
                self.home[name] = Path(path).relative_to(source).parent.as_posix()
                for cited in ID.findall(Path(path).read_text()):
                    self.citing[cited].add(Test(name, None))
        self.leave_out_the_far()

    def add_program(self, source, entry, programs):
        file = Path(entry["file"])
        target = re.search(r" -o \S*/CMakeFiles/([^/]+)\.dir/", entry["command"])
        name = programs.get(target[1]) if target else None
        if not name or not file.is_relative_to(source) or not is_test(file.relative_to(source).as_posix()):
            return
        self.home[name] = file.relative_to(source).parent.as_posix()
        for cited, found in patterns(file.read_text()).items():
            for one in found:
                self.citing[cited].add(Test(name, one))

    def leave_out_the_far(self):
        """What the SDK's own tests cite is theirs to catch: those of other parts take much longer to build and run."""
        for cited, tests in self.citing.items():
            near = {test for test in tests if not self.is_far(test)}
            self.citing[cited] = near or tests

    def is_far(self, test):
        return not self.home[test.name].startswith("sdk/")

    def has_far(self, ids):
        return any(self.is_far(test) for cited in ids for test in self.citing[cited])

    def command(self, test):
        return self.tests[test.name]["command"]

    def environment(self, test):
        for entry in self.tests[test.name].get("properties", []):
            if entry["name"] == "ENVIRONMENT":
                return dict(line.split("=", 1) for line in entry["value"])
        return {}

    def targets(self, tests):
        """What has to be built for them: their program; for tests of other parts, which take other programs and
        plugins, all of their folder."""
        found = {word[len(self.build) + 1:] for test in tests for word in self.command(test)
                 if word.startswith(f"{self.build}/") and "/test-work/" not in word}
        found |= {f"{self.home[test.name]}/all" for test in tests if self.is_far(test)}
        return sorted(found | ({"plugins/all"} if "command/tests/all" in found else set()))
