"""The runner: tries the selected rules on one endpoint and says what each came to.

Ordinary rules run side by side, the long ones first; exclusive ones follow, each alone;
``last`` ones judge what the whole run saw. How many requests are in flight is the
endpoint's business: it never sends more at once than declared. A further rule starts when
those under way leave a place unused, and of those that wait for a place the longest is
served first: no place is idle while there is something to send, and no long rule is left
over in the end.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aml_contract.checking.doubts import FOUND, doubt_of
from aml_contract.checking.masking import Mask
from aml_contract.checking.result import Recorder, RuleResult
from aml_contract.checking.selection import Means
from aml_contract.endpoint.process import StartError
from aml_contract.endpoint.protocol import Endpoint
from aml_contract.endpoint.slots import rank
from aml_contract.exchange import Exchange
from aml_contract.finding import Finding, NotApplicable, NotTested, Violation
from aml_contract.outcome import Outcome, outcome_of_violation
from aml_contract.rule import Need, Rule
from aml_contract.run import Run
from aml_contract.trial import Trial

GRACE = 30.0
"""Seconds that rules under way may go on when the time budget is used up."""
_AT_LEAST = 5.0
_UNDER_WAY = 2
"""Rules under way at once for each place: some wait for a clock and need none."""
_TURNS = 4
"""Of the event loop, until a rule that was started has asked for its first places."""
_SHOWN_BY_DEFAULT = 2
"""Latest exchanges shown for a finding that points at none."""


class Observer:
    """Is told what the runner does; this one does not mind."""

    def rule_started(self, rule: Rule) -> None:
        """The rule sends its first request now."""

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        """The rule came to its result."""

    def kit_error(self, rule: Rule, text: str) -> None:
        """The kit broke in a rule; ``text`` is the traceback."""


@dataclass
class Runner:
    """Tries rules on an endpoint.

    ``budget`` is in seconds: rules not started by then are not tested, and those under way
    have :data:`GRACE` left.
    """

    endpoint: Endpoint
    run: Run
    budget: float | None = None
    strict: bool = False
    recorder: Recorder = field(default_factory=Recorder)
    observer: Observer = field(default_factory=Observer)
    _down: str | None = field(default=None, init=False)
    """Why nothing more can be tested, once the endpoint is gone."""
    _deadline: float | None = field(default=None, init=False)

    async def try_all(self, rules: Iterable[Rule]) -> list[RuleResult]:
        """Try every rule; results in the order of the rules' names."""
        if self.budget is not None:
            self._deadline = time.monotonic() + self.budget
        side_by_side, alone, last = _phases(rules)
        results = await self._side_by_side(side_by_side)
        for rule in alone:
            results.append(await self._one(rule))
            await self._revive()
        results += [await self._one(rule) for rule in last]
        return sorted(results, key=lambda result: result.rule)

    async def _side_by_side(self, rules: Sequence[Rule]) -> list[RuleResult]:
        started: list[asyncio.Task[RuleResult]] = []
        under_way = asyncio.Semaphore(_UNDER_WAY * self.endpoint.add_concurrency)

        async def work(rule: Rule, urgency: int) -> RuleResult:
            rank.set(urgency)
            try:
                return await self._one(rule)
            finally:
                under_way.release()

        async with asyncio.TaskGroup() as group:
            for urgency, rule in enumerate(rules):
                await under_way.acquire()
                await self.endpoint.room()
                started.append(group.create_task(work(rule, urgency)))
                for _ in range(_TURNS):
                    await asyncio.sleep(0)
        return [task.result() for task in started]

    async def _one(self, rule: Rule) -> RuleResult:
        if reason := self._obstacle(rule):
            result = self._result(rule, *reason)
        else:
            self.observer.rule_started(rule)
            result = await self._try(rule)
        self.observer.rule_finished(rule, result)
        return result

    def _obstacle(self, rule: Rule) -> tuple[Outcome, str] | None:
        """Why the rule is not even tried."""
        if obstacle := Means.of(self.endpoint.target, self.run.capabilities).obstacle(rule):
            return obstacle
        if rule.last:
            return None
        faults = self.endpoint.faults
        if Need.FAULT in rule.needs and faults is not None and faults.trouble:
            return Outcome.NOT_TESTED, f"the endpoint may still be broken: {faults.trouble}"
        if down := self._down or self._died(f"before {rule.name}"):
            return Outcome.NOT_TESTED, down
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return Outcome.NOT_TESTED, self._spent()
        return None

    def _spent(self) -> str:
        return f"the time budget of {self.budget or 0:g} s was used up"

    def _time_left(self) -> float | None:
        """Seconds that a rule which starts now may take; ``None`` if there is no budget."""
        if self._deadline is None:
            return None
        # The last rules come when the time may be up; what they judge has been sent long ago.
        return max(self._deadline + GRACE - time.monotonic(), _AT_LEAST)

    async def _try(self, rule: Rule) -> RuleResult:
        trial = Trial(rule, self.endpoint, self.run)
        began = time.perf_counter()
        shown: Sequence[Exchange] = ()
        limit = asyncio.timeout(self._time_left())
        try:
            async with limit:
                await rule.check(trial)
            outcome, message = Outcome.PASSED, ""
        except Exception as error:  # noqa: BLE001  whatever leaves a rule is an outcome
            cut_off = NotTested(f"{self._spent()} while it was being tried")
            found = cut_off if limit.expired() else error
            outcome, message, shown = self._judge(rule, trial, found)
        if outcome is Outcome.PASSED and trial.warnings:
            outcome, message, shown = Outcome.WARNED, "\n".join(trial.warnings), trial.shown
        if outcome in FOUND and (doubt := await doubt_of(trial, shown)):
            outcome, message = Outcome.NOT_TESTED, doubt
        seconds = round(time.perf_counter() - began, 4)
        if (down := await self._look_after(trial)) and outcome is Outcome.NOT_TESTED:
            message = down
        mask = self.recorder.mask([*shown, *reversed(trial.exchanges)])
        result = self._result(rule, outcome, message, mask)
        result.seconds = seconds
        result.requests = len(trial.exchanges)
        result.exchanges = [self.recorder.record(exchange, mask) for exchange in shown]
        result.notes = [self.recorder.text(note, mask) for note in trial.notes]
        result.figures = dict(trial.figures)
        result.repeat = trial.repeat
        return result

    def _judge(
        self, rule: Rule, trial: Trial, error: Exception
    ) -> tuple[Outcome, str, Sequence[Exchange]]:
        """What an exception that left a rule means."""
        latest = trial.exchanges[-_SHOWN_BY_DEFAULT:]
        match _unwrapped(error):
            case Violation() as found:
                outcome = outcome_of_violation(rule.level, strict=self.strict)
                return outcome, found.message, found.exchanges or latest
            case NotApplicable() as found:
                return Outcome.NOT_APPLICABLE, found.message, found.exchanges
            case NotTested() as found:
                return Outcome.NOT_TESTED, found.message, found.exchanges
            case StartError() as found:
                outcome = outcome_of_violation(rule.level, strict=self.strict)
                return outcome, f"it did not start again on its data: {found}", latest
            case other:
                text = "".join(traceback.format_exception(other))
                mask = self.recorder.mask(trial.exchanges[::-1])
                self.observer.kit_error(rule, self.recorder.text(text, mask))
                first = _first(other)
                where = f"{type(first).__name__}: {first}"
                return Outcome.KIT_ERROR, f"the kit broke, not the endpoint: {where}", ()

    def _result(
        self, rule: Rule, outcome: Outcome, message: str, mask: Mask | None = None
    ) -> RuleResult:
        return RuleResult(
            rule=rule.name,
            level=rule.level,
            clause=", ".join(rule.clauses),
            outcome=outcome,
            transport=rule.transport,
            message=self.recorder.text(message, mask),
        )

    async def _look_after(self, trial: Trial) -> str | None:
        """See whether the endpoint is still there, when the rule's end makes one wonder.

        Returns:
            Why nothing more can be tested, if the rule met that too.
        """
        if not any(made.status is None for made in trial.exchanges[-3:]):
            return None
        if self._down or self._died(f"during {trial.rule.name} or beside it"):
            return self._down
        process = self.endpoint.process
        if process is None or not process.can_kill:
            words = await self._still_gone()
            self._down = words and f"the endpoint stopped answering: {words}"
        return self._down

    def _died(self, when: str) -> str | None:
        """See whether the server has ended by itself: then nothing more can be tested."""
        process = self.endpoint.process
        if process is not None and (words := process.died):
            self._down = f"{words}\nIt ended by itself {when}."
        return self._down

    async def _still_gone(self) -> str | None:
        """Ask a few times whether anything answers; the words if nothing does."""
        words = None
        for _ in range(3):
            words = await self.endpoint.answers()
            if words is None:
                return None
            await asyncio.sleep(self.run.patience)
        return words

    async def _revive(self) -> None:
        """Make sure that a rule which stopped the server left it running."""
        process = self.endpoint.process
        if process is None or self._down:
            return
        try:
            await process.ensure()
        except StartError as error:
            self._down = f"it did not start again: {error}"


