"""The JSON report, derived from a run's events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from aml_contract.checking.events import Event
from aml_contract.checking.result import RuleResult
from aml_contract.checking.samples import Samples, Timed, samples_of, timed_of
from aml_contract.documented import Documented
from aml_contract.latency import Latency, latency_of
from aml_contract.outcome import Level, Outcome, Verdict, verdict_of

Stopped = Literal["interrupted", "unreachable", "killed"]
_STARTS = frozenset({"run_started", "run_resumed"})
_TRIED = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.WARNED})


class EndpointInfo(Documented):
    """Which endpoint was judged; no key in it."""

    kind: str
    """``url``, ``cmd``, ``app`` or ``system``."""
    add_url: str | None
    """``null`` if the server was never started."""
    search_url: str | None
    health_url: str | None
    command: str | None = None
    """What started the server, if the kit did."""
    auth: str
    """How the key travelled: ``bearer``, ``token``, ``x-api-key`` or ``none``."""
    flags: list[str]
    """The options of ``aml check`` that name it again."""


class Requests(Documented):
    """How many requests a run sent."""

    adds: int = 0
    searches: int = 0
    others: int = 0
    """Health, and probes."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.adds + self.searches + self.others


class Settings(Documented):
    """What the run was asked to do."""

    concurrency: int
    """Requests in flight at most."""
    capabilities: list[str]
    """What the endpoint claims: ``verbatim``, ``images``, ``deferred_add``, ``auth``."""
    track: str
    """``textual``, ``coding`` or ``multimodal``."""
    strict: bool
    """Whether broken SHOULD rules failed."""
    quick: bool
    """Whether only MUST rules with few requests were tried."""
    budget: float | None
    """Seconds after which no further rule was started."""
    fuzz_budget: float = 20.0
    """Seconds that requests were generated, in all."""
    show_replies: bool = False
    """Whether answers are shown whole: otherwise only what the kit sent is."""
    origins: dict[str, str] = Field(default_factory=dict)
    """Where each setting came from that is no default: ``--url``, ``$AML_URL``, ``aml.toml:3``."""


class Planned(Documented):
    """A rule that the run meant to try."""

    rule: str
    level: Level
    clause: str
    transport: str


class Part(Documented):
    """A run that was resumed has several parts, each begun by a command of its own."""

    started: str
    """Date and time, ISO 8601 in UTC."""
    seconds: float
    """How long it took."""
    stopped: Stopped | None
    """Why it did not come to its end; ``null`` if it did."""
    results: int
    """How many rules came to a result in it that still counts."""


class Report(Documented):
    """The result of one run.

    ``stopped`` says why a run did not come to its end: interrupted (Ctrl-C), unreachable,
    or killed; rules it had not finished are then *not tested*.
    """

    report: Literal["aml-report/1"] = "aml-report/1"
    """The form of this document."""
    kit: str
    """Version of the kit."""
    run: str
    """The run's name, and that of its directory."""
    verdict: Verdict
    """``CONFORMANT``, ``INCOMPLETE`` or ``NONCONFORMANT``."""
    stopped: Stopped | None
    """Why it did not come to its end: ``interrupted``, ``unreachable`` or ``killed``."""
    reason: str | None = None
    """The message, if nothing answered."""
    seed: int
    """Chose the course of the run; ``--seed`` takes it again."""
    started: str
    """Date and time, ISO 8601 in UTC."""
    seconds: float | None
    """How long it took; of a run that was killed, until its last event."""
    parts: list[Part] = Field(default_factory=list)
    """One, and another for each time it was resumed."""
    endpoint: EndpointInfo
    """Which endpoint was judged."""
    settings: Settings
    """What the run was asked to do."""
    requests: Requests = Field(default_factory=Requests)
    """How many requests were sent."""
    endpoint_seconds: float | None = None
    """How long at least one request was in flight; not known of a run that was killed."""
    latency: dict[str, Latency] = Field(default_factory=dict)
    """Percentiles of ordinary requests that got their 200: ``add`` and ``search``."""
    samples: dict[str, Samples] = Field(default_factory=dict)
    """The same requests, to be plotted: ``add`` and ``search``."""
    rules: list[RuleResult]
    """What each rule came to, also those that were not tried."""

    @property
    def tested(self) -> int:
        """Rules that were tried to their end."""
        return sum(result.outcome in _TRIED for result in self.rules)

    def having(self, outcome: Outcome) -> list[RuleResult]:
        """The results with that outcome."""
        return [result for result in self.rules if result.outcome is outcome]


