"""One probe of one target, from opening it to the document about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from aml_contract.endpoint.curl import curl
from aml_contract.endpoint.http import Unreachable, open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.latency import latency_of
from aml_contract.probe.asking import Course, Record
from aml_contract.probe.controls import CONTROLS, K1, TOKENISERS, B, control
from aml_contract.probe.document import ENDPOINT, Controls, ProbeReport, Scores
from aml_contract.probe.guard import Guarded, check_controls
from aml_contract.probe.progress import Observer
from aml_contract.probe.relations import Relation, Relations
from aml_contract.probe.scoring import score
from aml_contract.probe.sending import Remote
from aml_contract.probe.timeline import timeline
from aml_contract.probe.world import Mode, World
from aml_contract.smoke.answers import ContractBrokenError


class Probe:
    """A target and a world; after :meth:`execute`, what came of them.

    Args:
        target: what is probed.
        world: who is there and what they say; its run must be new to the target.
        modes: how questions are put.
        patience: scales the waits between tries.
    """

    def __init__(
        self, target: Target, world: World, modes: Sequence[Mode], *, patience: float = 1.0
    ) -> None:
        self._target, self._world, self._modes, self._patience = target, world, modes, patience
        self.report = ProbeReport(
            kit=version("aml-contract"),
            run=world.run,
            seed=world.seed,
            users=len(world.users),
            language=world.code,
            modes=list(modes),
            endpoint=[target.credentials.redact(flag) for flag in target.flags],
            started=datetime.now(UTC).replace(microsecond=0),
            controls=Controls(bm25_tokeniser=TOKENISERS[world.code], bm25_k1=K1, bm25_b=B),
        )
        """What was found; its scores are there if the probe came to its end."""

    async def execute(self, observer: Observer) -> None:
        """Try the controls, open the target and run; what goes wrong there is reported.

        Raises:
            NotTrustedError: the controls are off, or a label was to be sent.
        """
        controls = {name: await self._controlled(name) for name in CONTROLS}
        check_controls(self._world, controls, self._modes)
        try:
            async with open_endpoint(self._target, say=observer.waiting) as endpoint:
                remote = Remote(endpoint, patience=self._patience, waiting=observer.waiting)
                try:
                    await self._course(remote, controls, observer)
                finally:
                    self._clock(remote)
        except Unreachable as error:
            self.report.unreachable = str(error)
        except ContractBrokenError as error:
            self.report.clause = error.clause
            self.report.broken = self._told(error)

    async def _controlled(self, name: str) -> Record:
        memory = Guarded(control(name, self._world))
        return await Course(self._world, memory, self._modes).run()

    async def _course(
        self, remote: Remote, controls: Mapping[str, Record], observer: Observer
    ) -> None:
        memory = Guarded(remote)
        course = Course(
            self._world,
            memory,
            self._modes,
            together=self._target.concurrency,
            step=observer.done,
        )
        observer.started(course.rounds)
        record = await course.run()
        relations = await Relations(self._world, memory).look()
        self.report.scores = self._scores({ENDPOINT: record, **controls}, relations)

    def _scores(self, records: Mapping[str, Record], relations: list[Relation]) -> Scores:
        return Scores(
            systems={
                name: score(self._world, record, self._modes) for name, record in records.items()
            },
            relations=relations,
            timeline=timeline(self._world, records[ENDPOINT], self._modes[0]),
        )

    def _clock(self, remote: Remote) -> None:
        self.report.retries = remote.retries
        for operation in ("add", "search"):
            if latency := latency_of(remote.seconds[operation]):
                self.report.latency[operation] = latency

    def _told(self, error: ContractBrokenError) -> str:
        """One message: what came, the clause, the request again, what to do."""
        check = shlex.join(["aml", "check", *self._target.flags])
        lines = [
            f"{error} (clause {error.clause}). Nothing is scored.",
            f"What is wrong, and how to mend it, says: {check}",
            f"The request again: {curl(error.exchange)}",
        ]
        return self._target.credentials.redact("\n".join(lines))
