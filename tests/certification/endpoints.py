"""Endpoints' files, and ``aml certify`` run on them with a few rules."""

import contextlib
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from tests.certification.declared import COMMERCIAL

ROOT = Path(__file__).parents[2]
DECLARED = COMMERCIAL | {"system": "small", "add_concurrency": 16, "search_concurrency": 16}
STAGES = "declaration,preflight,contract,fingerprint"
"""Those that take seconds."""


def toml(**tables):
    """Tables of texts, numbers, lists and tables as TOML; JSON's values are TOML's too."""
    lines = []
    for name, table in tables.items():
        values = {key: value for key, value in table.items() if not isinstance(value, dict)}
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
        inner = {f"{name}.{key}": value for key, value in table.items() if isinstance(value, dict)}
        lines += [toml(**inner)] if inner else []
    return "\n".join(lines) + "\n"


def managed(server="Correct"):
    """The ``[endpoint]`` of a server that the kit starts."""
    start = shlex.join([sys.executable, "-m", "tests.broken", server])
    return {"cmd": f"cd {ROOT} && exec {start} --port {{port}} --data {{data}}"}


class Certifying:
    """A directory with an endpoint's file, and what certifies it."""

    def __init__(self, directory):
        self.directory = directory
        self.config = directory / "endpoint.toml"
        self.out = directory / "out"
        self.write()

    def write(self, endpoint=None, declaration=DECLARED, **tables):
        """Write the endpoint's file anew."""
        tables = {"endpoint": endpoint or managed(), "declaration": declaration, **tables}
        self.config.write_text(toml(**tables))

    def words(self, *arguments, stages=STAGES, hold=None):
        driver = [sys.executable, "-m", "tests.certification.driver"]
        driver += ["--stages", stages] if stages else []
        driver += ["--hold", hold, str(self.held)] if hold else []
        named = ["certify", "--config", self.config, "--out", self.out, "--allow-private"]
        return [str(word) for word in (*driver, *named, *arguments)]

    @property
    def held(self):
        """The file that says that a stage is held."""
        return self.directory / "held"

    def run(self, *arguments, disk=None, **how):
        """Certify to the end; the finished process. No file has more than ``disk`` bytes."""

        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (disk, disk))  # as a disk that fills up

        return subprocess.run(
            self.words(*arguments, **how),
            preexec_fn=small if disk else None,
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )

    def start(self, *arguments, **how):
        """Begin to certify, output to a file; the process."""
        with (self.directory / "output").open("wb") as output:
            return subprocess.Popen(
                self.words(*arguments, **how),
                cwd=ROOT,
                env={**os.environ, "COLUMNS": "120"},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def report(self):
        """What was written as JSON."""
        return json.loads((self.out / "report.json").read_text())

    def stages(self):
        """The finished stages, byte for byte."""
        return {path.stem: path.read_bytes() for path in (self.out / "stages").glob("*.json")}


def killed(child):
    """Kill a certification as a power cut would: the server that it started, too."""
    doomed = [child.pid, *descendants(child.pid)]
    for pid in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.wait()


def descendants(pid):
    """The processes that a process started, and those that these did."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    found = [pid]
    for parent in found:
        found += [one for one, its in pairs if its == parent]
    return found[1:]


def outcomes(report):
    """The verdict of every stage, and every rule's outcome."""
    verdicts = {one["stage"]: one["judgement"]["verdict"] for one in report["stages"]}
    contract = next((one for one in report["stages"] if one["stage"] == "contract"), None)
    return report["verdict"], verdicts, contract and contract["data"]["outcomes"]
