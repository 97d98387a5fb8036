"""A run that was killed goes on, and its report is one."""

import json

import pytest

from aml_contract.checking.document import report_of
from aml_contract.checking.events import EventLog, RunUnderWay, read_events
from aml_contract.checking.resumption import CannotResume, Resumption
from aml_contract.checking.samples import MOST, Timed, samples_of
from aml_contract.outcome import Level, Outcome
from tests.kit.conftest import events_of
from tests.report.events import finished, run_of
from tests.servers import eventually

FEW = ("--only", "time", "--only", "latency", "--concurrency", 1)


@pytest.fixture
def killed(aml_started, serve, tmp_path):
    """A run of a slow server that was killed after a few results; its events and its URL."""
    url = serve("slow").url
    child = aml_started("check", "--url", url, *FEW, "--seed", 7)
    events = events_of(tmp_path)
    eventually(lambda: events.read_text().count('"rule_finished"') >= 3)
    child.kill()
    child.wait()
    with events.open("a") as file:
        file.write('{"event": "rule_fini')  # as a kill in the middle of a write leaves it
    return events, url


def write(directory, events):
    (directory / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))


def results(events):
    return {event["result"]["rule"]: event["result"] for event in events if "result" in event}


def test_a_killed_run_goes_on_and_says_what_it_took_over(aml, killed, tmp_path):
    events, _ = killed
    before = results(read_events(events))
    done = aml("check", "--resume", "--json", "r.json", "--html", "r.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(before)} results are taken over" in done.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["stopped"] is None
    assert report["verdict"] == "CONFORMANT"
    assert report["seed"] == 7
    assert [part["stopped"] for part in report["parts"]] == ["killed", None]
    assert report["parts"][0]["results"] == len(before)
    by_rule = {result["rule"]: result for result in report["rules"]}
    for rule, result in before.items():
        assert by_rule[rule] == result, "taken over, not tried again"
    again = [e["rule"] for e in read_events(events) if e["event"] == "rule_started"]
    assert all(again.count(rule) == 1 for rule in before)
    measured = [e["add"] for e in read_events(events) if e["event"] == "measured"]
    assert report["latency"]["add"]["count"] == sum(map(len, measured)), "of both parts"
    assert len(list(tmp_path.glob(".aml/runs/*"))) == 1
    salts = [event["salt"] for event in read_events(events) if "salt" in event]
    assert len(salts) == len(set(salts)) == 2, "ids that nobody has used"


@pytest.mark.parametrize(
    ("otherwise", "words"),
    [
        (["--strict"], "strict was False"),
        (["--url", "http://127.0.0.1:1"], "endpoint was"),
        (["--seed", 8], "seed was 7"),
        (["--only", "order"], "other rules"),
        (["--track", "coding"], "track was textual"),
    ],
)
def test_it_goes_on_as_it_began_or_not_at_all(aml, tmp_path, otherwise, words):
    directory = tmp_path / ".aml/runs/earlier"
    directory.mkdir(parents=True)
    write(directory, run_of([finished("echo/ids", Outcome.NOT_TESTED, "why")], ended=False))
    before = (directory / "events.jsonl").read_bytes()
    done = aml("check", "--resume", *otherwise, MY_KEY="k")
    assert done.returncode == 2
    assert words in done.stderr
    assert (directory / "events.jsonl").read_bytes() == before


def test_the_same_options_again_are_no_difference(aml, killed):
    events, url = killed
    name = events.parent.name
    done = aml("check", "--resume", name, "--url", url, *FEW, "--seed", 7, "--time", 100)
    assert done.returncode == 0, done.stderr


def test_a_run_that_came_to_its_end_does_not_go_on(aml, serve):
    aml("check", "--url", serve().url, "--only", "echo/ids")
    done = aml("check", "--resume")
    assert done.returncode == 2
    assert "came to its end" in done.stderr


@pytest.mark.parametrize("words", [["--resume"], ["--resume", "nowhere"]])
def test_there_must_be_a_run(aml, words):
    done = aml("check", *words)
    assert done.returncode == 2
    assert "there is no run" in done.stderr


def test_an_address_without_its_option_is_explained(aml):
    done = aml("check", "http://127.0.0.1:8080")
    assert done.returncode == 2
    assert "--url http://127.0.0.1:8080" in done.stderr


def test_a_run_under_way_is_left_alone(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    with pytest.raises(RunUnderWay):
        EventLog(tmp_path / "events.jsonl", resumed=True)
    log.close()
    EventLog(tmp_path / "events.jsonl", resumed=True).close()


def interrupted(tmp_path):
    """A run with every outcome, that was killed while a rule was being tried."""
    names = [f"echo/{outcome.value.replace('_', '-')}" for outcome in Outcome]
    came = [
        finished(name, outcome, "it says why") for name, outcome in zip(names, Outcome, strict=True)
    ]
    events = run_of([*came, finished("echo/cut-off", Outcome.PASSED, "")], ended=False)[:-2]
    write(tmp_path, events)
    return Resumption.of(tmp_path), events


def test_results_are_kept_and_what_has_none_is_tried_again(tmp_path, rules):
    earlier, _ = interrupted(tmp_path)
    known = next(iter(rules.values()))
    planned = [type(known)(**{**vars(known), "name": name}) for name in earlier.tried]
    left = {rule.name for rule in earlier.left(planned)}
    assert left == {"echo/not-tested", "echo/kit-error", "echo/cut-off"}
    whole = [type(known)(**{**vars(known), "name": n, "last": True}) for n in earlier.tried]
    assert earlier.kept(whole) == [], "what judges the whole run judges again"


def test_what_was_tried_again_counts_as_it_came_out_last(tmp_path):
    earlier, events = interrupted(tmp_path)
    assert earlier.report.stopped == "killed"
    better = finished("echo/kit-error", Outcome.PASSED, "", level=Level.MUST)
    more = run_of([better])
    more[0] = {"event": "run_resumed", "at": more[0]["at"], "salt": "other", "rules": [better.rule]}
    report = report_of([*events, *more])
    by_rule = {result.rule: result for result in report.rules}
    assert by_rule["echo/kit-error"].outcome is Outcome.PASSED
    assert by_rule["echo/failed"].outcome is Outcome.FAILED
    assert by_rule["echo/cut-off"].outcome is Outcome.NOT_TESTED
    assert report.requests.adds == earlier.report.requests.adds + 1
    assert report.latency["add"].count == earlier.report.latency["add"].count + 1
    last = report.samples["add"].points[-1]
    assert last[0] > earlier.report.seconds, "the time of a part goes on from those before"


def test_other_versions_of_the_kit_do_not_go_on(tmp_path):
    events = run_of([finished("echo/ids", Outcome.PASSED, "")], ended=False)
    events[0]["kit"] = "0.0.9"
    write(tmp_path, events)
    with pytest.raises(CannotResume, match=r"version 0\.0\.9"):
        Resumption.of(tmp_path)


def test_samples_are_few_and_hold_the_slowest():
    timed = [Timed(n / 100, 0.01 + n % 7 / 1000, 200) for n in range(20_000)]
    timed[12_345] = Timed(123.45, 9.0, 200)
    samples = samples_of(timed)
    assert len(samples.points) <= MOST
    assert (123.45, 9.0) in samples.points
    assert len(samples.quantiles) == 101
    assert samples.quantiles[0] == 0.01
    assert samples.quantiles[100] == 9.0
    assert samples_of([]) is None
