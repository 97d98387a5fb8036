"""What the contract asks of any memory, with the policy in the loop."""

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aml_adapters.memgpt import IncompatibleDataError, MemGPTMemory, MemGPTSettings
from aml_sdk._gen.models import AddRequest, Message
from aml_sdk.errors import DataDirectoryBusy, Misconfigured, Unavailable
from aml_sdk.identity import memory_id
from aml_sdk.providers import ProviderSettings
from tests.adapters.memgpt.peek import rows
from tests.adapters.talk import DAY, FILLER, add, contents, search
from tests.providers.fake_openai import call, error

FACTS = ("I live in Berlin. We met Anna on 3 May.", "I love tea.", "我喜欢喝茶。我叫小明。")


@pytest.mark.parametrize(
    "text",
    [
        "  I live in\n\n\tBerlin  \n",
        "I love left\x00right",
        "e\u0301 \u202eI love it\u202c 👨‍👩‍👧 ＡＢ\u2028I love that",
        "def f(x):\n    return x  # ünïcode\r\n",
        '{"type": "new_messages", "messages": [{"text": "I love JSON"}]}',
    ],
)
def test_texts_come_back_code_point_for_code_point(memory, text):
    add(memory, "u", "r", text)
    assert contents(search(memory, "u", "anything")) == [text]


def test_a_message_comes_back_once_with_its_id_and_time(memory):
    add(memory, "u", "r", " \n", *FACTS, start=5 * DAY)
    found = search(memory, "u", "Berlin tea Anna 小明")
    ids = [memory_id("u", "r", position) for position in (1, 2, 3)]
    assert sorted(each.id for each in found) == sorted(ids)
    assert found[0].created_at.startswith("1970-01-06T00:00")
    far = Message(role="user", content="I love 10000", timestamp=253_402_300_800_000)
    memory.add(AddRequest(user_id="v", request_id="r", session_id="s", messages=[far]))
    assert search(memory, "v", "love")[0].created_at is None


def test_scores_never_rise_and_a_small_answer_is_the_beginning_of_a_large_one(memory):
    for number in range(8):
        add(memory, "u", f"r{number}", *FACTS, *FILLER, session=f"s{number % 3}", start=DAY)
    for query in ("Where does Kim live?", "tea 茶", "?", "kettle"):
        whole = search(memory, "u", query)
        scores = [each.score for each in whole]
        assert scores == sorted(scores, reverse=True)
        assert len({each.id for each in whole}) == len(whole) == 72
        for size in (1, 7, 71):
            assert search(memory, "u", query, top_k=size) == whole[:size]


def test_users_are_told_apart_exactly_and_do_not_change_each_others_order(memory):
    add(memory, "u", "r", *FACTS, *FILLER)
    before = [search(memory, "u", query) for query in ("tea", "Berlin kettle")]
    users = ["U", "u ", " u", "u\x00", "*", "%", "u1", "é", "e\u0301", "u" * 9_000]
    for number, user in enumerate(users):
        add(memory, user, "r", f"I love word{number} and tea in Berlin.")
    assert [contents(search(memory, user, "word")) for user in users] == [
        [f"I love word{number} and tea in Berlin."] for number in range(len(users))
    ]
    assert [search(memory, "u", query) for query in ("tea", "Berlin kettle")] == before


def test_options_steer_and_never_come_back(memory):
    texts = ["We spoke of the blue whale.", "We spoke of the red panda."]
    for number, text in enumerate(texts):
        add(memory, "u", f"r{number}", text, session=f"s{number}")
    for text, animal in zip(texts, ("whale", "panda"), strict=True):
        found = search(memory, "u", "What did we speak of?", options=[f"A {animal}", "Xylophone"])
        assert contents(found)[0] == text
        assert sorted(contents(found)) == sorted(texts)


def test_nothing_for_white_space_or_a_stranger(memory):
    add(memory, "u", "r", *FACTS)
    assert search(memory, "u", " \n ") == search(memory, "stranger", "tea") == []


