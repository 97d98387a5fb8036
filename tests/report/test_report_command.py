"""``aml report``: reports of a run, later, and whole or not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aml_contract.outcome import Outcome
from aml_contract.report.formats import FORMATS
from aml_contract.report.writing import write_whole
from tests.report.events import finished, run_of

RUN = "20261130T120000-abcdef"


@pytest.fixture
def run(tmp_path):
    """The directory of a run that was killed."""
    directory = tmp_path / ".aml/runs" / RUN
    directory.mkdir(parents=True)
    results = [
        finished("echo/ids", Outcome.FAILED, "it came back in capitals"),
        finished("order/scores", Outcome.PASSED, ""),
    ]
    events = run_of(results, ended=False)
    (directory / "events.jsonl").write_text("".join(f"{json.dumps(e)}\n" for e in events))
    return directory


@pytest.mark.parametrize(
    "named", [[], [RUN], [f".aml/runs/{RUN}"], [f".aml/runs/{RUN}/events.jsonl"]]
)
def test_it_prints_the_latest_run_or_the_one_that_is_named(aml, run, named):
    done = aml("report", *named)
    assert done.returncode == 0, done.stderr
    assert "NONCONFORMANT: 1 of 2 MUST rules failed." in done.stdout.replace("\n", " ")
    assert f"aml check --resume {RUN}" in done.stdout


def test_every_format_can_be_had_later(aml, run, tmp_path):
    files = [word for name in FORMATS for word in (f"--{name}", f"out/r.{name}")]
    done = aml("report", *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    for name in FORMATS:
        assert "echo/ids" in (tmp_path / f"out/r.{name}").read_text()
    again = aml("report", "out/r.json", "--markdown", "/dev/stdout")
    assert again.stdout == (tmp_path / "out/r.markdown").read_text()


@pytest.mark.parametrize("named", [[], ["nowhere"], ["text.json"]])
def test_there_must_be_a_run(aml, tmp_path, named):
    (tmp_path / "text.json").write_text("{}")
    done = aml("report", *named)
    assert done.returncode == 2
    assert done.stderr.startswith("aml: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_full_disk_is_one_message_and_code_3(aml, run, tmp_path):
    done = aml("report", "--html", "/dev/full", "--junit", "r.xml")
    assert done.returncode == 3
    assert done.stderr == (
        "aml: the html report was not written to /dev/full: No space left on device\n"
    )
    assert (tmp_path / "r.xml").exists(), "the others are written"


def test_a_report_that_cannot_be_written_whole_leaves_what_was_there(run, tmp_path):
    (tmp_path / "r.html").write_text("the one before")
    words = [sys.executable, "-m", "aml_cli.main", "report", "--html", "r.html"]
    limit = 'ulimit -f 8; exec "$@"'  # blocks that a file may have: as a disk that fills up
    done = subprocess.run(
        ["sh", "-c", limit, "sh", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "not written to r.html: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "r.html").read_text() == "the one before"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".r")] == []


def test_a_check_whose_report_cannot_be_written_has_code_3(aml, serve):
    done = aml("check", "--url", serve().url, "--only", "echo/ids", "--json", "/dev/full")
    assert done.returncode == 3
    assert "CONFORMANT" in done.stdout
    assert "not written" in done.stderr


@pytest.mark.parametrize("words", [["report"], ["rules"], ["explain", "echo"], ["--version"]])
def test_a_full_disk_behind_standard_output_is_no_traceback(run, tmp_path, words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aml_cli.main", *words],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == "aml: standard output cannot be written: No space left on device\n"


def test_files_get_the_rights_that_the_user_wants(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new").chmod(0o604)
    write_whole(tmp_path / "new", "other")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o604


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"
