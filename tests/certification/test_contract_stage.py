"""What rules came to, judged: the same by whoever measured and whoever verifies."""

import pytest
from pydantic import ValidationError

from aml_contract.certification.contract import ContractData, ContractStage, lowered
from aml_contract.certification.requirements import requirements_for
from aml_contract.certification.stage import Basis, StageVerdict
from aml_contract.outcome import Outcome
from tests.certification.certified import contract_data
from tests.certification.declared import declared

BASIS = Basis(declared(), requirements_for("textual"))
KILLS = sorted(BASIS.requirements.managed)
NEEDS_KILL = "needs a server that the kit may kill -9: --cmd, --app or --system"


def judged(data, basis=BASIS):
    return ContractStage().judge(data, basis)


def counting(judgement):
    return [problem for problem in judgement.problems if problem.counts]


def untested(*rules):
    return dict.fromkeys(rules, Outcome.NOT_TESTED)


def test_what_passed_passes():
    found = judged(contract_data())
    assert found.verdict is StageVerdict.PASS
    assert not counting(found)
    assert "16 Adds and 32 Searches" in found.summary


def test_a_failed_must_fails_with_its_fix_and_its_clause():
    found = judged(contract_data(**{"echo/ids": Outcome.FAILED}, **untested("echo/exotic")))
    assert found.verdict is StageVerdict.FAIL
    first, second = counting(found)
    assert first.sentence == "echo/ids: so it came out"
    assert first.fix
    assert first.clause == "A1"
    assert "echo/exotic" in second.sentence, "nothing is left out because something else is worse"


def test_broken_shoulds_are_listed_and_count_for_nothing():
    found = judged(contract_data(**{"fidelity/text": Outcome.WARNED, "input/roles": "warned"}))
    assert found.verdict is StageVerdict.PASS
    named = [problem.sentence.partition(":")[0] for problem in found.problems]
    assert named == ["fidelity/text", "input/roles"]
    assert "2 warnings" in found.summary


@pytest.mark.parametrize("outcome", [Outcome.NOT_TESTED, Outcome.KIT_ERROR])
def test_an_untested_must_is_incomplete(outcome):
    found = judged(contract_data(**{"echo/ids": outcome, "echo/exotic": outcome}))
    assert found.verdict is StageVerdict.INCOMPLETE
    (problem,) = counting(found)
    assert "2 rules could not be tested (echo/exotic, echo/ids): so it came out" in problem.sentence
    assert ("the kit itself" in problem.fix) == (outcome is Outcome.KIT_ERROR)


def test_a_must_that_lacks_is_untested():
    found = judged(contract_data(without={"echo/ids"}))
    assert found.verdict is StageVerdict.INCOMPLETE
    assert "echo/ids" in counting(found)[0].sentence


def test_an_untested_should_costs_nothing():
    assert judged(contract_data(**untested("fidelity/text"))).verdict is StageVerdict.PASS


def test_a_stranger_is_excused_from_being_killed_and_readers_are_told():
    found = judged(contract_data(**untested(*KILLS)))
    assert found.verdict is StageVerdict.PASS
    (told,) = found.problems
    assert "kill -9" in told.sentence
    assert "5 rules" in told.sentence


def test_what_the_kit_started_must_be_killed():
    found = judged(contract_data(kind="cmd", **untested(*KILLS)))
    assert found.verdict is StageVerdict.INCOMPLETE


def test_a_stranger_that_cannot_be_restarted_is_told_what_to_do_once():
    restarts = ("durability/restart", "repeats/after-restart", *KILLS)
    found = judged({**contract_data(**untested(*restarts)), "restartable": False})
    assert found.verdict is StageVerdict.INCOMPLETE
    (problem,) = counting(found)
    assert 'restart_cmd = "…" in [hooks]' in problem.fix


@pytest.mark.parametrize("name", ["add_concurrency", "search_concurrency"])
def test_less_load_than_is_declared_is_incomplete(name):
    found = judged({**contract_data(), name: 8})
    assert found.verdict is StageVerdict.INCOMPLETE
    assert "8 " in counting(found)[0].sentence
    assert found.summary.startswith("No MUST rule failed, but 8 ")


def test_another_track_is_incomplete():
    found = judged(contract_data(), Basis(declared(), requirements_for("coding")))
    assert found.verdict is StageVerdict.INCOMPLETE
    assert any("tried as textual, not as coding" in one.sentence for one in counting(found))


def test_outcomes_that_are_not_those_of_the_report_are_refused():
    data = contract_data(**{"echo/ids": Outcome.FAILED})
    data["outcomes"]["echo/ids"] = "passed"
    with pytest.raises(ValidationError, match="not those of the report"):
        judged(data)


@pytest.mark.parametrize(
    ("claimed", "rules", "name"),
    [
        (["images", "auth"], ["fidelity/text", "fidelity/code"], "verbatim"),
        (["verbatim"], ["auth/wrong-key", "auth/missing-key"], "auth"),
        (["verbatim", "auth"], ["errors/store-fault-add"], "fault"),
    ],
)
def test_what_lowered_the_bar_has_a_name(claimed, rules, name):
    data = contract_data(**dict.fromkeys(rules, Outcome.NOT_APPLICABLE))
    data["report"]["settings"]["capabilities"] = claimed
    (found,) = lowered(ContractData.model_validate(data))
    assert found.name == name
    assert sorted(found.rules) == sorted(rules)
    assert judged(data).verdict is StageVerdict.PASS


def test_what_does_not_concern_a_track_lowers_nothing():
    data = contract_data(**{"media/text-only-refuses": Outcome.NOT_APPLICABLE})
    assert lowered(ContractData.model_validate(data)) == []
