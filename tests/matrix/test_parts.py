"""The parts of the matrix by themselves: cells on disk, plans, digests, judgements."""

import inspect
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from aml_contract.matrix import digest as digest_module
from aml_contract.matrix.cells import Cell, CellFile, read_cells
from aml_contract.matrix.digest import cell_digest
from aml_contract.matrix.document import document
from aml_contract.matrix.entry import Entry
from aml_contract.matrix.judgement import judge
from aml_contract.matrix.plan import Shard, jobs_of, left, part
from aml_contract.matrix.progress import ProgressLines
from aml_contract.matrix.summary import summary
from aml_contract.outcome import Level, Outcome
from aml_contract.rule import all_rules
from tests.collection import collection

RULES = {rule.name: rule for rule in all_rules()}
TWINS = RULES["isolation/case-twins"]
HEALTHY = Entry("healthy", "serve {port}", healthy=True)
BROKEN = Entry("broken", "serve {port}", healthy=False, kills={TWINS.name: "sees"})


def cell(server, outcome=Outcome.PASSED, *, rule=TWINS.name, seed=1, digest="d", **fields):
    return Cell(
        server=server,
        seed=seed,
        rule=rule,
        outcome=outcome,
        level=fields.pop("level", Level.MUST),
        at="2026-11-30",
        digest=digest,
        **fields,
    )


def judged(entry, *cells, rules=(TWINS,), seeds=1):
    return judge(jobs_of([entry], rules, seeds), {one.key: one for one in cells})


def test_a_torn_line_costs_its_cell_alone(tmp_path):
    kept = CellFile(tmp_path, "1-of-1")
    kept.append(cell("a"))
    kept.close()
    kept.path.write_text(kept.path.read_text() + '{"server": "b", "se')
    again = CellFile(tmp_path, "1-of-1")
    again.append(cell("c"))
    again.close()
    found = read_cells(tmp_path, {key: {TWINS.name: "d"} for key in "abc"})
    assert [key.server for key in found.fresh] == ["a", "c"]


def test_a_stale_cell_that_was_made_again_is_not_counted(tmp_path):
    kept = CellFile(tmp_path, "1-of-1")
    for digest in ("old", "d"):
        kept.append(cell("a", digest=digest))
    kept.append(cell("b", digest="old"))
    kept.append(cell("of-another-collection"))
    kept.close()
    found = read_cells(tmp_path, {key: {TWINS.name: "d"} for key in "ab"})
    assert [key.server for key in found.fresh] == ["a"]
    assert [key.server for key in found.stale] == ["b"]


def test_shards_are_disjoint_and_complete():
    jobs = jobs_of(collection(), list(RULES.values()), 3)
    for count in (1, 2, 7, 10):
        dealt = [job.name for n in range(count) for job in part(jobs, Shard(n + 1, count))]
        assert sorted(dealt) == sorted(job.name for job in jobs)
    for healthy in (True, False):
        sizes = [
            sum(job.entry.healthy is healthy for job in part(jobs, Shard(n + 1, 4)))
            for n in range(4)
        ]
        assert max(sizes) - min(sizes) <= 1


def test_only_what_is_missing_is_left():
    (job,) = jobs_of([HEALTHY], [TWINS, RULES["echo/ids"]], 1)
    there = {one.key: one for one in [cell("healthy")]}
    assert [one.rules for one in left([job], there, RULES)] == [("echo/ids",)]
    assert not left([job], there | {cell("healthy", rule="echo/ids").key: there}, RULES)


def test_a_rule_that_judges_the_whole_run_needs_the_whole_run():
    (job,) = jobs_of([HEALTHY], [TWINS, RULES["structure/legal-requests"]], 1)
    there = {one.key: one for one in [cell("healthy")]}
    assert left([job], there, RULES) == [job]


def test_a_digest_changes_with_what_decides_a_cell_and_with_nothing_else():
    digest = cell_digest(BROKEN, 6, TWINS)
    assert digest == cell_digest(replace(BROKEN, cmd="elsewhere {port}", kills={}), 6, TWINS)
    for change in ({"version": "2"}, {"track": "coding"}, {"thresholds": {"patience": 1}}):
        assert digest != cell_digest(replace(BROKEN, **change), 6, TWINS)
    assert digest != cell_digest(BROKEN, 7, TWINS)


def test_a_change_in_one_rules_module_leaves_the_cells_of_others(monkeypatch):
    rules = [TWINS, RULES["echo/ids"]]
    before = [cell_digest(BROKEN, 6, rule) for rule in rules]
    changed = Path(inspect.getfile(TWINS.check))
    true = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: true(path) + (b"#" if path == changed else b"")
    )
    for cached in (digest_module._module_digest, digest_module._common_digest):
        cached.cache_clear()
    try:
        after = [cell_digest(BROKEN, 6, rule) for rule in rules]
    finally:
        for cached in (digest_module._module_digest, digest_module._common_digest):
            cached.cache_clear()
    assert before[0] != after[0]
    assert before[1] == after[1]


