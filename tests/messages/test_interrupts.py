"""Ctrl-C at each stage, and a disk that is full."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.conftest import assert_no_server, command, events_of
from tests.messages.conftest import steady
from tests.servers import eventually

ONE = ("--only", "visibility/immediate")


def interrupted(child, home):
    """What a command said until Ctrl-C ended it; no traceback in it."""
    child.send_signal(signal.SIGINT)
    code = child.wait(60)
    assert code == 130
    return steady((home / "output").read_text(), home)


def gone(pid):
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_while_the_server_starts(aml_started, tmp_path):
    pid = tmp_path / "pid"
    child = aml_started("check", "--cmd", f"echo $$ > {pid}; sleep 600 # {{port}}", *ONE)
    eventually(lambda: pid.exists() and pid.read_text().strip())
    output = interrupted(child, tmp_path)
    assert "interrupted" in output
    gone(int(pid.read_text()))


def test_while_an_endpoint_is_waited_for(aml_started, listener, tmp_path):
    kept = []
    child = aml_started("check", "--url", f"http://127.0.0.1:{listener(kept.append)}", *ONE)
    eventually(lambda: kept)
    assert "interrupted" in interrupted(child, tmp_path)


def test_while_rules_are_tried(aml_started, tmp_path):
    few = ("--only", "time", "--only", "structure", "--concurrency", 1)
    child = aml_started("check", "--cmd", command("slow"), *few, "--json", "r.json")
    events = events_of(tmp_path)
    eventually(lambda: '"rule_finished"' in events.read_text())
    output = interrupted(child, tmp_path)
    assert "The run was interrupted; this is what ran." in output
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["stopped"] == "interrupted"
    assert any("interrupted" not in rule["message"] for rule in report["rules"])
    assert_no_server(events)


def test_while_the_server_restarts(aml_started, tmp_path):
    starts = tmp_path / "starts"
    server = command().removeprefix("exec ")
    once = f"echo $$ >> {starts}; [ $(wc -l < {starts}) -gt 1 ] && sleep 600; exec {server}"
    child = aml_started("check", "--cmd", once, "--only", "durability")
    eventually(lambda: starts.exists() and len(starts.read_text().splitlines()) == 2, seconds=60)
    output = interrupted(child, tmp_path)
    assert "The run was interrupted; this is what ran." in output
    for pid in starts.read_text().split():
        gone(int(pid))


def test_while_a_report_is_written(aml_started, serve, tmp_path):
    os.mkfifo(tmp_path / "r.json")  # opening it waits for a reader, as a slow disk would
    child = aml_started("check", "--url", serve().url, *ONE, "--json", "r.json")
    eventually(lambda: "CONFORMANT" in (tmp_path / "output").read_text())
    output = interrupted(child, tmp_path)
    assert "CONFORMANT" in output


def test_while_init_asks(aml_started, listener, tmp_path):
    kept = []
    child = aml_started("init", "--url", f"http://127.0.0.1:{listener(kept.append)}")
    eventually(lambda: kept)
    interrupted(child, tmp_path)
    assert not (tmp_path / "aml.toml").exists()


def test_while_smoke_runs(aml_started, serve, tmp_path):
    served = serve("slow")
    child = aml_started("smoke", "--url", served.url, "--concurrency", 1)
    eventually(lambda: served.stats()["adds"])
    assert "interrupted" in interrupted(child, tmp_path)


def test_a_report_that_cannot_be_written(said, snapshot, serve):
    found = said("check", "--url", serve().url, *ONE, "--json", "/dev/full")
    assert found.code == 3, "a report that is missing is no success"
    assert "CONFORMANT" in found.out
    assert str(found) == snapshot


def test_events_that_cannot_be_written(serve, tmp_path, snapshot):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))  # as a disk that fills up

    done = subprocess.run(
        [sys.executable, "-m", "aml_cli.main", "check", "--url", serve().url, *ONE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=small,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0
    assert "CONFORMANT" in done.stdout
    assert steady(done.stderr, tmp_path) == snapshot


@pytest.mark.parametrize("arguments", [["check", "--url", "URL", *ONE], ["rules"], ["--help"]])
def test_standard_output_that_is_full(said, serve, arguments):
    url = serve().url
    with Path("/dev/full").open("w") as full:
        found = said(*(url if word == "URL" else word for word in arguments), out=full)
    assert found.code == 3
    assert found.err == "aml: standard output cannot be written: No space left on device\n"
