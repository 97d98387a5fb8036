"""``aml certify`` on real servers: begun, killed, gone on with, refused."""

import json
import os
import shutil
import signal
import subprocess
import sys

import jsonschema
import pytest

from aml_contract.certification.report.schema import PATH, certification_schema
from aml_contract.certification.stage import ORDER
from aml_contract.checking.events import read_events
from tests.certification.endpoints import (
    DECLARED,
    ROOT,
    Certifying,
    killed,
    managed,
    outcomes,
)
from tests.servers import eventually, in_process

QUICK = "declaration,preflight"
SMALL = ("--volume", 430)
"""A hundredth of a Full run is forecast."""
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
    made.done = made.run("--seed", 5, *SMALL, stages=None)
    return made


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A directory with ``organiser.key``, and a trust store that believes it."""
    directory = tmp_path_factory.mktemp("keys")
    trust = ["trust", "organiser.pub", "--trust-store", "store", "--organisation", "Example"]
    for words in (["new", "organiser"], trust):
        command = [sys.executable, "-m", "aml_cli.main", "keys", *words]
        subprocess.run(command, cwd=directory, check=True)
    return directory


def verified(certifying, keys):
    """What ``aml verify`` says of the certificate, by the same few rules."""
    verify = ["verify", certifying.out / "certificate.json", "--trust-store", keys / "store"]
    words = [sys.executable, "-m", "tests.certification.driver", *map(str, verify)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def rules_begun(certifying):
    """How often each rule was tried."""
    events = read_events(certifying.out / "work" / "contract" / "events.jsonl")
    names = [event["rule"] for event in events if event["event"] == "rule_started"]
    return {name: names.count(name) for name in names}


def test_it_says_what_it_came_to_and_what_to_do(uninterrupted):
    done = uninterrupted.done
    assert done.returncode == 0, done.stdout + done.stderr
    report = uninterrupted.report()
    jsonschema.validate(report, json.loads(PATH.read_text()))
    verdict, verdicts, found = outcomes(report)
    assert verdict == "PASS"
    assert verdicts == dict.fromkeys(ORDER, "PASS")
    assert set(found.values()) == {"passed"}
    assert report["begun"]["seed"] == 5
    assert report["lowered"] == []
    assert report["certificate"] is None
    assert "PASS: Every stage passed." in done.stdout
    assert "It was a rehearsal" in done.stdout
    page = (uninterrupted.out / "report.html").read_text()
    assert "Every stage passed." in page
    assert "not signed" in page
    assert 'href="contract.html"' in page
    assert "<h1>CONFORMANT</h1>" in (uninterrupted.out / "contract.html").read_text()


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(certification_schema())


@pytest.mark.timeout(1800)
def test_killed_in_every_stage_it_ends_the_same_and_repeats_nothing(
    certifying, uninterrupted, keys
):
    finished = {}
    for number, name in enumerate(ORDER):
        certifying.held.unlink(missing_ok=True)
        again = ["--resume"] if number else []
        child = certifying.start(*again, "--seed", 5, *SMALL, stages=None, hold=name)
        certifying.started.append(child)
        eventually(certifying.held.exists, seconds=LONG)
        killed(child)
        there = certifying.stages()
        assert set(there) == set(ORDER[:number]), "what was not kept is not finished"
        assert finished.items() <= there.items(), "no finished stage is repeated"
        finished = there
    signed = certifying.run("--resume", *SMALL, "--key", keys / "organiser.key", stages=None)
    assert signed.returncode == 0, signed.stdout + signed.stderr
    assert f"goes on; finished are: {', '.join(ORDER[:-1])}." in signed.stdout
    assert finished.items() <= certifying.stages().items()
    assert set(rules_begun(certifying).values()) == {1}, "nor is a finished rule"
    assert outcomes(certifying.report()) == outcomes(uninterrupted.report())
    assert verified(certifying, keys).startswith("VALID")


def test_to_sign_nothing_is_measured(certifying, uninterrupted, keys):
    shutil.copytree(uninterrupted.out, certifying.out)
    done = certifying.run("--resume", *SMALL, "--key", keys / "organiser.key", stages=None)
    assert done.returncode == 0, done.stdout + done.stderr
    assert certifying.stages() == uninterrupted.stages()
    assert certifying.report()["certificate"] == "certificate.json"
    assert verified(certifying, keys).startswith("VALID")


def test_only_what_passed_is_signed(certifying, keys):
    done = certifying.run("--key", keys / "organiser.key", stages="declaration")
    assert done.returncode == 6
    assert "nothing is signed: only what passed is certified" in done.stderr
    assert not (certifying.out / "certificate.json").exists()


def test_killed_among_the_rules_none_that_was_finished_is_tried_again(certifying):
    child = certifying.start(stages="contract")
    certifying.started.append(child)
    events = certifying.out / "work" / "contract" / "events.jsonl"
    eventually(
        lambda: events.exists() and events.read_text().count('"rule_finished"') >= 4, seconds=LONG
    )
    killed(child)
    came = {e["result"]["rule"] for e in read_events(events) if e["event"] == "rule_finished"}
    done = certifying.run("--resume", stages="contract")
    assert done.returncode == 6, done.stdout + done.stderr
    _, verdicts, found = outcomes(certifying.report())
    assert verdicts == {"contract": "PASS"}
    assert set(found.values()) == {"passed"}
    tried = rules_begun(certifying)
    assert all(tried[rule] == 1 for rule in came)


def test_it_goes_on_as_it_began_or_not_at_all(certifying):
    certifying.run("--seed", 5, stages="declaration")
    before = certifying.stages()
    certifying.write(endpoint=managed("FoldsCase"), declaration=DECLARED | {"version": "2.0.0"})
    done = certifying.run("--resume", "--seed", 6, "--volume", 10, stages=QUICK)
    assert done.returncode == 2, done.stdout + done.stderr
    for words in (
        "its seed was 5, now it is 6",
        "its endpoint was",
        "its --volume was not given, now it is 10",
        "its version in [declaration] was 1.4.2, now it is 2.0.0",
    ):
        assert words in done.stderr
    assert certifying.stages() == before


def test_what_is_there_is_not_begun_again_unasked(certifying):
    certifying.run(stages="declaration")
    done = certifying.run(stages=QUICK)
    assert done.returncode == 2
    assert "--resume goes on with it" in done.stderr
    assert set(certifying.stages()) == {"declaration"}


def test_a_key_in_the_declaration_reaches_no_file(certifying, monkeypatch):
    monkeypatch.setenv("MEMORY_KEY", "walrus-harbour-41")
    keyed = managed() | {"auth": "bearer", "key_env": "MEMORY_KEY"}
    certifying.write(keyed, DECLARED | {"changes": "its key is walrus-harbour-41"})
    done = certifying.run(stages=QUICK)
    assert done.returncode == 2
    assert "[declaration] holds the endpoint's key" in done.stderr
    assert "walrus" not in done.stdout + done.stderr
    assert not certifying.out.exists()


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


def test_a_full_disk_is_said_and_costs_what_was_not_kept_alone(certifying):
    done = certifying.run("--seed", 5, disk=4_000, stages="declaration,contract")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "contract.json could not be written: File too large" in done.stdout
    assert "report.html was not written" in done.stderr
    assert set(certifying.stages()) == {"declaration"}
    assert not list(certifying.out.rglob("*.part")), "nothing is left half-written"
    done = certifying.run("--seed", 5, "--resume", stages="declaration,contract")
    assert done.returncode == 6, done.stdout + done.stderr
    _, verdicts, found = outcomes(certifying.report())
    assert verdicts == {"declaration": "PASS", "contract": "PASS"}
    assert set(found.values()) == {"passed"}


def test_a_full_disk_at_the_very_beginning_is_said(certifying):
    done = certifying.run(disk=100, stages=QUICK)
    assert done.returncode == 3
    assert "certification.json could not be written" in done.stderr


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
