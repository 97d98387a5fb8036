"""Commands and settings of docs/pytest.md; tests of the documentation run its shell blocks."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from aml_contract.config import resolve

PAGE = (Path(__file__).parents[2] / "docs" / "pytest.md").read_text()
COMMANDS = re.findall(r"^\| `pytest ([^`]+)` \|", PAGE, re.MULTILINE)
LISTS_EACH = """
import json, sys
import pytest

class Listed:
    def pytest_collection_finish(self, session):
        self.rules = [item.nodeid for item in session.items if "aml_contract::" in item.nodeid]

found = []
for words in json.load(sys.stdin):
    listed = Listed()
    code = pytest.main([*words, "--collect-only", "-q", "-p", "no:schemathesis"], [listed])
    found.append([int(code), len(listed.rules)])
print(json.dumps(found))
"""
"""One process for all of them: what takes long is to start."""


def test_pytest_takes_each_command_of_the_page(project):
    assert len(COMMANDS) > 8
    done = subprocess.run(
        [sys.executable, "-c", LISTS_EACH],
        input=json.dumps([shlex.split(command) for command in COMMANDS]),
        cwd=project.root,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    for command, (code, rules) in zip(COMMANDS, found, strict=True):
        assert code == 0, command
        assert rules > 0, command
    of_one = COMMANDS.index("--aml-contract aml_contract::isolation/case-twins")
    assert found[of_one][1] == 1


def test_its_settings_are_settings(tmp_path):
    (block,) = re.findall(r"```toml\n# aml\.toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "aml.toml").write_text(block)
    assert resolve({}, directory=tmp_path, environ={})["app"] == "my_package.main:app"
