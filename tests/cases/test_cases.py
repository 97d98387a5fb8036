"""Every handed case, on a real server of each memory; the file stays outside the repository.

``AML_CASES`` names it. ``python -m tests.cases`` prints what became of each case.
``AML_CASES_SYSTEM`` names another memory to try them on, in place of ours.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_sdk import create_app
from tests.adapters.serving import served as on_models
from tests.cases import models
from tests.cases.expectations import EXPECTATIONS
from tests.cases.faulty import SYSTEMS
from tests.cases.offline import attempts, deny_network
from tests.cases.replay import Replay
from tests.cases.sessions import APART
from tests.memories import slow_but
from tests.servers import in_thread

FILE = os.environ.get("AML_CASES")
OTHER = os.environ.get("AML_CASES_SYSTEM")
CASES = {
    case["id"]: case
    for case in map(json.loads, Path(FILE).read_text().splitlines() if FILE else ())
}
UNREPLAYED = {
    "B01": "asks for the answer and evaluate stages of a runner, which this project does not have",
}
"""Cases that no endpoint can show, and why."""
TESTED_BESIDE = {
    "B02": "tests/cases/test_offline.py::test_a_check_needs_no_network_and_no_key",
    "B35": "tests/cases/test_offline.py::test_importing_opens_no_socket_and_starts_no_thread",
    "B36": "tests/healthy/test_healthy.py::test_what_is_found_is_true",
    "B37": "tests/cases/test_foreign_suite.py::test_a_foreign_suite_is_left_alone",
    "B38": "tests/kit/test_latency.py::test_slow_adds",
    "B39": "tests/sdk/test_search.py::test_all_four_fields_come_through",
    "B40": "tests/smoke/test_run.py::test_a_search_that_ends_the_stage_ends_the_run",
}
"""What of a case is not about one endpoint, and the test that looks at it."""

needs_cases = pytest.mark.skipif(not FILE, reason="AML_CASES names no file of cases")


@needs_cases
def test_every_case_is_replayed_or_named():
    assert CASES.keys() == EXPECTATIONS.keys() | UNREPLAYED.keys()
    assert not EXPECTATIONS.keys() & UNREPLAYED.keys()
    for case in CASES.values():
        assert (case["needs"] == "fault-injection") == (case["id"] in SYSTEMS), case["id"]
        if case["needs"] in ("kit", "adapter-unit", "runner"):
            assert case["id"] in TESTED_BESIDE.keys() | UNREPLAYED.keys()
    assert {case for _, case in APART} <= EXPECTATIONS.keys() - SYSTEMS.keys()


@pytest.mark.parametrize("test", TESTED_BESIDE.values(), ids=TESTED_BESIDE)
def test_the_tests_named_exist(test):
    path, _, name = test.partition("::")
    assert f"\ndef {name}(" in Path(__file__).parents[2].joinpath(path).read_text()


@needs_cases
@pytest.mark.parametrize("name", [name for name in CASES if name in UNREPLAYED])
def test_not_replayed(name):
    pytest.skip(f"{name} {UNREPLAYED[name]}")


@needs_cases
@pytest.mark.parametrize("name", [name for name in CASES if name in SYSTEMS])
def test_case_with_a_fault(name, tmp_path):
    expected = EXPECTATIONS[name]
    replay = on_a_faulty_memory(CASES[name], expected, SYSTEMS[name](tmp_path / "data"))
    replay.judge_answers(expected.statuses)
    expected.judge(replay)


@needs_cases
@pytest.mark.parametrize(
    ("system", "name"),
    [(system, name) for name in CASES for system in models.SYSTEMS.get(name, ())],
)
def test_case_with_a_fault_of_a_model(system, name, tmp_path, monkeypatch):
    expected = EXPECTATIONS[name]
    with on_models(system, tmp_path, monkeypatch, with_models=True) as (server, provider):
        fault = models.fault_of(provider)
        replay = replayed(CASES[name], expected, Target(url=server.url), fault=fault)
    replay.judge_answers(expected.statuses)
    expected.judge(replay)


@needs_cases
@pytest.mark.parametrize("name", [name for name in CASES if name in EXPECTATIONS.keys() - SYSTEMS])
@pytest.mark.parametrize("system", [OTHER] if OTHER else slow_but("hybrid"))
def test_case(name, system, tmp_path):
    expected = EXPECTATIONS[name]
    replay = served(CASES[name], expected, tmp_path, system)
    replay.judge_answers(expected.statuses)
    if (system, name) in APART:
        APART[system, name].judge(replay)
        with pytest.raises(AssertionError):  # else there is nothing to set apart
            expected.judge(replay)
    else:
        expected.judge(replay)
    assert not attempts(tmp_path), "the server looked for a network"


def served(case, expected, tmp_path, system):
    """A process of its own, which is refused every connection but to this machine."""
    serve = f"exec {sys.executable} -m aml_cli.main serve {system} --port {{port}} --data {{data}}"
    target = Target(cmd=f"{deny_network(tmp_path)} {serve}", start_timeout=300)
    return replayed(case, expected, target)


def on_a_faulty_memory(case, expected, system):
    def fault(words):
        system.fault = words

    with in_thread(create_app(system)) as url:
        return replayed(case, expected, Target(url=url), system=system, fault=fault)


def replayed(case, expected, target, *, system=None, fault=None):
    async def go():
        async with open_endpoint(target) as endpoint:
            replay = Replay(case, endpoint, again=expected.again, fault=fault)
            replay.system = system
            await replay.run()
            return replay

    return asyncio.run(go())
