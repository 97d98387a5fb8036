"""What a builder reads when nothing works yet: one finding, and what to look at first."""

import asyncio
import io

import pytest
from rich.console import Console

from aml_contract.checking.check import Check
from aml_contract.endpoint.target import Target
from aml_contract.outcome import Outcome
from aml_contract.report.progress import ProgressView
from aml_contract.report.wording import curl_heading, verdict_sentence
from aml_contract.rule import all_rules
from aml_contract.run import Run
from tests.kit.conftest import command

RULES = [
    rule
    for rule in all_rules()
    if rule.name in ("echo/ids", "visibility/immediate", "structure/legal-requests")
]
FIRST = [rule for rule in all_rules() if rule.family in ("errors", "structure")]


def report(rules=RULES, **target):
    check = Check(Target(**target), rules, Run(1, "salt", patience=0.01))
    asyncio.run(check.execute())
    return check.report()


def message(found):
    (finding,) = found.having(Outcome.FAILED)
    return finding.message


def test_a_404_asks_for_the_right_url():
    found = report(cmd=command(), add_url="/nowhere")
    assert "/nowhere the right Add URL? --add-url and --search-url name others" in message(found)


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ({}, "does the endpoint want a key? --auth and --key-env give one"),
        (
            {"auth": "bearer", "key": "wrong"},
            "is the key right, and is bearer its scheme (--auth)?",
        ),
    ],
)
def test_a_401_asks_for_the_key(key, advice):
    assert advice in message(report(cmd=f"SUBJECT_KEY=secret {command()[5:]}", **key))


def test_a_500_shows_what_the_server_logged():
    text = message(report(cmd=command("raise")))
    assert "the last errors in the server's log:" in text
    assert "    | sqlite3.OperationalError: database is locked" in text


def test_the_verdict_says_where_to_begin():
    found = report(cmd=command("refuse"))
    assert found.having(Outcome.NOT_TESTED)
    assert "1 of 1 MUST rule failed; 2 could not be tested." in verdict_sentence(found)
    assert verdict_sentence(found).endswith(
        "Begin with structure/legal-requests: 2 rules wait for it."
    )


def test_the_verdict_names_the_command_of_a_rule_that_was_not_selected():
    (alone,) = [rule for rule in RULES if rule.name == "echo/ids"]
    said = verdict_sentence(report([alone], cmd=command("refuse")))
    assert "nothing could be tested. structure/legal-requests says what is in the way: aml" in said
    assert said.endswith("--only structure/legal-requests")


def test_a_wrong_url_is_one_finding():
    found = report(FIRST, cmd=command(), add_url="/nowhere", search_url="/nowhere")
    assert [one.rule for one in found.having(Outcome.FAILED)] == ["structure/legal-requests"]


def test_a_page_instead_of_answers_is_said_by_the_rules_about_json():
    found = report(FIRST, cmd=command("page"))
    failed = [one.rule for one in found.having(Outcome.FAILED)]
    assert failed == ["structure/add-json", "structure/search-json"]
    warned = [one.rule for one in found.having(Outcome.WARNED)]
    assert not {"errors/malformed-json", "errors/invalid-fields"} & set(warned)


def test_a_log_holds_findings_and_how_far_the_run_is():
    log = io.StringIO()
    check = Check(Target(cmd=command("refuse")), RULES, Run(1, "salt", patience=0.01))
    check.view = ProgressView(Console(file=log), len(RULES))
    asyncio.run(check.execute())
    assert len(check.report().having(Outcome.NOT_TESTED)) == 2
    lines = log.getvalue().splitlines()
    assert "not tested" not in log.getvalue()
    assert sum("failed" in line for line in lines) == len(check.report().having(Outcome.FAILED))
    assert f"{len(RULES)} of {len(RULES)} rules are through" in lines


def test_the_curl_says_where_its_key_comes_from():
    key = {"auth": "bearer", "key": "secret", "key_env": "MY_KEY"}
    found = report(RULES[:1], cmd=f"SUBJECT_KEY=secret {command()[5:]}", **key)
    assert 'export AML_KEY="$MY_KEY"' in curl_heading(found)


def test_a_server_that_finds_nothing_is_one_finding():
    rules = [rule for rule in all_rules() if rule.family in ("isolation", "time", "visibility")]
    found = report(rules, cmd=command("lose"))
    assert [one.rule for one in found.having(Outcome.FAILED)] == ["visibility/immediate"]
