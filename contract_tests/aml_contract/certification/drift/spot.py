"""Spot checks: a small set of rules that passed when the endpoint was certified, tried again."""

from __future__ import annotations

from collections.abc import Callable

from aml_contract.certification.drift.certified import Certified
from aml_contract.certification.fingerprint import Sameness
from aml_contract.checking.check import capabilities_of
from aml_contract.checking.result import Recorder, RuleResult
from aml_contract.checking.runner import Observer, Runner
from aml_contract.documented import Documented
from aml_contract.endpoint.http import HTTPEndpoint
from aml_contract.outcome import Outcome
from aml_contract.rule import Capability, Rule, all_rules
from aml_contract.run import Run, new_run_id

SPOT_CHECKS = (
    "structure/legal-requests",
    "structure/add-status",
    "structure/add-success",
    "structure/search-envelope",
    "structure/item-ids",
    "structure/item-content",
    "structure/unknown-user",
    "echo/ids",
    "visibility/second-connection",
    "visibility/across-sessions",
    "isolation/two-users",
    "isolation/case-twins",
    "repeats/again",
    "limits/top-k",
    "evidence/options-never-returned",
    "time/milliseconds",
    "time/far-future",
    "input/blank-chunk",
    "errors/malformed-json",
    "auth/missing-key",
    "auth/wrong-key",
)
"""MUST rules of most families, with few requests and without a restart: about 80 in all."""
_HELD = frozenset({Outcome.PASSED, Outcome.WARNED})


class Spot(Documented):
    """One rule, then and now."""

    rule: str
    then: Outcome
    """What it came to when the endpoint was certified."""
    now: Outcome
    """What it came to now; of one that failed, the second time."""
    wavers: bool = False
    """Whether it failed the first time and not the second."""
    message: str = ""
    """What was found, or why it could not be tried."""

    @property
    def sameness(self) -> Sameness:
        """What that says of the version."""
        if self.now in _HELD and not self.wavers:
            return Sameness.SAME
        return Sameness.CHANGED if self.now is Outcome.FAILED else Sameness.UNKNOWN


class _Counting(Observer):
    def __init__(self, total: int, progress: Callable[[float], None]) -> None:
        self._total = total
        self._done = 0
        self._progress = progress

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        """Pass on how many are done."""
        self._done += 1
        self._progress(min(1.0, self._done / self._total))


async def spot_checks(
    certified: Certified,
    endpoint: HTTPEndpoint,
    seed: int,
    *,
    patience: float,
    progress: Callable[[float], None],
) -> tuple[list[Spot], Run]:
    """Try the rules that held when it was certified; those that fail are tried twice.

    Returns:
        What each came to; and the run, which holds the times of its ordinary requests.
    """
    then = certified.contract.outcomes
    rules = [
        rule for rule in all_rules() if rule.name in SPOT_CHECKS and then.get(rule.name) in _HELD
    ]
    run = _run(certified, endpoint, seed, patience)
    observer = _Counting(len(rules), progress)
    recorder = Recorder(endpoint.target.credentials)
    first = await Runner(endpoint, run, recorder=recorder, observer=observer).try_all(rules)
    failed = {result.rule for result in first if result.outcome is Outcome.FAILED}
    second: dict[str, RuleResult] = {}
    if failed:
        again = [rule for rule in rules if rule.name in failed]
        other = _run(certified, endpoint, seed, patience)
        tried = await Runner(endpoint, other, recorder=recorder).try_all(again)
        second = {result.rule: result for result in tried}
    return [_spot(result, second.get(result.rule), then[result.rule]) for result in first], run


def _spot(first: RuleResult, second: RuleResult | None, then: Outcome) -> Spot:
    last = second or first
    wavers = second is not None and second.outcome is not Outcome.FAILED
    message = first.message if wavers else last.message
    return Spot(
        rule=first.rule,
        then=then,
        now=last.outcome,
        wavers=wavers,
        message=message.partition("\n")[0],
    )


def _run(certified: Certified, endpoint: HTTPEndpoint, seed: int, patience: float) -> Run:
    """A run that asks what was asked then: the same track, the same capabilities."""
    settings = certified.contract.report.settings
    declinable = (Capability.VERBATIM, Capability.IMAGES)
    declined = [each for each in declinable if each not in settings.capabilities]
    return Run(
        seed=seed,
        salt=new_run_id(),
        patience=patience,
        capabilities=capabilities_of(endpoint.target, settings.track, declined),
        track=settings.track,
    )
