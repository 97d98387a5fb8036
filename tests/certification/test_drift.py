"""Drift: the same version, another one, a store that lost its data, and what cannot be told."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from aml_cli.main import app
from aml_contract.certification import stages
from aml_contract.certification.certificate import RefusedError
from aml_contract.certification.drift.certified import NotCertified, read_certified
from aml_contract.certification.drift.document import exit_code
from aml_contract.certification.drift.latency import times_of
from aml_contract.certification.drift.session import Drifting, Watch
from aml_contract.certification.drift.spot import SPOT_CHECKS
from aml_contract.certification.fingerprint import FingerprintStage, Sameness
from aml_contract.endpoint.target import Target
from aml_contract.outcome import Level, Outcome
from aml_contract.rule import all_rules
from tests.broken import servers
from tests.certification.certified import (
    STAGES,
    certificate,
    contract_data,
    measured,
    new_key,
    store,
    trusted,
)
from tests.certification.declared import context, declared
from tests.docs.pages import ROOT, blocks_of
from tests.servers import eventually, in_thread

PATIENCE = 0.01
OPEN = dict.fromkeys(
    (rule.name for rule in all_rules() if rule.name.startswith("auth/")), Outcome.NOT_APPLICABLE
)
"""What comes of rules about keys where there is none."""
NOW = datetime.now(UTC)


class Behind:
    """Whatever answers at one URL just now."""

    def __init__(self):
        self.version = None
        self.asked = 0

    def deploy(self, name):
        """Put a version there, with nothing stored."""
        self.version = servers()[name]()

    async def __call__(self, scope, receive, send):
        self.asked += 1
        await self.version(scope, receive, send)


@pytest.fixture(scope="module")
def behind():
    app = Behind()
    with in_thread(app, lifespan="off", patient=False) as app.url:
        yield app


def fingerprint(url, directory):
    """The data of the stage, measured on what answers there."""
    made = context(declared(), directory=directory, url=url)
    made.patience = PATIENCE
    return {"verdict": "PASS"} | asyncio.run(FingerprintStage().measure(made))


def written(path, url, data, *, key=None, declaration=None, kind="url", **outcomes):
    """A certificate of what answers at a URL, with this fingerprint, in a file."""
    contract = contract_data(kind=kind, add_url=f"{url}/add", **OPEN | outcomes)
    contract["report"]["endpoint"]["search_url"] = f"{url}/search"
    results = measured(fingerprint=data, contract=contract)
    how = {"issued": NOW - timedelta(days=3), "declaration": declaration or declared()}
    path.write_bytes(certificate(key or new_key(), results=results, **how))
    return path


@pytest.fixture(scope="module")
def taken(behind, tmp_path_factory):
    """The fingerprint of the correct version."""
    behind.deploy("Correct")
    return fingerprint(behind.url, tmp_path_factory.mktemp("taken"))


@pytest.fixture
def certified(behind, taken, tmp_path):
    path = written(tmp_path / "certificate.json", behind.url, taken)
    return read_certified(path, None, NOW, STAGES)


class Recording(Watch):
    def __init__(self):
        self.parts, self.shares = [], []

    def began(self, part):
        self.parts.append(part)

    def progressed(self, share):
        self.shares.append(share)


def drift(certified, url):
    drifting = Drifting(certified, Target(url=url), seed=1, patience=PATIENCE, watch=Recording())
    asyncio.run(drifting.execute())
    return drifting.found, drifting.watch


def test_spot_checks_are_quick_must_rules_that_need_no_restart():
    rules = {rule.name: rule for rule in all_rules()}
    for name in SPOT_CHECKS:
        assert rules[name].level is Level.MUST
        assert not rules[name].needs
    assert sum(rules[name].cost.adds + rules[name].cost.searches for name in SPOT_CHECKS) < 150


def test_the_same_version_is_still_the_certified_one(behind, certified):
    behind.deploy("Correct")
    found, watch = drift(certified, behind.url)
    assert found.sameness is Sameness.SAME, found.sentence
    assert {name: part.sameness for name, part in found.parts.items()} == {
        "fingerprint": Sameness.SAME,
        "contract": Sameness.SAME,
        "latency": Sameness.SAME,
    }
    assert exit_code(found) == 0
    assert found.certified.subject == "hybrid@1.4.2"
    assert found.certified.signed_by == []
    assert watch.parts == ["the canaries of that day", "canaries", "spot checks"]
    assert watch.shares[-1] == 1.0
    assert {spot.rule for spot in found.spot_checks} == set(SPOT_CHECKS) - set(OPEN)


def test_lost_data_is_said_and_is_no_other_version(behind, certified, taken):
    behind.deploy("Correct")
    found, _ = drift(certified, behind.url)
    assert "are gone: data was deleted early or lost" in found.survival
    assert found.sameness is Sameness.SAME


def test_another_ranking_is_another_version_and_is_looked_at_twice(behind, certified):
    behind.deploy("WorstFirst")
    found, watch = drift(certified, behind.url)
    assert found.fingerprint.sameness is Sameness.CHANGED
    assert found.contract.sameness is Sameness.SAME
    assert found.sameness is Sameness.CHANGED
    assert "canaries, once more" in watch.parts
    assert exit_code(found) == 1
    assert "no longer hybrid@1.4.2" in found.sentence


def test_a_rule_that_does_not_hold_any_more_is_another_version(behind, certified):
    behind.deploy("FoldsCase")
    found, _ = drift(certified, behind.url)
    assert found.fingerprint.sameness is Sameness.SAME
    assert found.contract.sameness is Sameness.CHANGED
    [broken] = [spot for spot in found.spot_checks if spot.sameness is not Sameness.SAME]
    assert (broken.rule, broken.now) == ("isolation/case-twins", Outcome.FAILED)
    assert "sees a memory of" in broken.message


def test_a_ranking_at_random_cannot_be_told(behind, tmp_path):
    behind.deploy("Shuffles")
    data = fingerprint(behind.url, tmp_path)
    path = written(tmp_path / "certificate.json", behind.url, data)
    found, _ = drift(read_certified(path, None, NOW, STAGES), behind.url)
    assert found.sameness is Sameness.UNKNOWN
    assert exit_code(found) == 6
    assert "wavers by itself" in found.sentence


def test_where_strangers_change_results_another_list_proves_nothing(behind, taken, tmp_path):
    outcomes = {"isolation/others-change-nothing": Outcome.WARNED}
    path = written(tmp_path / "certificate.json", behind.url, taken, **outcomes)
    behind.deploy("WorstFirst")
    found, _ = drift(read_certified(path, None, NOW, STAGES), behind.url)
    assert found.sameness is Sameness.UNKNOWN
    assert found.fingerprint.differences


def test_too_slow_for_what_was_declared_is_said(behind, taken, tmp_path):
    slow = declared(search_timeout=0.1)
    path = written(tmp_path / "certificate.json", behind.url, taken, declaration=slow)
    behind.deploy("SlowSearches")
    found, _ = drift(read_certified(path, None, NOW, STAGES), behind.url)
    assert found.fingerprint.sameness is Sameness.SAME
    assert found.parts["latency"].sameness is Sameness.CHANGED
    assert "Searches take too long" in found.sentence
    assert "Adds" not in found.parts["latency"].sentence


def test_an_endpoint_that_takes_nothing_has_no_fingerprint_and_breaks_the_contract(
    behind, certified
):
    class Refusing:
        async def __call__(self, scope, receive, send):
            health = scope["path"] == "/health"
            status = 200 if health else 422
            head = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": status, "headers": head})
            await send({"type": "http.response.body", "body": b"{}"})

    behind.version = Refusing()
    found, _ = drift(certified, behind.url)
    assert found.fingerprint.sameness is Sameness.UNKNOWN
    assert "No fingerprint could be taken: a canary's Add was answered 422" in (
        found.fingerprint.sentence
    )
    assert found.contract.sameness is Sameness.CHANGED
    assert "structure/legal-requests" in found.contract.sentence


def test_few_slow_answers_are_no_slow_endpoint():
    many = times_of("search", 1.0, then=[0.1] * 72, now=[0.1] * 70 + [5.0, 5.0], more=[])
    assert many.sameness is Sameness.SAME
    assert times_of("search", 1.0, [0.1] * 72, [2.0] * 72, []).sameness is Sameness.CHANGED
    assert times_of("add", 1.0, [], [], []).sameness is Sameness.UNKNOWN
    slower = times_of("search", 9.0, [0.1] * 72, [0.5] * 72, [])
    assert slower.sameness is Sameness.SAME
    assert "took 100 ms when it was certified" in slower.remark
    assert times_of("search", 9.0, [0.1] * 72, [0.15] * 72, []).remark is None


def test_a_certificate_is_verified_where_a_trust_store_is_named(behind, taken, tmp_path):
    key = new_key()
    path = written(tmp_path / "certificate.json", behind.url, taken, key=key)
    found = read_certified(path, store(trusted(key)), NOW, STAGES)
    assert found.signed_by == ("organiser",)
    assert not any("not checked" in remark for remark in found.remarks)
    with pytest.raises(RefusedError, match="not in the trust store"):
        read_certified(path, store(trusted(new_key())), NOW, STAGES)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: {"verdict": "PASS", "taken": None, "trouble": "x"}, "holds no fingerprint"),
        (lambda data: {"verdict": "PASS"}, "whose data this one does not read"),
    ],
)
def test_without_a_fingerprint_there_is_nothing_to_compare(behind, taken, tmp_path, change, words):
    path = written(tmp_path / "certificate.json", behind.url, change(taken))
    with pytest.raises(NotCertified, match=words):
        read_certified(path, None, NOW, STAGES)


# -- the command ---------------------------------------------------------------------------


def aml(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "aml_cli.main", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_command_asks_the_urls_of_the_certificate(behind, taken, tmp_path):
    behind.deploy("Correct")
    path = written(tmp_path / "certificate.json", behind.url, taken)
    ran = aml("drift", "--certificate", path, "--json", "drift.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "SAME: What answers is still hybrid@1.4.2" in ran.stdout
    assert "its signature was not checked" in ran.stdout
    assert f"add_url     {behind.url}/add  ({path})" in ran.stdout
    made = json.loads((tmp_path / "drift.json").read_text())
    assert made["report"] == "aml-drift/1"
    assert made["fingerprint"]["sameness"] == "same"
    behind.deploy("WorstFirst")
    ran = aml("drift", "--certificate", path, "--url", behind.url, "--seed", "3", cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "CHANGED: What answers is no longer hybrid@1.4.2" in ran.stdout
    assert "\x1b" not in ran.stdout


def test_the_command_says_what_keeps_it_from_comparing(behind, taken, tmp_path):
    path = written(tmp_path / "certificate.json", behind.url, taken)
    (tmp_path / "trusted").mkdir()
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "old.json").write_text('{"report": "aml-certification/1"}')
    for arguments, code, words in (
        (["--certificate", "nowhere.json"], 2, "nowhere.json cannot be read"),
        (["--certificate", "other.json"], 1, "the certificate is refused"),
        (["--certificate", "old.json"], 2, "a kit whose data this one does not read"),
        (["--certificate", path, "--trust-store", "trusted"], 1, "not in the trust store"),
        (["--certificate", path, "--url", "http://127.0.0.1:9"], 4, "Nothing answers"),
    ):
        ran = aml("drift", *arguments, cwd=tmp_path)
        assert ran.returncode == code, ran.stdout + ran.stderr
        assert words in ran.stderr
        assert "Traceback" not in ran.stderr


PAGE = ROOT / "docs" / "howto" / "compare.md"


def test_the_commands_of_the_page_do_what_it_says(behind, taken, tmp_path, monkeypatch):
    key = new_key()
    written(tmp_path / "certificate.json", behind.url, taken, key=key)
    (tmp_path / "trusted").mkdir()
    (tmp_path / "trusted" / "organiser.json").write_text(trusted(key).model_dump_json())
    (tmp_path / "endpoint.toml").write_text(f'[endpoint]\nurl = "{behind.url}"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stages, "STAGES", STAGES)
    shell = [block.text for block in blocks_of(PAGE) if block.language == "sh"]
    lines = [line for text in shell for line in text.splitlines() if "aml drift" in line]
    assert len(lines) == 2
    for line in lines:
        behind.deploy("Correct")
        ran = CliRunner().invoke(app, shlex.split(line)[1:])
        assert ran.exit_code == 0, ran.output
        assert "SAME: " in ran.output
        assert "not checked" not in ran.output
    assert json.loads((tmp_path / "drift.json").read_text())["certified"]["signed_by"] == [
        "organiser"
    ]


def test_the_page_names_every_rule_of_the_spot_check():
    text = (ROOT / "docs" / "cli.md").read_text()
    section = text.partition("\n## aml drift\n")[2].partition("\n## ")[0]
    assert all(f"`{rule}`" in section for rule in SPOT_CHECKS)


def test_ctrl_c_ends_it(behind, taken, tmp_path):
    path = written(tmp_path / "certificate.json", behind.url, taken)

    class Hangs:
        async def __call__(self, scope, receive, send):
            if scope["method"] == "POST":
                await asyncio.sleep(60)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    behind.version, behind.asked = Hangs(), 0
    child = subprocess.Popen(
        [sys.executable, "-m", "aml_cli.main", "drift", "--certificate", str(path)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: behind.asked > 1, seconds=60)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "interrupted" in err


def test_other_urls_than_the_certified_ones_are_remarked(behind, certified):
    behind.deploy("Correct")
    found, _ = drift(certified, behind.url.replace("127.0.0.1", "localhost"))
    assert found.sameness is Sameness.SAME
    assert any("other URLs" in remark for remark in found.remarks)


def test_what_the_kit_started_itself_has_to_be_named(behind, taken, tmp_path):
    path = written(tmp_path / "certificate.json", behind.url, taken, kind="cmd")
    ran = aml("drift", "--certificate", path, cwd=tmp_path)
    assert ran.returncode == 2
    assert "no endpoint was named" in ran.stderr