@pytest.mark.parametrize(
    ("made", "trouble"),
    [
        (cell("broken", Outcome.FAILED, message="it sees others"), None),
        (cell("broken", Outcome.FAILED, message="it hears others"), "it does not say 'sees'"),
        (cell("broken", Outcome.WARNED, message="it sees others"), "it came to warned instead"),
        (cell("broken", Outcome.NOT_TESTED), "it came to not_tested instead of failed"),
    ],
)
def test_a_killer_kills_with_its_words(made, trouble):
    found = judged(BROKEN, made)
    (kill,) = found.kills
    assert found.good is (trouble is None)
    assert kill.trouble == trouble or kill.trouble.startswith(trouble)


@pytest.mark.parametrize(
    ("entry", "level"),
    [(BROKEN, Level.SHOULD), (replace(BROKEN, risks=frozenset(BROKEN.kills)), Level.MUST)],
    ids=["a-should", "a-risk"],
)
def test_a_rule_that_only_warns_kills_by_warning(entry, level):
    assert judged(entry, cell("broken", Outcome.WARNED, message="sees", level=level)).good
    assert not judged(entry, cell("broken", Outcome.FAILED, message="sees", level=level)).good


def test_collateral_is_shown_and_does_no_harm():
    other = RULES["echo/ids"]
    kill = cell("broken", Outcome.FAILED, message="sees")
    beside = cell("broken", Outcome.FAILED, rule=other.name)
    found = judged(BROKEN, kill, beside, rules=(TWINS, other))
    assert found.good
    assert found.collateral == {"broken": [beside]}


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.WARNED, Outcome.KIT_ERROR])
def test_any_finding_on_a_healthy_server_counts(outcome):
    assert judged(HEALTHY, cell("healthy")).good
    assert not judged(HEALTHY, cell("healthy", outcome)).good


def test_a_listed_finding_must_be_seen_under_some_seed():
    listed = replace(HEALTHY, expected={TWINS.name: "It is so."})
    calm = [cell("healthy", seed=seed) for seed in (1, 2)]
    seen = cell("healthy", Outcome.FAILED, seed=2)
    assert judged(listed, calm[0], seen, seeds=2).good
    assert [one.why for one in judged(listed, *calm, seeds=2).unseen] == ["It is so."]
    by_chance = replace(listed, sometimes=frozenset({TWINS.name}))
    assert judged(by_chance, *calm, seeds=2).good


def test_a_matrix_that_lacks_cells_is_not_good():
    assert judged(HEALTHY, cell("healthy"), seeds=2).missing
    assert not judged(HEALTHY, cell("healthy"), seeds=2).good


def test_what_a_stranger_says_does_not_break_the_page():
    jobs = jobs_of([HEALTHY], [TWINS], 1)
    made = cell("healthy", Outcome.FAILED, message="a | b <script>\nmore")
    found = judge(jobs, {made.key: made})
    page = document(summary(jobs, found, [TWINS], "aml matrix"), jobs, found.cells)
    assert "| failed | a \\| b &lt;script&gt; |" in page
    assert "| healthy | ✘1 |" in page


def test_the_time_left_is_that_of_servers_of_the_same_kind():
    jobs = jobs_of([HEALTHY, BROKEN], [TWINS], 3)
    made = [cell("healthy", seed=seed) for seed in (1, 2, 3)]
    console = Console(file=io.StringIO(), width=200)
    lines = ProgressLines(console, jobs, {one.key: one for one in made}, workers=2)
    lines.job_finished(jobs[0], 600, None)
    lines.job_finished(jobs[1], 1800, "it ended\nwith 3")
    first, second = console.file.getvalue().splitlines()
    assert "1/4  healthy, seed 1: nothing; 600 s; about 15 min left" in first
    assert "2/4  healthy, seed 2: not tried: it ended; 1800 s; about 20 min left" in second


def test_the_collection_of_this_project_can_be_started():
    entries = collection()
    assert len({entry.name for entry in entries}) == len(entries)
    assert sum(entry.healthy for entry in entries) >= 6
    for entry in entries:
        assert entry.target().managed
        assert entry.run(1, "salt", 6.0).seed == 1
        assert not {*entry.kills, *entry.expected} - RULES.keys()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "a/b"},
        {"kills": {"echo/ids": "differs"}},
        {"sometimes": frozenset({"echo/ids"})},
        {"healthy": False, "expected": {"echo/ids": "It is so."}},
    ],
)
def test_an_entry_that_contradicts_itself_is_refused(wrong):
    with pytest.raises(ValueError, match=r"name|healthy|list"):
        replace(HEALTHY, **wrong)
