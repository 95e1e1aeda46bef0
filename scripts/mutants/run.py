#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the SDK as sdk/tests/mutants says, one change at a time, and sees that the tests which cite the broken requirement
fail. Each mutant is made in a copy of the tree (build/mutants/lane-N); only the tests that cite its ids are built and run.
A failed assertion, a crash and a hang catch a mutant; one that does not compile is an error of its record."""
import argparse
import collections
import os
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True  # the sources' folder stays as it is

import cites
import records
from lane import Lane
from records import Broken

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(prog="mutants.sh", description=__doc__)
    parser.add_argument("--filter", action="append", default=[], metavar="ID|GLOB",
                        help="only the mutants of this requirement (277, KVS-REQ-277, '2*') or file ('250-*'); repeatable")
    parser.add_argument("--list", action="store_true", help="print the mutants and what runs none of them")
    parser.add_argument("--check", action="store_true", help="see that the records fit the sources and the contract, no more")
    parser.add_argument("--complete", action="store_true", help="a built [sdk] requirement without a mutant is an error")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2), metavar="N", help="how many at a time")
    parser.add_argument("--verbose", action="store_true", help="print what the tests of survivors wrote")
    return parser.parse_args()


def check(mutants, exempt):
    """What is wrong with the records, as sentences, and the built requirements that have none."""
    wrong = []
    sdk, unbuilt = records.requirements(ROOT)
    tested = cites.cited_ids(ROOT, records.project_files(ROOT))
    for mutant in mutants:
        try:
            records.changed(ROOT, mutant)
        except Broken as error:
            wrong.append(str(error))
        for one in mutant.ids:
            if one not in sdk or one in unbuilt:
                wrong.append(f"{mutant.name()}: {one} is no built [sdk] requirement of docs/contract.md")
            elif one not in tested:
                wrong.append(f"{mutant.name()}: no test cites {one}")
    have = {one for mutant in mutants for one in mutant.ids}
    for one in exempt:
        if one not in sdk or one in unbuilt or one in have:
            wrong.append(f"{records.FOLDER}/exempt.txt: {one} is no built [sdk] requirement, or it has a mutant")
    return wrong, [one for one in sdk if one not in unbuilt and one not in have and one not in exempt]


class Run:
    """All of it: the lanes, and what became of each mutant."""

    def __init__(self, mutants, jobs, verbose):
        self.todo = collections.deque(sorted(mutants, key=lambda m: (m.flavour, m.hunks[0].file)))
        self.far = collections.deque()  # those of the first lane alone, which builds all that their tests take
        self.lanes = [Lane(ROOT, ROOT / f"build/mutants/lane-{n}") for n in range(1, min(jobs, len(mutants)) + 1)]
        self.verbose = verbose
        self.lock = threading.Lock()  # guards all below, and the output
        self.usual = {}  # (flavour, test): seconds
        self.caught, self.survived, self.broken = 0, [], []

    def say(self, text):
        with self.lock:
            print(text, flush=True)

    def in_lanes(self, work):
        """work(lane, number) in one thread a lane."""
        failed = []

        def guarded(number):
            try:
                work(self.lanes[number], number)
            except Exception as error:  # carried to the caller's thread
                failed.append(error)

        threads = [threading.Thread(target=guarded, args=(n,)) for n in range(len(self.lanes))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def prepare(self):
        """Builds every lane, and sees that the tests pass as long as nothing is broken."""
        wanted = collections.defaultdict(set)
        mutants = list(self.todo)

        def build(lane, number):
            lane.folder.mkdir(parents=True, exist_ok=True)
            lane.copy()
            for flavour in sorted({m.flavour for m in mutants}):
                suite = lane.suite(flavour)
                mine = [m for m in mutants if m.flavour == flavour and
                        (number == 0 or not suite.has_far(m.ids))]
                tests = {t for m in mine for one in m.ids for t in suite.citing[one]}
                lane.build(flavour, tests, "the tests")
                with self.lock:
                    wanted[number] |= {(flavour, test) for test in tests}

        self.in_lanes(build)
        suite = self.lanes[0].suite("plain")
        self.far.extend(m for m in mutants if suite.has_far(m.ids))
        self.todo = collections.deque(m for m in mutants if m not in self.far)
        everywhere = set.intersection(*wanted.values())
        shared = collections.deque(sorted(everywhere, key=lambda w: w[1].shown()))

        def baseline(lane, number):
            own = collections.deque(wanted[number] - everywhere)
            while own or shared:
                try:
                    flavour, test = own.popleft() if own else shared.popleft()
                except IndexError:
                    return
                outcome, seconds, text = lane.run(flavour, test, 300)
                with self.lock:
                    if outcome == "passed":
                        self.usual[flavour, test] = seconds
                    else:
                        self.broken.append(f"without any mutant {test.shown()} ({flavour}) {outcome}:\n{text}")

        self.in_lanes(baseline)

    def mutate(self):
        def work(lane, number):
            while True:
                try:  # from both ends, so that mutants of one file stay together
                    if number == 0 and self.far:
                        mutant = self.far.popleft()
                    else:
                        mutant = self.todo.pop() if number % 2 else self.todo.popleft()
                except IndexError:
                    return
                try:
                    self.judge(lane, mutant)
                except Broken as error:
                    with self.lock:
                        self.broken.append(f"{mutant.name()}\n{error}")
                        print(f"BROKEN   {mutant.name()}\n{error}", flush=True)

        self.in_lanes(work)

    def judge(self, lane, mutant):
        citing = lane.suite(mutant.flavour).citing
        for one in mutant.ids:
            if not citing[one]:
                raise Broken(f"no test of this build cites {one}")
        with lane.made(mutant):
            if mutant.flavour == "build":
                self.judge_build(lane, mutant)
                return
            lane.build(mutant.flavour, {t for one in mutant.ids for t in citing[one]}, "the mutant")
            for one in mutant.ids:
                self.judge_one(lane, mutant, one, citing[one])

    def judge_build(self, lane, mutant):
        refused = lane.refused()
        with self.lock:
            self.caught += len(mutant.ids) if refused else 0
            self.survived += [] if refused else [(one, mutant) for one in mutant.ids]
            print(f"{'caught  ' if refused else 'SURVIVED'} {' '.join(mutant.ids)}: {mutant.what} (the build)", flush=True)

    def judge_one(self, lane, mutant, one, tests):
        wrote = []
        known = [test for test in tests if (mutant.flavour, test) in self.usual]
        for test in sorted(known, key=lambda t: (self.usual[mutant.flavour, t], t.shown())):
            usual = self.usual[mutant.flavour, test]
            outcome, seconds, text = lane.run(mutant.flavour, test, 10 + 10 * usual)
            if outcome not in ("passed", "empty"):
                with self.lock:
                    self.caught += 1
                    print(f"caught   {one}: {mutant.what} ({outcome}: {test.shown()}, {seconds:.2f} s)", flush=True)
                return
            wrote.append(f"--- {test.shown()}\n{text}" if self.verbose else f"    {test.shown()} passed")
        with self.lock:
            self.survived.append((one, mutant))
            print(f"SURVIVED {one}: {mutant.what} ({mutant.where})\n" + "\n".join(wrote), flush=True)

    def report(self, missing, complete):
        for one, mutant in self.survived:
            print(f"survived: {one} of {mutant.name()}")
        for text in self.broken:
            print(f"broken: {text}")
        print(f"{self.caught} caught, {len(self.survived)} survived, {len(self.broken)} records are broken")
        return 1 if self.survived or self.broken or (missing and complete) else 0


def main():
    sys.stdout.reconfigure(line_buffering=True)
    options, begun = arguments(), time.monotonic()
    mutants, exempt = records.load(ROOT), records.exempt(ROOT)
    wrong, missing = check(mutants, exempt)
    for text in wrong:
        print(f"wrong: {text}")
    if missing and (options.complete or options.check or options.list):
        print(f"{len(missing)} built [sdk] requirements have no mutant: {' '.join(i[len('KVS-REQ-'):] for i in missing)}")
    chosen = records.selected(mutants, options.filter)
    if options.list:
        for mutant in chosen:
            print(mutant.name())
    if options.check or options.list:
        print(f"{len(mutants)} mutants, {len(exempt)} requirements exempt")
        return 1 if wrong or (missing and options.complete) else 0
    if not chosen:
        raise Broken("no mutant is chosen")
    run = Run(chosen, options.jobs, options.verbose)
    run.prepare()
    print(f"{len(chosen)} mutants in {len(run.lanes)} lanes, built and tested without them in "
          f"{time.monotonic() - begun:.0f} s", flush=True)
    run.mutate()
    rc = run.report(missing, options.complete) or (1 if wrong else 0)
    print(f"{time.monotonic() - begun:.0f} s in all")
    return rc


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as error:
        print(f"mutants.sh: {error}", file=sys.stderr)
        sys.exit(1)
