"""A check: one target, the selected rules, one stream of events.

``aml check`` and the pytest plugin are two views on this.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aml_contract.checking.document import EndpointInfo, Report, Requests, Settings, report_of
from aml_contract.checking.events import EventLog
from aml_contract.checking.result import Recorder, RuleResult
from aml_contract.checking.runner import Observer, Runner
from aml_contract.checking.selection import Means
from aml_contract.endpoint.http import HTTPEndpoint, Unreachable, open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.latency import busy_seconds, latency_of
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

    def __post_init__(self) -> None:
        self.run_id = self.run_id or new_run_id()
        where = self.directory
        self.log = EventLog(where / "events.jsonl" if where else None)
        self.recorder = Recorder(self.target.credentials, where / "bodies" if where else None)
        self.unreachable: str | None = None
        """The message, if nothing answered."""

    async def execute(self) -> None:
        """Open the target and try the rules; every end of it is in the events.

        Raises:
            asyncio.CancelledError: it was cancelled; what ran is in the events.
        """
        began = time.perf_counter()
        self.log.emit("run_started", **self._start())
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
                await runner.try_all(self.rules)
        except Unreachable as error:
            stopped, self.unreachable = "unreachable", str(error)
        except asyncio.CancelledError:
            stopped = "interrupted"
            raise
        finally:
            seconds = time.perf_counter() - began
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

    def _start(self) -> Mapping[str, Any]:
        settings = Settings(
            concurrency=self.target.concurrency,
            capabilities=sorted(self.run.capabilities),
            track=self.run.track,
            strict=self.strict,
            quick=self.run.quick,
            budget=self.budget,
        )
        return {
            "kit": version("aml-contract"),
            "run": self.run_id,
            "seed": self.run.seed,
            "salt": self.run.salt,
            "endpoint": endpoint_info(self.target).model_dump(mode="json"),
            "settings": settings.model_dump(mode="json"),
            "rules": [
                {
                    "rule": rule.name,
                    "level": rule.level.value,
                    "clause": ", ".join(rule.clauses),
                    "transport": rule.transport,
                }
                for rule in self.rules
            ],
        }

    def _totals(self, seconds: float) -> Mapping[str, Any]:
        kinds = [exchange.operation for exchange in self.run.exchanges]
        requests = Requests(
            adds=kinds.count("add"), searches=kinds.count("search"), others=kinds.count("health")
        )
        latency = {}
        for operation in ("add", "search"):
            if found := latency_of(self.run.seconds_of(operation)):
                latency[operation] = found.model_dump()
        return {
            "reason": self.unreachable,
            "seconds": round(seconds, 3),
            "requests": requests.model_dump(),
            "endpoint_seconds": round(busy_seconds(self.run.exchanges), 3),
            "latency": latency,
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


def means_of(target: Target, run: Run) -> Means:
    """What the rules may count on."""
    return Means(
        run.capabilities,
        can_restart=target.managed or bool(target.restart_cmd),
        can_kill=target.managed,
        can_break=bool(target.fault_cmd),
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
