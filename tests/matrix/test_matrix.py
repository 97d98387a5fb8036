"""The matrix as its users see it: what it says, keeps, and goes on with."""

import json
import os
import signal
import subprocess
from collections import Counter

import pytest
from typer.testing import CliRunner

from aml_cli.main import app
from tests.servers import eventually

TWINS = "isolation/case-twins"


def gone(pid):
    """Whether no process of that id runs; one that nobody has reaped runs no more."""
    words = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return state[:1] in ("", "Z")


def at_the_gate(matrix):
    """The id of the server that waits."""
    note = matrix.gate.with_name("gate.pid")
    eventually(lambda: note.exists() and note.read_text().strip(), seconds=120)
    return int(note.read_text())


def test_all_is_as_it_should_be(matrix):
    ran = matrix.run("good", "--markdown", "matrix.md", "--json", "matrix.json", "--jobs", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "All is as it should be" in ran.stdout
    assert "1 of 1 killers kill on 1 broken servers" in ran.stdout
    page = (matrix.home / "matrix.md").read_text()
    assert f"| `{TWINS}` | folds |" in page
    assert f"| `{TWINS}` | 2 of 2 seeds | It folds case, and says so. |" in page
    assert "| folds | · | **✘1** |" in page
    assert "not as it should be" not in page
    numbers = json.loads((matrix.home / "matrix.json").read_text())["numbers"]
    # Two healthy servers under two seeds, a broken one under one, two rules.
    assert numbers["cells"] == 10
    assert numbers["healthy_runs"] == 4
    full = matrix.run("good", "--markdown", "/dev/full")
    assert full.returncode == 3
    assert "aml: /dev/full was not written: No space left on device" in full.stderr


def test_everything_wrong_is_shown_and_fails(matrix):
    ran = matrix.run("bad", "--markdown", "matrix.md", "--json", "matrix.json")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    page = (matrix.home / "matrix.md").read_text()
    summary = json.loads((matrix.home / "matrix.json").read_text())
    assert not summary["good"]
    for shown in (ran.stdout, page):
        assert "it came to passed instead of failed" in shown
        assert "it does not say 'other words'" in shown
        assert "Findings on healthy servers beyond their lists" in shown
        assert "It was so once." in shown
    assert {one["server"] for one in summary["survivors"]} == {"survivor", "mumbles"}
    assert [(one["server"], one["seed"]) for one in summary["beyond"]] == [
        ("found-out", 1),
        ("found-out", 2),
    ]
    assert [one["server"] for one in summary["unseen"]] == ["innocent"]
    assert summary["missing"] == {"absent": 2, "absent-by-url": 2, "fatal": 2}
    assert "no such database" in ran.stdout
    assert "the kit's own process ended with -9" in ran.stdout
    assert summary["killers"][TWINS] == ["zealous"]


def test_a_killed_matrix_keeps_its_cells_and_goes_on(matrix, waiting):
    server = at_the_gate(matrix)
    kept = matrix.cells
    assert len(kept) == 8
    os.kill(waiting.pid, signal.SIGKILL)
    waiting.wait()
    eventually(lambda: gone(server))  # neither worker nor server outlives it

    matrix.gate.touch()
    refused = matrix.run("with_a_gate")
    assert refused.returncode == 2
    assert "holds 8 cells of an earlier matrix" in refused.stderr
    ran = matrix.run("with_a_gate", "--resume")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 checks of servers, 1 of them to do" in ran.stdout
    assert matrix.cells[:8] == kept
    assert [cell.server for cell in matrix.cells[8:]] == ["folds", "folds"]


def test_an_interrupted_matrix_reports_what_it_has(matrix, waiting):
    server = at_the_gate(matrix)
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(timeout=120) == 130
    assert gone(server)
    said = (matrix.home / "output").read_text()
    assert "Not all is as it should be" in said
    assert "folds: 1 check lack" in said
    assert len(matrix.cells) == 8


def test_shards_make_the_whole_without_making_anything_twice(matrix):
    for shard in ("1/2", "2/2"):
        assert matrix.run("good", "--resume", "--seeds", "1", "--shard", shard).returncode == 0
    assert set(Counter(cell.key for cell in matrix.cells).values()) == {1}
    whole = matrix.run("good", "--seeds", "1", "--markdown", "matrix.md")
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert "3 checks of servers, 0 of them to do · 6 cells" in whole.stdout
    assert (matrix.home / "matrix.md").exists()


def test_cells_of_other_code_are_stale(matrix):
    chosen = ("--only", "correct", "--seeds", "1")
    assert matrix.run("good", *chosen).returncode == 0
    (file,) = matrix.home.glob(".aml/matrix/cells-*.jsonl")
    digests = [cell.digest for cell in matrix.cells]
    for digest in digests:
        file.write_text(file.read_text().replace(digest, "0" * len(digest)))
    assert matrix.run("good", *chosen).returncode == 2
    ran = matrix.run("good", *chosen, "--resume")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 cells are there, 2 are stale and made again" in ran.stdout
    assert sorted(cell.digest for cell in matrix.cells[2:]) == sorted(digests)


def test_a_server_that_must_not_be_killed_is_judged_by_its_url(matrix):
    ran = matrix.run("forgetful", "--rule", "durability/restart", "--seeds", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    outcomes = {cell.rule: cell.outcome for cell in matrix.cells}
    assert outcomes == {
        TWINS: "passed",
        "echo/ids": "passed",
        "durability/restart": "not_tested",
    }


def test_a_killer_whose_find_is_hidden_by_others_is_tried_alone(matrix):
    ran = matrix.run("shy", "--rule", "transport/parallel", "--rule", "isolation")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 of 1 killers kill" in ran.stdout
    assert [cell.rule for cell in matrix.cells if cell.alone] == ["transport/parallel"]
    assert Counter(cell.key for cell in matrix.cells).most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("collection", "options", "words"),
    [
        ("good", ["--only", "corect"], "no server 'corect'; did you mean correct?"),
        ("good", ["--rule", "ecko"], "no rule or family 'ecko'"),
        ("good", ["--shard", "3/2"], "a shard is written 1/4"),
        ("none", [], "has no function none"),
        ("nothing", [], "something else than entries"),
        ("good", ["--collection", "tests.of.others:all"], "run this in a clone of the project"),
        ("good", ["--out", "/dev/null/matrix"], "cells cannot be kept"),
        ("good", ["--collection", "servers"], "a collection is written module:function"),
    ],
)
def test_mistakes_of_usage_are_said_in_words(matrix, collection, options, words):
    _, *arguments = matrix.words(collection, *options)
    ran = CliRunner().invoke(app, arguments[arguments.index("matrix") :])
    assert ran.exit_code == 2
    assert words in ran.stderr
