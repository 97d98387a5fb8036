"""Verification: whether a certificate can be believed, without any network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from packaging.version import InvalidVersion, Version
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import Signature

from aml_contract.certification.certificate.derivation import derived
from aml_contract.certification.certificate.envelope import PAYLOAD_TYPE, check_type, opened
from aml_contract.certification.certificate.refusal import Reason, RefusedError
from aml_contract.certification.certificate.statement import (
    Endpoint,
    Kit,
    Statement,
    read_statement,
)
from aml_contract.certification.certificate.trust import TrustedKey, TrustStore
from aml_contract.certification.declaration import Declaration, DeclarationStage
from aml_contract.certification.stage import Judgement, Stage

SKEW = timedelta(minutes=5)
"""How far the clocks of issuer and verifier may be apart. It never lengthens a validity."""


@dataclass(frozen=True)
class Verified:
    """A certificate that can be believed."""

    statement: Statement
    signed_by: tuple[TrustedKey, ...]
    """The trusted keys that signed it; one at least."""
    judgements: Mapping[str, Judgement]
    """What each stage was derived to be, in their order."""
    remarks: tuple[str, ...]
    """What a reader should know, and is no reason to refuse it."""


def verify(  # noqa: PLR0913  what it is verified against
    data: bytes,
    store: TrustStore,
    now: datetime,
    *,
    stages: Mapping[str, Stage],
    declaration: Declaration | None = None,
    endpoint: Endpoint | None = None,
) -> Verified:
    """Verify a certificate.

    Args:
        data: the file.
        store: the keys that are believed.
        now: at which time, with its offset.
        stages: how each stage is judged, by its name.
        declaration: of the endpoint that it must certify, if one is meant.
        endpoint: where that must answer, if it is meant.

    Raises:
        RefusedError: it cannot be believed, for the reason that the error has.
    """
    envelope = opened(data)
    signed_by, remarks = _signers(envelope, store, now)
    check_type("payload type", envelope.payload_type, PAYLOAD_TYPE)
    statement = read_statement(envelope.payload)
    _check_times(statement, signed_by, now)
    if declaration is not None:
        _check_declaration(statement, declaration)
    if endpoint is not None:
        _check_endpoint(statement, endpoint)
    judgements = derived(statement, stages)
    remarks += _remarks(statement, judgements)
    return Verified(statement, tuple(signed_by), judgements, tuple(remarks))


def _signers(
    envelope: Envelope, store: TrustStore, now: datetime
) -> tuple[list[TrustedKey], list[str]]:
    """The trusted keys whose signatures fit and which are valid, and remarks on the others.

    Raises:
        RefusedError: there is none; of several troubles, the one nearest to being valid.
    """
    believed: list[TrustedKey] = []
    troubles: list[RefusedError] = []
    pae = envelope.pae()
    for key_id, signature in envelope.signatures.items():
        try:
            key = _signer(key_id, signature, pae, store)
            _check_key(key, now)
        except RefusedError as trouble:
            troubles.append(trouble)
        else:
            believed.append(key)
    if believed:
        return believed, [f"one more signature does not count: {each}" for each in troubles]
    if not troubles:
        raise RefusedError(
            Reason.UNKNOWN_KEY, "nobody signed it", "ask for the certificate with its signatures"
        )
    raise min(troubles, key=lambda trouble: _NEAREST.index(trouble.reason))


_NEAREST = (Reason.KEY_EXPIRED, Reason.KEY_NOT_YET_VALID, Reason.CHANGED, Reason.UNKNOWN_KEY)


def _signer(key_id: str, signature: Signature, pae: bytes, store: TrustStore) -> TrustedKey:
    """The trusted key that made a signature.

    Raises:
        RefusedError: it is not in the store, or the signature does not fit.
    """
    key = store.keys.get(key_id)
    if key is None:
        known = ", ".join(each.name for each in store.keys.values()) or "none"
        raise RefusedError(
            Reason.UNKNOWN_KEY,
            f"the key {str(key_id)[:64]!r} signed it, which is not in the trust store (keys "
            f"there: {known})",
            "if you know whose key it is, add it by `aml keys trust`",
        )
    try:
        key.verifier.verify_signature(signature, pae)
    except UnverifiedSignatureError:
        raise RefusedError(
            Reason.CHANGED,
            f"the signature of {key.name} ({key.organisation}) does not fit: the certificate or "
            "the signature was changed after it was signed",
            "get it again from whoever issued it",
        ) from None
    return key


def _check_key(key: TrustedKey, now: datetime) -> None:
    if now > key.valid_until:
        raise RefusedError(
            Reason.KEY_EXPIRED,
            f"the key {key.name} ({key.organisation}) signed it, which is believed only until "
            f"{key.valid_until.isoformat()}",
            f"ask {key.organisation} for a certificate by a newer key",
        )
    if key.valid_from and now + SKEW < key.valid_from:
        raise RefusedError(
            Reason.KEY_NOT_YET_VALID,
            f"the key {key.name} ({key.organisation}) signed it, which is believed only from "
            f"{key.valid_from.isoformat()} on",
            "wait, or check the clock of this machine",
        )


def _check_times(statement: Statement, signed_by: Iterable[TrustedKey], now: datetime) -> None:
    """It is valid now, and was issued while a key that signed it was."""
    issued, expires = statement.predicate.issued, statement.predicate.expires
    if issued > now + SKEW:
        raise RefusedError(
            Reason.NOT_YET_VALID,
            f"it says that it was issued at {issued.isoformat()}, which is still to come",
            "check the clock of this machine, and that of the issuer",
        )
    if now >= expires:
        raise RefusedError(
            Reason.EXPIRED,
            f"it expired at {expires.isoformat()}",
            "certify the endpoint again",
        )
    if all(key.valid_from and issued + SKEW < key.valid_from for key in signed_by):
        names = " and ".join(key.name for key in signed_by)
        raise RefusedError(
            Reason.KEY_NOT_YET_VALID,
            f"it was issued at {issued.isoformat()}, before anything that {names} signs is "
            "believed",
            "certify the endpoint again",
        )


def _check_declaration(statement: Statement, declaration: Declaration) -> None:
    if statement.subject[0].digest.sha256 == declaration.digest:
        return
    certified = statement.predicate.declaration
    names = [
        name
        for name in Declaration.model_fields
        if getattr(certified, name) != getattr(declaration, name)
    ]
    raise RefusedError(
        Reason.OTHER_DECLARATION,
        f"it certifies {statement.subject[0].name}, declared otherwise than the endpoint's file "
        f"does (different: {', '.join(names) or 'the digest'})",
        "ask for the certificate of what is declared, or certify that",
    )


def _check_endpoint(statement: Statement, endpoint: Endpoint) -> None:
    certified = statement.predicate.endpoint
    if certified != endpoint:
        raise RefusedError(
            Reason.OTHER_ENDPOINT,
            f"it certifies {_urls(certified)}, and the endpoint's file names {_urls(endpoint)}",
            "certify the endpoint that is meant",
        )


def _urls(endpoint: Endpoint) -> str:
    if endpoint.add_url is None:
        return "a server that the kit started"
    return f"{endpoint.add_url} with {endpoint.search_url}"


def _remarks(statement: Statement, judgements: Mapping[str, Judgement]) -> list[str]:
    remarks = []
    kit, ours = statement.predicate.kit, Kit.installed()
    if kit.version != ours.version:
        newer = "a newer" if _is_newer(kit.version, ours.version) else "another"
        remarks.append(
            f"{newer} version of the kit made it, {kit.version}; this one, {ours.version}, "
            "derived the verdict by its own code"
        )
    elif kit.digest != ours.digest:
        remarks.append(
            f"the kit that made it has the version of this one, {kit.version}, and other code; "
            "this one derived the verdict by its own"
        )
    if statement.predicate.endpoint.add_url is None:
        remarks.append("it certifies a server that the kit itself started, at no URL of its own")
    if statement.stages[DeclarationStage.name].data.get("allow_private"):
        remarks.append(
            "it was a rehearsal: --allow-private allowed private addresses, and less than must be "
            "declared"
        )
    remarks += [
        f"stage {name} is worded otherwise in the certificate than this kit derives it"
        for name, judgement in judgements.items()
        if statement.stages[name].judgement != judgement
    ]
    return remarks


def _is_newer(one: str, other: str) -> bool:
    try:
        return Version(one) > Version(other)
    except InvalidVersion:
        return False
