import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from aml_contract.matrix.cells import Cell
from tests.broken.serving import ROOT

RULES = ("--rule", "isolation/case-twins", "--rule", "echo/ids")


@dataclass
class Matrix:
    """``aml matrix`` in a directory of its own."""

    home: Path

    @property
    def gate(self):
        return self.home / "gate"

    @property
    def cells(self):
        """Every line of every shard."""
        files = sorted(self.home.glob(".aml/matrix/cells-*.jsonl"))
        lines = [line for file in files for line in file.read_text().splitlines()]
        return [Cell.model_validate_json(line) for line in lines]

    def words(self, collection, *options):
        name = ("--collection", f"tests.matrix.servers:{collection}")
        head = (sys.executable, "-m", "aml_cli.main", "matrix", *name, "--seeds", "2")
        return [*head, *RULES, *map(str, options)]

    @property
    def how(self):
        environment = {"PYTHONPATH": str(ROOT), "GATE": str(self.gate), "COLUMNS": "200"}
        return {"cwd": self.home, "env": {**os.environ, **environment}}

    def run(self, collection, *options):
        """The finished process."""
        return subprocess.run(
            self.words(collection, *options),
            **self.how,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def start(self, collection, *options):
        """The running process; its output goes to ``output``."""
        with (self.home / "output").open("wb") as output:
            return subprocess.Popen(
                self.words(collection, *options),
                **self.how,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


@pytest.fixture
def matrix(tmp_path):
    return Matrix(tmp_path)


@pytest.fixture
def waiting(matrix):
    """A matrix whose last server waits at the gate; the others are done."""
    child = matrix.start("with_a_gate")
    yield child
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
