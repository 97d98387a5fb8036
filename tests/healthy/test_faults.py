"""The reference memory while its store is broken, by the rules that ask for a fault."""

import sys

from aml_contract.rule import Need, all_rules
from tests.broken.serving import ROOT, judge


def test_hybrid_without_its_index():
    table = f"cd {ROOT} && {sys.executable} -m tests.healthy.lost_table"
    found = judge(
        [rule for rule in all_rules() if Need.FAULT in rule.needs],
        cmd=f"exec {sys.executable} -m aml_cli.main serve hybrid --port {{port}} --data {{data}}",
        fault_cmd=f"{table} {{data}}/hybrid.sqlite3 posting lose",
        heal_cmd=f"{table} {{data}}/hybrid.sqlite3 posting find",
    )
    assert len(found) >= 5
    bad = {n: f"{r.outcome}: {r.message}" for n, r in found.items() if r.outcome != "passed"}
    assert not bad
