import pytest

from aml_contract.checking.document import EndpointInfo, Report, Settings, exit_code
from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Level, Outcome, Verdict, outcome_of_violation, verdict_of
from aml_contract.report.wording import verdict_sentence

MUST, SHOULD, MAY = Level.MUST, Level.SHOULD, Level.MAY


@pytest.mark.parametrize(
    ("level", "strict", "outcome"),
    [
        (MUST, False, Outcome.FAILED),
        (SHOULD, False, Outcome.WARNED),
        (SHOULD, True, Outcome.FAILED),
        (MAY, True, Outcome.WARNED),
    ],
)
def test_the_level_decides_what_a_violation_means(level, strict, outcome):
    assert outcome_of_violation(level, strict=strict) is outcome


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([(MUST, Outcome.PASSED)], Verdict.CONFORMANT),
        ([(MUST, Outcome.PASSED), (MUST, Outcome.NOT_APPLICABLE)], Verdict.CONFORMANT),
        ([(MUST, Outcome.PASSED), (SHOULD, Outcome.NOT_TESTED)], Verdict.CONFORMANT),
        ([(MUST, Outcome.PASSED), (SHOULD, Outcome.FAILED)], Verdict.CONFORMANT),
        ([(MUST, Outcome.PASSED), (MUST, Outcome.NOT_TESTED)], Verdict.INCOMPLETE),
        ([(MUST, Outcome.PASSED), (MUST, Outcome.KIT_ERROR)], Verdict.INCOMPLETE),
        ([(MUST, Outcome.NOT_TESTED), (MUST, Outcome.FAILED)], Verdict.NONCONFORMANT),
    ],
)
def test_the_verdict(results, verdict):
    assert verdict_of(results) is verdict


def report(*outcomes, stopped=None, verdict=Verdict.CONFORMANT):
    return Report(
        kit="0",
        run="r",
        verdict=verdict,
        stopped=stopped,
        seed=1,
        started="now",
        seconds=1.0,
        endpoint=EndpointInfo(
            kind="url", add_url="", search_url="", health_url="", auth="none", flags=[]
        ),
        settings=Settings(
            concurrency=1, capabilities=[], track="textual", strict=False, quick=False, budget=None
        ),
        rules=[
            RuleResult(rule="a/b", level=MUST, clause="A1", outcome=outcome, transport="http")
            for outcome in outcomes
        ],
    )


PASSED, FAILED, WARNED = Outcome.PASSED, Outcome.FAILED, Outcome.WARNED
NOT_TESTED, NOT_APPLICABLE, KIT = Outcome.NOT_TESTED, Outcome.NOT_APPLICABLE, Outcome.KIT_ERROR


@pytest.mark.parametrize(
    ("outcomes", "more", "code"),
    [
        ([PASSED], {}, 0),
        ([WARNED], {}, 0),
        ([PASSED, FAILED], {}, 1),
        ([PASSED, KIT], {}, 3),
        ([FAILED, KIT], {}, 1),
        ([KIT], {}, 3),
        ([NOT_TESTED], {}, 5),
        ([NOT_APPLICABLE], {}, 5),
        ([NOT_TESTED], {"stopped": "unreachable"}, 4),
        ([FAILED], {"stopped": "interrupted"}, 130),
        ([NOT_TESTED], {"stopped": "interrupted"}, 130),
        ([PASSED, NOT_TESTED], {"verdict": Verdict.INCOMPLETE}, 0),
    ],
)
def test_the_first_exit_code_that_holds(outcomes, more, code):
    assert exit_code(report(*outcomes, **more)) == code


def test_incomplete_is_six_only_where_everything_is_required():
    made = report(PASSED, NOT_TESTED, verdict=Verdict.INCOMPLETE)
    assert exit_code(made, require_all=True) == 6
    assert exit_code(report(NOT_TESTED), require_all=True) == 5
    assert exit_code(report(PASSED), require_all=True) == 0


def test_a_quick_verdict_says_that_it_is_one():
    made = report(PASSED)
    assert "--quick" not in verdict_sentence(made)
    made.settings.quick = True
    assert verdict_sentence(made).endswith("Only quick ones were tried; without --quick, all are.")


def test_a_verdict_without_a_must_rule_claims_nothing_of_them():
    made = report(PASSED)
    made.rules[0].level = MAY
    assert verdict_sentence(made) == "no MUST rule was among those tried."


@pytest.mark.parametrize("verdict", [Verdict.INCOMPLETE, Verdict.NONCONFORMANT])
def test_a_rule_that_passed_and_kept_others_is_doubted(verdict):
    made = report(PASSED, NOT_TESTED, FAILED, verdict=verdict)
    made.rules[1].message = "an ordinary message is not found (see a/b)"
    made.rules[2].rule = "c/d"
    doubt = " a/b passed, but kept 1 rule from being tried: it may hold at times only."
    assert verdict_sentence(made).endswith(doubt)
    made.rules[0].rule = "e/f"
    assert "from being tried" not in verdict_sentence(made)
