"""What ``aml new`` makes works at once: its tests, the contract, its workflow."""

import json
import signal
import subprocess

import httpx
import pytest

from tests.new.steps import Runner, scripts, workflow_steps
from tests.servers import in_process


def test_it_is_clean(project):
    for words in (["ruff", "check", "."], ["ruff", "format", "--check", "."]):
        ran = project.run(*words)
        assert ran.returncode == 0, ran.stdout
    left = [
        path
        for path in project.home.rglob("*")
        if path.suffix == ".jinja" or "PACKAGE" in path.name or "«" in str(path)
    ]
    assert not left


def test_its_own_tests_pass(project):
    ran = project.run("python", "-m", "pytest", "-q", "-p", "no:schemathesis")
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout


def test_its_settings_name_its_memory(project):
    ran = project.run("aml", "check", "--quick", "--only", "echo", "--only", "isolation")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "CONFORMANT" in ran.stdout


def test_the_plugin_reads_the_same_settings(project):
    ran = project.run("python", "-m", "pytest", "--aml-contract", "-q", "-k", "echo")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout


def test_it_is_served_and_ends_without_an_error(project, tmp_path):
    words = ["aml", "serve", "my_memory:MyMemory", "--port", "{port}", "--data", str(tmp_path)]
    log = tmp_path / "log"
    environment = project.environment
    with (
        log.open("w") as stderr,
        in_process(words, cwd=project.home, env=environment, stderr=stderr) as server,
    ):
        chunk = {"request_id": "r", "user_id": "u", "session_id": "s"}
        chunk["messages"] = [{"role": "user", "content": "I keep bees on the roof."}]
        assert httpx.post(f"{server.url}/add", json=chunk, trust_env=False).status_code == 200
        assert server.stop() in (0, -signal.SIGTERM)
    levels = [json.loads(line)["level"] for line in log.read_text().splitlines()]
    assert levels
    assert set(levels) == {"info"}


@pytest.mark.slow
def test_it_keeps_the_whole_contract(project):
    ran = project.run("python", "-m", "pytest", "--aml-contract", "-q", timeout=900)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_workflow_is_clean(project):
    workflow = ".github/workflows/contract.yml"
    for words in (
        ["zizmor", "--offline", "--quiet", workflow],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow],
    ):
        ran = project.run(*words)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_steps_of_the_workflow_run(project):
    """All but the installation, which the slow tutorial does; a few rules are enough here."""
    steps = workflow_steps(project.home / ".github/workflows/contract.yml")
    assert list(scripts(steps)) == ["Install", "Own tests", "The contract"]
    few = {"AML_ONLY": "echo", "AML_FUZZ_BUDGET": "0"}
    runner = Runner(project.home, {**project.environment, **few})
    for step in (each for each in steps if each.get("name") in ("Own tests", "The contract")):
        ran = runner.run(step)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "CONFORMANT" in runner.summary.read_text()
    made = {path.suffix for path in (project.home / "reports").iterdir()}
    assert made == {".json", ".html", ".xml", ".md"}


def test_the_shell_of_the_workflow_is_clean(project):
    for name, text in scripts(
        workflow_steps(project.home / ".github/workflows/contract.yml")
    ).items():
        ran = subprocess.run(
            ["shellcheck", "--shell", "bash", "-"],
            input=text,
            env=project.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{name}: {ran.stdout}"
