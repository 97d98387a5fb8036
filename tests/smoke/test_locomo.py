import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aml_contract.smoke import locomo
from aml_contract.smoke.chunking import count_words

DATA = os.environ.get("AML_DATA_DIR")
needs_data = pytest.mark.skipif(not DATA, reason="AML_DATA_DIR is not set: no real LoCoMo here")


def sample(**changed):
    made = {
        "sample_id": "conv-0",
        "sessions": [
            {
                "session": 1,
                "date_time": "1:56 pm on 8 May, 2023",
                "turns": [
                    {"speaker": "Ana", "dia_id": "D1:1", "text": "Hello."},
                    {"speaker": "Bo", "dia_id": "D1:2", "text": "Hi!", "blip_caption": "a dog"},
                ],
            }
        ],
        "qa": [{"question": "Who?", "answer": "Bo", "evidence": ["D1:2"], "category": 4}],
    }
    return made | changed


def read(tmp_path, content):
    file = tmp_path / "conv-0.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return locomo.read(file)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:48 am on 1 February, 2023", datetime(2023, 2, 1, 0, 48, tzinfo=UTC)),
        ("12:09 pm on 13 September, 2023", datetime(2023, 9, 13, 12, 9, tzinfo=UTC)),
        (" 7:55 PM on 29 February, 2024 ", datetime(2024, 2, 29, 19, 55, tzinfo=UTC)),
    ],
)
def test_dates_are_utc(text, date):
    assert locomo.parse_date(text) == date


@pytest.mark.parametrize(
    "text",
    ["", "8 May 2023", "13:56 pm on 8 May, 2023", "0:10 am on 8 May, 2023",
     "1:60 pm on 8 May, 2023", "1:56 pm on 31 June, 2023", "1:56 pm on 8 Mai, 2023"],
)  # fmt: skip
def test_what_is_no_date_is_refused(text):
    with pytest.raises(ValueError, match="date"):
        locomo.parse_date(text)


def test_evidence_strings_are_split_and_mended():
    strings = ["D8:6; D9:17", "D:11:26", "D4:05", "D", "", "D9:17"]
    assert locomo.evidence_ids(strings) == ["D8:6", "D9:17", "D11:26", "D4:5"]


def test_a_file_becomes_a_conversation(tmp_path):
    (made,) = read(tmp_path, sample())
    assert made.name == "conv-0"
    assert [turn.id for turn in made.turns] == ["D1:1", "D1:2"]
    assert made.sessions[0].turns[1].caption == "a dog"
    assert made.questions == (locomo.Question("Who?", 4, ("D1:2",), "Bo"),)


@pytest.mark.parametrize(
    ("fields", "answer", "trap"),
    [
        ({"answer": 2022}, "2022", ""),
        ({"answer": " in May "}, "in May", ""),
        ({"answer": None}, "", ""),
        ({"answer": ["Bo"]}, "", ""),
        ({}, "", ""),
        ({"category": 5, "adversarial_answer": "Ana"}, "", "Ana"),
        ({"category": 5, "answer": "Bo", "adversarial_answer": "Ana"}, "", "Ana"),
    ],
)
def test_answers_are_read_as_files_have_them(tmp_path, fields, answer, trap):
    asked = {"question": "Who?", "evidence": ["D1:2"], "category": 4} | fields
    [question] = read(tmp_path, sample(qa=[asked]))[0].questions
    assert (question.answer, question.trap) == (answer, trap)


def test_questions_without_evidence_and_unknown_ids_are_counted(tmp_path):
    qa = [
        {"question": "One?", "evidence": [], "category": 3},
        {"question": "Two?", "category": 5},
        {"question": "Three?", "evidence": ["D1:1", "D7:7"], "category": 1},
        {"question": "Four?", "evidence": ["D7:8"], "category": 1},
    ]
    (made,) = read(tmp_path, sample(qa=qa))
    assert [q.text for q in made.questions] == ["Three?"]
    assert made.questions[0].evidence == ("D1:1",)
    assert (made.without_evidence, made.unknown_evidence) == (3, 2)


