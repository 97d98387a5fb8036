"""The JSON report, derived from a run's events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from aml_contract.checking.events import Event
from aml_contract.checking.result import RuleResult
from aml_contract.latency import Latency
from aml_contract.outcome import Level, Outcome, Verdict, verdict_of

Stopped = Literal["interrupted", "unreachable", "killed"]
_TRIED = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.WARNED})


class EndpointInfo(BaseModel):
    """Which endpoint was judged; no key in it."""

    kind: str
    """``url``, ``cmd``, ``app`` or ``system``."""
    add_url: str | None
    search_url: str | None
    health_url: str | None
    command: str | None = None
    auth: str
    flags: list[str]
    """The options of ``aml check`` that name it again."""


class Requests(BaseModel):
    """How many requests a run sent."""

    adds: int = 0
    searches: int = 0
    others: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.adds + self.searches + self.others


class Settings(BaseModel):
    """What the run was asked to do."""

    concurrency: int
    capabilities: list[str]
    track: str
    strict: bool
    quick: bool
    budget: float | None
    """Seconds after which no further rule was started."""


class Planned(BaseModel):
    """A rule that the run meant to try."""

    rule: str
    level: Level
    clause: str
    transport: str


class Report(BaseModel):
    """The result of one run.

    ``stopped`` says why a run did not come to its end: interrupted (Ctrl-C), unreachable,
    or killed; rules it had not finished are then *not tested*.
    """

    report: Literal["aml-report/1"] = "aml-report/1"
    kit: str
    run: str
    verdict: Verdict
    stopped: Stopped | None
    reason: str | None = None
    seed: int
    started: str
    seconds: float | None
    endpoint: EndpointInfo
    settings: Settings
    requests: Requests = Field(default_factory=Requests)
    endpoint_seconds: float | None = None
    """How long at least one request was in flight."""
    latency: dict[str, Latency] = Field(default_factory=dict)
    """Percentiles of ordinary requests: ``add`` and ``search``."""
    rules: list[RuleResult]

    @property
    def tested(self) -> int:
        """Rules that were tried to their end."""
        return sum(result.outcome in _TRIED for result in self.rules)

    def having(self, outcome: Outcome) -> list[RuleResult]:
        """The results with that outcome."""
        return [result for result in self.rules if result.outcome is outcome]


def report_of(events: Sequence[Event]) -> Report:
    """Derive the report from the events of a run, also of one that did not end.

    Raises:
        ValueError: the events hold no start of a run.
    """
    kinds: dict[str, Event] = {event["event"]: event for event in events}
    if "run_started" not in kinds:
        raise ValueError("these are not the events of a run")
    start, end = kinds["run_started"], kinds.get("run_finished", {})
    finished = {
        event["result"]["rule"]: RuleResult.model_validate(event["result"])
        for event in events
        if event["event"] == "rule_finished"
    }
    begun = {event["rule"] for event in events if event["event"] == "rule_started"}
    stopped: Stopped | None = end.get("stopped") if end else "killed"
    planned = [Planned.model_validate(rule) for rule in start["rules"]]
    rules = [finished.get(rule.rule) or _unfinished(rule, stopped, begun) for rule in planned]
    return Report(
        kit=start["kit"],
        run=start["run"],
        verdict=_verdict(rules),
        stopped=stopped,
        reason=end.get("reason"),
        seed=start["seed"],
        started=start["at"],
        seconds=end.get("seconds"),
        endpoint=kinds.get("endpoint_ready", start)["endpoint"],
        settings=start["settings"],
        requests=end.get("requests") or Requests(),
        endpoint_seconds=end.get("endpoint_seconds"),
        latency=end.get("latency") or {},
        rules=rules,
    )


def exit_code(report: Report, *, require_all: bool = False) -> int:
    """The exit code of ``aml``: the first that holds of 130, 4, 1, 3, 5, 6, 0."""
    holds = {
        130: report.stopped == "interrupted",
        4: report.stopped == "unreachable",
        1: bool(report.having(Outcome.FAILED)),
        3: bool(report.having(Outcome.KIT_ERROR)),
        5: report.tested == 0,
        6: require_all and report.verdict is Verdict.INCOMPLETE,
    }
    return next((code for code, true in holds.items() if true), 0)


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
