"""What a certificate says: an in-toto Statement v1 about a declaration.

Readers ignore fields that they do not know, as in-toto asks. What a field means never changes
under one predicate type.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

import httpx
from pydantic import AwareDatetime, ConfigDict, Field, ValidationError

import aml_contract
from aml_contract.certification.certificate.envelope import check_type, malformed, strict_json
from aml_contract.certification.certificate.refusal import first_of
from aml_contract.certification.declaration import Declaration
from aml_contract.certification.stage import StageResult, StageVerdict
from aml_contract.checking.document import EndpointInfo
from aml_contract.documented import Documented
from aml_contract.endpoint.target import Target

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:aml-contract:certificate:v1"

_SHA256 = r"^[0-9a-f]{64}$"


class Kit(Documented):
    """Which kit measured and judged."""

    version: str
    """Its release."""
    digest: str = Field(pattern=_SHA256)
    """SHA-256 over the files of the package ``aml_contract``, in hexadecimal."""

    @classmethod
    @functools.cache
    def installed(cls) -> Kit:
        """This one."""
        return cls(version=version("aml-contract"), digest=_digest(Path(aml_contract.__file__)))


class Requirements(Documented):
    """Which pinned set of rules it was judged by."""

    name: str
    track: str
    digest: str = Field(pattern=_SHA256)
    """SHA-256 of the set as canonical JSON, in hexadecimal."""


class Endpoint(Documented):
    """Where what is certified answered; both ``null`` if the kit started the server itself."""

    model_config = ConfigDict(frozen=True)

    add_url: str | None = None
    search_url: str | None = None

    @classmethod
    def of(cls, target: Target) -> Endpoint:
        """That of a target."""
        if target.managed:
            return cls()
        urls = target.urls()
        return cls(add_url=_usual(urls.add), search_url=_usual(urls.search))

    @classmethod
    def measured(cls, found: EndpointInfo) -> Endpoint:
        """That of a report."""
        if found.kind != "url":
            return cls()
        return cls(add_url=_usual(found.add_url), search_url=_usual(found.search_url))


class Predicate(Documented):
    """What is certified."""

    kit: Kit
    requirement_set: Requirements
    declaration: Declaration
    """What the builder stated of the endpoint; its digest is the subject."""
    endpoint: Endpoint
    stages: list[StageResult]
    """Every stage: what was measured, and what it was judged to be."""
    capabilities_declined: list[str]
    """What the endpoint did not claim, which lowered the bar."""
    verdict: StageVerdict
    """Of all stages together."""
    seed: int
    """Chose the course of the certification."""
    run_id: str
    """The certification's name."""
    issued: AwareDatetime
    expires: AwareDatetime


class Digest(Documented):
    """How in-toto writes the digest of a subject."""

    sha256: str = Field(pattern=_SHA256)


class Subject(Documented):
    """What the statement is about."""

    name: str
    """``SYSTEM@VERSION``, for people; the digest alone counts."""
    digest: Digest
    """That of the declaration."""


class Statement(Documented):
    """An in-toto Statement v1 whose predicate is a certificate."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(
        default=STATEMENT_TYPE, validation_alias="_type", serialization_alias="_type"
    )
    subject: list[Subject] = Field(min_length=1, max_length=1)
    predicate_type: Literal["urn:aml-contract:certificate:v1"] = Field(
        default=PREDICATE_TYPE,
        validation_alias="predicateType",
        serialization_alias="predicateType",
    )
    predicate: Predicate

    @property
    def payload(self) -> bytes:
        """The statement as it is signed."""
        return self.model_dump_json(by_alias=True).encode()

    @property
    def stages(self) -> Mapping[str, StageResult]:
        """The stages by their names."""
        return {result.stage: result for result in self.predicate.stages}


def read_statement(payload: bytes) -> Statement:
    """The statement in a payload.

    Raises:
        RefusedError: it is no certificate of this form.
    """
    document = strict_json(payload, "the payload")
    if not isinstance(document, dict):
        malformed("the payload is no statement, but another JSON value")
    check_type("statement type", document.get("_type"), STATEMENT_TYPE)
    check_type("predicate type", document.get("predicateType"), PREDICATE_TYPE)
    try:
        return Statement.model_validate(document, by_alias=True, by_name=False)
    except ValidationError as error:
        malformed(
            f"the statement is not of its form: {first_of(error)}",
            "verify it with the version of the kit that issued it",
        )


def subject_of(declaration: Declaration) -> Subject:
    """The subject of a certificate of this declaration."""
    return Subject(
        name=f"{declaration.system}@{declaration.version}",
        digest=Digest(sha256=declaration.digest),
    )


def _usual(url: str | None) -> str | None:
    """A URL as it is compared: the host in small letters, the usual port left out."""
    try:
        return None if url is None else str(httpx.URL(url))
    except httpx.InvalidURL as error:
        raise ValueError(f"no URL: {error}") from error


def _digest(package: Path) -> str:
    """Of every file of an installed package, whatever decides something in it."""
    root = package.parent
    made = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(root).as_posix()
            made.update(f"{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return made.hexdigest()
