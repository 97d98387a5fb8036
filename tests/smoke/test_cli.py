import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers import eventually
from tests.smoke.memory import Memory, serving

AML = [sys.executable, "-m", "aml_cli.main"]


def aml(*arguments, cwd, **environment):
    return subprocess.run(
        [*AML, *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_shipped_conversation_is_measured(tmp_path):
    with serving() as server:
        ran = aml("smoke", "--url", server.url, "--json", "made/smoke.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "lanterns · 99 turns" in ran.stdout
    assert "Adds: 6 of 6" in ran.stdout
    assert "Searches: 26 of 26" in ran.stdout
    assert "\x1b" not in ran.stdout
    report = json.loads((tmp_path / "made/smoke.json").read_text())
    assert report["complete"] is True
    assert report["broken"] is None
    assert report["overall"]["questions"] == 26
    assert report["overall"]["among"]["100"] == 1.0
    assert set(report["by_category"]) >= {"multi-hop", "temporal"}
    assert report["tokens"]["budget"] == 117_760
    assert report["add"]["count"] == 6


def test_of_a_memory_that_rewrites_it_says_that_recall_tells_nothing(tmp_path):
    class Rewrites(Memory):
        def on_search(self, body):
            texts = self.stored[body["user_id"]]
            facts = [" ".join(sorted(text.split())) for text in texts]
            return 200, {"data": [{"id": str(n), "content": f} for n, f in enumerate(facts)]}

    with serving(Rewrites) as server, serving() as plain:
        told, untold = (
            aml("smoke", "--url", each.url, "--questions", "2", cwd=tmp_path).stdout
            for each in (server, plain)
        )
    assert "No evidence came back in its own words" in told
    assert "No evidence" not in untold


def test_figures_that_cannot_be_written_are_no_success(tmp_path):
    with serving() as server:
        ran = aml("smoke", "--url", server.url, "--json", "/dev/full", cwd=tmp_path)
    assert ran.returncode == 3
    assert ran.stderr.endswith("aml: /dev/full was not written: No space left on device\n")
    assert "Searches: 26 of 26" in ran.stdout


def test_two_runs_at_one_endpoint_do_not_meet(tmp_path):
    with serving() as server:
        for _ in range(2):
            assert (
                aml("smoke", "--url", server.url, "--questions", "2", cwd=tmp_path).returncode == 0
            )
    assert len(server.stored) == 2
    assert len(server.searches) == 4


def test_the_key_travels_and_is_never_shown(tmp_path):
    class Keyed(Memory):
        def on_add(self, body):
            return 422, {"detail": {"reason": "the key was s3cret-canary"}}

    with serving(Keyed) as server:
        ran = aml(
            "smoke", "--url", server.url, "--auth", "bearer", "--key-env", "MY_KEY",
            "--json", "smoke.json", cwd=tmp_path, MY_KEY="s3cret-canary",
        )  # fmt: skip
    assert ran.returncode == 1
    assert server.headers_seen[-1]["authorization"] == "Bearer s3cret-canary"
    assert "s3cret-canary" not in ran.stdout + ran.stderr + (tmp_path / "smoke.json").read_text()


def test_a_broken_contract_is_one_message_with_what_to_do(tmp_path):
    class Wrong(Memory):
        def on_search(self, body):
            return 200, {"results": []}

    with serving(Wrong) as server:
        ran = aml("smoke", "--url", server.url, "--json", "smoke.json", cwd=tmp_path)
    assert ran.returncode == 1
    assert "the answer to a Search has no data list (clause S5)" in ran.stderr
    assert 'it answered: {"results": []}' in ran.stderr
    assert f"curl -sS -i {server.url}/search" in ran.stderr
    assert f"aml check --url {server.url}" in ran.stderr
    assert "Traceback" not in ran.stderr
    report = json.loads((tmp_path / "smoke.json").read_text())
    assert (report["complete"], report["clause"]) == (False, "S5")
    assert report["add"]["count"] == 6


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--url", "http://127.0.0.1:9"], 4, "Nothing answers"),
        ([], 2, "no endpoint was named"),
        (["nowhere.json", "--url", "http://127.0.0.1:9"], 2, "nowhere.json: No such file"),
        (["--cmd", "exit 7 # {port}"], 4, "exited with 7"),
    ],
)
def test_what_cannot_be_tried_is_said_once(tmp_path, arguments, code, words):
    ran = aml("smoke", *arguments, cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    assert ran.stderr.count(words) == 1
    assert "Traceback" not in ran.stderr


def test_a_server_that_dies_ends_the_run_with_its_last_words(tmp_path):
    server = tmp_path / "server.py"
    server.write_text(
        "import os, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from tests.smoke.memory import Memory\n"
        "class Dies(Memory):\n"
        "    def on_add(self, body):\n"
        "        print('out of tea', flush=True)\n"
        "        os._exit(9)\n"
        "Dies(int(sys.argv[1])).serve_forever()\n"
    )
    ran = aml("smoke", "--cmd", f"{sys.executable} {server} {{port}}", cwd=tmp_path)
    assert ran.returncode == 1
    assert "the server exited with 9" in ran.stderr
    assert "out of tea" in ran.stderr


def test_ctrl_c_reports_what_was_seen(tmp_path):
    class Stalls(Memory):
        def on_search(self, body):
            if len(self.searches) > 3:
                time.sleep(30)
            return super().on_search(body)

    with serving(Stalls) as server:
        child = subprocess.Popen(
            [*AML, "smoke", "--url", server.url, "--concurrency", "1", "--json", "smoke.json"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        eventually(lambda: len(server.searches) >= 4, seconds=60)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "interrupted" in err
    assert "Evidence recall" in out
    report = json.loads((tmp_path / "smoke.json").read_text())
    assert (report["complete"], report["questions"]) == (False, 3)
