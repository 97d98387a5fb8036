"""``aml certify`` on real servers: begun, killed, gone on with, refused."""

import json
import os
import signal

import jsonschema
import pytest

from aml_contract.certification.report.schema import PATH, certification_schema
from aml_contract.checking.events import read_events
from tests.certification.endpoints import DECLARED, Certifying, killed, managed, outcomes
from tests.servers import eventually, in_process

QUICK = "declaration,preflight"
LONG = 200
"""Seconds, on a machine that is busy."""


@pytest.fixture
def certifying(tmp_path):
    made = Certifying(tmp_path)
    made.started = []
    yield made
    for child in made.started:
        if child.poll() is None:
            killed(child)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """A certification that came to its end in one go."""
    made = Certifying(tmp_path_factory.mktemp("whole"))
    made.done = made.run("--seed", 5)
    return made


def rules_begun(certifying):
    """How often each rule was tried."""
    events = read_events(certifying.out / "work" / "contract" / "events.jsonl")
    names = [event["rule"] for event in events if event["event"] == "rule_started"]
    return {name: names.count(name) for name in names}


def test_it_says_what_it_came_to_and_what_to_do(uninterrupted):
    done = uninterrupted.done
    assert done.returncode == 6, done.stdout + done.stderr
    report = uninterrupted.report()
    jsonschema.validate(report, json.loads(PATH.read_text()))
    verdict, verdicts, found = outcomes(report)
    assert verdict == "INCOMPLETE"
    assert set(verdicts.values()) == {"PASS"}
    assert set(found.values()) == {"passed"}
    assert report["begun"]["seed"] == 5
    assert report["lowered"] == []
    assert report["certificate"] is None
    assert "INCOMPLETE: Not measured: capacity, forecast." in done.stdout
    page = (uninterrupted.out / "report.html").read_text()
    assert "Not measured: capacity, forecast." in page
    assert 'href="contract.html"' in page
    assert "<h1>CONFORMANT</h1>" in (uninterrupted.out / "contract.html").read_text()


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(certification_schema())


def test_killed_in_every_stage_it_ends_the_same_and_repeats_nothing(certifying, uninterrupted):
    names = ["declaration", "preflight", "contract", "fingerprint"]
    finished = {}
    for number, name in enumerate(names):
        certifying.held.unlink(missing_ok=True)
        child = certifying.start(*["--resume"][:number], "--seed", 5, hold=name)
        certifying.started.append(child)
        eventually(certifying.held.exists, seconds=LONG)
        killed(child)
        there = certifying.stages()
        assert set(there) == set(names[:number]), "what was not kept is not finished"
        assert finished.items() <= there.items(), "no finished stage is repeated"
        finished = there
    done = certifying.run("--resume", "--seed", 5)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "goes on; finished are: declaration, preflight, contract." in done.stdout
    assert finished.items() <= certifying.stages().items()
    assert set(rules_begun(certifying).values()) == {1}, "nor is a finished rule"
    assert outcomes(certifying.report()) == outcomes(uninterrupted.report())


def test_killed_among_the_rules_none_that_was_finished_is_tried_again(certifying):
    child = certifying.start(stages="contract")
    certifying.started.append(child)
    events = certifying.out / "work" / "contract" / "events.jsonl"
    eventually(lambda: events.exists() and events.read_text().count('"rule_finished"') >= 4, seconds=LONG)
    killed(child)
    came = {e["result"]["rule"] for e in read_events(events) if e["event"] == "rule_finished"}
    done = certifying.run("--resume", stages="contract")
    assert done.returncode == 6, done.stdout + done.stderr
    _, verdicts, found = outcomes(certifying.report())
    assert verdicts == {"contract": "PASS"}
    assert set(found.values()) == {"passed"}
    tried = rules_begun(certifying)
    assert all(tried[rule] == 1 for rule in came)


