"""The capacity stage on a real server in a process of its own."""

import asyncio
import json
import sys
import threading
import urllib.request

import pytest

from aml_contract.certification.capacity import CapacityData, CapacityStage
from aml_contract.certification.capacity.record import Trouble
from aml_contract.certification.stage import Basis, StageVerdict
from aml_contract.certification.stages import STAGES
from tests.certification.declared import context, declared
from tests.servers import in_process


def paced(**how):
    """The command that starts such a memory."""
    words = [word for name, value in how.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "tests.certification.paced", "--port", "{port}", *words]


def measured(url, *, limit=90.0, budget=120.0, say=lambda _: None, **settings):
    """What the stage measures at a running server, as JSON."""
    stated = declared(
        add_concurrency=16, search_concurrency=16, add_timeout=limit, search_timeout=limit
    )
    within = context(stated, url=url, add_concurrency="16", search_concurrency="16", **settings)
    within.patience = 0.1
    within.say = say
    data = asyncio.run(CapacityStage(budget).measure(within))
    return json.loads(json.dumps(data)), Basis(stated, None)


def stats(url):
    with urllib.request.urlopen(f"{url}/stats") as answer:
        return json.load(answer)


def test_a_server_that_bears_it_passes_and_sees_no_more_than_was_declared():
    said = []
    with in_process(paced(add=0.05, search=0.02)) as server:
        data, basis = measured(server.url, say=said.append)
        seen = stats(server.url)
    judgement = STAGES["capacity"].judge(data, basis)
    assert judgement.verdict is StageVerdict.PASS, judgement
    assert seen["most"]["add"] <= 16
    assert seen["most"]["search"] <= 16
    assert seen["most"]["user"] == 1
    made = CapacityData.model_validate(data)
    assert made.ended == "clear"
    assert made.memories.found == made.memories.acknowledged >= 600
    assert made.add.codes == {"200": made.add.accepted}
    assert made.overhead.floor > 0
    assert "16 Adds in flight, and the Searches that follow them" in said
    assert len(json.dumps(data)) < 60_000


def test_two_sittings_send_nothing_twice():
    with in_process(paced(add=0.001, search=0.001)) as server:
        for _ in range(2):
            data, _ = measured(server.url, budget=2.0)
            assert data["memories"]["acknowledged"]
        assert stats(server.url)["repeats"] == 0


def test_it_waits_as_long_as_the_platform_whatever_the_settings_say():
    with in_process(paced(add=0.6, search=0.01)) as server:
        data, basis = measured(server.url, limit=0.5, budget=60.0, timeout="0.55")
    assert "no answer" not in data["add"]["codes"]
    assert STAGES["capacity"].judge(data, basis).verdict in {
        StageVerdict.FAIL,
        StageVerdict.INCONCLUSIVE,  # where the kit itself is too slow to tell
    }


def test_a_server_that_is_killed_under_load_fails():
    with in_process(paced(add=0.05, search=0.01)) as server:

        def kill(line):
            if "Adds in flight" in line:
                threading.Timer(1.0, server.child.kill).start()

        data, basis = measured(server.url, budget=60.0, say=kill)
    judgement = STAGES["capacity"].judge(data, basis)
    assert judgement.verdict is StageVerdict.FAIL
    assert "brought no answer (connection refused) at the last of" in judgement.summary


@pytest.mark.parametrize(
    ("reason", "lost"),
    [("connection refused", False), ("connection reset", False), ("host name not found", True)],
)
def test_a_network_that_is_gone_is_not_blamed_on_the_endpoint(reason, lost):
    trouble = Trouble(kind="given up", operation="add", answer="no answer", reason=reason)
    assert trouble.lost_touch is lost


def test_a_stage_is_found_by_its_name():
    assert list(STAGES)[3:5] == ["capacity", "forecast"]


@pytest.mark.parametrize(("track", "words"), [("textual", False), ("multimodal", True)])
def test_texts_alone_are_remarked_where_images_come(track, words):
    with in_process(paced(add=0.001, search=0.001)) as server:
        data, _ = measured(server.url, budget=2.0, track=track)
    assert data["texts_only"] is words
