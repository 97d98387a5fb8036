"""Sources: the reports that are put side by side, of checks and of certifications."""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from aml_contract.checking.document import Report
from aml_contract.checking.reproduction import NoReportError, read_report

_NAMING = ("--url", "--add-url", "--search-url", "--cmd", "--app", "--system")
MOST = len(ascii_uppercase)


class NotComparableError(ValueError):
    """These files cannot be put side by side; the message says why."""


@dataclass(frozen=True)
class Source:
    """One run of one endpoint."""

    letter: str
    """What it is called where room is scarce: ``A``, ``B``, …"""
    path: Path
    report: Report
    stages: Mapping[str, str]
    """The verdict of each stage, if it is a certification's; else empty."""
    certified: str | None = None
    """The verdict of the certification."""

    @property
    def endpoint(self) -> str:
        """What names the endpoint: its URLs, or what starts it. The same in every run of it."""
        flags = self.report.endpoint.flags
        pairs = zip(flags[::2], flags[1::2], strict=False)
        return shlex.join(word for pair in pairs if pair[0] in _NAMING for word in pair)

    @property
    def verdict(self) -> str:
        """That of the certification, or else of the check."""
        return self.certified or self.report.verdict.value

    @property
    def started(self) -> datetime:
        """When the check began."""
        return datetime.fromisoformat(self.report.started)


def read_sources(paths: Sequence[Path]) -> list[Source]:
    """Read reports: as JSON, as events or a run's directory, of certifications, certificates.

    Raises:
        NotComparableError: one is none of these, or two are of one run.
    """
    if len(paths) > MOST:
        raise NotComparableError(f"{len(paths)} reports have no room beside each other: {MOST} do")
    sources: list[Source] = []
    for letter, path in zip(ascii_uppercase, paths, strict=False):
        made = _read(letter, path)
        for other in sources:
            if other.report.run == made.report.run:
                raise NotComparableError(
                    f"{other.path} and {path} are reports of one run: name another"
                )
        sources.append(made)
    return sources


def _read(letter: str, path: Path) -> Source:
    certification = _certification(path)
    if certification is None:
        try:
            return Source(letter, path, read_report(path), {})
        except NoReportError as error:
            raise NotComparableError(str(error)) from error
    try:
        results = {one["stage"]: one for one in certification["stages"]}
        verdicts = {name: one["judgement"]["verdict"] for name, one in results.items()}
        verdict = str(certification["verdict"])
        contract = results.get("contract")
    except (KeyError, TypeError) as error:
        raise NotComparableError(f"{path} is no certification of this kit") from error
    if contract is None:
        raise NotComparableError(
            f"{path} is of a certification without its stage contract, so there is nothing to "
            "compare: go on with it first"
        )
    try:
        report = Report.model_validate(contract["data"]["report"])
    except (KeyError, TypeError, ValueError) as error:
        raise NotComparableError(f"{path} is no certification of this kit") from error
    return Source(letter, path, report, verdicts, verdict)


def _certification(path: Path) -> dict[str, Any] | None:
    """The report of a certification, or what a certificate says, its signature unread."""
    if path.is_dir() or path.suffix == ".jsonl":
        return None
    try:
        found = json.loads(path.read_bytes())
        if isinstance(found, dict) and "payload" in found:
            found = json.loads(base64.b64decode(found["payload"], validate=True))["predicate"]
    except (OSError, ValueError, TypeError, KeyError):
        return None  # whoever reads it as a report says what is wrong
    is_one = isinstance(found, dict) and "stages" in found and "verdict" in found
    return found if is_one else None
