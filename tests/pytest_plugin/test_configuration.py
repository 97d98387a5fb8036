"""Settings reach pytest as they reach ``aml``: files, variables and flags."""

import argparse

import pytest

from aml_contract.config import SETTINGS
from aml_contract.pytest_plugin import pytest_addoption
from tests.pytest_plugin.conftest import FEW, command, counts


class Group:
    """Takes options as pytest does, and remembers them."""

    def __init__(self):
        self.parser = argparse.ArgumentParser()
        self.names = set()

    def getgroup(self, *_):
        return self

    def addoption(self, name, **more):
        self.parser.add_argument(name, **more)
        self.names.add(name)


def test_the_options_are_those_of_the_table():
    group = Group()
    pytest_addoption(group)
    switches = {f"--aml-no-{s.flag.removeprefix('--')}" for s in SETTINGS if s.is_switch}
    same = {f"--aml-{s.flag.removeprefix('--')}" for s in SETTINGS}
    assert group.names == {"--aml-contract", "--aml-config"} | same | switches
    given = group.parser.parse_args([])
    assert {getattr(given, f"aml_{setting.name}") for setting in SETTINGS} == {None}


def test_values_come_from_files_variables_and_flags_and_the_header_says_so(project):
    project.write("aml.toml", f"[endpoint]\ncmd = '''{command()}'''\n[run]\nquick = true\n")
    project.write("pyproject.toml", "[tool.aml.limits]\nconcurrency = 3\nfuzz_budget = 1\n")
    done = project.contract(
        *FEW, "--aml-no-quick", AML_SEED="77", AML_CONCURRENCY="4", AML_KEY_ENV=""
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts(done) == {"passed": 2}
    header = done.stdout.partition("rootdir:")[0]
    assert "subject.py --port {port} (aml.toml:2)" in header
    for line in (
        "quick: false (--aml-quick)",
        "concurrency: 4 ($AML_CONCURRENCY)",
        "fuzz_budget: 1 (pyproject.toml:3)",
        "seed: 77 ($AML_SEED)",
        "only: structure/add-success, visibility/immediate (--aml-only)",
    ):
        assert line in header
    elsewhere = project.root / "other.toml"
    elsewhere.write_text("[endpoint]\nurl = 'http://127.0.0.1:1'\n")
    other = project.contract("--aml-config", elsewhere, "-q")
    assert other.returncode == pytest.ExitCode.USAGE_ERROR
    assert "http://127.0.0.1:1" in other.stdout


def test_a_key_is_in_no_output(project, serve):
    url = serve(SUBJECT_KEY="k-of-the-builder").url
    done = project.contract(
        "--aml-url", url, "--aml-auth", "bearer", "--aml-key-env", "MY_KEY", *FEW, "-v",
        "--aml-restart-cmd=true k-of-the-builder", MY_KEY="k-of-the-builder",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "auth: bearer (--aml-auth)" in done.stdout
    assert "k-of-the-builder" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no endpoint was named: give --aml-url"),
        (["--aml-url", "http://h", "--aml-cmd", "x {port}"], "more than one"),
        (["--aml-url", "http://h", "--aml-only", "visibilty"], "visibility"),
        (
            ["--aml-url", "http://h", "--aml-auth", "bearer"],
            "needs a key: name the variable that holds it with --aml-key-env",
        ),
        (["--aml-url", "http://h", "--aml-seed", "x"], "--aml-seed is a whole number"),
        (["--aml-config", "absent.toml"], "--aml-config absent.toml: there is no such file"),
    ],
)
def test_mistakes_of_usage_are_one_sentence(project, arguments, words):
    done = project.contract(*arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert words in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout


def test_a_directory_below_the_root_finds_the_settings_and_keeps_the_events(project):
    project.write("aml.toml", f"[endpoint]\ncmd = '''{command()}'''\n")
    done = project.contract(*FEW, "-v", below="tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"rootdir: {project.root}" in done.stdout
    assert "(../aml.toml:2)" in done.stdout
    assert "aml_contract::structure/add-success PASSED" in done.stdout
    assert list(project.root.glob("tests/.aml/runs/*/events.jsonl"))
