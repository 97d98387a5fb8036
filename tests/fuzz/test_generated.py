"""Generated requests: judged by our document, sent again before they are reported."""

import json
import subprocess
import sys

import jsonschema
import pytest

from aml_contract.fuzz import generated, sample
from aml_contract.fuzz.document import document
from aml_contract.fuzz.generated import Generator
from aml_contract.fuzz.history import History
from aml_contract.fuzz.sample import ODDITIES, Sample
from aml_contract.outcome import Outcome
from aml_contract.rule import all_rules
from tests.broken.correct import Correct, Reply
from tests.broken.serving import judge
from tests.servers import in_thread

RULES = {rule.name: rule for rule in all_rules() if rule.family == "fuzz"}


class ErrsOnce(Correct):
    """One request in its life is answered 500."""

    kills = {}
    erred = False

    async def search(self, body):
        if not self.erred:
            self.erred = True
            return Reply(500, {"detail": {"reason": "an error"}})
        return await super().search(body)


class ChokesOnControls(Correct):
    kills = {}

    async def add(self, body):
        text = "".join(message.content for message in self.check_add(self.parse(body)).messages)
        if not text.replace("\n", "").replace("\t", "").isprintable():
            return Reply(500, {"detail": {"reason": "an error"}})
        return await super().add(body)


class BreaksInTwoPlaces(Correct):
    """Two causes, each found many times."""

    kills = {}

    async def search(self, body):
        fields = self.parse(body)
        if isinstance(fields, dict) and (
            not isinstance(fields.get("query", ""), str | list)
            or not isinstance(fields.get("user_id", ""), str)
        ):
            return Reply(500, {"detail": {"reason": "an error"}})
        return await super().search(body)


def tried(server, name, *, budget=60.0):
    with in_thread(server()) as url:
        (result,) = judge([RULES[name]], url=url, thresholds={"fuzz_budget": budget}).values()
    return result


@pytest.fixture
def brief(monkeypatch):
    monkeypatch.setattr(generated, "EXAMPLES", 25)
    monkeypatch.setattr(generated, "ROUNDS", 1)


@pytest.mark.parametrize("name", ["fuzz/schema", "fuzz/invalid"])
def test_the_correct_server_passes(brief, name):
    result = tried(Correct, name)
    assert result.outcome is Outcome.PASSED, result.message
    assert result.repeat is None


def test_an_error_that_does_not_repeat_is_a_note(brief):
    result = tried(ErrsOnce, "fuzz/schema")
    assert result.outcome is Outcome.PASSED, result.message
    assert any("seen once" in note and "500" in note for note in result.notes)


def test_what_readers_take_for_robustness_is_a_warning(monkeypatch):
    monkeypatch.setattr(generated, "ROUNDS", 1)
    result = tried(ChokesOnControls, "fuzz/schema")
    assert result.outcome is Outcome.WARNED, result.message
    assert "because of control characters" in result.message


def test_each_cause_is_told_once(monkeypatch):
    monkeypatch.setattr(generated, "EXAMPLES", 40)
    result = tried(BreaksInTwoPlaces, "fuzz/invalid", budget=240)
    lines = [line for line in result.message.splitlines() if "was answered 500" in line]
    places = [line.partition("(")[2].partition(":")[0] for line in lines]
    assert sorted(places) == ["query", "user_id"]


def test_the_same_seed_generates_the_same(brief, monkeypatch):
    made = []
    original = Sample.named
    monkeypatch.setattr(
        Sample, "named", lambda self, *how: made.append(self) or original(self, *how)
    )
    runs = []
    for _ in range(2):
        made.clear()
        tried(Correct, "fuzz/schema")
        runs.append(list(made))
    assert runs[0] == runs[1]
    assert len(runs[0]) > 25


@pytest.mark.parametrize(
    ("name", "judge_"),
    [("fuzz/schema", (Generator, "_fault")), ("fuzz/history", (History, "make"))],
)
def test_errors_of_the_kit_are_the_kits(name, judge_, monkeypatch):
    monkeypatch.setattr(*judge_, lambda *_: {}["a mistake"])
    result = tried(Correct, name, budget=10)
    assert result.outcome is Outcome.KIT_ERROR
    assert "a mistake" in result.message


def test_without_budget_nothing_is_sent():
    result = tried(Correct, "fuzz/history", budget=0)
    assert result.outcome is Outcome.NOT_TESTED
    assert result.requests == 0


@pytest.mark.parametrize("name", RULES)
def test_without_the_extra_it_is_named(name, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    result = tried(Correct, name)
    assert result.outcome is Outcome.NOT_TESTED
    assert "aml-contract[fuzz]" in result.message


def test_nothing_heavy_is_imported_before_it_is_used():
    code = (
        "import sys; from aml_contract.rule import all_rules; import aml_cli.main; all_rules();"
        "sys.exit(bool({'hypothesis', 'schemathesis'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("usual", [True, False])
def test_answers_are_held_to_the_lenient_reading(usual):
    made = document(usual=usual, images=False)
    answer = {"data": [{"id": "m", "content": "c", "score": None, "created_at": 5, "more": 1}]}
    schema = {"$ref": "#/components/schemas/SearchResponse", "components": made["components"]}
    jsonschema.validate(answer, schema)
    answer["data"][0]["id"] = 7
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, schema)
    assert set(made["paths"]) == {"/add", "/search"}


def test_samples_survive_a_report():
    for body in ({"query": "q", "user_id": "u", "top_k": 1}, b"\xff\x00", [None]):
        kept = json.loads(json.dumps(Sample("search", body, 1, asks=True).as_json()))
        assert Sample.from_json(kept) == Sample("search", body, 1, asks=True)


@pytest.mark.parametrize("oddity", ODDITIES, ids=lambda oddity: oddity.words)
def test_an_ordinary_request_has_no_oddity(oddity):
    message = {"role": "user", "content": "text\nof two lines", "timestamp": 1704067200000}
    body = {"request_id": "r", "user_id": "u", "session_id": "s", "messages": [message]}
    assert oddity.tame(Sample("add", body)) == Sample("add", body)
    assert sample.canonical(Sample("add", body)) == sample.canonical(Sample("add", dict(body)))
