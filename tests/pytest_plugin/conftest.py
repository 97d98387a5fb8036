"""A builder's project, in which pytest runs as builders run it: a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.conftest import command, events_of, serve

__all__ = ["FEW", "Project", "command", "counts", "events_of", "project", "serve"]

FEW = ("--aml-only", "structure/add-success", "--aml-only", "visibility/immediate")
"""Two MUST rules that send a handful of requests."""
LIGHT = ("-p", "no:schemathesis", "-p", "no:syrupy", "-p", "no:cacheprovider")
"""Without plugins of our own environment: they take time, and have words of their own."""


class Project:
    """A directory with tests of its own, and strict settings."""

    def __init__(self, root: Path, python: str = sys.executable):
        self.root = root
        self.python = python
        (root / "tests").mkdir()
        self.write("tests/test_own.py", "def test_own():\n    pass\n")
        self.settings()

    def settings(self, *lines):
        """Write ``pytest.ini`` with further lines."""
        strict = ["testpaths = tests", "addopts = --strict-markers --strict-config"]
        self.write("pytest.ini", "\n".join(["[pytest]", *strict, *lines, ""]))

    def write(self, name, text):
        (self.root / name).write_text(text)

    def words(self, *arguments, light=True):
        return [self.python, "-m", "pytest", *(LIGHT if light else ()), *map(str, arguments)]

    def run(self, *arguments, light=True, below=".", **environment):
        """Run pytest to its end, in the directory or one below it."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        return subprocess.run(
            self.words(*arguments, light=light),
            cwd=self.root / below,
            env={**kept, "COLUMNS": "120", **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def contract(self, *arguments, **more):
        """Run ``pytest --aml-contract``."""
        return self.run("--aml-contract", *arguments, **more)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def counts(done):
    """``{"passed": 2, …}`` of the last line."""
    last = done.stdout.strip().splitlines()[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", last)}
