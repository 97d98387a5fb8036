"""The pytest plugin: ``pytest --aml-contract --aml-url …``, one item per rule.

pytest loads this module in every project that has the kit installed, so it imports
nothing of the kit but the table of settings before ``--aml-contract`` is seen.
"""

from __future__ import annotations

import pytest

from aml_contract.config.settings import SETTINGS, Setting

_OTHERWISE = {
    "only": "Collect only these; repeatable.",
    "require_all": "A MUST rule that could not be tested is an error.",
}
"""What some settings mean to pytest."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options: those of ``aml check``, named ``--aml-…``."""
    group = parser.getgroup("aml-contract", "Add/Search contract of the Agent Memory Leaderboard")
    group.addoption(
        "--aml-contract",
        action="store_true",
        help="Run the contract's rules; only these, unless paths are given too.",
    )
    for setting in SETTINGS:
        _add(group, setting)
    group.addoption(
        "--aml-config",
        metavar="FILE",
        help="Read this file, instead of the nearest aml.toml and pyproject.toml.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and the suite if it was asked for.

    Raises:
        pytest.UsageError: the options make no sense, or the kit is installed without
            its extra.
    """
    for level in ("must", "should", "may"):
        config.addinivalue_line("markers", f"aml_{level}: a rule of level {level.upper()}")
    if not config.getoption("aml_contract"):
        return
    try:
        from aml_contract.pytest_plugin.suite import register
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("aml_"):
            raise
        raise pytest.UsageError(
            f"--aml-contract needs the module {error.name}: pip install 'aml-contract[contract]'"
        ) from error
    register(config)


def _add(group: pytest.OptionGroup, setting: Setting) -> None:
    """A setting as an option. What is not given is ``None``; values are read by the table."""
    name = setting.flag.removeprefix("--")
    text = _OTHERWISE.get(setting.name, setting.help_line)
    if setting.is_switch:
        dest = f"aml_{setting.name}"
        group.addoption(f"--aml-{name}", action="store_true", default=None, dest=dest, help=text)
        group.addoption(
            f"--aml-no-{name}", action="store_false", default=None, dest=dest, help="The opposite."
        )
        return
    action = "append" if setting.repeatable else "store"
    group.addoption(f"--aml-{name}", action=action, metavar=setting.shown_metavar, help=text)
