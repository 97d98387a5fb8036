"""What was certified: of a certificate, or of a report of a certification that nobody signed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from aml_contract.certification.certificate import (
    Endpoint,
    Kit,
    TrustStore,
    verify,
)
from aml_contract.certification.certificate.envelope import MOST_BYTES, opened
from aml_contract.certification.certificate.statement import Statement, read_statement
from aml_contract.certification.contract import ContractData
from aml_contract.certification.declaration import Declaration
from aml_contract.certification.document import Certification
from aml_contract.certification.fingerprint import Fingerprint
from aml_contract.certification.fingerprint.stage import FingerprintData
from aml_contract.certification.stage import Stage, StageResult
from aml_contract.outcome import Outcome

_FORM = Certification.model_fields["report"].default
_ANOTHER_KIT = "{} was measured by a kit whose data this one does not read: take that version"
_OTHERS = "isolation/others-change-nothing"
"""The rule that says whether results depend on other users (S15)."""


class NotCertified(ValueError):  # noqa: N818  a state of the world, told to the user
    """The file holds nothing to compare with; the message says what to do."""


@dataclass(frozen=True)
class Certified:
    """What was certified, as far as it can be measured again."""

    subject: str
    """``SYSTEM@VERSION``."""
    declaration: Declaration
    endpoint: Endpoint
    """Where it answered; without URLs if the kit started it."""
    fingerprint: Fingerprint
    contract: ContractData
    kit: Kit
    """Which kit measured it."""
    signed_by: tuple[str, ...]
    """The trusted keys that signed it; none if that was not checked."""
    remarks: tuple[str, ...]
    """What a reader should know of it."""

    @property
    def others_matter(self) -> bool:
        """Whether its results were seen to depend on what other users store (against S15)."""
        found = self.contract.outcomes.get(_OTHERS)
        return found in (Outcome.FAILED, Outcome.WARNED)


def read_certified(
    path: Path, store: TrustStore | None, now: datetime, stages: Mapping[str, Stage]
) -> Certified:
    """Read a certificate, or the report of a certification.

    Args:
        path: the file.
        store: the keys that are believed; without it no signature is checked.
        now: for which time.
        stages: how each stage is judged.

    Raises:
        NotCertified: it is neither, or holds no fingerprint.
        RefusedError: it is a certificate that cannot be believed.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NotCertified(f"{path} cannot be read: {error.strerror}") from error
    report = _report(path, data)
    if report is not None:
        if store is not None:
            raise NotCertified(
                f"{path} is a report that nobody signed: a trust store wants a certificate"
            )
        return _of_report(path, report)
    if store is not None:
        verified = verify(data, store, now, stages=stages)
        names = tuple(key.name for key in verified.signed_by)
        return _of_statement(path, verified.statement, names, verified.remarks)
    statement = read_statement(opened(data).payload)
    unchecked = "its signature was not checked: --trust-store names the keys that are believed"
    return _of_statement(path, statement, (), (unchecked,))


def _report(path: Path, data: bytes) -> Certification | None:
    """The report of a certification; ``None`` if it is something else."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("report") != _FORM:
        return None
    try:
        return Certification.model_validate(found)
    except ValidationError as error:
        raise NotCertified(_ANOTHER_KIT.format(path)) from error


def _of_report(path: Path, report: Certification) -> Certified:
    begun = report.begun
    results = {result.stage: result for result in report.stages}
    contract, fingerprint = _measured(path, results)
    return Certified(
        subject=f"{begun.declaration.system}@{begun.declaration.version}",
        declaration=begun.declaration,
        endpoint=Endpoint.measured(report.endpoint),
        fingerprint=fingerprint,
        contract=contract,
        kit=begun.kit,
        signed_by=(),
        remarks=("it is a report that nobody signed",),
    )


def _of_statement(
    path: Path, statement: Statement, signed_by: tuple[str, ...], remarks: tuple[str, ...]
) -> Certified:
    predicate = statement.predicate
    contract, fingerprint = _measured(path, statement.stages)
    return Certified(
        subject=statement.subject[0].name,
        declaration=predicate.declaration,
        endpoint=predicate.endpoint,
        fingerprint=fingerprint,
        contract=contract,
        kit=predicate.kit,
        signed_by=signed_by,
        remarks=remarks,
    )


def _measured(path: Path, results: Mapping[str, StageResult]) -> tuple[ContractData, Fingerprint]:
    for stage in ("contract", "fingerprint"):
        if stage not in results:
            raise NotCertified(
                f"{path} lacks the stage {stage}, so there is nothing to compare with: go on with "
                "that certification first"
            )
    try:
        contract = ContractData.model_validate(results["contract"].data)
        found = FingerprintData.model_validate(results["fingerprint"].data)
    except ValidationError as error:
        raise NotCertified(_ANOTHER_KIT.format(path)) from error
    if found.taken is None:
        raise NotCertified(
            f"{path} holds no fingerprint ({found.trouble}), so there is nothing to compare with"
        )
    return contract, found.taken
