import json
import sys

import pytest

from aml_contract.rule import all_rules
from tests.kit.conftest import ROOT


@pytest.mark.slow
def test_no_rule_sends_more_than_it_says(aml, tmp_path):
    server = "-m tests.broken Correct --port {port} --data {data} --auth bearer --key-env K"
    done = aml(
        "check", "--cmd", f"cd {ROOT} && exec {sys.executable} {server}",
        "--fault-cmd", "touch {data}/fault", "--heal-cmd", "rm -f {data}/fault",
        "--auth", "bearer", "--key-env", "K", "--json", "r.json", K="a-key-of-the-test",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    costs = {rule.name: sum(vars(rule.cost).values()) for rule in all_rules()}
    report = json.loads((tmp_path / "r.json").read_text())
    over = {r["rule"]: r["requests"] for r in report["rules"] if r["requests"] > costs[r["rule"]]}
    assert not over
