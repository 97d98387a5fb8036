"""One certification: its stages in order, each kept as soon as it is finished."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from aml_contract.certification.beginning import Beginning
from aml_contract.certification.configuration import without_commands
from aml_contract.certification.contract import ContractData, lowered
from aml_contract.certification.document import Certification, End
from aml_contract.certification.kept import Kept, NotKept, plain
from aml_contract.certification.stage import Basis, Context, Stage, StageResult, verdict_of
from aml_contract.certification.wording import advice_of, reason_of
from aml_contract.checking.check import endpoint_info
from aml_contract.config import Resolved
from aml_contract.endpoint.http import Unreachable
from aml_contract.endpoint.target import Target

_TICK = 10.0
"""Seconds between two records of how long a stage has taken."""


class Watch:
    """Is told what a session does; this one does not mind."""

    def stage_kept(self, result: StageResult) -> None:
        """An earlier sitting finished this stage."""

    def stage_started(self, stage: str) -> None:
        """The stage begins, or goes on."""

    def said(self, text: str) -> None:
        """What the stage does now, or waits for."""

    def progressed(self, share: float) -> None:
        """The share of the stage that is done, from 0 to 1."""

    def stage_finished(self, result: StageResult) -> None:
        """The stage came to its end, and is kept."""


@dataclass
class Session:
    """A certification that begins or goes on.

    ``patience`` scales every wait of the kit's own, as in :class:`Context`.
    """

    kept: Kept
    beginning: Beginning
    basis: Basis
    settings: Resolved
    target: Target
    stages: Mapping[str, Stage]
    patience: float = 1.0
    watch: Watch = field(default_factory=Watch)
    results: dict[str, StageResult] = field(init=False)
    """Finished stages by their names."""
    stopped: End | None = field(default=None, init=False)
    """Why it did not come to its end."""
    broke: Exception | None = field(default=None, init=False)
    """The kit's own error, if that is why."""

    def __post_init__(self) -> None:
        self.results = self.kept.results()

    async def execute(self) -> None:
        """Measure and judge what is not yet finished.

        Raises:
            asyncio.CancelledError: it was cancelled; what is finished is kept.
        """
        for result in self.results.values():
            self.watch.stage_kept(result)
        for name, stage in self.stages.items():
            if name in self.results:
                continue
            try:
                await self._one(name, stage)
            except Unreachable as error:
                self.stopped = End(why="unreachable", stage=name, reason=self._clean(str(error)))
            except asyncio.CancelledError:
                self.stopped = End(why="interrupted", stage=name)
                raise
            except NotKept as error:
                self.stopped = End(why="not-kept", stage=name, reason=str(error))
            except Exception as error:  # noqa: BLE001  the kit's own, whatever it is
                reason = self._clean(f"{type(error).__name__}: {error}")
                self.stopped, self.broke = End(why="error", stage=name, reason=reason), error
            if self.stopped:
                return

    def report(self, *, certificate: str | None = None) -> Certification:
        """What it has come to so far.

        Args:
            certificate: the name of the file with the certificate, if there is one.
        """
        results = list(self.results.values())
        verdict = verdict_of({one.stage: one.judgement for one in results})
        contract = self.results.get("contract")
        info = endpoint_info(self.target)
        info.flags = without_commands(info.flags)
        return Certification(
            verdict=verdict,
            reason=reason_of(results, verdict, self.stopped),
            advice=advice_of(
                results,
                verdict,
                self.stopped,
                signed=certificate is not None,
                rehearsal=self.beginning.allow_private,
            ),
            stopped=self.stopped,
            begun=self.beginning,
            declaration_digest=self.basis.declaration.digest,
            endpoint=info,
            lowered=lowered(ContractData.model_validate(contract.data)) if contract else [],
            stages=results,
            certificate=certificate,
        )

    async def _one(self, name: str, stage: Stage) -> None:
        clock = self.kept.clock(name)
        context = self._context(name)
        self.watch.stage_started(name)
        began, earlier = time.monotonic(), clock.seconds

        def note() -> None:
            clock.seconds = round(earlier + time.monotonic() - began, 3)
            self.kept.keep_clock(name, clock)

        async def ticking() -> None:
            while True:
                note()
                await asyncio.sleep(_TICK)

        ticker = asyncio.create_task(ticking())
        try:
            data = plain(await stage.measure(context))
        finally:
            ticker.cancel()
            with suppress(asyncio.CancelledError):
                await ticker
            note()
        result = StageResult(
            stage=name,
            judgement=stage.judge(data, self.basis),
            data=data,
            began=clock.began,
            seconds=clock.seconds,
        )
        self.kept.keep(result)
        self.results[name] = result
        self.watch.stage_finished(result)

    def _context(self, name: str) -> Context:
        return Context(
            settings=self.settings,
            target=self.target,
            basis=self.basis,
            directory=self.kept.work(name),
            run_id=self.beginning.run_id,
            seed=self.beginning.seed,
            earlier=dict(self.results),
            allow_private=self.beginning.allow_private,
            volume=self.beginning.volume,
            patience=self.patience,
            say=lambda text: self.watch.said(self._clean(text)),
            progress=self.watch.progressed,
        )

    def _clean(self, text: str) -> str:
        return self.target.credentials.redact(text)
