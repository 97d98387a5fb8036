import json
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chromadb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aml_adapters.rag import RagMemory, RagSettings
from aml_adapters.rag.collection import Record
from aml_adapters.rag.passages import MOST, PASSAGE, passages
from aml_adapters.sqlite_file import IncompatibleDataError
from aml_sdk._gen.models import TextPart
from aml_sdk.errors import DataDirectoryBusy, Misconfigured, Unavailable
from aml_sdk.identity import backend_key, memory_id
from tests.adapters.talk import DAY, FILLER, add, contents, search
from tests.cases.offline import attempts, deny_network


@given(st.text(alphabet="ab .。\n", max_size=4_000) | st.integers(0, 200_000).map("x".__mul__))
def test_passages_are_the_text_cut(text):
    pieces = passages(text)
    assert "".join(pieces) == text
    assert len(pieces) <= MOST
    assert max(map(len, pieces)) <= max(PASSAGE, 2 * len(text) // MOST + 1)


def test_passages_end_with_a_sentence_where_one_ends():
    text = "A sentence of some length that goes on for a while. " * 60
    assert all(piece.endswith(". ") for piece in passages(text))


@pytest.mark.parametrize(
    "text",
    [
        "  indented\n\n\tand trailing  \n",
        "left\x00right",
        "e\u0301 \u202eright to left\u202c 👨‍👩‍👧 ＡＢ",
        "spaces " + " " * 3_000 + "end",
        "long 長い文章。" * 2_000,
    ],
)
def test_texts_come_back_code_point_for_code_point(memory, text):
    add(memory, "u", "r", text)
    assert contents(search(memory, "u", "anything")) == [text]


def test_text_parts_come_back_as_text_and_blank_turns_not_at_all(memory):
    add(memory, "u", "r", " \n", [TextPart(type="text", text=line) for line in ("one", "two")], "")
    found = search(memory, "u", "line")
    assert contents(found) == ["one\ntwo"]
    assert found[0].id == memory_id("u", "r", 1)
    assert search(memory, "u", " ") == []


def test_a_question_in_other_words_finds_its_answer(memory):
    add(memory, "u", "r", *FILLER, "My sister is a doctor at the city hospital.", start=DAY)
    found = search(memory, "u", "What is the profession of the sibling?")
    assert found[0].content.startswith("My sister")
    assert found[0].created_at == "1970-01-02T00:00:06+00:00"
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert len(found) == 7


def test_a_passage_in_the_middle_of_a_long_message_finds_the_whole(memory):
    long = (
        "Tiles and gutters. " * 200
        + "We adopted a puppy, a small dog. " * 40
        + "More tiles. " * 200
    )
    add(memory, "u", "r", *FILLER, long)
    assert search(memory, "u", "Which dog did you adopt?")[0].content == long


def test_the_only_message_of_an_owner_is_found_in_a_crowd(memory):
    crowd = [f"The harbour was closed on day {number}." for number in range(1_000)]
    for number in range(0, len(crowd), 50):
        add(memory, f"o{number % 3}", f"r{number}", *crowd[number : number + 50])
    add(memory, "alone", "r", "A parcel of walnuts came.")
    assert contents(search(memory, "alone", crowd[0])) == ["A parcel of walnuts came."]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_only_message_among_a_hundred_thousand_is_found(memory):
    random = np.random.default_rng(0)
    add(memory, "alone", "r", "A parcel of walnuts came.")
    for start in range(0, 100_000, 5_000):
        vectors = random.normal(size=(5_000, 512)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        memory._collection.put(
            [
                Record(f"m{n}.00.x", "text", {"owner": f"o{n % 50}", "request": "r"})
                for n in range(start, start + 5_000)
            ],
            vectors,
        )
    for query in ("Which day was the harbour closed?", "walnuts", "?"):
        assert contents(search(memory, "alone", query)) == ["A parcel of walnuts came."]


def test_all_neighbours_are_the_nearest_exactly(memory):
    add(memory, "u", "r", *(f"{text} {number}" for text in FILLER for number in range(100)))
    add(memory, "v", "r", *FILLER * 50)
    found = search(memory, "u", FILLER[0], top_k=50)
    embedded = memory._embedder.embed([f"{text} {n}" for text in FILLER for n in range(100)])
    best = np.sort(embedded @ memory._embedder.embed([FILLER[0]])[0])[::-1][:50]
    assert [each.score for each in found] == pytest.approx(best.tolist(), abs=2e-6)
    assert search(memory, "u", FILLER[0], top_k=7) == found[:7]


def test_other_users_change_neither_order_nor_scores(memory):
    add(memory, "u", "r", *FILLER)
    before = [search(memory, "u", query) for query in ("kettle and ferry", "piano")]
    for number in range(10):
        add(memory, f"other{number}", "r", *FILLER * 3)
    assert [search(memory, "u", query) for query in ("kettle and ferry", "piano")] == before


def test_users_are_told_apart_exactly(memory):
    users = ["u", "U", "u ", "u\x00", "*", "%", "1", "é", "e\u0301", "u" * 9_000, '{"$ne": "u"}']
    for number, user in enumerate(users):
        add(memory, user, "r", f"word{number}")
    assert [contents(search(memory, user, "word")) for user in users] == [
        [f"word{number}"] for number in range(len(users))
    ]


def test_a_replay_changes_nothing_and_discard_takes_one_request(memory):
    add(memory, "u", "r1", *FILLER[:3])
    add(memory, "u", "r2", FILLER[3])
    add(memory, "v", "r1", FILLER[4])
    before = search(memory, "u", "kettle")
    add(memory, "u", "r1", *FILLER[:3])
    assert search(memory, "u", "kettle") == before
    memory.discard("u", "r1")
    memory.discard("u", "never")
    memory.discard("nobody", "r1")
    assert contents(search(memory, "u", "kettle")) == [FILLER[3]]
    assert contents(search(memory, "v", "kettle")) == [FILLER[4]]
    add(memory, "u", "r1", "another body")
    assert len(search(memory, "u", "body")) == 2


def test_metadata_is_flat_and_has_the_ids_as_they_came(memory):
    add(memory, "u:1", "r 1", FILLER[0], session="s/1")
    (record,) = memory._collection.records(memory._collection.ids(backend_key("u:1"))).values()
    assert set(record.metadata) == {"owner", "request", "passage", "timestamp", "message"}
    assert record.metadata["timestamp"] == -1
    said = json.loads(record.metadata["message"])
    assert said == {
        "user_id": "u:1",
        "request_id": "r 1",
        "session_id": "s/1",
        "position": 0,
        "role": "user",
    }


def test_forget_leaves_rows_vectors_and_log_without_a_trace(memory, tmp_path):
    add(memory, "u-forgotten", "r", "xylographer in Quetzaltenango")
    add(memory, "v", "r", *FILLER * 30)
    (vector,) = memory._collection.vectors(
        memory._collection.ids(backend_key("u-forgotten"))
    ).values()
    assert vector.tobytes() in stored(tmp_path)
    search(memory, "u-forgotten", "?")
    memory.forget("u-forgotten")
    memory.forget("never seen")
    assert search(memory, "u-forgotten", "?") == []
    assert len(search(memory, "v", "?", top_k=1_000)) == 180
    assert vector.tobytes() not in stored(tmp_path)
    assert logged(tmp_path, "u-forgotten") == 0
    add(memory, "u-forgotten", "r", "back again")
    assert contents(search(memory, "u-forgotten", "?")) == ["back again"]


def stored(tmp_path):
    files = (path for path in (tmp_path / "data" / "chroma").rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files)


def logged(tmp_path, user):
    """Rows in Chroma's log that hold a user's words."""
    file = sqlite3.connect(tmp_path / "data" / "chroma" / "chroma.sqlite3")
    (count,) = file.execute(
        "SELECT count(*) FROM embeddings_queue WHERE metadata LIKE ?", (f"%{user}%",)
    ).fetchone()
    file.close()
    return count


def test_thirty_two_users_write_and_search_at_once(memory):
    def live(number):
        for chunk in range(2):
            marker = f"marker{number}x{chunk}"
            add(memory, f"u{number}", f"r{chunk}", *FILLER, marker)
            found = contents(search(memory, f"u{number}", marker))
            assert marker in found
            assert len(found) == 7 * (chunk + 1)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(live, range(32)))


def test_a_search_sees_all_that_was_acknowledged_before_it(memory):
    for number in range(12):
        add(memory, "u", f"r{number}", f"note {number}")
        if number % 4 == 3:
            memory.discard("u", f"r{number - 1}")
        kept = {f"note {n}" for n in range(number + 1) if n % 4 != 2 or n == number}
        assert set(contents(search(memory, "u", "note"))) == kept


def test_all_is_there_after_a_restart_and_one_process_owns_the_directory(tmp_path):
    memory = RagMemory(tmp_path, RagSettings())
    add(memory, "u", "r", *FILLER, start=DAY)
    before = search(memory, "u", "kettle")
    with pytest.raises(DataDirectoryBusy):
        RagMemory(tmp_path, RagSettings())
    memory.close()
    memory = RagMemory(tmp_path, RagSettings())
    assert search(memory, "u", "kettle") == before
    memory.close()


class OtherEmbedder:
    fingerprint = "another model"
    dimensions = 512

    def embed(self, texts):
        raise Unavailable("the provider is down")

    def close(self):
        pass


def test_vectors_of_another_embedder_are_refused(tmp_path):
    RagMemory(tmp_path, RagSettings()).close()
    with pytest.raises(IncompatibleDataError, match=r"embedder .*another model"):
        RagMemory(tmp_path, RagSettings(), OtherEmbedder())


def test_a_provider_that_is_down_stores_nothing_and_finds_nothing_in_silence(tmp_path):
    memory = RagMemory(tmp_path, RagSettings(), OtherEmbedder())
    with pytest.raises(Unavailable):
        add(memory, "u", "r", FILLER[0])
    assert search(memory, "u", "kettle") == []
    memory._collection.put(*one_record())
    with pytest.raises(Unavailable):
        search(memory, "u", "kettle")
    memory.close()


def one_record():
    vectors = np.ones((1, 512), np.float32)
    return [Record("m.00.x", "text", {"owner": backend_key("u"), "request": "r"})], vectors


def test_no_network_is_asked_for(tmp_path):
    _, _, hook = deny_network(tmp_path).partition("=")
    root = Path(__file__).parents[3]
    subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "data"],
        env=os.environ | {"PYTHONPATH": f"{hook}{os.pathsep}{root}"},
        cwd=tmp_path,
        check=True,
    )
    assert not attempts(tmp_path)


