"""What must come back for each case: written by hand, about the steps, not their words."""

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.cases.replay import messages

EXPECTATIONS = {}


@dataclass(frozen=True)
class Expectation:
    judge: Any
    statuses: dict[int, str] = field(default_factory=dict)
    again: tuple[int, ...] = ()


def expects(case, *, statuses=None, again=()):
    def register(judge):
        assert case not in EXPECTATIONS
        EXPECTATIONS[case] = Expectation(judge, statuses or {}, again)
        return judge

    return register


@expects("B02")
def the_right_user_finds_it(r):
    r.found(r.told(0), 1)
    assert r.items(2) == []


@expects("B03")
def no_leak_through_a_cache(r):
    r.found(r.told(1), 2)
    r.absent(r.told(0), 2)
    r.found(r.told(0), 3, 4)
    r.absent(r.told(1), 3, 4)


@expects("B04")
def opaque_ids(r):
    r.found(r.told(0), 1)
    r.found(r.told(2), 3)


@expects("B05")
def no_wildcards(r):
    for search in range(1, 6):
        assert r.items(search) == []


@expects("B06")
def ids_that_look_alike(r):
    for mine in range(3):
        assert r.texts(3 + mine) == [r.told(mine)]


@expects("B07")
def a_crowd_does_not_hide_it(r):
    assert r.texts(2) == [r.told(0)]


@expects("B08")
def evidence_only(r):
    assert r.texts(1) == [r.told(0)]
    assert r.items(2) == []


@expects("B09")
def visible_at_once(r):
    r.found(r.told(0), 1)


@expects("B10")
def a_client_that_gave_up(r):
    assert r.count(r.told(0), 2) == 1


@expects("B11")
def two_at_once(r):
    assert r.count(r.told(0), 2) == 1


@expects("B12", statuses={1: "422", 4: "422"}, again=(2,))
def another_body(r):
    r.found(r.told(0), 2)
    r.absent(r.told(1), 2)
    said = messages(item["content"] for item in r.last[2].json["data"])
    assert sorted(said) == sorted([r.told(0), r.told(3, 0), r.told(3, 1)])


@expects("B13", statuses={0: "200 or 5xx", 1: "200 or 5xx"})
def acknowledged_is_found(r):
    for add, search in ((0, 2), (1, 3)):
        assert r.count(r.told(add), search) == (1 if r.status(add) == 200 else 0)


@expects("B14", statuses={0: "5xx"})
def whole_or_nothing(r):
    assert r.system.left_behind == [0, 0]
    assert r.count(r.told(1, 1), 2) == 1
    assert r.count(r.told(1, 0), 3) == 1


@expects("B15")
def failed_is_not_done(r):
    assert r.count(r.told(0), 3) == 1
    assert r.count(r.told(1), 3) == 1


@expects("B16")
def a_long_message_among_short_ones(r):
    r.found(r.told(0, 0), 1)
    r.found(r.told(0, 2), 2)
    r.found(r.phrase(0, 1), 3)
    r.found(r.told(0, 1), 3)


@expects("B17", again=(1,))
def parts_and_nulls(r):
    r.found(r.told(0), 1)
    assert [item["content"] for item in r.last[1].json["data"]] == [r.told(0)]


@expects("B18")
def blank_turns(r):
    assert r.items(2) == []
    assert r.texts(4) == [r.told(3, 1)]


@expects("B19", statuses={1: "422", 2: "422"})
def half_a_character(r):
    r.found(r.told(0), 4)
    r.found(r.told(3), 4)


@expects("B20", statuses={0: "200"})
def control_characters(r):
    r.found(r.told(0), 2)
    r.found(r.told(1), 3)


@expects("B21")
def words_without_spaces(r):
    for which in range(3):
        r.found(r.told(which), 3 + which)


@expects("B22")
def query_syntax(r):
    r.found(r.told(0), 1, 2)


@expects("B23", statuses={1: "422", 2: "200"})
def blank_queries(r):
    assert r.items(2) == []


@expects("B24", statuses={2: "503"})
def failing_is_not_finding_nothing(r):
    assert r.items(0) == []
    assert r.count(r.told(1), 3) == 1


@expects("B25")
def the_exact_match_first(r):
    items = r.items(2)
    assert items[0]["content"] == r.told(0)
    scores = [item["score"] for item in items]
    assert all(math.isfinite(score) for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1]


@expects("B26")
def finite_scores(r):
    for search in (1, 2):
        (item,) = r.items(search)
        assert item["content"] == r.told(0)
        assert "score" not in item


@expects("B27")
def as_many_as_asked_for(r):
    assert [len(r.items(search)) for search in (1, 2, 3)] == [1, 5, 12]


@expects("B28")
def one_order(r):
    first, *others = [[item["id"] for item in r.items(1, n)] for n in range(5)]
    assert len(first) == 5
    assert all(other == first for other in others)


@expects("B29")
def the_tail_of_a_long_message(r):
    assert r.told(0).endswith(r.phrase(0))
    assert r.texts(1) == [r.told(0)]


@expects("B30")
def when_it_happened(r):
    (item,) = r.items(1)
    assert moment(item) == r.timestamp(0)


@expects("B31")
def milliseconds(r):
    assert sorted(messages(r.texts(2))) == sorted([r.told(0), r.told(1)])
    for item in r.items(2):
        if r.told(0) in item["content"]:
            assert moment(item) == r.timestamp(0)
        else:
            assert "created_at" not in item


@expects("B32")
def all_sessions(r):
    r.found(r.told(0), 2)


@expects("B33")
def side_by_side(r):
    for n in range(32):
        assert r.count(r.told(0, n=n), 1, n) == 1
        own = {r.told(0, n=other) for other in range(32) if other % 16 == n % 16}
        assert set(messages(r.texts(1, n))) == own


@expects("B34")
def over_a_restart(r):
    for search in (1, 2):
        number = next(
            word for word in r.steps[search]["request"]["query"].split() if word.isdigit()
        )
        r.found(r.told(0, n=int(number)), search)


@expects("B35")
def without_a_network(r):
    r.found(r.told(0), 1)


@expects("B36")
def unknown_keys(r):
    """Both are answered 200, which is judged for every case."""


@expects("B37")
def the_two_steps(r):
    r.found(r.told(0), 1)


@expects("B38")
def twenty_times(r):
    assert all(r.texts(1, n) == [r.told(0)] for n in range(20))


@expects("B39")
def what_is_zero_stays(r):
    assert r.answers[0][0].json == {"data": []}
    (item,) = r.items(2)
    assert moment(item) == 0


@expects("B40")
def no_more_than_asked_for(r):
    assert len(r.items(1)) == 10


def moment(item):
    """``created_at`` in Unix milliseconds."""
    read = datetime.fromisoformat(item["created_at"])
    assert read.tzinfo is not None
    return (read.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000
