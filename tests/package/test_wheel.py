"""What users get is the wheel: its contents, and the programs in it, away from this tree."""

import configparser
import re
import zipfile

import pytest

from tests.servers import in_process

pytestmark = pytest.mark.xdist_group("package")

PACKAGES = {"aml_sdk", "aml_adapters", "aml_contract", "aml_servers", "aml_cli"}
SERVE = "aml serve hybrid --port {port} --data {data}"


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_it_holds_the_five_packages_and_nothing_else(names):
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    ours = [name for name in names if not name.startswith("aml_cli/scaffold/template/")]
    assert not [name for name in ours if re.search(r"(^|/)(tests?|conftest)[/.]", name)]


def test_it_holds_what_is_no_python(names):
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert "aml_sdk/_gen/openapi.json" in names
    assert "aml_contract/smoke/data/lanterns.json" in names
    assert "aml_contract/fuzz/openapi.json" in names
    assert "aml_cli/scaffold/template/.github/workflows/contract.yml.jinja" in names
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)


def test_it_declares_its_entry_points(wheel, names):
    (path,) = (name for name in names if name.endswith("entry_points.txt"))
    parser = configparser.ConfigParser()
    with zipfile.ZipFile(wheel) as archive:
        parser.read_string(archive.read(path).decode())
    assert parser["console_scripts"]["aml"] == "aml_cli.main:main"
    assert parser["pytest11"]["aml_contract"].startswith("aml_contract.")
    assert parser["aml.systems"]["hybrid"].startswith("aml_adapters.")


def test_the_command_runs(installed):
    assert installed.run("aml", "--version").stdout.startswith("aml-contract ")
    rules = installed.run("aml", "rules")
    assert rules.returncode == 0, rules.stderr
    assert "isolation/case-twins" in rules.stdout


def test_a_served_memory_is_checked_and_smoked(installed):
    serve = [installed.bin / "aml", "serve", "hybrid", "--port", "{port}", "--data", "served"]
    with in_process(serve, cwd=installed.home, env=installed.environment) as server:
        at = ("--url", server.url)
        checked = installed.run("aml", "check", *at, "--quick", "--json", "out.json")
        smoked = installed.run("aml", "smoke", *at)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert (installed.home / "out.json").exists()
    assert smoked.returncode == 0, smoked.stdout + smoked.stderr


def test_the_plugin_checks_a_command(installed):
    ran = installed.run(
        "pytest", "--aml-contract", "--aml-cmd", SERVE, "-k", "echo or restart", "-q"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"\d+ passed", ran.stdout), ran.stdout


@pytest.mark.slow
def test_the_plugin_checks_every_rule(installed):
    ran = installed.run("pytest", "--aml-contract", "--aml-cmd", SERVE, "-q", timeout=900)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_pytest_without_the_option_is_left_alone(installed):
    (installed.home / "test_own.py").write_text("def test_own():\n    assert True\n")
    ran = installed.run("pytest", "-q", "-W", "error", "test_own.py")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout


def test_without_extras_the_missing_one_is_named(bare):
    assert bare.run("aml", "--help").returncode == 0
    for words, extra in (
        (("serve", "hybrid"), "server"),
        (("check", "--url", "http://127.0.0.1:9"), "contract"),
        (("smoke", "--url", "http://127.0.0.1:9"), "contract"),
        (("new", "my-memory"), "contract"),
        (("keys", "new", "organiser"), "certify"),
        (("verify", "certificate.json", "--trust-store", "trusted"), "certify"),
    ):
        ran = bare.run("aml", *words)
        assert ran.returncode == 2, ran.stderr
        assert f"aml-contract[{extra}]" in ran.stderr
        assert "Traceback" not in ran.stderr
