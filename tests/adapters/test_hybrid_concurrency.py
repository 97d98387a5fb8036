import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from aml_adapters.hybrid import HybridMemory
from aml_adapters.hybrid.embedding import DIMENSIONS
from tests.adapters.talk import FILLER, add, contents, search
from tests.adapters.test_hybrid_storage import check_file


def test_thirty_two_users_write_and_search_at_once(memory, tmp_path):
    def live(number):
        for chunk in range(3):
            marker = f"marker{number}x{chunk}"
            add(memory, f"u{number}", f"r{chunk}", *FILLER, marker)
            found = contents(search(memory, f"u{number}", marker))
            assert found[0] == marker
            assert len(found) == 7 * (chunk + 1)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(live, range(32)))
    assert check_file(tmp_path / "data") == 32 * 3 * 7


def test_one_request_sixteen_times_at_once_is_stored_once(memory):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: add(memory, "u", "r", *FILLER), range(16)))
    assert len(search(memory, "u", "x")) == len(FILLER)


def test_a_search_during_adds_sees_all_that_was_acknowledged(memory):
    acknowledged = []

    def write(number):
        add(memory, "u", f"r{number}", f"first {number}", f"second {number}")
        acknowledged.append(number)
        if number % 5 == 4:
            memory.discard("u", f"r{number}")

    def read(_):
        known = {number for number in list(acknowledged) if number % 5 != 4}
        found = contents(search(memory, "u", "first second"))
        assert len(set(found)) == len(found)
        assert {f"first {number}" for number in known} <= set(found)
        whole = {text.split()[1] for text in found if text.startswith("first")}
        assert whole == {text.split()[1] for text in found if text.startswith("second")}

    with ThreadPoolExecutor(6) as pool:
        reads = [pool.submit(read, n) for n in range(60) for _ in [pool.submit(write, n)]]
        for done in reads:
            done.result()
    assert len(search(memory, "u", "x")) == 2 * 48


def test_the_later_of_two_equal_adds_leaves_the_first_where_it_is(memory, monkeypatch):
    embedder = memory._embedder

    class Interrupted:
        def embed(self, texts):
            monkeypatch.setattr(memory, "_embedder", embedder)
            add(memory, "u", "r", "first")
            add(memory, "u", "r2", "second")
            return embedder.embed(texts)

    monkeypatch.setattr(memory, "_embedder", Interrupted())
    add(memory, "u", "r", "first")
    assert contents(search(memory, "u", "?")) == ["second", "first"]


def test_many_adds_leave_the_cores_to_searches_in_between(memory, monkeypatch):
    class Counting:
        at_work, most = 0, 0
        lock = threading.Lock()

        def embed(self, texts):
            with self.lock:
                self.at_work += 1
                self.most = max(self.most, self.at_work)
            time.sleep(0.02)
            with self.lock:
                self.at_work -= 1
            return np.ones((len(texts), DIMENSIONS), np.int8)

    counting = Counting()
    monkeypatch.setattr(memory, "_embedder", counting)
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda number: add(memory, f"u{number}", "r", "text"), range(64)))
    assert counting.most <= os.cpu_count() + 1


def test_a_snapshot_is_answered_from_itself_though_the_cache_is_ahead(memory):
    add(memory, "u", "r", "first")
    with memory._store.read() as snapshot:
        user, epoch = snapshot.user("u")
        add(memory, "u", "r2", "second")
        assert len(search(memory, "u", "?")) == 2
        assert snapshot.entries.index(user, epoch, memory._cache).last == 0
    assert len(search(memory, "u", "?")) == 2


WRITER = """
import sys
from pathlib import Path
from aml_adapters.hybrid import HybridMemory
from tests.adapters.talk import FILLER, add
memory = HybridMemory(Path(sys.argv[1]))
for number in range(100_000):
    add(memory, "u", f"{sys.argv[2]}-{number}", *FILLER[:3])
    print(number, flush=True)
"""


def test_kill_in_the_middle_of_an_add_leaves_whole_requests(tmp_path):
    root = Path(__file__).parents[2]
    acknowledged = 0
    for attempt in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path, str(attempt)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
        )
        wanted = random.Random(attempt).randint(3, 25)
        for line in writer.stdout:
            acknowledged += 1
            if int(line) == wanted:
                writer.send_signal(signal.SIGKILL)
        writer.wait()
        memory = HybridMemory(tmp_path)
        stored = len(search(memory, "u", "kettle", top_k=10_000))
        memory.close()
        assert stored == check_file(tmp_path)
        assert stored % 3 == 0
        # The Add that was under way when the process died may be there, too.
        assert acknowledged <= stored // 3 <= acknowledged + attempt + 1