def test_the_published_shape_is_read_too(tmp_path):
    turns = sample()["sessions"][0]["turns"]
    published = {
        "sample_id": "conv-9",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_10_date_time": "1:00 am on 2 May, 2023",
            "session_10": [{"speaker": "Ana", "dia_id": "D10:1", "text": "Late."}],
            "session_2_date_time": "1:00 am on 1 May, 2023",
            "session_2": turns,
            "session_11_date_time": "a session that was never held",
        },
        "qa": [],
    }
    (made,) = read(tmp_path, [published])
    assert [session.name for session in made.sessions] == ["2", "10"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no JSON"),
        ("[]", "an empty list"),
        ("[1]", "a conversation must be an object"),
        ({"qa": []}, "sessions must be a list (missing)"),
        (sample(sessions=[]), "no turns"),
        (sample(sample_id=7), "sample_id must be a non-empty string"),
        (sample(sessions=[{"date_time": "noon", "turns": []}]), "session 1: a date like"),
        (sample(sessions=[{"turns": []}]), "session 1: date_time must be a string (missing)"),
        (
            sample(sessions=[{"date_time": "1:56 pm on 8 May, 2023", "turns": [{"text": "x"}]}]),
            "session 1, turn 1: dia_id must be a string (missing)",
        ),
        (sample(qa={}), "qa must be a list (not dict)"),
        (sample(qa=[{"question": "x", "category": 6}]), "qa 1: category must be 1 to 5, not 6"),
        (sample(qa=[{"question": "x", "category": 1, "evidence": "D1:1"}]), "list of strings"),
        (sample(qa=[{"question": " ", "category": 1}]), "qa 1: the question is blank"),
        (sample(qa=[{"question": "x", "category": [1]}]), "qa 1: category must be 1 to 5"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (sample(sample_id="half \ud800 pair"), "lone surrogate"),
        (sample(sessions=[{"date_time": "1:56 pm on 8 May, 1900", "turns": []}]), "before 1970"),
        (
            sample(
                sessions=[
                    {
                        "date_time": "1:56 pm on 8 May, 2023",
                        "turns": [{"dia_id": f"D{'9' * 5_000}:1", "speaker": "A", "text": "x"}],
                    }
                ]
            ),
            "dia_id must look like",
        ),
    ],
)  # fmt: skip
def test_malformed_files_are_refused_with_the_place(tmp_path, content, words):
    with pytest.raises(locomo.MalformedFileError) as caught:
        read(tmp_path, content)
    assert words in str(caught.value)
    assert "conv-0.json" in str(caught.value)


def test_evidence_beyond_all_numbers_and_a_byte_order_mark_do_no_harm(tmp_path):
    asked = {"question": "x", "category": 1, "evidence": [f"D{'9' * 5_000}:1", "D1:1"]}
    path = tmp_path / "marked.json"
    path.write_text(json.dumps(sample(qa=[asked])), encoding="utf-8-sig")
    (made,) = locomo.load([path])
    assert made.questions[0].evidence == ("D1:1",)


def test_a_missing_file_and_an_empty_directory_are_named(tmp_path):
    with pytest.raises(locomo.MalformedFileError, match=r"nowhere\.json: No such file"):
        locomo.load([tmp_path / "nowhere.json"])
    with pytest.raises(locomo.MalformedFileError, match=r"holds no \.json file"):
        locomo.load([tmp_path])


def test_the_shipped_conversation_has_something_of_everything():
    (made,) = locomo.load([locomo.shipped()])
    assert len(made.sessions) >= 6
    assert {question.category for question in made.questions} == set(locomo.CATEGORIES)
    assert made.without_evidence == made.unknown_evidence == 0
    assert len(made.questions) >= 25
    assert any(turn.caption for turn in made.turns)
    assert any(count_words(turn.text) > len(turn.text.split()) + 5 for turn in made.turns)
    dates = [session.date for session in made.sessions]
    assert dates == sorted(dates)


@needs_data
def test_real_conversations_are_read():
    made = locomo.load([Path(DATA) / "locomo"])
    assert len(made) == 5
    assert sum(len(list(each.turns)) for each in made) == 2760
    assert sum(len(each.questions) for each in made) == 997
    assert sum(each.without_evidence for each in made) == 2
