# SPDX-License-Identifier: Apache-2.0
"""The mutants as they are written down, and the requirements that they break."""
import fnmatch
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ID = re.compile(r"KVS-REQ-\d+")
HEAD = re.compile(r"^(KVS-REQ-\d+(?: KVS-REQ-\d+)*)(?: \((asan|build)\))?: (\S.*)$")
FOLDER = "sdk/tests/mutants"


@dataclass
class Hunk:
    file: str
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)
    closed: bool = False  # its "+" lines have begun

    def texts(self):
        return "\n".join(self.old), "\n".join(self.new)


@dataclass
class Mutant:
    where: str
    ids: list
    flavour: str  # plain; asan: caught under AddressSanitizer; build: the compiler itself refuses it
    what: str
    hunks: list = field(default_factory=list)

    def name(self):
        return f"{self.where}: {' '.join(self.ids)}: {self.what}"


class Broken(Exception):
    """A record, or what it refers to, is not as it must be."""


def parse(path, shown):
    """The mutants of one file: a line of ids and what goes wrong, a source, and lines that begin with -, + or blank."""
    mutants, now = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{shown}:{number}"
        if line.startswith("#") or not line.strip():
            now = None if not line.strip() else now
            continue
        if now is None:
            head = HEAD.match(line)
            if not head:
                raise Broken(f"{where}: 'KVS-REQ-nnn...: what goes wrong' is expected, not '{line}'")
            now = Mutant(where, head[1].split(), head[2] or "plain", head[3])
            mutants.append(now)
        elif line[0] in "-+ ":
            if not now.hunks:
                raise Broken(f"{where}: the source file is expected before the lines to change")
            add(now.hunks, line[0], line[1:])
        else:
            now.hunks.append(Hunk(line))
    for mutant in mutants:
        for hunk in mutant.hunks:
            old, new = hunk.texts()
            if not old or old == new:
                raise Broken(f"{mutant.name()}: changes nothing in {hunk.file}")
        if not mutant.hunks:
            raise Broken(f"{mutant.name()}: names no source file")
    return mutants


def add(hunks, mark, text):
    hunk = hunks[-1]
    if mark != "+" and hunk.closed:  # the next place in the same file
        hunk = Hunk(hunk.file)
        hunks.append(hunk)
    if mark in "- ":
        hunk.old.append(text)
    if mark in "+ ":
        hunk.new.append(text)
    hunk.closed = mark == "+"


def load(root):
    mutants = []
    for path in sorted((root / FOLDER).glob("*.txt")):
        if path.name != "exempt.txt":
            mutants += parse(path, path.relative_to(root).as_posix())
    return mutants


def exempt(root):
    """The requirements that no change of a source can break, each with the reason."""
    path, found = root / FOLDER / "exempt.txt", {}
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if line.strip() and not line.startswith("#"):
            parts = re.match(r"^(KVS-REQ-\d+): (\S.*)$", line)
            if not parts or parts[1] in found:
                raise Broken(f"{FOLDER}/exempt.txt:{number}: 'KVS-REQ-nnn: why', each once, is expected, not '{line}'")
            found[parts[1]] = parts[2]
    return found


def changed(root, mutant):
    """{file: text with the change made}; every old text must be there exactly once."""
    texts = {}
    for hunk in mutant.hunks:
        if hunk.file not in texts:
            path = root / hunk.file
            if not path.is_file():
                raise Broken(f"{mutant.name()}: there is no file {hunk.file}")
            texts[hunk.file] = path.read_text()
        old, new = hunk.texts()
        times = texts[hunk.file].count(old)
        if times != 1:
            raise Broken(f"{mutant.name()}: this is in {hunk.file} {times} times, not once:\n{old}")
        texts[hunk.file] = texts[hunk.file].replace(old, new)
    return texts


def requirements(root):
    """All ids of the contract that the SDK has to keep, and those of them that are not built yet."""
    text = (root / "docs/contract.md").read_text()
    sdk = re.findall(r"^- \*\*(KVS-REQ-\d+)\*\* \[sdk\]", text, re.M)
    rest = text.partition("\n## Not built yet\n")[2]
    unbuilt = [row.rpartition("|")[0].rpartition("|")[2] for row in rest.splitlines() if row.startswith("| ")]
    return sdk, set(ID.findall(" ".join(unbuilt)))


def selected(mutants, patterns):
    def fits(mutant):
        words = mutant.ids + [i.removeprefix("KVS-REQ-") for i in mutant.ids] + [Path(mutant.where.partition(":")[0]).stem]
        return any(fnmatch.fnmatch(word, pattern) for word in words for pattern in patterns)

    return [mutant for mutant in mutants if not patterns or fits(mutant)]


def project_files(root):
    """The project's files: those of git where there is a repository, so that what is ignored does not count."""
    git = ["git", "-c", f"safe.directory={root}", "-C", str(root)]
    top = subprocess.run(git + ["rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if top.returncode == 0 and Path(top.stdout.strip()).resolve() == root:
        listed = subprocess.run(git + ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                check=True, capture_output=True, text=True).stdout.split("\0")
    else:
        listed = [path.relative_to(root).as_posix() for path in root.rglob("*")]
        listed = [name for name in listed if not name.startswith(("build/", ".git/"))]
    return sorted({name for name in listed if name and (root / name).is_file()})
