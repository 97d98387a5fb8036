"""The action for GitHub: clean, and its shell does what it says, as a plain shell runs it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.docs.pages import ROOT
from tests.new.conftest import Project
from tests.new.steps import Runner, action_steps, scripts
from tests.package.conftest import UNREACHABLE

ACTION = ROOT / "action.yml"
FEW = "--only echo --fuzz-budget 0"


@pytest.mark.parametrize(
    "words",
    [
        ["zizmor", "--offline", "--quiet", str(ACTION)],
        ["check-jsonschema", "--builtin-schema", "vendor.github-actions", str(ACTION)],
    ],
    ids=["zizmor", "schema"],
)
def test_it_is_clean(words, tmp_path):
    ran = Project(tmp_path).run(*words)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", scripts(action_steps(ACTION)))
def test_its_shell_is_clean(name, tmp_path):
    (tmp_path / "step.sh").write_text("#!/usr/bin/env bash\n" + scripts(action_steps(ACTION))[name])
    ran = Project(tmp_path).run("shellcheck", "step.sh")
    assert ran.returncode == 0, ran.stdout


class Action:
    """What GitHub does with the action: its inputs, then its steps in order."""

    def __init__(self, project, **inputs):
        self.steps = {step.get("name"): step for step in action_steps(ACTION)}
        declared = yaml.safe_load(ACTION.read_text())["inputs"]
        assert inputs.keys() <= {name.replace("-", "_") for name in declared}
        values = {f"inputs.{name}": given.get("default", "") for name, given in declared.items()}
        values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        self.runner = Runner(project.home, project.environment, values)

    def step(self, name):
        return self.runner.run(self.steps[name])

    def check(self):
        """Check and end; the exit code."""
        self.step("Check the contract")
        return self.step("Say how it ended").returncode


def test_it_takes_the_settings_of_the_project(project):
    """No input says which endpoint, so aml.toml does."""
    action = Action(project, arguments=FEW)
    assert action.check() == 0
    assert "CONFORMANT" in action.runner.summary.read_text()
    made = {path.name for path in (project.home / "aml-reports").iterdir()}
    assert made == {
        f"contract.{kind}" for kind in ("json", "html", "xml", "sarif", "ctrf.json", "md")
    }
    sarif = Path(action.runner.values["steps.check.outputs.sarif"])
    assert json.loads(sarif.read_text())["version"] == "2.1.0"


def test_an_input_goes_before_the_settings_of_the_project(project):
    action = Action(project, url="http://127.0.0.1:9", arguments=FEW)
    ran = action.step("Check the contract")
    assert action.step("Say how it ended").returncode == 4, ran.stdout
    assert "127.0.0.1:9" in ran.stderr


def test_an_endpoint_may_be_three_urls(project):
    at = "http://127.0.0.1:9"
    urls = {"add_url": f"{at}/in", "search_url": f"{at}/find?v=2", "health_url": f"{at}/alive"}
    ran = Action(project, **urls, arguments=FEW).step("Check the contract")
    assert "Nothing answers at http://127.0.0.1:9 (/alive, /in, /find" in ran.stderr


def test_the_key_reaches_the_endpoint_and_nothing_else(project):
    key = "k-4c1f0e77-secret"
    serve = (
        "aml serve my_memory:MyMemory --port {port} --data {data} --auth bearer --key-env SERVED"
    )
    project.environment["SERVED"] = key
    action = Action(project, cmd=serve, auth="bearer", key=key, arguments="--only auth --only echo")
    ran = action.step("Check the contract")
    assert action.step("Say how it ended").returncode == 0, ran.stdout + ran.stderr
    shown = [ran.stdout, ran.stderr, action.runner.summary.read_text()]
    shown += [path.read_text() for path in (project.home / "aml-reports").iterdir()]
    assert "auth/missing-key" in "".join(shown)
    assert key not in "".join(shown)


def test_words_with_blanks_stay_words_and_nothing_in_them_is_run(project):
    hostile = (
        "--only echo --restart-cmd 'echo a  b' --heal-cmd '$(touch hit)' --fault-cmd ';touch hit'"
    )
    action = Action(project, arguments=hostile)
    said = action.runner.run(
        {
            **action.steps["Check the contract"],
            "run": "aml() { printf '%s\\n' \"$@\"; }\n" + action.steps["Check the contract"]["run"],
        }
    ).stdout.splitlines()
    assert "echo a  b" in said
    assert "$(touch hit)" in said
    assert not (project.home / "hit").exists()


def test_a_usage_error_ends_it_with_its_code(project):
    shutil.rmtree(project.home / "aml-reports", ignore_errors=True)
    assert Action(project, arguments="--no-such-option").check() == 2


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_it_installs_the_kit_from_its_own_checkout(tmp_path):
    """In a fresh environment, from a copy of what git holds."""
    checkout, home = tmp_path / "action", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "-q", str(ROOT), str(checkout)], check=True)
    subprocess.run(["python3", "-m", "venv", str(home / "venv")], check=True)
    project = Project(home, home / "venv" / "bin")
    project.environment["GITHUB_ACTION_PATH"] = str(checkout)
    action = Action(project, cmd="aml serve hybrid --port {port} --data {data}", arguments=FEW)
    installed = action.step("Install the kit")
    if installed.returncode and UNREACHABLE.search(installed.stderr):
        pytest.skip("the package index cannot be reached")
    assert installed.returncode == 0, installed.stderr
    assert action.check() == 0
