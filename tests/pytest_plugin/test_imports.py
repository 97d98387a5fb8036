"""A project that has the kit installed and does not ask for it pays nothing."""

import json

LISTS = """
import json, pathlib, sys

def pytest_sessionfinish():
    pathlib.Path("modules.json").write_text(json.dumps(sorted(sys.modules)))
"""


def modules(project, *arguments):
    done = project.run("-p", "no:anyio", "-p", "no:hypothesispytest", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads((project.root / "modules.json").read_text()))


def test_without_the_option_the_table_of_settings_is_all_that_is_imported(project):
    project.write("conftest.py", LISTS)
    added = modules(project) - modules(project, "-p", "no:aml_contract")
    ours = {name for name in added if name.startswith("aml_")}
    assert ours == {
        "aml_contract",
        "aml_contract.pytest_plugin",
        "aml_contract.config",
        "aml_contract.config.files",
        "aml_contract.config.resolve",
        "aml_contract.config.settings",
        "aml_contract.config.values",
    }
    assert added == ours, "a module that pytest itself does without"
