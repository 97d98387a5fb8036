"""What is answered, and told in the log, when a system fails in a way that it did not foresee."""

import asyncio
import concurrent.futures
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aml_sdk import Memory, MemorySystem

HERE = Path(__file__).name


class OfItsOwn(BaseException):
    """Caught by no ``except Exception``."""


class Blocking(MemorySystem):
    def __init__(self, act):
        self.act = act

    def add(self, request):
        self.act()

    def search(self, request):
        return self.act()


class Coroutines(Blocking):
    async def add(self, request):
        self.act()

    async def search(self, request):
        return self.act()


def raising(error):
    def act():
        raise error

    return act


def failures(written):
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    return [line for line in lines if line["level"] == "error"]


ODD = [
    TimeoutError("t-secret"),
    SystemExit(3),
    KeyboardInterrupt(),
    StopIteration("t-secret"),
    asyncio.CancelledError(),
    concurrent.futures.CancelledError(),
    OfItsOwn("t-secret"),
    ExceptionGroup("t-secret", [ValueError("t-secret")]),
]


@pytest.mark.parametrize("kind", [Blocking, Coroutines])
@pytest.mark.parametrize("error", ODD, ids=lambda error: type(error).__name__)
def test_whatever_is_raised_is_answered_500_and_told_with_its_place(serve, written, kind, error):
    server = serve(kind(raising(error)))
    assert server.add("x").status_code == 500
    assert server.search().status_code == 500
    told = failures(written)
    assert [line["event"] for line in told] == ["add failed", "search failed"]
    for line in told:
        assert type(error).__name__ in (line["error"], line.get("cause"))
        assert HERE in line["at"][0]
    assert "secret" not in written.getvalue()
    server.http.get("/health").raise_for_status()


def test_of_a_deep_fall_both_ends_are_told(serve, written):
    def enter():
        fall()

    def fall():
        fall()

    assert serve(Blocking(enter)).search().status_code == 500
    (line,) = failures(written)
    assert line["error"] == "RecursionError"
    assert 3 < len(line["at"]) < 12
    assert all(HERE in place for place in line["at"] if place != "…")
    assert line["at"][0].endswith("fall")
    assert [place.rpartition(" ")[2] for place in line["at"][-2:]] == ["enter", "search"]


def test_what_an_exception_comes_from_is_told(serve, written):
    def ask():
        try:
            int("t-secret")
        except ValueError as error:
            raise RuntimeError("t-secret") from error

    assert serve(Blocking(ask)).search().status_code == 500
    (line,) = failures(written)
    assert (line["error"], line["cause"]) == ("RuntimeError", "ValueError")
    assert "secret" not in written.getvalue()


def test_a_memory_that_cannot_be_made_is_told_by_its_fields(serve, written):
    def find():
        return [Memory(content="t-secret", score="t-secret")]

    assert serve(Blocking(find)).search().status_code == 500
    (line,) = failures(written)
    assert line["error"] == "ValidationError"
    assert "id: missing" in line["memory"]
    assert any(each.startswith("score: ") for each in line["memory"])
    assert any(HERE in place for place in line["at"])
    assert "secret" not in written.getvalue()


async def streamed() -> AsyncIterator[Memory]:
    yield Memory(id="1", content="t-secret")


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        (None, "NoneType"),
        ({"data": []}, "dict"),
        ("t-secret", "str"),
        (["t-secret"], "list of str"),
        ([{"id": "1", "content": "t-secret"}], "list of dict"),
        (streamed(), "async_generator"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_list_of_memories_is_named(serve, written, returned, named):
    assert serve(Blocking(lambda: returned)).search().status_code == 500
    (line,) = failures(written)
    assert line["reason"].startswith(f"search returned {named}") or f"a {named}" in line["reason"]
    assert "Memory" in line["reason"]
    assert "secret" not in written.getvalue()