async def run_rules(
    endpoint: Endpoint,
    rules: Iterable[Rule],
    run: Run,
    *,
    budget: float | None = None,
    strict: bool = False,
) -> list[RuleResult]:
    """Try ``rules`` on ``endpoint``; see :class:`Runner`."""
    return await Runner(endpoint, run, budget, strict).try_all(rules)


def _phases(rules: Iterable[Rule]) -> tuple[list[Rule], list[Rule], list[Rule]]:
    """Rules side by side, alone and last.

    Side by side those that wait come first, then the longest. Alone the shortest come first:
    a server is started again while it holds little, and most starts read all there is.
    """
    ordered = sorted(rules, key=lambda rule: (not rule.waits, -_length(rule), rule.name))
    return (
        [rule for rule in ordered if not rule.exclusive and not rule.last],
        sorted(
            (rule for rule in ordered if rule.exclusive and not rule.last),
            # Faults come after the rest: one that cannot be healed spoils what follows.
            key=lambda rule: (Need.FAULT in rule.needs, _length(rule)),
        ),
        sorted((rule for rule in ordered if rule.last), key=lambda rule: rule.name),
    )


def _length(rule: Rule) -> float:
    """How long a rule takes, roughly: a Search takes a third of an Add."""
    return rule.cost.adds + (rule.cost.searches + rule.cost.others) / 3


def _first(error: Exception) -> BaseException:
    """What broke first inside a task group; a group says nothing but how many did."""
    first: BaseException = error
    while isinstance(first, BaseExceptionGroup):
        broken = [one for one in first.exceptions if not isinstance(one, Finding)]
        first = (broken or first.exceptions)[0]
    return first


def _unwrapped(error: Exception) -> Exception:
    """The finding inside a task group's error; the error itself if the kit broke too."""
    if not isinstance(error, ExceptionGroup):
        return error
    inner = [_unwrapped(one) for one in error.exceptions]
    for kind in (Violation, StartError, NotTested, NotApplicable):
        if all(isinstance(one, Finding | StartError) for one in inner):
            for one in inner:
                if isinstance(one, kind):
                    return one
    return error
