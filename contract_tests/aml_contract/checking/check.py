"""A check: one target, the selected rules, one stream of events.

``aml check`` and the pytest plugin are two views on this.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aml_contract.checking.document import EndpointInfo, Report, Settings, report_of
from aml_contract.checking.events import EventLog
from aml_contract.checking.result import Recorder, RuleResult
from aml_contract.checking.resumption import Resumption
from aml_contract.checking.runner import Observer, Runner
from aml_contract.checking.samples import Timed
from aml_contract.checking.waiting import tell_of_waiting
from aml_contract.endpoint.http import HTTPEndpoint, Unreachable, open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.latency import busy_seconds
from aml_contract.rule import Capability, Rule
from aml_contract.run import Run, new_run_id

RUNS = Path(".aml/runs")
"""Where runs keep their events, beneath the working directory."""


class View(Observer):
    """Watches a check: what the runner does, and what is being waited for."""

    def say(self, text: str) -> None:
        """Something is being waited for."""

    def ready(self, endpoint: HTTPEndpoint) -> None:
        """The endpoint answers; rules start now."""


@dataclass
class Check(Observer):
    """One check of one target.

    ``budget`` is in seconds: rules not started by then are not tested.
    """

    target: Target
    rules: Sequence[Rule]
    run: Run
    budget: float | None = None
    strict: bool = False
    directory: Path | None = None
    """Where events and large bodies are kept; ``None`` keeps events in memory."""
    view: View = field(default_factory=View)
    run_id: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where each setting came from that is no default."""
    show_replies: bool = False
    """Keep answers whole, and not only what the kit itself sent (decision 17)."""
    resumed: Resumption | None = None
    """The run that goes on: its directory, and what it found, is that of this check."""

    def __post_init__(self) -> None:
        self.run_id = self.run_id or new_run_id()
        self.left = self.rules
        """The rules that are tried: all, unless some results are taken over."""
        if self.resumed:
            self._take_over(self.resumed)
        where = self.directory
        events = where / "events.jsonl" if where else None
        self.log = EventLog(events, resumed=self.resumed is not None)
        self.recorder = Recorder(
            self.target.credentials,
            where / "bodies" if where else None,
            show_replies=self.show_replies,
        )
        self.unreachable: str | None = None
        """The message, if nothing answered."""
        self._timed = len(self.run.ordinary)
        """How many ordinary requests the events speak of."""
        self._sent: Counter[str] = Counter()

    async def execute(self) -> None:
        """Open the target and try the rules; every end of it is in the events.

        Raises:
            asyncio.CancelledError: it was cancelled; what ran is in the events.
        """
        began = time.perf_counter()
        self._emit_start()
        stopped: str | None = None
        try:
            async with open_endpoint(self.target, say=self._say) as endpoint:
                self._ready(endpoint)
                runner = Runner(
                    endpoint,
                    self.run,
                    budget=self.budget,
                    strict=self.strict,
                    recorder=self.recorder,
                    observer=self,
                )
                telling = asyncio.create_task(tell_of_waiting(endpoint, self._say))
                try:
                    await runner.try_all(self.left)
                finally:
                    telling.cancel()
        except Unreachable as error:
            stopped, self.unreachable = "unreachable", str(error)
        except asyncio.CancelledError:
            stopped = "interrupted"
            raise
        finally:
            seconds = time.perf_counter() - began
            self._measure()
            self.log.emit("run_finished", stopped=stopped, **self._totals(seconds))
            self.log.close()

    def report(self) -> Report:
        """The report of what has been tried so far."""
        return report_of(self.log.events)

    # -- the runner's observer: the events first, then whoever watches ---------------

    def rule_started(self, rule: Rule) -> None:
        """Keep and pass on."""
        self.log.emit("rule_started", rule=rule.name)
        self.view.rule_started(rule)

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        """Keep and pass on."""
        self.log.emit("rule_finished", result=result.model_dump(mode="json"))
        self._measure()
        self.view.rule_finished(rule, result)

    def kit_error(self, rule: Rule, text: str) -> None:
        """Keep and pass on."""
        self.log.emit("kit_error", rule=rule.name, traceback=text)
        self.view.kit_error(rule, text)

    def _say(self, text: str) -> None:
        self.view.say(self.recorder.text(text))

    def _ready(self, endpoint: HTTPEndpoint) -> None:
        info = endpoint_info(self.target, endpoint)
        self.log.emit("endpoint_ready", endpoint=info.model_dump(mode="json"))
        self.view.ready(endpoint)

    def _take_over(self, earlier: Resumption) -> None:
        earlier.demand_same(self.target.flags, self._settings(), self.rules, self.run.seed)
        self.directory, self.run_id = earlier.directory, earlier.name
        self.left = earlier.left(self.rules)
        self.run.ordinary += earlier.measured()

    def _settings(self) -> Settings:
        return Settings(
            concurrency=self.target.concurrency,
            capabilities=sorted(self.run.capabilities),
            track=self.run.track,
            strict=self.strict,
            quick=self.run.quick,
            budget=self.budget,
            fuzz_budget=self.run.fuzz_budget,
            show_replies=self.show_replies,
            origins=dict(self.origins),
        )

    def _emit_start(self) -> None:
        if self.resumed:
            left = [rule.name for rule in self.left]
            self.log.emit("run_resumed", salt=self.run.salt, rules=left)
            return
        self.log.emit(
            "run_started",
            kit=version("aml-contract"),
            run=self.run_id,
            seed=self.run.seed,
            salt=self.run.salt,
            endpoint=endpoint_info(self.target).model_dump(mode="json"),
            settings=self._settings().model_dump(mode="json"),
            rules=[
                {
                    "rule": rule.name,
                    "level": rule.level.value,
                    "clause": ", ".join(rule.clauses),
                    "transport": rule.transport,
                }
                for rule in self.rules
            ],
        )

    def _measure(self) -> None:
        """Keep what was sent since the last time, and how long it took."""
        new = self.run.ordinary[self._timed :]
        self._timed += len(new)
        uncounted = self.run.exchanges[self._sent.total() :]
        self._sent.update(exchange.operation for exchange in uncounted)
        adds, searches, others = (self._sent[kind] for kind in ("add", "search", "health"))
        self.log.emit(
            "measured",
            requests={"adds": adds, "searches": searches, "others": others},
            add=[Timed.of(made) for made in new if made.operation == "add"],
            search=[Timed.of(made) for made in new if made.operation == "search"],
        )

    def _totals(self, seconds: float) -> Mapping[str, Any]:
        return {
            "reason": self.unreachable,
            "seconds": round(seconds, 3),
            "endpoint_seconds": round(busy_seconds(self.run.exchanges), 3),
        }


def endpoint_info(target: Target, endpoint: HTTPEndpoint | None = None) -> EndpointInfo:
    """How a report names the endpoint; a managed one has URLs only once it runs."""
    clean = target.credentials.redact
    urls = endpoint.urls if endpoint else None if target.managed else target.urls()
    return EndpointInfo(
        kind=target.kind,
        add_url=urls.add if urls else None,
        search_url=urls.search if urls else None,
        health_url=urls.health if urls else None,
        command=clean(target.command) if target.command else None,
        auth=str(target.auth),
        flags=[clean(flag) for flag in target.flags],
    )


def capabilities_of(
    target: Target, track: str, without: Sequence[Capability]
) -> frozenset[Capability]:
    """The capabilities an endpoint claims on a track, those it declines left out."""
    claimed = {Capability.VERBATIM}
    if track == "multimodal":
        claimed.add(Capability.IMAGES)
    if target.credentials.headers:
        claimed.add(Capability.AUTH)
    return frozenset(claimed - set(without))
