"""What a rule came to, in pytest's terms."""

import re
from xml.etree import ElementTree

import pytest

from aml_contract.checking.document import Report
from aml_contract.report.formats import FORMATS
from tests.pytest_plugin.conftest import FEW, command, counts

BREAKS = """
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule


@rule("echo/breaks", level=Level.MUST, clauses=("A1",), title="", why="", fix="", cost=Cost(adds=1))
async def breaks(trial):
    raise ZeroDivisionError("a slip of the kit")
"""
"""A conftest with a rule in which the kit breaks."""


def test_one_item_a_rule_and_the_verdict(project):
    junit = project.root / "junit.xml"
    done = project.contract(
        "--aml-cmd", command(), *FEW, "-v", "--aml-seed", 5, f"--junitxml={junit}", "--durations=2"
    )
    assert done.returncode == 0, done.stdout
    assert "aml_contract::visibility/immediate PASSED" in done.stdout
    assert "aml_contract::structure/add-success PASSED" in done.stdout
    assert "test_own" not in done.stdout
    assert "CONFORMANT: every MUST rule" in done.stdout
    assert "seed 5" in done.stdout
    assert re.search(r"s call +aml_contract::visibility/immediate", done.stdout)
    cases = {case.get("name"): case for case in ElementTree.parse(junit).iter("testcase")}
    case = cases["visibility/immediate"]
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert properties.pop("aml_clause")
    assert properties == {
        "aml_rule": "visibility/immediate",
        "aml_level": "MUST",
        "aml_outcome": "passed",
    }
    assert float(case.get("time")) > 0


@pytest.mark.parametrize("spread", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_reports_are_written_as_by_the_command_line(project, spread):
    wanted = [word for name in FORMATS for word in (f"--aml-{name}", f"out/report.{name}")]
    done = project.contract("--aml-cmd", command(), *FEW, *wanted, *spread)
    assert done.returncode == 0, done.stdout
    for name in FORMATS:
        assert f"{name} report: out/report.{name}" in done.stdout
        assert (project.root / f"out/report.{name}").stat().st_size > 0
    report = Report.model_validate_json((project.root / "out/report.json").read_text())
    assert report.verdict == "CONFORMANT"
    assert {result.rule for result in report.rules} == set(FEW[1::2])


def test_a_report_that_cannot_be_written_costs_nothing_else(project):
    project.write("file", "")
    done = project.contract("--aml-cmd", command(), *FEW, "--aml-json", "file/report.json")
    assert done.returncode == pytest.ExitCode.INTERNAL_ERROR, done.stdout
    assert "the json report was not written to " in done.stdout
    assert "CONFORMANT: every MUST rule" in done.stdout


def test_a_failure_shows_our_message_and_no_traceback(project):
    done = project.contract("--aml-cmd", command("lose"), *FEW)
    assert done.returncode == 1
    assert counts(done) == {"failed": 1, "passed": 1}
    assert "FAILED aml_contract::visibility/immediate" in done.stdout
    assert "fix  " in done.stdout
    assert "curl -sS -i http" in done.stdout
    assert "NONCONFORMANT" in done.stdout
    assert "items.py" not in done.stdout


def test_what_cannot_be_tested_is_skipped_with_its_reason_or_an_error_if_all_must_be(
    project, serve
):
    rules = ("--aml-only", "repeats/after-kill", "--aml-only", "auth/missing-key", *FEW)
    url = serve().url
    done = project.contract("--aml-url", url, "-rs", *rules)
    assert done.returncode == 0
    assert counts(done) == {"passed": 2, "skipped": 2}
    assert re.search(r"SKIPPED .*not tested: needs a server that the kit may kill", done.stdout)
    assert re.search(r"SKIPPED .*not applicable: no key scheme was given", done.stdout)
    assert "--aml-cmd" in done.stdout
    assert " --cmd" not in done.stdout
    assert "INCOMPLETE" in done.stdout
    required = project.contract("--aml-url", url, "--aml-require-all", *rules)
    assert required.returncode == 1
    assert counts(required) == {"passed": 2, "skipped": 1, "error": 1}
    assert "ERROR aml_contract::repeats/after-kill - RuleNotTested: not tested" in required.stdout


def test_a_risk_passes_with_a_warning_even_where_warnings_are_errors(project):
    # The subject answers malformed JSON with a 500: a SHOULD.
    rule = ("--aml-only", "errors/never-succeeds")
    project.settings("filterwarnings = error")
    done = project.contract("--aml-cmd", command(), *rule, "-W", "error")
    assert done.returncode == 0, done.stdout
    assert counts(done) == {"passed": 1, "warning": 1}
    assert "ContractWarning: errors/never-succeeds" in done.stdout
    strict = project.contract("--aml-cmd", command(), *rule, "--aml-strict", "-n", 1)
    assert counts(strict) == {"failed": 1}


def test_an_error_of_the_kit_is_an_error_and_says_so(project):
    project.write("conftest.py", BREAKS)
    done = project.contract("--aml-cmd", command(), "--aml-only", "echo/breaks", *FEW)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert counts(done) == {"passed": 2, "error": 1}
    words = "KitError: the kit broke, not the endpoint: ZeroDivisionError: a slip of the kit"
    assert f"ERROR aml_contract::echo/breaks - {words}" in done.stdout
    assert 'conftest.py", line 8, in breaks' in done.stdout
    assert "FAILED" not in done.stdout


@pytest.mark.parametrize("spread", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_nothing_there_is_one_message_and_no_rule_has_failed(project, spread):
    done = project.contract("--aml-url", "http://127.0.0.1:1", *spread)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stdout.count("connection refused") == 1
    assert "curl -sS -i http://127.0.0.1:1/health" in done.stdout
    assert "no tests ran" in done.stdout
    assert "no rule was tried" in done.stdout
    assert not re.search(r"FAILED|ERROR|\d+ failed|\d+ error", done.stdout)


def test_a_server_that_does_not_start_is_one_message(project):
    done = project.contract("--aml-cmd", command("closed"), *FEW)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no configuration found" in done.stdout
    assert not re.search(r"FAILED|ERROR|\d+ failed|\d+ error", done.stdout)
