"""What the figures rest on."""

import json
import sqlite3

import pytest

from aml_adapters.memgpt import MemGPTMemory
from aml_sdk import AddRequest, Message
from benchmarks import page, retrieval
from benchmarks.cells import Cell, Cells
from benchmarks.intervals import difference, ratio
from benchmarks.measuring import baselines, talk
from benchmarks.measuring.client import Client, Until
from benchmarks.measuring.filling import Stores
from benchmarks.measuring.turns import in_turns
from tests.servers import in_thread


def test_cells_are_measured_once_and_kept_when_a_later_one_is_interrupted(tmp_path):
    made = []

    def measure(name):
        made.append(name)
        if name == "second" and made.count(name) == 1:
            raise KeyboardInterrupt
        return {"value": name}

    plan = [Cell(name, 1, lambda name=name: measure(name)) for name in ("first", "second")]
    with pytest.raises(SystemExit) as ended:
        Cells(tmp_path, "table").figures(plan)
    assert ended.value.code == 130
    figures = Cells(tmp_path, "table").figures(plan)
    assert [each["value"] for each in figures] == ["first", "second"]
    assert made == ["first", "second", "second"]


def test_cells_of_other_code_are_not_taken(tmp_path, monkeypatch):
    plan = [Cell("one", 1, lambda: {"value": 1})]
    Cells(tmp_path, "table").figures(plan)
    monkeypatch.setattr("benchmarks.cells.digest", lambda *_: "other")
    assert Cells(tmp_path, "table").missing(plan) == plan


def test_intervals_are_of_pairs():
    base = [0.1, 0.9, 0.3, 0.7] * 25
    better = [value + 0.05 for value in base]
    gain = difference(better, base)
    assert gain == pytest.approx((0.05, 0.05, 0.05))  # the questions differ, their pairs do not
    assert ratio([2 * value for value in base], base) == pytest.approx((2, 2, 2))
    apart = difference([1, 0] * 50, [0, 1] * 50)
    assert apart.low < -0.1 < apart.value == 0 < 0.1 < apart.high


def test_turns_change_their_order_and_keep_pairs():
    order = []
    calls = {name: lambda n, name=name: order.append(name) or (name, n) for name in "abc"}
    made = in_turns(calls, range(20))
    assert made["b"] == [("b", n) for n in range(20)]
    firsts = order[::3]
    assert set(firsts) == set("abc")


def test_much_is_one_talk_however_it_is_cut():
    conversations = talk.small()
    whole = [m for add in talk.much(conversations, "u", 0, 300) for m in add.messages]
    parts = [
        m
        for first, last in ((0, 7), (7, 150), (150, 300))
        for add in talk.much(conversations, "u", first, last)
        for m in add.messages
    ]
    assert len(whole) == 300
    assert parts == whole
    names = [add.request_id for add in talk.much(conversations, "u", 0, 300)]
    assert len(set(names)) == len(names)


@pytest.fixture
def kept():
    """Messages of two users in each baseline."""

    def filled(made):
        texts = ["the cat sat on the mat", "a dog", "Rome is a city", "cats and dogs"]
        for user in ("one", "two"):
            said = [
                Message(role="user", content=f"{user}: {text}", timestamp=n * 1000)
                for n, text in enumerate(texts)
            ]
            made.add(AddRequest(request_id="r", user_id=user, session_id="s", messages=said))
        return made

    return filled


def contents(memory, query, top_k=100):
    asked = talk.SearchRequest(query=query, user_id="one", top_k=top_k)
    return [each.content for each in memory.search(asked)]


@pytest.mark.parametrize("baseline", [baselines.FTS5, baselines.BM25])
def test_words_find_their_user_s_messages(kept, baseline):
    memory = kept(baseline())
    assert contents(memory, "Which city?")[0] == "one: Rome is a city"
    assert set(contents(memory, "a cat?", 2)) == {
        "one: the cat sat on the mat",
        "one: cats and dogs",
    }
    assert all(each.startswith("one") for each in contents(memory, "dogs"))
    assert contents(memory, "?") in ([], contents(memory, "!"))


def test_windows_find_what_was_said_beside(kept):
    found = contents(kept(baselines.FTS5Windows()), "city")
    assert found[0] == "one: Rome is a city" or len(found) == 3
    assert set(found) == {"one: a dog", "one: Rome is a city", "one: cats and dogs"}


def test_an_index_knows_what_was_added_since(kept):
    memory = kept(baselines.BM25())
    contents(memory, "zebra")
    said = [Message(role="user", content="a zebra")]
    memory.add(AddRequest(request_id="r2", user_id="one", session_id="s", messages=said))
    assert contents(memory, "zebra")[0] == "a zebra"


def test_chance_finds_as_much_as_chance():
    memory = baselines.Chance()
    said = [Message(role="user", content=f"{n}") for n in range(200)]
    memory.add(AddRequest(request_id="r", user_id="one", session_id="s", messages=said))
    ranks = [contents(memory, f"question {n}", 200).index("7") for n in range(2_000)]
    assert sum(rank < 20 for rank in ranks) / len(ranks) == pytest.approx(0.1, abs=0.02)


def test_short_cuts_leave_a_store_of_memgpt_as_it_is(tmp_path):
    said = talk.small()
    stores = Stores(tmp_path / "stores", said)
    stores.fill({"memgpt": [30, 60]}, lambda *_: None)
    plain = MemGPTMemory(tmp_path / "plain")
    adds = [add for ends in ((0, 30), (30, 60)) for add in talk.much(said, talk.USER, *ends)]
    for add in adds:
        plain.add(add)
    plain.close()
    paths = (stores.path("memgpt", 60), tmp_path / "plain")
    short, whole = (list(sqlite3.connect(path / "memgpt.sqlite3").iterdump()) for path in paths)
    assert short == whole


def test_a_refusal_is_not_taken_for_speed():
    async def refuse(scope, receive, send):
        await send({"type": "http.response.start", "status": 429, "headers": []})
        await send({"type": "http.response.body", "body": b"full"})

    with in_thread(refuse, lifespan="off") as url, Client(url) as client:
        with pytest.raises(ExceptionGroup, match="unhandled errors") as raised:
            client.load("/search", [b"{}"], 1, Until(most=1))
        assert "429" in str(raised.value.exceptions[0])


def test_the_page_has_a_place_for_each_table(tmp_path, monkeypatch):
    copy = tmp_path / "numbers.md"
    copy.write_text(page.PAGE.read_text())
    monkeypatch.setattr(page, "PAGE", copy)
    for name in ("retrieval", "speed", "server"):
        page.write(name, f"| figures of {name} |")
        page.write(name, f"| new figures of {name} |")
    text = copy.read_text()
    for name in ("retrieval", "speed", "server"):
        assert text.count(f"figures of {name} |") == 1
    with pytest.raises(ValueError, match="no marks"):
        page.write("unknown", "")


def test_recall_is_told_beside_the_lead():
    def answers(found):
        return [
            {
                "category": 1 + n % 2,
                "among": {str(k): float(found) for k in (5, 10, 20, 100)},
                "within": {str(k): float(found) for k in (2000, 8000, 32000)},
                "reciprocal_rank": 0.5,
                "tokens": 1234,
            }
            for n in range(10)
        ]

    told = retrieval.tables({"hybrid": answers(1), "other": answers(0)})
    assert "All 10 questions" in told
    assert "| other | −1.000 (−1.000 to −1.000) |" in told
    assert "Multi-hop, 5 questions" in told
    assert "1,234" in told
    json.dumps(told)
