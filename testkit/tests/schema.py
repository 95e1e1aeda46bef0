#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py SCHEMA KVSLOT EXAMPLES [MULTIPLIER]: are the reports that the command writes, and those in the folder EXAMPLES, what the
published schema says, and is a report that has been tampered with not? And are the pages and the XML well-formed?"""
import copy
import glob
import html.parser
import json
import os
import socket
import subprocess
import sys
import xml.etree.ElementTree

import jsonschema

SCHEMA, KVSLOT, EXAMPLES = sys.argv[1:4]
MULTIPLIER = float(sys.argv[4]) if len(sys.argv) > 4 else 1


class Page(html.parser.HTMLParser):
    """Keeps the elements that are open, and what is wrong with them."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"line {self.getpos()[0]}: </{tag}> closes what is not open")


def page_errors(file):
    page = Page()
    with open(file, encoding="utf-8") as text:
        page.feed(text.read())
    page.close()
    return [f"{file}: {w}" for w in page.wrong + [f"<{tag}> is not closed" for tag in page.open]]


def report(*arguments, code, multiplier=1.0):
    command = [KVSLOT, "conform", *arguments, "--json", "report.json", "--junit", "report.xml", "--html", "report.html",
               "--timeout-multiplier", str(multiplier * MULTIPLIER)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode != code:
        sys.exit(f"{command} exited with {ended.returncode}, not {code}:\n{ended.stdout}")
    xml.etree.ElementTree.parse("report.xml")
    wrong = page_errors("report.html")
    if wrong:
        sys.exit("\n".join(wrong))
    with open("report.json", encoding="utf-8") as file:
        return json.load(file)


def errors(validator, value):
    return [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(value)]


def main():
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    os.environ["TMPDIR"] = os.getcwd()
    # Each outcome but CRASH, which sanitizers make another one, is in one of them.
    reports = {
        "pass": report("mock", "--jobs", "2", "--filter", "roundtrip.*,open.limits", code=0),
        "partial": report("rogue-minimal:?defect=write_once", "--skip", "open.*", "--filter", "open.limits,query.*", code=0),
        "fail": report("rogue:?defect=lost_write&password=geheim", "--filter", "roundtrip.one_byte,ttl.expires", code=1),
        "hang": report("rogue:?defect=hang", "--filter", "roundtrip.one_byte", code=1, multiplier=0.1),
    }
    wrong = []
    outcomes = set()
    for name, one in reports.items():
        wrong += [f"{name}: {error}" for error in errors(validator, one)]
        wrong += [f"{name}: the host's name is in it" for _ in [1] if f'"{socket.gethostname()}"' in json.dumps(one)]
        outcomes |= {case["outcome"] for case in one["cases"]}
    wrong += [f"no report has {o}" for o in {"PASS", "FAIL", "SKIPPED", "NOT_SUPPORTED", "TIMEOUT"} - outcomes]
    wrong += ["the verdicts are " + str({n: r["verdict"] for n, r in reports.items()})
              for _ in [1] if [r["verdict"] for r in reports.values()] != ["pass", "partial", "fail", "fail"]]

    examples = glob.glob(os.path.join(EXAMPLES, "*.json"))
    for file in examples:
        with open(file, encoding="utf-8") as text:
            wrong += [f"{file}: {error}" for error in errors(validator, json.load(text))]
    for file in glob.glob(os.path.join(EXAMPLES, "*.html")):
        wrong += page_errors(file)
    for file in glob.glob(os.path.join(EXAMPLES, "*.xml")):
        xml.etree.ElementTree.parse(file)
    if not examples:
        wrong.append(f"there are no examples in {EXAMPLES}")

    # What a schema that says nothing would let through.
    changes = [
        (("verdict",), "great"), (("verdict",), None), (("report_format",), 2), (("seed",), 7), (("extra",), 1),
        (("backend", "file", "sha256"), "ABC"), (("backend", "file", "name"), "/home/me/kvslot-x.so"), (("machine", "cores"), 0),
        (("machine", "hostname"), "me"), (("capabilities", "read"), "maybe"), (("limits", "max_value"), -1),
        (("limits", "thread_model"), "both"), (("counts", "PASS"), -1), (("cases",), []), (("cases", 0, "outcome"), "OK"),
        (("cases", 0, "requirements"), ["REQ-1"]), (("cases", 0, "reason"), "DELETE"), (("cases", 0, "reproduce"), "DELETE"),
        (("sdk",), "DELETE"), (("machine", "kernel"), "DELETE"), (("capabilities", "query_local"), "DELETE"),
    ]
    for path, value in changes:
        tampered = copy.deepcopy(reports["fail"])
        at = tampered
        for step in path[:-1]:
            at = at[step]
        if value == "DELETE":
            del at[path[-1]]
        else:
            at[path[-1]] = value
        if not errors(validator, tampered):
            wrong.append(f"a report with {path} changed to {value!r} passes")
    if wrong:
        sys.exit("\n".join(wrong))


main()
