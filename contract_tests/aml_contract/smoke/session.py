"""One smoke run of one target, from opening it to what is said about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aml_contract.endpoint.curl import curl
from aml_contract.endpoint.http import Unreachable, open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.run import new_run_id
from aml_contract.smoke.answering import Answerer, AnswererTrouble
from aml_contract.smoke.answers import ContractBrokenError
from aml_contract.smoke.diagnosis import Diagnosis, of_broken, of_completed, of_unreachable
from aml_contract.smoke.evaluation import Evaluation, evaluation_of, graded
from aml_contract.smoke.locomo import Conversation
from aml_contract.smoke.report import Summary
from aml_contract.smoke.run import Observer, Record, Settings, SmokeRun

_SHOWN = 300
"""Bytes of a wrong answer that are shown."""


class Smoke:
    """A target and conversations; after :meth:`execute`, what came of them.

    Args:
        target: what to measure.
        conversations: what to send.
        seed: the order of the questions, and which.
        questions: of each conversation at most; all if ``None``.
        patience: scales the waits between tries.
        answerer: answers the questions from what came back, which is then evaluated.
    """

    def __init__(  # noqa: PLR0913  what a run is made of
        self,
        target: Target,
        conversations: Sequence[Conversation],
        *,
        seed: int = 0,
        questions: int | None = None,
        patience: float = 1.0,
        answerer: Answerer | None = None,
    ) -> None:
        self.target = target
        self.conversations = conversations
        self.settings = Settings(
            new_run_id(), seed, target.concurrency, questions, patience, answerer is not None
        )
        self.answerer = answerer
        self.record = Record()
        self.evaluation: Evaluation | None = None
        """What came of answering; ``None`` if it did not come to that."""
        self.unanswered: str | None = None
        """Why the answer model does not answer: no fault of the endpoint."""
        self.unreachable: str | None = None
        """Why nothing was sent, if nothing answers."""
        self.broken: str | None = None
        """What broke the contract, if something did, and what to do now."""
        self._clause: str | None = None
        self._diagnosis: Diagnosis | None = None
        self._summary: Summary | None = None

    async def execute(self, observer: Observer) -> None:
        """Open the target and run; what goes wrong there is kept, not raised."""
        try:
            async with open_endpoint(self.target, say=observer.waiting) as endpoint:
                run = SmokeRun(endpoint, self.conversations, self.settings, observer)
                self.record = run.record
                await run.run()
            if self.answerer:
                await self._evaluate(self.answerer, observer)
        except Unreachable as error:
            self.unreachable = str(error)
            self._diagnosis = of_unreachable(self.unreachable)
        except ContractBrokenError as error:
            self._clause = error.clause
            self.broken = self._told(error)
            self._diagnosis = of_broken(error)
        except AnswererTrouble as error:
            self.unanswered = str(error)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """How the platform's Smoke run would end; ``None`` if that was not seen."""
        if self.evaluation:
            return of_completed(self.summary(), self.evaluation)
        if self._diagnosis:
            told = self.target.credentials.redact(self._diagnosis.cause)
            return Diagnosis(self._diagnosis.label, told)
        return None

    def summary(self) -> Summary:
        """The figures of what was answered; measured once."""
        if self._summary is None:
            self._summary = Summary.of(self.record, self.conversations)
        return self._summary

    def as_json(self, files: Iterable[Path]) -> dict[str, Any]:
        """The report: settings, figures, and what ended the run early."""
        return {
            "kit": version("aml-contract"),
            "run": self.settings.run,
            "seed": self.settings.seed,
            "concurrency": self.settings.concurrency,
            "endpoint": [self.target.credentials.redact(flag) for flag in self.target.flags],
            "files": [str(file) for file in files],
            "conversations": [each.name for each in self.conversations],
            "unreachable": self.unreachable,
            "broken": self.broken,
            "clause": self._clause,
            **self.summary().as_json(),
            **self._answered(),
        }

    async def _evaluate(self, answerer: Answerer, observer: Observer) -> None:
        answers = self.record.answers
        observer.started("answer", sum(each.choices is not None for each in answers))
        try:
            found = await graded(answers, answerer, lambda: observer.done("answer"))
        finally:
            await answerer.aclose()
        self.evaluation = evaluation_of(found, answers, answerer.name)

    def _answered(self) -> dict[str, Any]:
        """What a run that answers says beside the figures of Search."""
        if not self.answerer:
            return {}
        return {
            "evaluation": asdict(self.evaluation) if self.evaluation else None,
            "unanswered": self.unanswered,
            "diagnosis": asdict(self.diagnosis) if self.diagnosis else None,
        }

    def _told(self, error: ContractBrokenError) -> str:
        """One message: what came, the clause, the request again, what to do."""
        redact = self.target.credentials.redact
        exchange = error.exchange
        lines = [f"{error} (clause {error.clause}). The platform ends its stage here."]
        if exchange.reply:
            shown = exchange.reply[:_SHOWN].decode(errors="replace")
            more = " …" if len(exchange.reply) > _SHOWN else ""
            lines.append(f"  it answered: {shown}{more}")
        check = shlex.join(["aml", "check", *self.target.flags])
        lines.append(f"What is wrong, and how to mend it, says: {check}")
        lines.append(f"The request again: {curl(exchange)}")
        return redact("\n".join(lines))
