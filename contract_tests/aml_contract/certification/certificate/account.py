"""What is said of a certificate that was verified: for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

from pydantic import AwareDatetime

from aml_contract.certification.certificate.refusal import Reason, RefusedError
from aml_contract.certification.certificate.statement import Endpoint, Kit, Requirements
from aml_contract.certification.certificate.verification import Verified
from aml_contract.certification.declaration import Declaration
from aml_contract.certification.stage import Judgement
from aml_contract.documented import Documented


class Signer(Documented):
    """A trusted key that signed it."""

    name: str
    organisation: str
    key_id: str


class Account(Documented):
    """What is certified, in short; of the stages what the verifying kit derived itself."""

    subject: str
    """``SYSTEM@VERSION``."""
    declaration: Declaration
    endpoint: Endpoint
    requirement_set: Requirements
    capabilities_declined: list[str]
    """What lowered the bar."""
    stages: dict[str, Judgement]
    """What each stage came to, in their order."""
    signed_by: list[Signer]
    issued: AwareDatetime
    expires: AwareDatetime
    kit: Kit
    """The kit that made it."""
    run_id: str
    remarks: list[str]
    """What a reader should know, and is no reason to refuse it."""


class Refusal(Documented):
    """Why it is refused."""

    reason: Reason
    sentence: str
    fix: str


class Verification(Documented):
    """The result of ``aml verify``; exactly one of ``account`` and ``refusal`` is there."""

    verification: Literal["aml-verification/1"] = "aml-verification/1"
    """The form of this document."""
    valid: bool
    at: AwareDatetime
    """The time for which it was asked."""
    account: Account | None = None
    refusal: Refusal | None = None

    @classmethod
    def of(cls, result: Verified | RefusedError, at: datetime) -> Verification:
        """The result of a verification."""
        if isinstance(result, RefusedError):
            refusal = Refusal(reason=result.reason, sentence=result.sentence, fix=result.fix)
            return cls(valid=False, at=at, refusal=refusal)
        return cls(valid=True, at=at, account=_account(result))

    def rows(self) -> Iterator[tuple[str, str]]:
        """Names and values, for people."""
        if self.refusal:
            yield "refused", self.refusal.sentence
            yield "to do", self.refusal.fix
        if self.account:
            yield from _rows(self.account, self.at)


def plain(text: str) -> str:
    """One line of printable characters: a certificate may hold anything, and so may its terms."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in line)


def moment(at: datetime) -> str:
    """A time as people read it."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _account(verified: Verified) -> Account:
    predicate = verified.statement.predicate
    return Account(
        subject=verified.statement.subject[0].name,
        declaration=predicate.declaration,
        endpoint=predicate.endpoint,
        requirement_set=predicate.requirement_set,
        capabilities_declined=predicate.capabilities_declined,
        stages=dict(verified.judgements),
        signed_by=[
            Signer(name=key.name, organisation=key.organisation, key_id=key.key_id)
            for key in verified.signed_by
        ],
        issued=predicate.issued,
        expires=predicate.expires,
        kit=predicate.kit,
        run_id=predicate.run_id,
        remarks=list(verified.remarks),
    )


def _rows(account: Account, at: datetime) -> Iterator[tuple[str, str]]:
    declared, endpoint, asked = account.declaration, account.endpoint, account.requirement_set
    yield "certified", f"{account.subject}, {declared.track}, {declared.division}"
    for key in account.signed_by:
        yield "signed by", f"{key.name} ({key.organisation}), key {key.key_id}"
    left = (account.expires - at).days
    yield (
        "valid",
        f"from {moment(account.issued)} until {moment(account.expires)}: {left} more days",
    )
    if endpoint.add_url:
        yield "endpoint", f"Add {endpoint.add_url}, Search {endpoint.search_url}"
    for operation, several, timeout in (
        ("Adds", declared.add_concurrency, declared.add_timeout),
        ("Searches", declared.search_concurrency, declared.search_timeout),
    ):
        within = "" if timeout is None else f", each within {timeout:g} s"
        yield "declared", f"{several} {operation} in flight{within}"
    for name, judgement in account.stages.items():
        yield name, judgement.summary
        for problem in judgement.problems:
            yield "", f"remark: {problem.sentence}"
    yield "asked by", f"requirement set {asked.name}, {asked.track}; kit {account.kit.version}"
    for remark in account.remarks:
        yield "remark", remark
