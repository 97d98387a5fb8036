"""Each command at its smallest, in an environment whose settings must not count."""

import os
import re
import subprocess
import sys

import pytest

from benchmarks.cells import ROOT


def run(work, *words):
    env = {**os.environ, "AML_LLM_BASE_URL": "http://127.0.0.1:9/v1", "AML_LLM_MODEL": "none"}
    return subprocess.run(
        [sys.executable, "-m", *words, "--tiny", "--work", work],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def rows(ran):
    """Cells of all lines of the tables, without the heads."""
    assert ran.returncode == 0, ran.stderr
    found = [line.strip("| ").split(" | ") for line in ran.stdout.splitlines() if "| " in line]
    return [cells for cells in found if "---" not in cells[0]]


def figures(cells):
    return [float(cell.replace(",", "")) for cell in cells if re.fullmatch(r"[\d,]*\.?\d+", cell)]


def test_recall_is_told_and_kept(tmp_path):
    words = ("benchmarks.retrieval", "--only", "BM25", "--only", "chance")
    ran = run(tmp_path, *words)
    told = {cells[0]: figures(cells[1:]) for cells in rows(ran)[:4] if len(cells) > 1}
    assert told["hybrid"][4] > told["BM25"][4] > told["chance"][4]  # MRR
    assert "All 26 questions" in ran.stdout
    again = run(tmp_path, *words)
    assert rows(again) == rows(ran)
    assert "measurements" not in again.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["benchmarks.retrieval", "--write"], "leave --tiny and --only out"),
        (["benchmarks.speed", "--only", "rags"], "--only knows hybrid, memgpt"),
    ],
)
def test_what_clashes_is_refused(tmp_path, words, says):
    ran = run(tmp_path, *words)
    assert ran.returncode == 2
    assert says in ran.stderr


def test_what_is_remembered_is_told_and_kept(tmp_path):
    words = ("benchmarks.remembering", "--only", "hybrid", "--only", "bm25", "--only", "random")
    ran = run(tmp_path, *words)
    told = {
        cells[0]: [int(cell.partition(" %")[0]) for cell in cells[1:]] for cells in rows(ran)[1:]
    }
    assert set(told) == {"hybrid", "bm25", "random"}
    assert all(len(shares) == 8 for shares in told.values())
    assert min(told["hybrid"][1], told["bm25"][1]) > 60 > 30 > told["random"][1]  # found@10
    again = run(tmp_path, *words)
    assert rows(again) == rows(ran)
    assert "measurements" not in again.stderr


def test_servers_are_compared(tmp_path):
    ran = run(tmp_path, "benchmarks.server", "--only", "Add of 20 messages")
    lines = {cells[1]: figures(cells[2:]) for cells in rows(ran)[1:]}
    assert set(lines) == {"bare Starlette", "SDK", "SDK as `aml serve`"}
    assert all(each[0] > 10 for each in lines.values())  # requests a second
    assert all(each[-1] > 1 for each in lines.values())  # µs of CPU


@pytest.mark.slow
@pytest.mark.parametrize("system", ["hybrid", "memgpt", "rag", "mem0", "long-context"])
def test_adds_and_searches_are_timed(tmp_path, system):
    ran = run(tmp_path, "benchmarks.speed", "--only", system)
    told = rows(ran)
    [adds] = [cells for cells in told if cells[0] == system and len(cells) >= 9][:1]
    assert all(figure > 0 for figure in figures(adds)[:3])
    assert sum(cells[0] == system and cells[1] in {"40", "80"} for cells in told) == 4
    assert any(cells[0].startswith("(client") for cells in told)
    assert not list(tmp_path.rglob("stores/*"))
