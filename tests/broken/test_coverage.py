"""Coverage is complete: whatever asks for a rule has one, or a reason that holds."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aml_contract.report.coverage import Line, catalogue, coverage, gaps
from aml_contract.rule import all_rules
from tests.broken import servers
from tests.broken.serving import ROOT

RULES = all_rules()
KILLERS = {
    rule.name: [
        name
        for name, server in servers().items()
        if rule.name in server.kills and rule.name not in server.risks
    ]
    for rule in RULES
}


def test_there_is_no_gap():
    assert gaps(RULES, KILLERS) == []


def test_every_row_is_there():
    known = catalogue()
    assert list(known["mode"]) == [str(row) for row in range(1, 104)]
    assert list(known["peer"]) == [f"P{row}" for row in range(1, 153)]
    assert list(known["case"]) == [f"B{row:02}" for row in range(1, 41)]
    proto = (ROOT / "proto/aml/memory/v1/memory.proto").read_text()
    named = set(re.findall(r"\b[EARSFKLMT]\d{1,2}\b", proto))
    assert named <= set(known["clause"])


@pytest.mark.skipif("AML_CASES" not in os.environ, reason="AML_CASES names no file of cases")
def test_every_case_is_there():
    lines = Path(os.environ["AML_CASES"]).read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == set(catalogue()["case"])


def test_tests_that_reasons_name_exist():
    named = {
        path
        for line in coverage(RULES)
        if (line.reason or "").startswith("test of the kit itself")
        for path in re.findall(r"[\w/]+\.py", line.reason) or [f"none for {line.id}"]
    }
    assert not [path for path in named if not (ROOT / path).is_file()]


def test_gaps_are_told():
    rule = replace(RULES[0], name="new/rule", clauses=(), modes=(), peers=(), cases=())
    astray = replace(rule, name="new/astray", peers=("P999",))
    assert gaps([*RULES, rule, astray], KILLERS) == [
        "new/rule points at nothing",
        "new/rule has no killer",
        "new/astray points at peer P999, which does not exist",
        "new/astray has no killer",
    ]
    alone = [one for one in RULES if one.name != "media/remote-url"]
    assert "mode 16 has neither a rule nor a reason" in gaps(alone, None)
    for reason in ("because", "human review", "declaration: "):
        assert "none of platform's duty" in Line("mode", "1", "", (), reason).trouble


def test_the_command_shows_it():
    for where, words in ((ROOT, "FoldsCase"), (ROOT / "docs", "not known here")):
        done = subprocess.run(
            [Path(sys.executable).with_name("aml"), "rules", "--coverage"],
            capture_output=True,
            check=False,
            cwd=where,
            env=os.environ | {"COLUMNS": "200"},
            text=True,
        )
        assert done.returncode == 0, done.stdout[-2000:]
        assert words in done.stdout
        assert "0 gaps" in done.stdout
