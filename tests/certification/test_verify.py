"""``aml verify``: what it prints and writes, and how it ends."""

import json
import re
import shlex
import socket
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from aml_cli.main import app
from aml_contract.certification import stages
from aml_contract.certification.certificate import Reason, load_private_key
from aml_contract.certification.certificate.account import Verification
from tests.certification.certified import (
    ADD_URL,
    SEARCH_URL,
    STAGES,
    certificate,
    measured,
    new_key,
    signed_again,
    trusted,
)
from tests.certification.declared import OPEN_SOURCE, declared
from tests.docs.pages import ROOT, blocks_of

KEY = new_key()
NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A directory with a certificate and a trust store; stages that are what they recorded."""
    monkeypatch.setattr(stages, "STAGES", STAGES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", None)  # nothing of this needs a network
    (tmp_path / "trusted").mkdir()
    key = trusted(KEY, valid_until=NOW + timedelta(days=365))
    (tmp_path / "trusted" / "organiser.json").write_text(key.model_dump_json())
    (tmp_path / "certificate.json").write_bytes(certificate(KEY, issued=NOW))
    return tmp_path


def verify(*words, cert="certificate.json", store="trusted"):
    return CliRunner().invoke(app, ["verify", cert, "--trust-store", store, *words])


def endpoint_file(
    path, *, endpoint=f'add_url = "{ADD_URL}"\nsearch_url = "{SEARCH_URL}"', **stated
):
    declaration = OPEN_SOURCE | stated
    review = declaration.pop("review")
    lines = ["[endpoint]", endpoint, "[declaration]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in declaration.items()]
    lines += ["[declaration.review]"]
    lines += [f"{row} = {json.dumps(answer)}" for row, answer in review.items()]
    path.write_text("\n".join(lines))


def test_a_valid_certificate_is_told_for_people():
    ran = verify()
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.startswith("VALID\n")
    assert "hybrid@1.4.2, textual, open-source" in ran.stdout
    assert "organiser (Example Organisation)" in ran.stdout
    assert "forecast was measured." in ran.stdout
    assert "89 more days" in ran.stdout


def test_a_refused_one_ends_with_1_and_says_why_and_what_to_do(here):
    data = bytearray((here / "certificate.json").read_bytes())
    place = data.index(b'"sig": "') + 20
    data[place] = ord("A" if data[place] != ord("A") else "B")
    (here / "certificate.json").write_bytes(data)
    ran = verify()
    assert ran.exit_code == 1
    assert ran.stdout.startswith("REFUSED: changed\n")
    assert "to do" in ran.stdout


@pytest.mark.parametrize("valid", [True, False])
def test_the_result_is_written_as_json_too(here, valid):
    at = [] if valid else ["--at", "2001-01-01"]
    ran = verify("--json", "result.json", *at)
    assert ran.exit_code == (0 if valid else 1)
    found = Verification.model_validate_json((here / "result.json").read_text())
    assert found.valid is valid
    if valid:
        assert found.account.declaration == declared()
        assert found.refusal is None
    else:
        assert found.refusal.reason == "not-yet-valid"
        assert found.account is None


def test_a_result_that_cannot_be_written_hides_no_refusal(here):
    (here / "file").touch()
    assert verify("--json", "file/x.json").exit_code == 3
    assert verify("--json", "file/x.json", "--at", "2001-01-01").exit_code == 1


def test_it_can_be_asked_for_another_time():
    late = (NOW + timedelta(days=91)).isoformat(timespec="seconds")
    ran = verify("--at", late)
    assert ran.exit_code == 1
    assert "it expired at" in ran.stdout


def test_the_endpoint_that_is_meant_is_compared(here):
    endpoint_file(here / "endpoint.toml")
    ran = verify("--config", "endpoint.toml")
    assert ran.exit_code == 0, ran.output


def test_the_certificate_of_another_version_is_refused(here):
    endpoint_file(here / "endpoint.toml", version="1.4.3")
    ran = verify("--config", "endpoint.toml")
    assert ran.exit_code == 1
    assert "different: version" in ran.stdout


def test_the_certificate_of_another_endpoint_is_refused(here):
    endpoint_file(here / "endpoint.toml", endpoint='url = "https://other.example"')
    ran = verify("--config", "endpoint.toml")
    assert ran.exit_code == 1
    assert "https://other.example/add" in ran.stdout


@pytest.mark.parametrize(
    "endpoint",
    [
        'url = "https://MEMORY.example:443/"',
        'url = "https://memory.example"\nauth = "bearer"\nkey_env = "NOT_SET_HERE"',
        "",
    ],
)
def test_other_spellings_keys_and_files_without_urls_are_no_reason_to_refuse(here, endpoint):
    endpoint_file(here / "endpoint.toml", endpoint=endpoint)
    ran = verify("--config", "endpoint.toml")
    assert ran.exit_code == 0, ran.output


def test_variables_name_no_other_endpoint(here, monkeypatch):
    monkeypatch.setenv("AML_URL", "https://other.example")
    endpoint_file(here / "endpoint.toml")
    assert verify("--config", "endpoint.toml").exit_code == 0


def test_what_cannot_be_asked_ends_with_2(here):
    (here / "empty.toml").write_text("")
    (here / "bad.toml").write_text("[declaration]\nsmell = 1\n")
    for words, reason in [
        ({"cert": "nowhere.json"}, "nowhere.json cannot be read"),
        ({"cert": "trusted"}, "trusted cannot be read"),
        ({"store": "nowhere"}, "the trust store nowhere cannot be read"),
    ]:
        ran = verify(**words)
        assert ran.exit_code == 2
        assert reason in ran.stderr
    for file, reason in [("empty.toml", "declares nothing"), ("bad.toml", "smell")]:
        ran = verify("--config", file)
        assert ran.exit_code == 2
        assert reason in ran.stderr


def test_a_private_key_in_the_trust_store_stops_everything(here):
    (here / "trusted" / "mine.txt").write_bytes(KEY.private_bytes)
    ran = verify()
    assert ran.exit_code == 2
    assert "PRIVATE key" in ran.stderr
    assert KEY.private_bytes.decode().splitlines()[1] not in ran.output


def test_a_terminal_is_told_nothing_but_text(here):
    nasty = "\x1b]0;owned\x07[bold]\u202e"
    results = measured(preflight={"verdict": "PASS", "remarks": [nasty]})
    data = certificate(KEY, issued=NOW, results=results)
    (here / "certificate.json").write_bytes(data)
    ran = verify()
    assert ran.exit_code == 0
    assert "[bold]" in ran.stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.stdout)
    (here / "certificate.json").write_bytes(
        signed_again(data, KEY, lambda document: document | {"predicateType": nasty})
    )
    ran = verify()
    assert ran.exit_code == 1
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.stdout)


PAGE = ROOT / "docs" / "howto" / "certificates.md"


def test_the_commands_of_the_page_do_what_it_says(tmp_path_factory, monkeypatch):
    at = tmp_path_factory.mktemp("reader")
    monkeypatch.chdir(at)
    endpoint_file(at / "endpoint.toml")
    words = [line.split(maxsplit=2)[1:2] for line in _commands()]
    assert words == [["keys"], ["keys"], ["keys"], ["verify"], ["verify"]]
    for line in _commands():
        ran = CliRunner().invoke(app, shlex.split(line)[1:])
        assert ran.exit_code == 0, f"{line}: {ran.output}"
        if line.startswith("aml keys new"):
            signer = load_private_key(at / "organiser.key")
            (at / "certificate.json").write_bytes(certificate(signer, issued=NOW))
    assert json.loads((at / "verified.json").read_text())["valid"] is True


def _commands():
    shell = [block.text for block in blocks_of(PAGE) if block.language == "sh"]
    return [line for text in shell for line in text.splitlines()]


def test_the_page_knows_every_reason():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    told = [word for row in rows for word in re.findall(r"`([a-z-]+)`", row.split("|")[1])]
    assert sorted(told) == sorted(Reason)