SCRIPT = """
import sys
from pathlib import Path
from aml_adapters.rag import RagMemory, RagSettings
from tests.adapters.talk import FILLER, add, search
memory = RagMemory(Path(sys.argv[1]), RagSettings())
add(memory, "u", "r", *FILLER)
assert len(search(memory, "u", "kettle")) == 6
memory.close()
"""


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:9000", ("127.0.0.1", 9000, False)),
        ("http://chroma/", ("chroma", 8000, False)),
        ("https://chroma.example", ("chroma.example", 443, True)),
        ("http://[::1]:8001", ("::1", 8001, False)),
    ],
)
def test_a_server_is_named_by_its_url(url, address):
    assert RagSettings.from_environment({"AML_CHROMA_URL": url}).address == address


@pytest.mark.parametrize(
    "url", ["chroma:8000", "ftp://chroma", "http://", "http://h:99999", "http://h/p"]
)
def test_a_url_that_names_no_server_is_refused(url):
    with pytest.raises(Misconfigured, match="AML_CHROMA_URL"):
        RagSettings.from_environment({"AML_CHROMA_URL": url})


def test_chroma_never_sees_a_default_embedding_function(memory):
    kept = memory._collection._collection
    assert isinstance(kept, chromadb.Collection)
    assert kept._embedding_function is None
