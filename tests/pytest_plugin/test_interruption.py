"""What ends a session early leaves the events, and no server behind."""

import signal
import socket
import subprocess

import pytest

from aml_contract.checking.document import report_of
from aml_contract.checking.events import read_events
from aml_contract.outcome import Outcome
from tests.pytest_plugin.conftest import command, events_of
from tests.servers import eventually


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_what_ran_is_kept(project, sent):
    words = project.words("--aml-contract", "--aml-cmd", command("slow"))
    with (project.root / "output").open("wb") as output:
        child = subprocess.Popen(words, cwd=project.root, stdout=output, start_new_session=True)
        events = events_of(project.root)
        eventually(lambda: "rule_finished" in events.read_text(), seconds=120)
        child.send_signal(sent)
        assert child.wait(timeout=60) == pytest.ExitCode.INTERRUPTED
    report = report_of(read_events(events))
    assert report.stopped == "interrupted"
    assert report.having(Outcome.PASSED) or report.having(Outcome.NOT_APPLICABLE)
    assert "The check was stopped" in (project.root / "output").read_text()
    port = int(report.endpoint.add_url.split(":")[2].split("/")[0])
    with socket.socket() as gone:
        assert gone.connect_ex(("127.0.0.1", port)) != 0
