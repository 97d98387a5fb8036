"""A session: what is kept, what goes on, and whose errors are whose."""

import asyncio
import json
from importlib.metadata import version

import pytest

from aml_contract.certification.beginning import beginning_of
from aml_contract.certification.configuration import at_declared_load, settings_of
from aml_contract.certification.declaration import declaration_from
from aml_contract.certification.document import exit_code
from aml_contract.certification.kept import CannotGoOn, Kept, opened, plain
from aml_contract.certification.requirements import requirements_for
from aml_contract.certification.session import Session
from aml_contract.certification.stage import ORDER, Basis, Judgement, StageVerdict
from aml_contract.certification.stages import STAGES
from aml_contract.config.target import target_from
from aml_contract.endpoint.http import Unreachable
from aml_contract.endpoint.target import Target
from tests.certification.declared import declared
from tests.certification.endpoints import DECLARED, toml

KEY = "k-7b1e94c2"


class Counted:
    """A stage that says how often it was measured, or breaks."""

    def __init__(self, name, *, breaks=None, verdict=StageVerdict.PASS):
        self.name = name
        self.times = 0
        self._breaks = breaks
        self._verdict = verdict

    async def measure(self, context):
        self.times += 1
        assert context.directory.is_dir()
        if self._breaks:
            raise self._breaks
        return {"half": "\ud83d", "times": self.times, "pair": (1, 2)}

    def judge(self, data, basis):
        assert isinstance(data["pair"], list), "as it is read back"
        return Judgement(verdict=self._verdict, summary="It was counted.")


@pytest.fixture
def begun(tmp_path):
    """Makes a session in the same directory, again and again."""

    def begin(*stages, **how):
        settings = settings_of(write(tmp_path, endpoint={"url": "http://127.0.0.1:1"}), declared())
        target = Target(url="http://127.0.0.1:1", auth="bearer", key=KEY, key_env="MY_KEY")
        basis = Basis(declared(), requirements_for("textual"))
        kept = Kept(tmp_path / "out")
        beginning = beginning_of(basis, settings, target, **{"seed": 1, **how})
        if kept.earlier() is None:
            kept.begin(beginning)
        return Session(kept, beginning, basis, settings, target, {one.name: one for one in stages})

    return begin


def write(directory, **tables):
    path = directory / "endpoint.toml"
    path.write_text(toml(**tables))
    return path


def test_finished_stages_are_taken_over_as_they_are(begun):
    first, second = Counted("declaration"), Counted("preflight")
    session = begun(first, second)
    asyncio.run(session.execute())
    assert session.results["declaration"].data == {"half": "?", "times": 1, "pair": [1, 2]}
    later = begun(first, second, third := Counted("contract", breaks=Unreachable("gone")))
    asyncio.run(later.execute())
    assert (first.times, second.times, third.times) == (1, 1, 1)
    assert later.results == session.results


def test_an_error_of_the_kit_is_not_held_against_the_endpoint(begun):
    last = Counted("preflight")
    session = begun(Counted("declaration", breaks=ZeroDivisionError(f"it was {KEY}")), last)
    asyncio.run(session.execute())
    report = session.report()
    assert report.stopped.why == "error"
    assert KEY not in report.model_dump_json()
    assert report.verdict is StageVerdict.INCOMPLETE
    assert "The kit broke, not the endpoint" in report.reason
    assert exit_code(report) == 3
    assert last.times == 0
    assert isinstance(session.broke, ZeroDivisionError)


@pytest.mark.parametrize(
    ("verdict", "breaks", "code"),
    [
        (StageVerdict.FAIL, None, 1),
        (StageVerdict.FAIL, Unreachable("gone"), 4),
        (StageVerdict.FAIL, ZeroDivisionError(), 1),
        (StageVerdict.INCONCLUSIVE, None, 6),
        (StageVerdict.PASS, None, 6),
    ],
)
def test_exit_codes(begun, verdict, breaks, code):
    session = begun(Counted("declaration", verdict=verdict), Counted("preflight", breaks=breaks))
    asyncio.run(session.execute())
    assert exit_code(session.report()) == code


def test_a_file_that_is_missing_counts_unless_something_is_worse(begun):
    session = begun(Counted("declaration"))
    asyncio.run(session.execute())
    assert exit_code(session.report(), unwritten=True) == 3