@pytest.mark.parametrize(
    ("changed", "arguments", "words"),
    [
        ({"declaration": DECLARED | {"version": "2.0.0"}}, [], "version in [declaration] was"),
        ({"endpoint": managed("FoldsCase")}, [], "its endpoint was"),
        ({"capabilities": {"without": ["verbatim"]}}, [], "declined capabilities was not given"),
        ({}, ["--seed", 6], "its seed was 5, now it is 6"),
        ({}, ["--volume", 10], "its --volume was not given, now it is 10"),
    ],
)
def test_it_goes_on_as_it_began_or_not_at_all(certifying, changed, arguments, words):
    certifying.run("--seed", 5, stages="declaration")
    before = certifying.stages()
    certifying.write(**changed)
    done = certifying.run("--resume", *arguments, stages=QUICK)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert certifying.stages() == before


def test_another_kit_does_not_go_on(certifying):
    certifying.run(stages="declaration")
    file = certifying.out / "certification.json"
    begun = json.loads(file.read_text())
    begun["kit"]["digest"] = "0" * 64
    file.write_text(json.dumps(begun))
    done = certifying.run("--resume", stages=QUICK)
    assert done.returncode == 2
    assert "its kit was" in done.stderr


def test_what_is_there_is_not_begun_again_unasked(certifying):
    certifying.run(stages="declaration")
    done = certifying.run(stages=QUICK)
    assert done.returncode == 2
    assert "--resume goes on with it" in done.stderr
    assert set(certifying.stages()) == {"declaration"}


def test_there_must_be_something_to_go_on_with(certifying):
    done = certifying.run("--resume", stages=QUICK)
    assert done.returncode == 2
    assert "leave --resume out" in done.stderr


def test_two_at_once_in_one_directory_are_refused(certifying):
    child = certifying.start(stages=QUICK, hold="declaration")
    certifying.started.append(child)
    eventually(certifying.held.exists, seconds=LONG)
    done = certifying.run("--resume", stages=QUICK)
    assert done.returncode == 2
    assert "another certification is under way" in done.stderr
    killed(child)
    assert certifying.run("--resume", stages=QUICK).returncode != 2, "the lock died with it"


@pytest.mark.parametrize("polite", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_a_report(certifying, polite):
    child = certifying.start(stages=QUICK, hold="preflight")
    certifying.started.append(child)
    eventually(certifying.held.exists, seconds=LONG)
    os.kill(child.pid, polite)
    assert child.wait(timeout=LONG) == 130
    report = certifying.report()
    assert report["stopped"] == {"why": "interrupted", "stage": "preflight", "reason": ""}
    assert [one["stage"] for one in report["stages"]] == ["declaration"]
    assert "--resume goes on" in (certifying.directory / "output").read_text()
    assert "interrupted" in (certifying.out / "report.html").read_text()


def test_nothing_that_answers_is_told_apart_from_failure(certifying):
    certifying.write(endpoint={"url": "http://127.0.0.1:1"})
    done = certifying.run(stages="declaration,contract")
    assert done.returncode == 4
    report = certifying.report()
    assert report["verdict"] == "INCOMPLETE"
    assert report["stopped"]["why"] == "unreachable"
    assert "Nothing answers at" in done.stdout


def test_a_remote_server_must_be_restarted_to_be_certified(certifying):
    words = managed()["cmd"].partition("exec ")[2].replace("{data}", str(certifying.directory))
    with in_process(words.split()) as server:
        certifying.write(endpoint={"url": server.url})
        done = certifying.run(stages="contract")
    assert done.returncode == 6
    assert "becomes no certificate" in done.stdout, "said before anything is measured"
    (contract,) = certifying.report()["stages"]
    counting = [one for one in contract["judgement"]["problems"] if one["counts"]]
    assert len(counting) == 1
    assert "restart_cmd" in counting[0]["fix"]
    assert [one["name"] for one in certifying.report()["lowered"]] == ["kill"]


def test_a_broken_rule_fails_it(certifying):
    certifying.write(endpoint=managed("Created"))
    done = certifying.run(stages="contract")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL: Stage contract: " in done.stdout
    assert "structure/add-status" in (certifying.out / "report.html").read_text()


def test_a_key_that_cannot_be_used_is_found_out_first(certifying, tmp_path):
    done = certifying.run("--key", tmp_path / "none.key")
    assert done.returncode == 2
    assert "none.key" in done.stderr
    assert not certifying.out.exists()
