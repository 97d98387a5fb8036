import json
import signal
import subprocess
import sys
import time

import pytest

from aml_contract.probe.document import ProbeReport
from tests.probe.test_run import Idempotent
from tests.servers import eventually
from tests.smoke.memory import serving
from tests.smoke.test_cli import AML, aml


def test_a_probe_speaks_first_and_writes_what_is_asked_for(tmp_path):
    with serving(Idempotent) as server:
        ran = aml(
            "probe", "--url", server.url, "--users", "1", "--modes", "direct",
            "--json", "made/probe.json", "--html", "probe.html", cwd=tmp_path,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "aml probe · 1 user · en · direct · run " in ran.stdout
    assert ran.stdout.index("Among its first 10 items it finds") < ran.stdout.index("oracle")
    assert "no created_at" in ran.stdout
    assert "\x1b" not in ran.stdout
    text = (tmp_path / "made/probe.json").read_text()
    assert ProbeReport.model_validate_json(text).modes == ["direct"]
    assert set(json.loads(text)["scores"]["systems"]) == {
        "endpoint", "oracle", "random", "recency", "bm25",
    }  # fmt: skip
    assert "What it remembers" in (tmp_path / "probe.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--url", "http://127.0.0.1:9", "--modes", "direct"], 4, "Nothing answers"),
        ([], 2, "no endpoint was named"),
        (
            ["--url", "http://127.0.0.1:9", "--modes", "direct,vague"],
            2,
            "--modes are of direct, advice, joint, not 'vague'",
        ),
        (
            ["--url", "http://127.0.0.1:9", "--language", "la"],
            2,
            "--language is one of en, zh, not 'la'",
        ),
    ],
)
def test_what_cannot_be_tried_is_said_once(tmp_path, arguments, code, words):
    ran = aml("probe", *arguments, "--users", "1", cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    assert ran.stderr.count(words) == 1
    assert "Traceback" not in ran.stderr


def test_what_lacks_is_named_before_anything_is_sent(tmp_path):
    (tmp_path / "bm25s.py").write_text("raise ModuleNotFoundError(name='bm25s')\n")
    with serving(Idempotent) as server:
        ran = aml("probe", "--url", server.url, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert ran.returncode == 2
    assert "aml: this needs the module bm25s: pip install 'aml-contract[probe]'" in ran.stderr
    assert server.adds == []


def test_controls_that_are_off_are_no_fault_of_the_endpoint(tmp_path):
    program = (
        "from aml_contract.probe import controls\n"
        "controls._KINDS['oracle'] = controls.Recency\n"
        "from aml_cli.main import main\n"
        "main()\n"
    )
    with serving(Idempotent) as server:
        ran = subprocess.run(
            [sys.executable, "-c", program, "probe", "--url", server.url, "--users", "1"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 3
    assert "the kit's own controls failed: the oracle's hit is 0.0 for direct" in ran.stderr
    assert "no fault of your endpoint" in ran.stderr
    assert server.adds == []
    assert "Among its first" not in ran.stdout


def test_a_broken_contract_has_no_figures(tmp_path):
    class Wrong(Idempotent):
        def on_search(self, body):
            return 200, {"results": []}

    with serving(Wrong) as server:
        ran = aml("probe", "--url", server.url, "--users", "1", cwd=tmp_path)
    assert ran.returncode == 1
    assert "has no data list (clause S5). Nothing is scored." in ran.stderr
    assert "Among its first" not in ran.stdout


def test_ctrl_c_says_that_half_a_probe_has_no_figures(tmp_path):
    class Stalls(Idempotent):
        def on_search(self, body):
            if len(self.searches) > 3:
                time.sleep(30)
            return super().on_search(body)

    with serving(Stalls) as server:
        child = subprocess.Popen(
            [*AML, "probe", "--url", server.url, "--users", "1", "--json", "probe.json"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        eventually(lambda: len(server.searches) > 3, seconds=120)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "interrupted; half a probe has no figures" in err
    assert "Among its first" not in out
    assert json.loads((tmp_path / "probe.json").read_text())["scores"] is None
