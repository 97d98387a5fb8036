"""What only the Coding track sends (clause T1): repository and session trajectories."""

from __future__ import annotations

from typing import Any

from aml_contract.finding import NotApplicable
from aml_contract.item import text_of
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.images import text_part
from aml_contract.techniques.steps import attempt, planted, refused
from aml_contract.trial import Trial

_CALL = '{"tool": "run", "arguments": {"command": "pytest -q  tests/test_ledger.py"}}'
_OUTPUT = """\
$ pytest -q  tests/test_ledger.py
F..                                                     [100%]
    def close(self):
>       self.db.close()
E       AttributeError: 'NoneType' object has no attribute 'close'
"""
_DIFF = """\
--- a/ledger.py
+++ b/ledger.py
@@ -41,3 +41,4 @@ class Ledger:
 \tdef close(self):
-\t\tself.db.close()
+\t\tif self.db:
+\t\t\tself.db.close()

"""


@rule(
    "fidelity/trajectory",
    level=Level.SHOULD,
    clauses=("T1", "A6", "A10"),
    title="Coding: a session of tool calls, output and diffs comes back space for space.",
    why="A diff without its indentation applies to nothing; tools speak in roles of their own "
    "and, by one reading, in text parts.",
    fix="Store texts as they are; join text parts by newlines; accept any role.",
    cost=Cost(adds=3, searches=8),
    capabilities={Capability.VERBATIM},
    modes=(10,),
    peers=("P35", "P36"),
    cases=("B17",),
)
async def trajectory(t: Trial) -> None:
    """One short session as strings, then as text parts, which may be refused (a risk)."""
    if t.run.track != "coding":
        raise NotApplicable("concerns the coding track (--track coding)")
    user = t.ns.user()
    await planted(t, user)
    await _session(t, user, parts=False)
    if not await _session(t, user, parts=True):
        t.warn(
            "a session whose contents are text parts was refused; the Coding track may send them",
            t.last_exchange_of("add"),
        )


async def _session(t: Trial, user: str, *, parts: bool) -> bool:
    """Store a session and read every turn back; false if parts were refused."""
    kind = "text parts" if parts else "strings"
    turns = []
    for role, text in (("user", _OUTPUT), ("assistant", _CALL), ("tool", _DIFF)):
        marker = t.ns.marker()
        turns.append((role, marker, f"# {marker.text}\n{text}".rstrip()))
    messages: list[dict[str, Any]] = [
        {"role": role, "content": [text_part(text)] if parts else text} for role, _, text in turns
    ]
    made = await attempt(t, "add", t.add_body(user, *messages))
    if parts and refused(made):
        return False
    t.require(
        made.status == 200,
        f"a coding session of {kind}, in the roles user, assistant and tool, was answered "
        f"{made.summary}",
        made,
    )
    for role, marker, text in turns:
        exchange = await t.search_exchange(user, marker.query)
        items = t.showing(t.items(exchange), marker)
        t.require(
            bool(items),
            f"a turn of the role {role}, sent as {kind}, was acknowledged and is not found",
            made,
            exchange,
        )
        t.require(
            any(text in text_of(item.raw.get("content")) for item in items),
            f"a turn of the role {role}, sent as {kind}, came back with other white space",
            made,
            exchange,
        )
    return True