def test_forget_leaves_no_trace_in_the_files(memory, tmp_path):
    add(memory, "u-forgotten", "r-forgotten", "I love xylography. Met Quetzal on 3 May.")
    add(memory, "v", "r", FACTS[0])
    search(memory, "u-forgotten", "xylography")
    traces = (b"xylograph", b"forgotten", b"Quetzal", b"quetzal")
    assert any(trace in stored(tmp_path) for trace in traces)
    memory.forget("u-forgotten")
    memory.forget("never seen")
    assert search(memory, "u-forgotten", "xylography") == []
    assert [trace for trace in traces if trace in stored(tmp_path)] == []
    for table in ("user", "session", "request", "message"):
        assert rows(tmp_path, f"SELECT count(*) FROM {table}") == [(1,)]
    assert contents(search(memory, "v", "x")) == [FACTS[0]]
    add(memory, "u-forgotten", "r-forgotten", "back again")
    assert contents(search(memory, "u-forgotten", "x")) == ["back again"]


def stored(tmp_path):
    return b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())


def test_all_survives_a_restart_and_a_replay_changes_nothing(tmp_path):
    lists = []
    for _ in range(2):
        memory = opened(tmp_path)
        for number, text in enumerate((*FACTS, *FILLER) * 3):
            add(memory, "u", f"r{number}", text, session=f"s{number % 4}", start=number * DAY)
        lists.append([search(memory, "u", query) for query in ("kettle", "Where?", "?")])
        memory.close()
        memory.close()
        with pytest.raises(Unavailable):
            search(memory, "u", "tea")
        assert not memory.health()
    assert lists[0] == lists[1]


def opened(directory, **more):
    return MemGPTMemory(directory, providers=ProviderSettings(), **more)


def test_what_cannot_be_opened_is_said(memory, tmp_path):
    with pytest.raises(DataDirectoryBusy, match="in use"):
        opened(tmp_path / "data")
    opened(tmp_path / "other").close()
    file = sqlite3.connect(tmp_path / "other" / "memgpt.sqlite3")
    file.execute("UPDATE setting SET value = 'word2vec' WHERE name = 'embedder'")
    file.commit()
    file.close()
    for _ in range(2):  # the refusal gives the directory up
        with pytest.raises(IncompatibleDataError, match="embedder 'word2vec'"):
            opened(tmp_path / "other")


def test_an_embedder_in_trouble_is_503_in_add_and_search(tmp_path, provider):
    provider.mode = None
    memory = MemGPTMemory(tmp_path / "data", providers=provider.settings(llm=False, retries=0))
    add(memory, "u", "r", *FACTS)
    assert contents(search(memory, "u", "tea"))[0] == FACTS[1]
    provider.mode = error(500)
    with pytest.raises(Unavailable):
        add(memory, "u", "r2", "I love coffee.")
    with pytest.raises(Unavailable):
        search(memory, "u", "coffee")
    provider.mode = None
    assert len(search(memory, "u", "coffee")) == len(FACTS)
    memory.close()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AML_MEMGPT_CONTEXT_TOKENS", "1000"),
        ("AML_MEMGPT_CONTEXT_TOKENS", "many"),
        ("AML_MEMGPT_BLOCK_CHARACTERS", "4000"),
        ("AML_MEMGPT_BLOCK_CHARACTERS", "-1"),
        ("AML_MEMGPT_STEPS", "0"),
    ],
)
def test_settings_that_cannot_work_name_their_variable(variable, value):
    with pytest.raises(Misconfigured, match=variable):
        MemGPTSettings.from_environment({variable: value})


def test_settings_come_from_the_environment(tmp_path, provider, monkeypatch):
    for name, value in provider.environment(embedding=False).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AML_MEMGPT_STEPS", "2")
    monkeypatch.setenv("AML_MEMGPT_BLOCK_CHARACTERS", " ")
    memory = MemGPTMemory(tmp_path)
    provider.mode = call("conversation_search", {"query": "tea", "request_heartbeat": True})
    add(memory, "u", "r", "tea")
    assert len(provider.chats) == 2
    memory.close()


