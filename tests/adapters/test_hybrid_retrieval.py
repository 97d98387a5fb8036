import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aml_adapters.hybrid import HybridMemory
from tests.adapters.talk import DAY, FILLER, add, contents, request, search


def first(memory, query, **more):
    return search(memory, "u", query, **more)[0].content


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("我把护照放在书房的抽屉里", ["护照", "书房在哪里", "抽屉"]),
        ("明日は水族館で待ち合わせ", ["水族館", "待ち合わせ"]),
        ("打开API配置再重启", ["API", "配置", "API配置"]),
        ("the naïve café on Elm Street doesn't open", ['"Elm" AND (café OR', "doesn't cafe"]),
        ("call get_user_id before parseHeader", ["get_user_id", "user id", "parse header"]),
        ("🎉🎉", ["🎉"]),
        ("...?!", ["?!"]),
        ("left side\x00right side, torch", ["right torch"]),
        ("the tide table says 14:35 and 3.75 metres", ["3.75", "14:35"]),
    ],
)
def test_what_a_text_contains_finds_it(memory, text, queries):
    for number, filler in enumerate(FILLER):
        add(memory, "u", f"f{number}", filler, session=f"s{number}")
    add(memory, "u", "r", text, session="mine")
    assert [first(memory, query) for query in queries] == [text] * len(queries)


@pytest.mark.parametrize(
    "query",
    ["?", "who are you", "'", '"', "*", "NEAR(", "a:b", "--", "); DROP TABLE message; --", "\x00"],
)
def test_a_query_without_a_match_still_gets_all_there_is(memory, query):
    add(memory, "u", "r", *FILLER, start=DAY)
    assert sorted(contents(search(memory, "u", query))) == sorted(FILLER)


def test_a_query_without_words_gets_the_latest_first(memory):
    add(memory, "u", "r2", *FILLER[3:], start=2 * DAY)
    add(memory, "u", "r1", *FILLER[:3], start=DAY)
    assert contents(search(memory, "u", "??")) == list(reversed(FILLER))


def test_nothing_for_white_space_or_a_stranger(memory):
    add(memory, "u", "r", *FILLER)
    assert search(memory, "u", " \n ") == []
    assert search(memory, "stranger", "kettle") == []


def test_the_end_of_a_long_message_is_found(memory):
    long = "tiles and gutters " * 2_000 + "final word: tamarind"
    add(memory, "u", "r", *FILLER[:3], long, *FILLER[3:])
    assert first(memory, "tamarind") == long


def test_a_very_long_query_is_answered(memory):
    add(memory, "u", "r", *FILLER)
    query = " ".join(f"word{number}" for number in range(5_000)) + " kettle"
    assert len(search(memory, "u", query)) == len(FILLER)


def test_the_day_of_a_message_finds_it(memory):
    for number, text in enumerate(FILLER):
        add(memory, "u", f"r{number}", text, session=f"s{number}", start=(number + 4) * DAY)
    assert [first(memory, f"on {day} January 1970?") for day in range(5, 11)] == list(FILLER)
    assert [first(memory, f"1970年1月{day}日") for day in range(5, 11)] == list(FILLER)


@pytest.mark.parametrize(("session", "place"), [("trip", 1), ("another", 6)])
def test_an_answer_is_found_by_the_question_before_it_across_chunks(memory, session, place):
    question, answer = "Which city shall we visit in autumn?", "Hm, let me see."
    add(memory, "u", "r1", question, session="trip")
    add(memory, "u", "r2", answer, session=session)
    for number, filler in enumerate((*FILLER, "We saw many a city on our last trip.")):
        add(memory, "u", f"f{number}", f"{filler} The city sleeps.", session=f"s{number}")
    found = contents(search(memory, "u", "Which city will they visit in autumn?"))
    assert found[0] == question
    assert (found.index(answer) == place) if place == 1 else (found.index(answer) >= place)


def test_a_message_stands_before_the_one_between_two_like_it(memory):
    add(memory, "u", "r", "kettle, a big old thing", "yes", "kettle, and a small new one")
    found = contents(search(memory, "u", "kettle"))
    assert found[2] == "yes"


def test_order_of_arrival_and_retries_do_not_matter(tmp_path):
    chunks = [
        request("u", f"r{n}", "s", *FILLER[n * 2 : n * 2 + 2], start=(n + 1) * DAY)
        for n in range(3)
    ]
    lists = []
    for name, arrivals in (("a", [0, 1, 2]), ("b", [2, 0, 1]), ("c", [1, 1, 0, 2, 0, 2])):
        memory = HybridMemory(tmp_path / name)
        for number in arrivals:
            memory.add(chunks[number])
        lists.append([search(memory, "u", query) for query in ("green shed", "ferry", "?")])
        memory.close()
    assert lists[0] == lists[1] == lists[2]


def test_other_users_change_neither_order_nor_scores(memory):
    add(memory, "u", "r", *FILLER)
    queries = ("kettle and ferry", "walnuts", "piano patience letter", "cold")
    before = [search(memory, "u", query) for query in queries]
    for number in range(50):
        add(memory, f"other{number % 7}", f"r{number}", *["kettle walnuts kettle"] * 20)
    assert [search(memory, "u", query) for query in queries] == before


def test_ties_go_to_the_latest_and_stay(memory):
    for number in range(10):
        add(memory, "u", f"r{number}", "Reminder: water the ferns.", session=f"s{number}")
    lists = [[each.id for each in search(memory, "u", "water the ferns")] for _ in range(3)]
    assert lists[0] == lists[1] == lists[2]
    assert len(set(lists[0])) == 10


def test_options_steer_and_never_come_back(memory):
    texts = ["We spoke of the blue whale.", "We spoke of the red panda."]
    for number, text in enumerate(texts):
        add(memory, "u", f"r{number}", text, session=f"s{number}")
    for text, animal in zip(texts, ("whale", "panda"), strict=True):
        found = search(memory, "u", "What did we speak of?", options=[f"A {animal}", "Xylophone"])
        assert found[0].content == text
        assert sorted(contents(found)) == sorted(texts)


def test_scores_are_finite_and_never_rise(memory):
    add(memory, "u", "r", *FILLER)
    scores = [each.score for each in search(memory, "u", "green kettle ferry")]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1] > -2


WORDS = ("kettle", "shed", "ferry", "note", "3", "the", "🎉", "?", "配置")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    memory = HybridMemory(tmp_path_factory.mktemp("library"))
    for number in range(8):
        add(
            memory,
            "u",
            f"r{number}",
            *FILLER,
            "?",
            "🎉",
            f"note {number}",
            session=f"s{number % 3}",
        )
    yield memory
    memory.close()


@settings(max_examples=60, deadline=None)
@given(
    query=st.one_of(
        st.text(min_size=1, max_size=30),
        st.lists(
            st.sampled_from(["kettle", "shed", "ferry", "note", "3", "the", "🎉", "?", "配置"])
        ).map(" ".join),
    ).filter(str.strip),
    small=st.integers(1, 80),
    large=st.integers(1, 80),
)
def test_a_small_top_k_is_a_prefix_of_a_larger_one(library, query, small, large):
    small, large = sorted((small, large))
    whole = search(library, "u", query, top_k=large)
    assert search(library, "u", query, top_k=small) == whole[:small]
    assert len(whole) == min(large, 72)
    assert len({each.id for each in whole}) == len(whole)
