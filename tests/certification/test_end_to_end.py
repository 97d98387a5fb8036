"""What organisers do, whole: a remote memory behind TLS, every rule, a signed certificate."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys

import pytest

from aml_contract.certification.requirements import requirements_for
from aml_contract.certification.stage import ORDER
from aml_contract.endpoint.ports import free_port
from tests.certification.declared import OPEN_SOURCE
from tests.certification.endpoints import ROOT, toml
from tests.certification.reached import Authority

KEY = "k-7b1e94c2"


@pytest.fixture
def memory(tmp_path):
    """A memory behind TLS, its ``[endpoint]``, and the command that kills and restarts it."""
    files = Authority(tmp_path).options("127.0.0.1", "localhost")
    port, pid = free_port(), tmp_path / "pid"
    words = [sys.executable, "-m", "tests.certification.over_tls", tmp_path / "data", port]
    start = shlex.join(map(str, [*words, files["ssl_certfile"], files["ssl_keyfile"]]))
    script = tmp_path / "restart.sh"
    script.write_text(
        f"cd {shlex.quote(str(ROOT))}\n"
        f"[ -f {pid} ] && kill -9 $(cat {pid})\n"
        f"nohup {start} >>{tmp_path}/log 2>&1 </dev/null &\n"
        f"echo $! >{pid}\n"
    )
    environment = {**os.environ, "MEMORY_KEY": KEY, "SSL_CERT_FILE": str(tmp_path / "ca.pem")}
    subprocess.run(["sh", script], env=environment, check=True)
    endpoint = {"url": f"https://localhost:{port}", "auth": "bearer", "key_env": "MEMORY_KEY"}
    yield endpoint, f"sh {script}", environment
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(pid.read_text()), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_conformant_memory_behind_tls_is_certified(memory, tmp_path):
    endpoint, restart, environment = memory
    hooks = {"restart_cmd": restart}
    (tmp_path / "endpoint.toml").write_text(
        toml(endpoint=endpoint, hooks=hooks, declaration=OPEN_SOURCE)
    )

    def aml(*words):
        return subprocess.run(
            [sys.executable, "-m", "aml_cli.main", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    aml("keys", "new", "organiser")
    aml("keys", "trust", "organiser.pub", "--trust-store", "store", "--organisation", "Example")
    file = ["--config", "endpoint.toml"]
    done = aml("certify", *file, "--out", "out", "--allow-private", "--key", "organiser.key")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [stage["stage"] for stage in report["stages"]] == list(ORDER)
    assert {stage["judgement"]["verdict"] for stage in report["stages"]} == {"PASS"}
    contract = report["stages"][2]["data"]["outcomes"]
    assert contract.keys() == requirements_for("textual").rules.keys()
    assert {one["name"] for one in report["lowered"]} == {"fault", "kill"}
    assert KEY not in (tmp_path / "out" / "report.json").read_text()
    verified = aml("verify", "out/certificate.json", "--trust-store", "store", *file)
    assert verified.returncode == 0, verified.stdout + verified.stderr
