"""``aml reproduce`` on what ``aml check`` found, with the server broken and mended."""

import json
import os
import subprocess
import sys

import pytest

from tests.broken.serving import managed


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A run of all of fuzz/* and of one rule that is no fuzz, and its directory."""
    home = tmp_path_factory.mktemp("found")
    ran = run(
        home,
        "check",
        *("--cmd", managed("BlankOptionsOpenAll")["cmd"], "--json", "report.json"),
        *("--only", "fuzz/schema", "--only", "echo", "--fuzz-budget", "60", "--seed", "1"),
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return home


def run(home, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "aml_cli.main", *arguments],
        cwd=home,
        env={**os.environ, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_a_finding_is_made_again_from_the_report(found):
    ran = run(found, "reproduce", "report.json")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "fuzz/schema: the finding is still there" in ran.stdout
    assert "echo/" not in ran.stdout


def test_a_finding_is_gone_from_a_mended_server(found):
    (directory,) = sorted(found.glob(".aml/runs/*"))[:1]
    ran = run(found, "reproduce", str(directory), "--cmd", managed("Correct")["cmd"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "fuzz/schema: the finding is gone" in ran.stdout


def test_the_report_says_how(found):
    report = json.loads((found / "report.json").read_text())
    (result,) = [one for one in report["rules"] if one["outcome"] == "failed"]
    assert result["repeat"]["sample"]["operation"] == "search"
    assert len(result["exchanges"]) == 3  # the canaries and the Search


def test_a_finding_of_another_rule_is_tried_by_its_rule(tmp_path):
    command = managed("FoldsCase")["cmd"]
    only = ("--only", "isolation/case-twins")
    assert run(tmp_path, "check", "--cmd", command, *only, "--json", "r.json").returncode == 1
    ran = run(tmp_path, "reproduce", "r.json")
    assert ran.returncode == 1
    assert "isolation/case-twins: the finding is still there" in ran.stdout


def test_without_findings_there_is_nothing_to_do(tmp_path):
    command = managed("Correct")["cmd"]
    only = ("--only", "echo/plain")
    run(tmp_path, "check", "--cmd", command, "--only", "echo", "--json", "r.json")
    ran = run(tmp_path, "reproduce", "r.json", *only)
    assert ran.returncode == 0
    assert "no finding" in ran.stdout


@pytest.mark.parametrize("text", ["{}", "nonsense", None])
def test_what_is_no_report_is_said(tmp_path, text):
    if text is not None:
        (tmp_path / "r.json").write_text(text)
    ran = run(tmp_path, "reproduce", "r.json")
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert "r.json" in ran.stderr