def test_a_stage_that_cannot_be_kept_ends_it(begun, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device")

    session = begun(Counted("declaration"), last := Counted("preflight"))
    monkeypatch.setattr("aml_contract.certification.kept.write_whole", full)
    asyncio.run(session.execute())
    report = session.report()
    assert report.stopped.why == "not-kept"
    assert report.stopped.reason.endswith(
        "declaration.json could not be written: No space left on device"
    )
    assert exit_code(report) == 3
    assert report.stages == []
    assert last.times == 0


def test_what_is_judged_again_is_what_was_kept(begun):
    asyncio.run(begun(Counted("declaration")).execute())
    session = begun(Counted("declaration"))
    assert json.loads(session.report().model_dump_json())["stages"][0]["data"]["half"] == "?"


@pytest.mark.parametrize(
    ("otherwise", "words"),
    [
        ({"seed": 2}, "its seed was 1, now it is 2"),
        ({"allow_private": True}, "its --allow-private was not given, now it is given"),
        ({"volume": 430}, "its --volume was not given, now it is 430"),
    ],
)
def test_it_goes_on_with_the_same_options_or_not_at_all(begun, otherwise, words):
    session = begun()
    assert session.kept.go_on(session.beginning) == session.beginning
    with pytest.raises(CannotGoOn) as refused:
        session.kept.go_on(begun(**otherwise).beginning)
    assert words in str(refused.value)


def changes(beginning):
    """The same certification, changed in one thing each."""
    declaration = beginning.declaration
    return {
        "its version in [declaration] was 1.4.2": {
            "declaration": declaration.model_copy(update={"version": "2"})
        },
        "its endpoint was": {"target": ["--url", "http://127.0.0.1:2"]},
        "its review in [declaration] was 67: ": {
            "declaration": declaration.model_copy(update={"review": {}})
        },
        "its list of [hooks] was not given, now it is restart_cmd: 0a": {
            "hooks": {"restart_cmd": "0a"}
        },
        "its list of declined capabilities was not given, now it is verbatim": {
            "declined": ["verbatim"]
        },
        f"its kit was {version('aml-contract')}": {
            "kit": beginning.kit.model_copy(update={"digest": "0" * 64})
        },
        "its requirement set was aml-cycle-2 for textual": {
            "requirement_set": beginning.requirement_set.model_copy(update={"track": "coding"})
        },
    }


def test_it_goes_on_as_it_began_or_not_at_all(begun):
    kept, beginning = begun().kept, begun().beginning
    for words, change in changes(beginning).items():
        with pytest.raises(CannotGoOn) as refused:
            kept.go_on(beginning.model_copy(update=change))
        assert words in str(refused.value)
        assert str(refused.value).count("now it is") == 1, "nothing else is said to differ"


@pytest.mark.parametrize("name", ["certification.json", "stages/declaration.json"])
def test_files_that_were_tampered_with_are_not_gone_on_with(begun, name):
    session = begun(Counted("declaration"))
    asyncio.run(session.execute())
    (session.kept.directory / name).write_text('{"half": ')
    with pytest.raises(CannotGoOn, match="not what the kit wrote there"):
        begun()


def test_one_process_at_a_time(tmp_path):
    with (
        opened(tmp_path / "out"),
        pytest.raises(CannotGoOn, match="under way"),
        opened(tmp_path / "out"),
    ):
        pass
    with opened(tmp_path / "out"):
        pass


def test_a_directory_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotGoOn, match="cannot be used"), opened(tmp_path / "file" / "out"):
        pass


def test_data_of_a_stage_are_json():
    with pytest.raises(ValueError, match="JSON"):
        plain({"seconds": float("nan")})


def test_only_what_concerns_the_endpoint_is_taken_from_its_file(tmp_path):
    path = write(
        tmp_path,
        endpoint={"url": "http://127.0.0.1:1"},
        run={"only": ["echo"], "quick": True, "seed": 3},
        limits={"concurrency": 4, "time": 5.0, "fuzz_budget": 0.0},
        report={"strict": True},
        declaration=DECLARED | {"track": "coding"},
    )
    settings = settings_of(path, declaration_from(path))
    assert settings["only"] == ()
    assert settings["time"] is None
    assert settings["fuzz_budget"] == 20.0
    assert (settings["quick"], settings["strict"]) == (False, False)
    assert (settings["seed"], settings["concurrency"]) == (3, 4)
    assert settings["track"] == "coding", "the declared one, where no other is named"


def test_commands_of_an_operator_are_in_no_report(begun, tmp_path):
    endpoint = {"url": "http://127.0.0.1:1"}
    command = "curl -H 'authorization: Bearer s3cret' https://ops.example/restart"
    path = write(tmp_path, endpoint=endpoint, hooks={"restart_cmd": command})
    settings = settings_of(path, declared())
    basis = Basis(declared(), requirements_for("textual"))
    beginning = beginning_of(basis, settings, target_from(settings), seed=1)
    assert "s3cret" not in beginning.model_dump_json()
    assert beginning.target == ["--url", "http://127.0.0.1:1"]
    assert list(beginning.hooks) == ["restart_cmd"]


def test_no_more_is_in_flight_than_is_declared(tmp_path):
    path = write(
        tmp_path,
        endpoint={"url": "http://127.0.0.1:1"},
        limits={"concurrency": 200, "add_concurrency": 99},
        declaration=DECLARED | {"add_concurrency": 24, "search_concurrency": 32},
    )
    declaration = declaration_from(path)
    target = at_declared_load(target_from(settings_of(path, declaration)), declaration)
    loads = (target.concurrency, target.add_concurrency, target.search_concurrency)
    assert loads == (24, 24, 32)


def test_the_stages_are_those_that_a_certificate_needs():
    assert tuple(STAGES) == ORDER
