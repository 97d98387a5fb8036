"""The tutorial, followed to its end: with what is installed here, and from the wheel."""

import pytest

from aml_contract.endpoint.process import free_port
from tests.new.conftest import BIN, Project
from tests.new.tutorial import follow, script
from tests.package.conftest import wheel as wheel  # noqa: PLC0414  a fixture

ONE = "isolation/case-twins"
FEW = {"AML_ONLY": ONE, "AML_FUZZ_BUDGET": "0"}
INSTALLS = ("python3 -m venv", ". ../aml-env", "pip install")


def judge(ran):
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said[-4000:]
    assert "3 passed" in ran.stdout
    assert "NONCONFORMANT" in ran.stdout
    assert ONE in ran.stdout
    assert '"I keep bees on the roof."' in ran.stdout
    assert "Evidence recall" in ran.stdout


def test_its_commands_with_few_rules(tmp_path):
    clone = tmp_path / "clone"
    clone.mkdir()
    reader = Project(clone, BIN)
    text = script(free_port(), without=INSTALLS).replace("--only isolation", f"--only {ONE}")
    judge(follow(text, clone, {**reader.environment, **FEW}))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.xdist_group("package")
def test_all_of_it_from_the_wheel(tmp_path, wheel):
    clone = tmp_path / "clone"
    clone.mkdir()
    text = script(free_port())
    assert "pip install '.[server,hybrid,contract]'" in text
    text = text.replace("'.[server,", f"'{wheel}[server,")
    environment = Project(clone).environment
    environment["PATH"] = environment["PATH"].replace(f"{BIN}:", "")
    judge(follow(text, clone, environment))
