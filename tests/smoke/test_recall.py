from aml_contract import tokens
from aml_contract.smoke.locomo import Question, Turn
from aml_contract.smoke.recall import average, measure, rank

TURNS = {
    "D1:1": Turn("D1:1", "Ana", "The kettle is blue."),
    "D1:2": Turn("D1:2", "Bo", "Mine is made of copper."),
    "D1:3": Turn("D1:3", "Ana", "", "a copper kettle"),
}
OTHER = "Somebody: an unrelated remark."


def ask(*evidence, contents, category=1):
    return measure(Question("Which?", category, evidence), TURNS, contents)


def test_recall_by_hand():
    # Turn 1 is item 2; turn 2 is item 7, reworded in case and white space; so two of two
    # turns are among 10, one of two among 5, and the first is at rank 2.
    contents = [
        OTHER,
        "[8 May] Ana: The kettle is blue.",
        *[OTHER] * 4,
        "MINE IS\nmade of  copper.",
    ]
    made = ask("D1:1", "D1:2", contents=contents)
    assert made.among == {5: 0.5, 10: 1.0, 20: 1.0, 100: 1.0}
    assert made.reciprocal_rank == 1 / 2


def test_what_is_not_returned_counts_nothing():
    made = ask("D1:1", "D1:2", contents=[OTHER])
    assert set(made.among.values()) == set(made.within.values()) == {0.0}
    assert made.reciprocal_rank == 0.0


def test_an_empty_answer_is_measured():
    made = ask("D1:1", contents=[])
    assert (made.tokens, made.first_tokens, made.reciprocal_rank) == (0, 0, 0.0)


def test_a_turn_that_is_only_a_picture_is_found_by_its_caption():
    assert ask("D1:3", contents=["Ana: [image: a copper kettle]"]).among[5] == 1.0


def test_tokens_are_counted_to_the_end_of_the_turn_inside_an_item():
    filler = " kettle" * 2500
    early = f"The kettle is blue.{filler}"
    late = f"{filler} The kettle is blue."
    assert len(tokens.encode(late)) > 2500
    assert ask("D1:1", contents=[early]).within == {2000: 1.0, 8000: 1.0, 32000: 1.0}
    assert ask("D1:1", contents=[late]).within == {2000: 0.0, 8000: 1.0, 32000: 1.0}
    # The same text as many small items: what counts is the reader's prefix, not the item.
    small = [" kettle" * 100] * 30 + ["The kettle is blue."]
    assert ask("D1:1", contents=small).within == {2000: 0.0, 8000: 1.0, 32000: 1.0}
    assert ask("D1:1", contents=small).among[20] == 0.0


def test_a_turn_that_was_sent_in_pieces_is_found_when_all_have_come():
    turn = Turn("D1:9", "Ana", "".join(f"{n:05d} " for n in range(2000)))
    whole = f"Ana: {turn.text}"
    first, second = whole[:8000], whole[8000:]
    squeezed = ["".join(text.split()).casefold() for text in (second, "x", first)]
    assert rank(turn, squeezed) == 3
    assert rank(turn, squeezed[:2]) is None
    assert rank(turn, ["".join(whole.split()).casefold()]) == 1


def test_every_question_weighs_the_same():
    found = ask("D1:1", contents=["The kettle is blue."])
    half = ask("D1:1", "D1:2", contents=[OTHER, "The kettle is blue."])
    lost = ask("D1:2", contents=[OTHER])
    row = average([found, half, lost])
    assert row.questions == 3
    assert row.among[5] == (1.0 + 0.5 + 0.0) / 3
    assert row.mrr == (1.0 + 0.5 + 0.0) / 3


def test_no_questions_have_no_mean():
    row = average([])
    assert row.questions == 0
    assert row.mrr is None
    assert set(row.among.values()) == {None}


def test_tokens_are_counted_in_long_texts_too():
    assert len(tokens.encode("hello world")) == 2
    assert tokens.decode(tokens.encode("héllo 豆花")) == "héllo 豆花"
    assert 200_000 < len(tokens.encode("word " * 240_000)) < 260_000
    assert tokens.encode("<|endoftext|>") != []
