"""How the hybrid memory's Add and Search grow with one user's messages.

    python benchmarks/retrieval_growth.py 1000 10000

Messages of about 20 words, drawn from a vocabulary with natural frequencies, 20 an Add. A warm
Search finds the user's index in memory, a cold one has to read it first. Times are of the CPU,
which a busy machine does not distort.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from aml_adapters.hybrid import HybridMemory
from aml_sdk._gen.models import AddRequest, Message, SearchRequest

_CHUNK = 20
_WORDS = [
    "".join(syllables)
    for syllables in itertools.product(
        ("ba", "ke", "li", "mo", "nu", "ra", "si", "to", "ve", "zu"), repeat=4
    )
]


def text(random_: random.Random, words: int) -> str:
    """Words whose frequency falls with their rank, as in natural language."""
    ranks = (int(10 ** random_.uniform(0, 4)) - 1 for _ in range(words))
    return " ".join(_WORDS[rank] for rank in ranks)


def timed(memory: HybridMemory, question: str) -> float:
    """Milliseconds of CPU of one Search."""
    begun = time.process_time()
    memory.search(SearchRequest(query=question, user_id="user", top_k=100))
    return (time.process_time() - begun) * 1e3


def measure(directory: Path, count: int) -> None:
    """Print one line for a user of ``count`` messages."""
    random_ = random.Random(count)
    memory = HybridMemory(directory)
    adds = []
    for number in range(count // _CHUNK):
        messages = [
            Message(role="user", content=text(random_, 20), timestamp=(number * 20 + n) * 60_000)
            for n in range(_CHUNK)
        ]
        request = AddRequest(
            request_id=f"r_{number}", user_id="user", session_id=f"s{number}", messages=messages
        )
        begun = time.process_time()
        memory.add(request)
        adds.append((time.process_time() - begun) * 1e3)
    questions = [text(random_, 10) for _ in range(50)]
    timed(memory, questions[0])
    warm = statistics.quantiles([timed(memory, question) for question in questions], n=20)
    memory.close()
    memory = HybridMemory(directory)
    cold = timed(memory, questions[0])
    memory.close()
    size = sum(file.stat().st_size for file in directory.iterdir()) / 1e6
    print(
        f"{count:>8}{statistics.median(adds):>9.1f}{warm[9]:>12.1f}{warm[18]:>12.1f}"
        f"{cold:>9.1f}{size:>8.1f}",
        flush=True,
    )


def main() -> int:
    """Print a table, a line for each number of messages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("messages", nargs="*", type=int, default=[100, 1_000, 10_000])
    print("messages   Add ms  Search p50  Search p95  cold ms      MB")
    for count in parser.parse_args().messages:
        with tempfile.TemporaryDirectory() as directory:
            measure(Path(directory), count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