def test_without_a_model_no_provider_library_is_loaded(tmp_path):
    script = (
        "import sys; from pathlib import Path; from aml_adapters.memgpt import MemGPTMemory\n"
        "MemGPTMemory(Path(sys.argv[1])).close(); print('openai' in sys.modules)"
    )
    tried = subprocess.run(
        [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True
    )
    assert tried.stdout == "False\n"


def test_thirty_two_users_write_and_search_at_once(memory):
    def live(number):
        for chunk in range(3):
            marker = f"I love marker{number}x{chunk}."
            add(memory, f"u{number}", f"r{chunk}", *FILLER, marker)
            found = contents(search(memory, f"u{number}", marker))
            assert found[0] == marker
            assert len(found) == 7 * (chunk + 1)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(live, range(32)))
    assert not memory._adding


def test_adds_of_one_user_at_once_lose_nothing(memory, tmp_path):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: add(memory, "u", f"r{n % 8}", f"I love {n % 8}."), range(16)))
    assert len(search(memory, "u", "love")) == 8
    assert rows(tmp_path, "SELECT count(*) FROM note WHERE kind = 'core'") == [(8,)]


def test_a_slow_model_keeps_only_its_own_user_waiting(thinking, provider):
    begun, go = threading.Event(), threading.Event()

    async def slow(body):
        begun.set()
        await asyncio.to_thread(go.wait, 30)
        return call("conversation_search", {"query": "x"})(body)

    add(thinking, "u", "r0", "tea")
    provider.script(slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(add, thinking, "u", "r1", "coffee")
        assert begun.wait(30)
        add(thinking, "v", "r1", "cocoa")
        assert contents(search(thinking, "v", "x")) == ["cocoa"]
        assert contents(search(thinking, "u", "x")) == ["tea"]
        assert not first.done()
        go.set()
        first.result()
    assert len(search(thinking, "u", "x")) == 2


WRITER = """
import sys
from pathlib import Path
from tests.adapters.memgpt.test_storage import FACTS, opened
from tests.adapters.talk import add
memory = opened(Path(sys.argv[1]))
for number in range(100_000):
    add(memory, "u", f"{sys.argv[2]}-{number}", *FACTS)
    print(number, flush=True)
"""


def test_kill_in_the_middle_of_an_add_leaves_whole_requests(tmp_path):
    root = Path(__file__).parents[3]
    acknowledged = 0
    for attempt in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path / "data", str(attempt)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
        )
        wanted = random.Random(attempt).randint(3, 15)
        for line in writer.stdout:
            acknowledged += 1
            if int(line) == wanted:
                writer.send_signal(signal.SIGKILL)
        writer.wait()
        memory = opened(tmp_path / "data")
        found = len(search(memory, "u", "tea", top_k=10_000))
        memory.close()
        assert found % len(FACTS) == 0
        # The Add that was under way when the process died may be there, too.
        assert acknowledged <= found // len(FACTS) <= acknowledged + attempt + 1
        check_file(tmp_path)


def check_file(tmp_path):
    """Every text has its entry, every entry its text, every source holds its note."""
    assert rows(tmp_path, "PRAGMA integrity_check") == [("ok",)]
    texts = rows(
        tmp_path,
        "SELECT user, sequence FROM message UNION ALL SELECT user, sequence FROM note"
        " ORDER BY 1, 2",
    )
    assert texts == rows(tmp_path, "SELECT user, sequence FROM entry ORDER BY 1, 2")
    assert rows(
        tmp_path,
        "SELECT count(*) FROM note LEFT JOIN message ON message.user = note.user"
        " AND message.sequence = note.source WHERE coalesce(instr(content, text), 0) = 0",
    ) == [(0,)]
