import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from aml_adapters.long_context import LongContextMemory, LongContextSettings
from aml_sdk._gen.models import AddRequest, Message
from aml_sdk.errors import DataDirectoryBusy, Misconfigured
from aml_sdk.tokens import count
from tests.adapters.talk import DAY, FILLER, add, contents, search

BUDGET = 400


@pytest.fixture
def memory(tmp_path):
    opened = LongContextMemory(tmp_path / "data")
    yield opened
    opened.close()


@pytest.fixture
def small(tmp_path):
    opened = LongContextMemory(tmp_path / "small", LongContextSettings(tokens=BUDGET))
    yield opened
    opened.close()


def tokens(found):
    return sum(count(each.content) for each in found)


def test_an_item_is_a_session_in_the_order_in_which_it_was_said(memory):
    add(memory, "u", "r3", "third", session="one", start=3 * DAY)
    add(memory, "u", "r1", "first", "second", session="one", start=DAY)
    add(memory, "u", "r2", "elsewhere", session="two", start=2 * DAY)
    found = search(memory, "u", "anything")
    assert contents(found) == ["first\n\nsecond\n\nthird", "elsewhere"]
    assert [each.created_at[:10] for each in found] == ["1970-01-02", "1970-01-03"]


def test_roles_are_shown_where_there_are_several(memory):
    said = [Message(role=role, content=role.upper()) for role in ("user", "assistant")]
    memory.add(AddRequest(user_id="u", request_id="r", session_id="s", messages=said))
    assert contents(search(memory, "u", "?")) == ["user: USER\n\nassistant: ASSISTANT"]


def test_the_newest_sessions_fill_the_budget_and_not_more(small):
    for day in range(20):
        add(small, "u", f"r{day}", *FILLER, session=f"s{day}", start=day * DAY)
    found = search(small, "u", "?")
    whole = "\n\n".join(FILLER)
    fit = BUDGET // count(whole)
    assert contents(found) == [whole] * fit
    assert [int(each.created_at[8:10]) for each in found] == list(range(20, 20 - fit, -1))


def test_what_is_shown_stays_within_the_budget_whatever_the_script(small):
    texts = ["我把护照放在书房的抽屉里", "🎉🎉👨‍👩‍👧", "def f(x):\n    return x", " x ", "ﾊﾞﾅﾅ"]
    for number in range(200):
        add(small, "u", f"r{number}", *texts, session=f"s{number}")
    assert BUDGET * 0.85 < tokens(search(small, "u", "?")) <= BUDGET


def test_an_older_session_takes_the_room_that_a_large_one_leaves(small):
    add(small, "u", "r1", "small and old", session="one", start=DAY)
    add(small, "u", "r2", "too large " * 100, session="two", start=2 * DAY)
    add(small, "u", "r3", "word " * 300, session="three", start=3 * DAY)
    assert [each[:5] for each in contents(search(small, "u", "?"))] == ["word ", "small"]


def test_top_k_takes_the_newest_sessions_and_a_small_one_is_a_prefix(memory):
    for day in range(8):
        add(memory, "u", f"r{day}", f"day {day}", session=f"s{day}", start=day * DAY)
    whole = search(memory, "u", "?")
    assert contents(whole) == [f"day {day}" for day in reversed(range(8))]
    assert [search(memory, "u", "?", top_k=k) for k in (1, 3)] == [whole[:1], whole[:3]]


def test_oldest_first_leaves_out_the_oldest_too(tmp_path):
    memory = LongContextMemory(tmp_path, LongContextSettings(order="oldest"))
    for day in range(5):
        add(memory, "u", f"r{day}", f"day {day}", session=f"s{day}", start=day * DAY)
    assert contents(search(memory, "u", "?", top_k=3)) == ["day 2", "day 3", "day 4"]
    memory.close()


def test_a_long_session_comes_in_parts_that_keep_their_ids(small):
    seen = {}
    for chunk in range(12):
        add(small, "u", f"r{chunk}", *FILLER, session="one", start=chunk * DAY)
        for each in search(small, "u", "?"):
            assert count(each.content) <= BUDGET // 4
            seen.setdefault(each.id, each.content)
            assert each.content.startswith(seen[each.id])
    assert len(seen) >= 10


def test_a_message_above_the_budget_comes_back_where_it_is_the_newest(small):
    add(small, "u", "r", "before", "word " * 1_000, "after", session="one")
    assert sorted(contents(search(small, "u", "?"))) == ["after", "before"]
    add(small, "v", "r", "word " * 1_000)
    assert contents(search(small, "v", "?")) == ["word " * 1_000]


