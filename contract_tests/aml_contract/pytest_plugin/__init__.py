"""The pytest plugin: ``pytest --aml-contract --aml-url …``, one item per rule.

pytest loads this module in every project that has the kit installed, so it imports
nothing of the kit before ``--aml-contract`` is seen.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; their names follow those of ``aml check``."""
    group = parser.getgroup("aml-contract", "Add/Search contract of the Agent Memory Leaderboard")
    group.addoption(
        "--aml-contract",
        action="store_true",
        help="run the contract's rules (only these, unless paths are given too)",
    )
    for name, metavar, text in (
        ("url", "BASE", "a running endpoint: BASE/add, BASE/search, BASE/health"),
        ("add-url", "URL", "the Add URL, where it is no BASE/add"),
        ("search-url", "URL", "the Search URL"),
        ("health-url", "URL", "the health URL"),
        ("cmd", "COMMAND", "a command that starts a server, with {port} and {data} in it"),
        ("app", "MODULE:APP", "an ASGI application, served by uvicorn"),
        ("system", "MODULE:CLASS", "a MemorySystem, served by `aml serve`"),
        ("key-env", "VAR", "the environment variable that holds the key"),
        ("restart-cmd", "COMMAND", "restarts a remote server"),
        ("fault-cmd", "COMMAND", "breaks what the server depends on"),
        ("heal-cmd", "COMMAND", "undoes --aml-fault-cmd"),
    ):
        group.addoption(f"--aml-{name}", metavar=metavar, help=text)
    group.addoption(
        "--aml-auth",
        default="none",
        choices=["bearer", "token", "x-api-key", "none"],
        help="how the key travels",
    )
    group.addoption(
        "--aml-track",
        default="textual",
        choices=["textual", "coding", "multimodal"],
        help="what the endpoint is entered for",
    )
    group.addoption(
        "--aml-without",
        action="append",
        default=[],
        choices=["verbatim", "images", "deferred_add"],
        help="decline a capability; repeatable",
    )
    group.addoption(
        "--aml-only",
        action="append",
        default=[],
        metavar="FAMILY_OR_RULE",
        help="collect only these; repeatable",
    )
    group.addoption("--aml-quick", action="store_true", help="MUST rules with few requests")
    group.addoption("--aml-strict", action="store_true", help="broken SHOULD rules fail too")
    group.addoption(
        "--aml-concurrency", type=int, default=16, metavar="N", help="requests in flight at most"
    )
    group.addoption(
        "--aml-time", type=float, metavar="SECONDS", help="start no further rule after this time"
    )
    group.addoption(
        "--aml-fuzz-budget",
        type=float,
        default=20.0,
        metavar="SECONDS",
        help="how long requests are generated, in all; 0 for not at all",
    )
    group.addoption("--aml-seed", type=int, metavar="N", help="choose the course of the run")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and the suite if it was asked for."""
    for level in ("must", "should", "may"):
        config.addinivalue_line("markers", f"aml_{level}: a rule of level {level.upper()}")
    if config.getoption("aml_contract"):
        from aml_contract.pytest_plugin.suite import Suite

        config.pluginmanager.register(Suite(config), "aml_contract_suite")
