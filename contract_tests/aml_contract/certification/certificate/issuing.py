"""Issuing: what was measured becomes a signed certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from securesystemslib.signer import Signer

from aml_contract.certification.certificate.derivation import derived, of_contract
from aml_contract.certification.certificate.envelope import opened, sealed
from aml_contract.certification.certificate.statement import (
    Kit,
    Predicate,
    Requirements,
    Statement,
    read_statement,
    subject_of,
)
from aml_contract.certification.stage import Basis, Stage, StageResult, verdict_of

VALIDITY = timedelta(days=90)
"""How long a certificate is valid if nothing else is said: a submission and its Full runs."""


def issue(  # noqa: PLR0913  a certificate says as much
    results: Sequence[StageResult],
    basis: Basis,
    signers: Sequence[Signer],
    *,
    stages: Mapping[str, Stage],
    seed: int,
    run_id: str,
    issued: datetime,
    validity: timedelta = VALIDITY,
) -> bytes:
    """Make a certificate. Only what passed is certified.

    Args:
        results: every stage's result.
        basis: what they were judged by.
        signers: whose keys sign it; one at least.
        stages: how each stage is judged, by its name.
        seed: chose the course of the certification.
        run_id: the certification's name.
        issued: now, with its offset.
        validity: how long it is valid.

    Returns:
        The envelope, as it is kept in a file.

    Raises:
        RefusedError: a verifier would refuse it: a stage lacks, or did not pass.
        ValueError: there is no signer.
    """
    if not signers:
        raise ValueError("nobody signs the certificate")
    requirements = basis.requirements
    endpoint, declined = of_contract(results)
    statement = Statement(
        subject=[subject_of(basis.declaration)],
        predicate=Predicate(
            kit=Kit.installed(),
            requirement_set=Requirements(
                name=requirements.name, track=requirements.track, digest=requirements.digest
            ),
            declaration=basis.declaration,
            endpoint=endpoint,
            stages=list(results),
            capabilities_declined=declined,
            verdict=verdict_of({result.stage: result.judgement for result in results}),
            seed=seed,
            run_id=run_id,
            issued=issued,
            expires=issued + validity,
        ),
    )
    certificate = sealed(statement.payload, signers)
    derived(read_statement(opened(certificate).payload), stages)  # as its readers will find it
    return certificate
