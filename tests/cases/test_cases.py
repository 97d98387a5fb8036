"""Every handed case, on a real server; the file stays outside the repository.

``AML_CASES`` names it. ``python -m tests.cases`` prints what became of each case.
``AML_CASES_SYSTEM`` names a memory to try them on in place of ``hybrid``.
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
from tests.cases.expectations import EXPECTATIONS
from tests.cases.faulty import SYSTEMS
from tests.cases.offline import attempts, deny_network
from tests.cases.replay import Replay
from tests.servers import in_thread

FILE = os.environ.get("AML_CASES")
SYSTEM = os.environ.get("AML_CASES_SYSTEM", "hybrid")
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


@pytest.mark.parametrize("test", TESTED_BESIDE.values(), ids=TESTED_BESIDE)
def test_the_tests_named_exist(test):
    path, _, name = test.partition("::")
    assert f"\ndef {name}(" in Path(__file__).parents[2].joinpath(path).read_text()


@needs_cases
@pytest.mark.parametrize("name", [name for name in CASES if name in UNREPLAYED])
def test_not_replayed(name):
    pytest.skip(f"{name} {UNREPLAYED[name]}")


@needs_cases
@pytest.mark.parametrize("name", [name for name in CASES if name in EXPECTATIONS])
def test_case(name, tmp_path):
    expected = EXPECTATIONS[name]
    if name in SYSTEMS:
        if SYSTEM != "hybrid":
            pytest.skip("breaks a part of hybrid")
        replay = on_a_faulty_memory(CASES[name], expected, SYSTEMS[name](tmp_path / "data"))
    else:
        replay = served(CASES[name], expected, tmp_path)
    replay.judge_answers(expected.statuses)
    expected.judge(replay)
    assert not attempts(tmp_path), "the server looked for a network"


def served(case, expected, tmp_path):
    """A process of its own, which is refused every connection but to this machine."""
    serve = f"exec {sys.executable} -m aml_cli.main serve {SYSTEM} --port {{port}} --data {{data}}"
    return replayed(case, expected, Target(cmd=f"{deny_network(tmp_path)} {serve}"))


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
