"""No network, no key, no model: for the kit, the SDK and the reference memory."""

import json
import os
import subprocess
import sys

from tests.cases.offline import attempts, deny_network

_IMPORTS = """
import sys, threading
sockets = []
sys.addaudithook(lambda event, _: event == "socket.__new__" and sockets.append(event))
import aml_sdk, aml_sdk.server, aml_sdk.ledger, aml_adapters.hybrid, aml_servers.serving
import aml_cli.main, aml_contract.checking.check, aml_contract.pytest_plugin
from aml_contract.rule import all_rules
all_rules()
assert threading.active_count() == 1, threading.enumerate()
assert not sockets
"""


def run(tmp_path, *words):
    denied = deny_network(tmp_path)
    return subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": denied.partition("=")[2]},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_importing_opens_no_socket_and_starts_no_thread(tmp_path):
    done = run(tmp_path, "-c", _IMPORTS)
    assert done.returncode == 0, done.stderr
    assert not attempts(tmp_path)


def test_a_check_needs_no_network_and_no_key(tmp_path):
    done = run(
        tmp_path, "-m", "aml_cli.main", "check", "--system", "hybrid",
        "--only", "visibility/immediate", "--only", "isolation/two-users",
        "--only", "structure/unknown-user", "--only", "echo", "--json", "report.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rules = json.loads((tmp_path / "report.json").read_text())["rules"]
    assert {"visibility/immediate", "isolation/two-users"} < {rule["rule"] for rule in rules}
    assert {rule["outcome"] for rule in rules} == {"passed"}
    assert not attempts(tmp_path)


def test_a_look_for_the_network_is_noticed(tmp_path):
    look = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
    assert "PermissionError" in run(tmp_path, "-c", look).stderr
    assert attempts(tmp_path) == ["socket.getaddrinfo 192.0.2.1"]
