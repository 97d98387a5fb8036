"""Measuring again what was certified: canaries, spot checks, times."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Literal

from aml_contract.certification.capacity.platform import limit_of
from aml_contract.certification.certificate import Endpoint, Kit
from aml_contract.certification.configuration import without_commands
from aml_contract.certification.drift.certified import Certified
from aml_contract.certification.drift.document import About, Drift
from aml_contract.certification.drift.latency import Times, times_of
from aml_contract.certification.drift.spot import spot_checks
from aml_contract.certification.fingerprint import Comparison, Fingerprint, Sameness, compare
from aml_contract.certification.fingerprint.measuring import Taking, Untaken
from aml_contract.certification.fingerprint.stage import SCOPE
from aml_contract.certification.fingerprint.survival import survival
from aml_contract.endpoint.http import HTTPEndpoint, Unreachable, open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.namespace import Namespace
from aml_contract.run import Run, new_run_id


class Watch:
    """Is told what is measured; this one does not mind."""

    def began(self, part: str) -> None:
        """A part begins."""

    def said(self, text: str) -> None:
        """What is being waited for."""

    def progressed(self, share: float) -> None:
        """The share of the part that is done, from 0 to 1."""


@dataclass
class Drifting:
    """Measures an endpoint and compares it with what was certified.

    ``patience`` scales every wait of the kit's own.
    """

    certified: Certified
    target: Target
    seed: int
    patience: float = 1.0
    watch: Watch = field(default_factory=Watch)
    found: Drift | None = None
    """What it came to; ``None`` as long as it has not."""
    unreachable: str | None = None
    """The message, if nothing answers."""

    async def execute(self) -> None:
        """Measure. What is not answered is a finding, or no finding; it is not raised."""
        began, clock = datetime.now(UTC), time.perf_counter()
        try:
            async with open_endpoint(self.target, say=self.watch.said) as endpoint:
                found = await self._measured(endpoint, began)
        except Unreachable as error:
            self.unreachable = str(error)
            return
        self.found = found.model_copy(update={"seconds": round(time.perf_counter() - clock, 3)})

    async def _measured(self, endpoint: HTTPEndpoint, began: datetime) -> Drift:
        certified = self.certified
        self.watch.began("the canaries of that day")
        lives = await self._survival(endpoint, began)
        comparison, taken = await self._compared(endpoint)
        self.watch.began("spot checks")
        spots, run = await spot_checks(
            certified,
            endpoint,
            self.seed,
            patience=self.patience,
            progress=self.watch.progressed,
        )
        latency = self._latency(taken, run)
        return Drift(
            certified=About(
                subject=certified.subject,
                endpoint=certified.endpoint,
                kit=certified.kit,
                signed_by=list(certified.signed_by),
            ),
            endpoint=without_commands(
                [self.target.credentials.redact(flag) for flag in self.target.flags]
            ),
            kit=version("aml-contract"),
            seed=self.seed,
            began=began.isoformat(timespec="seconds"),
            seconds=0.0,
            fingerprint=comparison,
            survival=lives,
            spot_checks=spots,
            latency=latency,
            remarks=[
                *certified.remarks,
                *self._elsewhere(),
                *(remark for each in latency if (remark := each.remark)),
            ],
        )

    async def _survival(self, endpoint: HTTPEndpoint, now: datetime) -> str:
        try:
            found = await survival(self.certified.fingerprint, self._taking(endpoint), now)
        except Untaken as error:
            return f"Whether the canaries of that day are still there was not found out: {error}."
        return found.sentence

    async def _compared(self, endpoint: HTTPEndpoint) -> tuple[Comparison, Fingerprint | None]:
        """The fingerprint of today beside that of the certificate; a change is looked at twice."""
        self.watch.began("canaries")
        try:
            taken, comparison = await self._look(endpoint)
            if comparison.sameness is Sameness.CHANGED:
                self.watch.began("canaries, once more")
                _, again = await self._look(endpoint)
                if again.sameness is not Sameness.CHANGED:
                    comparison = _wavered(comparison)
        except Untaken as error:
            return _untaken(error), None
        return comparison, taken

    async def _look(self, endpoint: HTTPEndpoint) -> tuple[Fingerprint, Comparison]:
        old = self.certified.fingerprint
        taken = await self._taking(endpoint).fingerprint()
        return taken, compare(old, taken, others_matter=self.certified.others_matter)

    def _taking(self, endpoint: HTTPEndpoint) -> Taking:
        return Taking(
            endpoint,
            self.certified.fingerprint.canaries,
            Namespace(self.seed, new_run_id(), SCOPE),
            patience=self.patience,
            progress=self.watch.progressed,
        )

    def _latency(self, taken: Fingerprint | None, run: Run) -> list[Times]:
        declared, then = self.certified.declaration, self.certified.fingerprint
        kinds: list[tuple[Literal["add", "search"], float | None]] = [
            ("add", declared.add_timeout),
            ("search", declared.search_timeout),
        ]
        return [
            times_of(
                kind,
                limit_of(timeout),
                then=getattr(then, f"{kind}_seconds"),
                now=getattr(taken, f"{kind}_seconds") if taken else [],
                more=run.seconds_of(kind),
            )
            for kind, timeout in kinds
        ]

    def _elsewhere(self) -> list[str]:
        """What else is otherwise than when it was certified, and is no sign of its version."""
        said = []
        here = Endpoint.of(self.target)
        if here != self.certified.endpoint:
            said.append("it was asked at other URLs than those that were certified")
        if Kit.installed() != self.certified.kit:
            said.append("another version of the kit certified it: rules may ask something else")
        return said


def _wavered(first: Comparison) -> Comparison:
    """What a change says that was not there any more when it was looked for again."""
    return first.model_copy(
        update={
            "sameness": Sameness.UNKNOWN,
            "sentence": "It answered canaries otherwise at first, and not when they were stored "
            "and asked for once more.",
        }
    )


def _untaken(error: Untaken) -> Comparison:
    return Comparison(
        sameness=Sameness.UNKNOWN, sentence=f"No fingerprint could be taken: {error}."
    )