def report_of(events: Sequence[Event]) -> Report:
    """Derive the report from the events of a run, also of one that did not end.

    Of a run that was resumed the report is one: what was tried again counts as it came
    out last.

    Raises:
        ValueError: the events hold no start of a run.
    """
    parts = parts_of(events)
    start, last = parts[0][0], parts[-1]
    end = _last("run_finished", last)
    finished, begun = _results(events)
    stopped = _stopped(last)
    planned = [Planned.model_validate(rule) for rule in start["rules"]]
    rules = [finished.get(rule.rule) or _unfinished(rule, stopped, begun) for rule in planned]
    timed = {operation: _timed(parts, operation) for operation in ("add", "search")}
    ends = [_last("run_finished", part) for part in parts]
    busy = [end.get("endpoint_seconds") for end in ends]
    return Report(
        kit=start["kit"],
        run=start["run"],
        verdict=_verdict(rules),
        stopped=stopped,
        reason=end.get("reason"),
        seed=start["seed"],
        started=start["at"],
        seconds=round(sum(map(_seconds, parts)), 3),
        parts=[_part(part, finished) for part in parts],
        endpoint=_last("endpoint_ready", events).get("endpoint", start["endpoint"]),
        settings=start["settings"],
        requests=_requests(parts),
        endpoint_seconds=None if None in busy else round(sum(filter(None, busy)), 3),
        latency={
            operation: found
            for operation, those in timed.items()
            if (found := latency_of([one.seconds for one in those]))
        },
        samples={
            operation: samples
            for operation, those in timed.items()
            if (samples := samples_of(those))
        },
        rules=rules,
    )


def parts_of(events: Sequence[Event]) -> list[Sequence[Event]]:
    """The events of each part of a run: from its start, or where it was resumed.

    Raises:
        ValueError: the events hold no start of a run.
    """
    starts = [n for n, event in enumerate(events) if event["event"] in _STARTS]
    if not starts or events[starts[0]]["event"] != "run_started":
        raise ValueError("these are not the events of a run")
    return [events[a:b] for a, b in zip(starts, [*starts[1:], len(events)], strict=True)]


def exit_code(report: Report, *, require_all: bool = False, unwritten: bool = False) -> int:
    """The exit code of ``aml``: the first that holds of 130, 4, 1, 3, 5, 6, 0.

    Args:
        report: the run.
        require_all: an incomplete run is 6.
        unwritten: a report could not be written: that is 3, as other errors of the kit.
    """
    holds = {
        130: report.stopped == "interrupted",
        4: report.stopped == "unreachable",
        1: bool(report.having(Outcome.FAILED)),
        3: unwritten or bool(report.having(Outcome.KIT_ERROR)),
        5: report.tested == 0,
        6: require_all and report.verdict is Verdict.INCOMPLETE,
    }
    return next((code for code, true in holds.items() if true), 0)


def _last(kind: str, events: Sequence[Event]) -> Event:
    """The last event of a kind; an empty one if there is none."""
    return next((event for event in reversed(events) if event["event"] == kind), {})


def _results(events: Sequence[Event]) -> tuple[dict[str, RuleResult], set[str]]:
    """The result of each rule that has one, and the rules that were being tried."""
    finished: dict[str, RuleResult] = {}
    begun: set[str] = set()
    for event in events:
        if event["event"] == "rule_started":
            begun.add(event["rule"])
            finished.pop(event["rule"], None)
        elif event["event"] == "rule_finished":
            result = RuleResult.model_validate(event["result"])
            finished[result.rule] = result
    return finished, begun - finished.keys()


def _stopped(part: Sequence[Event]) -> Stopped | None:
    end = _last("run_finished", part)
    return end["stopped"] if end else "killed"


def _seconds(part: Sequence[Event]) -> float:
    """How long a part took: until its end, or the last that is known of it."""
    if end := _last("run_finished", part):
        return float(end["seconds"])
    first, last = (datetime.fromisoformat(event["at"]) for event in (part[0], part[-1]))
    return (last - first).total_seconds()


def _part(part: Sequence[Event], finished: Mapping[str, RuleResult]) -> Part:
    came = [event["result"] for event in part if event["event"] == "rule_finished"]
    still = [one for one in came if finished.get(one["rule"]) == RuleResult.model_validate(one)]
    return Part(
        started=part[0]["at"],
        seconds=round(_seconds(part), 3),
        stopped=_stopped(part),
        results=len(still),
    )


def _requests(parts: Sequence[Sequence[Event]]) -> Requests:
    sent = [Requests.model_validate(_last("measured", part).get("requests", {})) for part in parts]
    return Requests(
        adds=sum(one.adds for one in sent),
        searches=sum(one.searches for one in sent),
        others=sum(one.others for one in sent),
    )


def _timed(parts: Sequence[Sequence[Event]], operation: str) -> list[Timed]:
    """Ordinary requests that got their 200, by the time since the run began."""
    found: list[Timed] = []
    later = 0.0
    for part in parts:
        found += [one for one in timed_of(part, operation, later) if one.status == 200]
        later += _seconds(part)
    return found


def _verdict(rules: Sequence[RuleResult]) -> Verdict:
    if not any(result.outcome in _TRIED for result in rules):
        return Verdict.INCOMPLETE
    return verdict_of((result.level, result.outcome) for result in rules)


def _unfinished(rule: Planned, stopped: Stopped | None, begun: set[str]) -> RuleResult:
    words = {
        "interrupted": "the run was interrupted",
        "unreachable": "the endpoint was not reached",
        "killed": "the run was killed",
    }[stopped or "killed"]
    when = "while it was being tried" if rule.rule in begun else "before it was tried"
    message = words if stopped == "unreachable" else f"{words} {when}"
    return RuleResult(outcome=Outcome.NOT_TESTED, message=message, **rule.model_dump())