def test_undated_sessions_are_older_than_dated_ones(memory):
    add(memory, "u", "r1", "dated", session="one", start=DAY)
    add(memory, "u", "r2", "undated", session="two")
    add(memory, "u", "r3", "undated too", session="three")
    found = search(memory, "u", "?")
    assert contents(found) == ["dated", "undated too", "undated"]
    assert found[1].created_at is None


def test_a_replay_changes_nothing_and_discard_takes_one_request(memory):
    add(memory, "u", "r1", *FILLER[:3], session="one", start=DAY)
    add(memory, "u", "r2", *FILLER[3:], session="one", start=2 * DAY)
    add(memory, "v", "r1", "of another", session="one")
    before = search(memory, "u", "?")
    add(memory, "u", "r1", *FILLER[:3], session="one", start=DAY)
    assert search(memory, "u", "?") == before
    memory.discard("u", "r2")
    memory.discard("u", "never")
    memory.discard("nobody", "r1")
    assert contents(search(memory, "u", "?")) == ["\n\n".join(FILLER[:3])]
    memory.discard("u", "r1")
    assert search(memory, "u", "?") == []
    assert contents(search(memory, "v", "?")) == ["of another"]


def test_forget_leaves_no_trace_in_the_files(memory, tmp_path):
    add(memory, "u-forgotten", "r-forgotten", "xylographer", session="s-forgotten")
    add(memory, "v", "r", FILLER[0])
    assert b"forgotten" in stored(tmp_path)
    memory.forget("u-forgotten")
    memory.forget("never seen")
    assert search(memory, "u-forgotten", "?") == []
    assert [trace for trace in (b"xylograph", b"forgotten") if trace in stored(tmp_path)] == []
    assert contents(search(memory, "v", "?")) == [FILLER[0]]


def stored(tmp_path):
    return b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())


def test_what_is_kept_of_a_part_is_that_of_its_messages(memory, tmp_path):
    for number in range(30):
        session = f"s{number % 4}"
        add(memory, "u", f"r{number}", *FILLER * (number % 3), "x", session=session, start=number)
        if number % 5 == 0:
            memory.discard("u", f"r{number // 2}")
    file = sqlite3.connect(tmp_path / "data" / "long_context.sqlite3")
    kept = file.execute("SELECT key, time, arrival FROM part ORDER BY key").fetchall()
    made = file.execute(
        "SELECT part, max(timestamp), max(arrival) FROM message GROUP BY part ORDER BY part"
    ).fetchall()
    (counted,) = file.execute("SELECT sum(tokens) FROM part").fetchone()
    file.close()
    assert kept == made
    assert counted == tokens(search(memory, "u", "?"))


def test_thirty_two_users_write_and_search_at_once(memory):
    def live(number):
        for chunk in range(3):
            marker = f"marker{number}x{chunk}"
            add(memory, f"u{number}", f"r{chunk}", *FILLER, marker)
            (session,) = contents(search(memory, f"u{number}", marker))
            assert session.endswith(marker)
            assert session.count("\n\n") == 7 * (chunk + 1) - 1

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(live, range(32)))


def test_all_is_there_after_a_restart_and_one_process_owns_the_directory(tmp_path):
    memory = LongContextMemory(tmp_path)
    add(memory, "u", "r", *FILLER, start=DAY)
    before = search(memory, "u", "?")
    with pytest.raises(DataDirectoryBusy):
        LongContextMemory(tmp_path)
    memory.close()
    memory = LongContextMemory(tmp_path)
    assert search(memory, "u", "?") == before
    memory.close()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, LongContextSettings()),
        ({"AML_LONG_CONTEXT_TOKENS": " "}, LongContextSettings()),
        ({"AML_LONG_CONTEXT_TOKENS": "8000"}, LongContextSettings(tokens=8000)),
        ({"AML_LONG_CONTEXT_ORDER": "oldest"}, LongContextSettings(order="oldest")),
    ],
)
def test_settings_come_from_the_environment(variables, expected):
    assert LongContextSettings.from_environment(variables) == expected


@pytest.mark.parametrize(
    "variables",
    [
        {"AML_LONG_CONTEXT_TOKENS": "many"},
        {"AML_LONG_CONTEXT_TOKENS": "0"},
        {"AML_LONG_CONTEXT_TOKENS": "-1"},
        {"AML_LONG_CONTEXT_ORDER": "random"},
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(variables):
    with pytest.raises(Misconfigured, match=next(iter(variables))):
        LongContextSettings.from_environment(variables)
