from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aml_contract.smoke import chunking
from aml_contract.smoke.chunking import Message, chunks, count_words, messages_of, pieces
from aml_contract.smoke.locomo import Session, Turn

words = st.integers(0, 2500).map(lambda n: " ".join(["word"] * n))
messages = st.lists(st.builds(Message, words, st.just(0), st.just("D1:1")), max_size=60)


@given(messages)
def test_chunks_are_the_messages_cut_as_late_as_the_limits_allow(given):
    made = list(chunks(given))
    assert [m for chunk in made for m in chunk] == given
    sizes = [[count_words(m.content) for m in chunk] for chunk in made]
    for size in sizes:
        assert 1 <= len(size) <= 20
        assert sum(size) <= 2000 or len(size) == 1
    for size, following in pairwise(sizes):
        assert len(size) == 20 or sum(size) + following[0] > 2000


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("  two   words\n", 2),
        ("API配置", 3),
        ("用API配置 now", 5),
        ("豆花", 2),
        ("カタカナ", 4),
        ("안녕 하세요", 5),
        ("don't stop-me", 2),
        ("\U00020000x", 2),
    ],
)
def test_words_are_counted_and_cjk_characters_are_words(text, count):
    assert count_words(text) == count


@given(st.text(max_size=50), st.integers(1, 20))
def test_pieces_join_to_the_text(text, size):
    made = pieces(text, size)
    assert "".join(made) == text
    assert all(0 < len(piece) <= size for piece in made)


def test_a_turn_names_its_speaker_and_its_picture():
    assert chunking.content_of(Turn("D1:1", "Ana", "Look.", "a dog")) == "Ana: Look. [image: a dog]"
    assert chunking.content_of(Turn("D1:1", "Ana", "Look.")) == "Ana: Look."


def test_turns_are_a_second_apart_and_pieces_of_one_turn_are_not():
    long = "x" * 16_000
    session = Session(
        "1",
        datetime(2024, 1, 1, tzinfo=UTC),
        (Turn("D1:1", "Ana", "Hi."), Turn("D1:2", "Bo", long), Turn("D1:3", "Ana", "Oh.")),
    )
    made = messages_of(session)
    start = 1_704_067_200_000
    assert [m.timestamp - start for m in made] == [0, 1000, 1000, 1000, 2000]
    assert [m.turn for m in made] == ["D1:1", "D1:2", "D1:2", "D1:2", "D1:3"]
    assert "".join(m.content for m in made[1:4]) == f"Bo: {long}"
    assert max(len(m.content) for m in made) == 8000
