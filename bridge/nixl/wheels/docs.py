# SPDX-License-Identifier: Apache-2.0
"""docs.py PAGE: runs the program of docs/nixl.md, and compares its table of parameters with what the plugins declare."""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as page:
    text = page.read()

scope = {}
exec(compile(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], "docs/nixl.md", "exec"), scope)
agent, block, state = scope["agent"], scope["block"], scope["state"]
if state != "DONE":
    sys.exit(f"the program of the page ended {state}")
if agent.query_memory([(0, 0, 0, "model/block/7")], "LMDB", mem_type="OBJ") != [{"size": str(block.size)}]:
    sys.exit("the program of the page stored nothing")

table = text[text.index("## Parameters") : text.index("## Transfers")]
documented = dict(re.findall(r"^\| `(\w+)` \|\s*`?([^`|]*?)`?\s*\|", table, re.MULTILINE))
declared = agent.get_plugin_params("KVSLOT")
for name, default in documented.items():
    if declared.get(name) != default:
        sys.exit(f"{name}: the page has the default {default!r}, the plugin {declared.get(name)!r}")
if set(documented) != {"backend", "release_timeout", "drain_timeout"}:
    sys.exit(f"the page documents {sorted(documented)}")
del agent, scope
