"""What reports say side by side, and what changed between two runs of one endpoint."""

import base64
import json

import pytest

from aml_contract.comparison.side_by_side import side_by_side
from aml_contract.comparison.sources import NotComparableError, read_sources
from aml_contract.latency import Latency
from aml_contract.outcome import Outcome
from tests.comparison.conftest import FIRST, SECOND, report
from tests.report.events import finished, run_of

ELSEWHERE = "https://other.example"


def names(results):
    return [result.rule for result in results]


def compared(written, *reports):
    return side_by_side(read_sources(written(*reports)))


def certification(made, verdict="PASS"):
    stages = [
        {"stage": "declaration", "judgement": {"verdict": "PASS"}, "data": {}},
        {
            "stage": "contract",
            "judgement": {"verdict": verdict},
            "data": {"report": json.loads(made.model_dump_json())},
        },
    ]
    return {"report": "aml-certification/1", "verdict": verdict, "stages": stages}


def test_rules_are_matched_and_what_differs_comes_first(written):
    found = compared(written, report(FIRST), report(SECOND, url=ELSEWHERE))
    rows = {row.rule: row.outcomes for row in found.rows}
    assert rows["echo/ids"] == [Outcome.PASSED, Outcome.FAILED]
    assert rows["media/formats"] == [Outcome.NOT_APPLICABLE] * 2
    assert [row.rule for row in found.rows][:2] == ["echo/ids", "isolation/case-twins"]
    assert found.rows[-1].rule == "media/formats"
    assert found.sentence == "2 runs of 2 endpoints; 5 rules of 6 came out differently."
    assert (found.changes, found.remarks) == ([], [])


def test_what_changed_is_said_of_runs_of_one_endpoint_in_their_order(written):
    found = compared(
        written, report(SECOND, hours=2), report(FIRST), report(SECOND, hours=1, url=ELSEWHERE)
    )
    [changes] = found.changes
    assert (changes.before.letter, changes.after.letter) == ("B", "A")
    assert names(changes.newly_failing) == ["echo/ids"]
    assert names(changes.fixed) == ["isolation/case-twins"]
    assert names(changes.newly_warned) == ["order/scores"]
    assert names(changes.no_longer_known) == ["time/small"]
    assert names(changes.newly_known) == ["repeats/after-kill"]
    assert changes.latency == []


def test_a_rule_that_is_new_and_fails_is_newly_failing_and_no_more(written):
    more = {**FIRST, "fuzz/requests": (Outcome.FAILED, "a 500")}
    [changes] = compared(written, report(FIRST), report(more, hours=1)).changes
    assert names(changes.newly_failing) == ["fuzz/requests"]
    assert [heading for heading, *_ in changes.groups] == ["Newly failing"]


def latency(p50, p95):
    return {"search": Latency(count=90, p50=p50, p95=p95, p99=p95, max=p95)}


def test_times_are_compared_where_the_same_was_sent(written):
    was = report(FIRST, latency=latency(0.01, 0.02))
    now = report(FIRST, hours=1, latency=latency(0.03, 0.021))
    [changes] = compared(written, was, now).changes
    [sentence] = changes.latency
    assert sentence.startswith("Search takes longer: p50 30 ms, before 10 ms")
    less = {rule: came for rule, came in FIRST.items() if rule != "echo/ids"}
    other = report(less, hours=1, latency=latency(0.03, 0.021))
    [changes] = compared(written, was, other).changes
    assert changes.latency == [
        "Times are not compared: the runs sent other requests, or other numbers at once."
    ]


def test_what_makes_runs_unlike_is_said(written):
    first = report(FIRST)
    settings = first.settings.model_copy(
        update={"concurrency": 4, "strict": True, "capabilities": ["auth"], "track": "coding"}
    )
    less = {rule: came for rule, came in FIRST.items() if rule != "echo/ids"}
    second = report(
        less, url=ELSEWHERE, settings=settings, kit="0.2.0", seed=8, stopped="interrupted"
    )
    found = compared(written, first, second)
    said = "\n".join(found.remarks)
    for words in (
        "kit (A 0.1.0, B 0.2.0)",
        "seed (A 7, B 8)",
        "track (A textual, B coding)",
        "claims (A auth, verbatim, B auth)",
        "requests at once (A 16, B 4)",
        "strict (A no, B yes)",
        "the rules that were tried (A 6, B 5): 1 only in some of them",
        "B did not come to its end (interrupted)",
    ):
        assert words in said
    assert not next(row for row in found.rows if row.rule == "echo/ids").differs


def test_a_certification_and_a_certificate_are_read(tmp_path, written):
    made = certification(report(FIRST), "FAIL")
    (tmp_path / "certification.json").write_text(json.dumps(made))
    statement = {"predicate": certification(report(FIRST, hours=1))}
    payload = base64.b64encode(json.dumps(statement).encode()).decode()
    (tmp_path / "certificate.json").write_text(json.dumps({"payload": payload, "signatures": []}))
    paths = [tmp_path / "certification.json", tmp_path / "certificate.json"]
    one, other = read_sources([*paths])
    assert (one.verdict, other.verdict) == ("FAIL", "PASS")
    assert one.stages == {"declaration": "PASS", "contract": "FAIL"}
    assert len(side_by_side([one, other]).changes) == 1


def test_a_directory_of_a_run_is_read(tmp_path, written):
    events = run_of([finished("echo/ids", Outcome.PASSED, "", exchanges=[])])
    (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(e)}\n" for e in events))
    [there] = written(report(FIRST, hours=1))
    one, _ = read_sources([tmp_path, there])
    assert one.report.rules[0].rule == "echo/ids"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no report"),
        ('{"payload": "…"}', "is no report"),
        ('{"verdict": "PASS", "stages": [1]}', "is no certification"),
        ('{"verdict": "PASS", "stages": []}', "without its stage contract"),
        (json.dumps(certification(report(FIRST))).replace("aml-report/1", "x/9"), "no cert"),
    ],
)
def test_what_is_no_report_is_named(tmp_path, written, text, words):
    bad = tmp_path / "bad.json"
    bad.write_text(text)
    with pytest.raises(NotComparableError, match=words) as error:
        read_sources([*written(report(FIRST)), bad])
    assert str(bad) in str(error.value)


def test_one_run_is_not_compared_with_itself(written):
    with pytest.raises(NotComparableError, match="reports of one run"):
        read_sources(written(report(FIRST), report(FIRST)))
