"""Every format: what it must hold, and what a hostile server cannot do to it."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from markdown_it import MarkdownIt

from aml_contract.checking.document import Report, report_of
from aml_contract.outcome import Outcome
from aml_contract.report import schema
from aml_contract.report.formats import FORMATS
from tests.report.events import finished, run_of

SCHEMAS = Path(__file__).with_name("schemas")


@pytest.fixture(params=["whole", "killed", "nothing", "conformant"])
def any_report(request, report, conformant):
    if request.param == "killed":
        events = run_of([finished("echo/ids", Outcome.FAILED, "no"), *report.rules], ended=False)
        return report_of(events[:6])
    if request.param == "nothing":
        return report_of(run_of([finished("echo/ids", Outcome.PASSED, "")], ended=False)[:1])
    return conformant if request.param == "conformant" else report


def published(name):
    document = json.loads((SCHEMAS / name).read_text())
    kind = jsonschema.validators.validator_for(document)
    return kind(document, format_checker=kind.FORMAT_CHECKER)


def test_sarif_is_valid(any_report, rules):
    published("sarif-2.1.0.json").validate(json.loads(FORMATS["sarif"](any_report, rules)))


def test_ctrf_is_valid(any_report, rules):
    published("ctrf-schema-0.0.json").validate(json.loads(FORMATS["ctrf"](any_report, rules)))


def test_json_is_valid_and_reads_back(any_report, rules):
    document = json.loads(FORMATS["json"](any_report, rules))
    jsonschema.Draft202012Validator.check_schema(schema.report_schema())
    jsonschema.validate(document, json.loads(schema.PATH.read_text()))
    assert Report.model_validate(document) == any_report


def test_the_schema_refuses_what_is_no_report(conformant, rules):
    document = json.loads(FORMATS["json"](conformant, rules))
    document["rules"][0]["outcome"] = "excellent"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema.report_schema())


def test_junit_has_a_case_for_each_rule(report, rules):
    suites = ElementTree.fromstring(FORMATS["junit"](report, rules))
    (suite,) = suites
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "7", "failures": "2", "errors": "1", "skipped": "3"}
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert set(cases) == {result.rule for result in report.rules}
    for result in report.rules:
        properties = {p.get("name"): p.get("value") for p in cases[result.rule].iter("property")}
        assert properties == {
            "aml_rule": result.rule,
            "aml_level": result.level.value,
            "aml_clause": result.clause,
            "aml_outcome": result.outcome.value,
        }
    assert cases["fuzz/requests"].find("error") is not None
    assert cases["fuzz/requests"].find("failure") is None
    assert cases["order/scores"].find("skipped").get("message") == "warned: scores rise"
    assert "not tested" in cases["repeats/after-kill"].find("skipped").get("message")
    assert "not applicable" in cases["media/formats"].find("skipped").get("message")
    assert "fix   Mend" in cases["echo/untouched"].find("failure").text


def test_ctrf_counts_what_it_lists(report, rules):
    results = json.loads(FORMATS["ctrf"](report, rules))["results"]
    statuses = [test["status"] for test in results["tests"]]
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert results["summary"][status] == statuses.count(status)
    assert {test["rawStatus"] for test in results["tests"]} == {o.value for o in Outcome}


def test_sarif_points_at_the_line_that_names_the_endpoint(report, rules):
    (run,) = json.loads(FORMATS["sarif"](report, rules))["runs"]
    by_rule = {result["ruleId"]: result for result in run["results"]}
    assert set(by_rule) == {"echo/untouched", "isolation/case-twins", "order/scores"}
    place = by_rule["echo/untouched"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "aml.toml"
    assert place["region"]["startLine"] == 3
    assert by_rule["echo/untouched"]["level"] == "error"
    assert by_rule["order/scores"]["level"] == "warning"
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert not run["invocations"][0]["executionSuccessful"], "the kit broke in a rule"


def test_sarif_never_points_outside_of_the_project(report, rules):
    report.settings.origins = {"url": "/etc/aml.toml:3", "cmd": "../aml.toml:3"}
    (run,) = json.loads(FORMATS["sarif"](report, rules))["runs"]
    assert '"uri": "aml.toml"' in json.dumps(run)
    assert "/etc" not in json.dumps(run["results"])


def test_markdown_says_the_verdict_first_and_folds_findings(report, rules):
    text = FORMATS["markdown"](report, rules)
    assert text.startswith("## ❌ NONCONFORMANT: 2 of 3 MUST rules failed")
    assert text.count("<details>") == text.count("</details>") == 6
    assert "curl -sS" in text
    assert "aml check --url" in text


def test_what_a_server_says_is_no_markup_in_markdown(report, rules):
    tokens = MarkdownIt("commonmark").enable("table").parse(FORMATS["markdown"](report, rules))
    inside = [child for token in tokens for child in token.children or ()]
    html = "".join(t.content for t in [*tokens, *inside] if t.type.startswith("html"))
    assert set(re.findall(r"<(\w+)", html)) == {"details", "summary", "b"}
    assert not [child for child in inside if child.type in ("link_open", "image")]


def test_markdown_fits_a_comment_whatever_was_found(rules):
    message = "it said " + "very " * 4000 + "much"
    results = [finished(f"echo/rule-{n}", Outcome.FAILED, message) for n in range(40)]
    text = FORMATS["markdown"](report_of(run_of(results)), rules)
    assert len(text) < 65_536
    assert "left out" in text
    assert all(f"echo/rule-{n}</b>" in text for n in range(40))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_text_that_can_be_written(report, rules, name):
    text = FORMATS[name](report, rules)
    assert text.endswith("\n")
    assert "isolation/case-twins" in text
    assert "\x00" not in text or name == "markdown"
