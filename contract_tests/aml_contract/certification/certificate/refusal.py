"""Why a certificate is refused."""

from __future__ import annotations

from enum import StrEnum

from pydantic import ValidationError


class Reason(StrEnum):
    """The kinds of reasons, for programs; people get a sentence."""

    MALFORMED = "malformed"
    """It is no envelope, or no statement in one: not JSON, not Base64, of another form."""
    TOO_LARGE = "too-large"
    UNKNOWN_KEY = "unknown-key"
    """No key of the trust store signed it."""
    CHANGED = "changed"
    """A trusted key's signature does not fit: payload, type or signature were changed."""
    KEY_EXPIRED = "key-expired"
    KEY_NOT_YET_VALID = "key-not-yet-valid"
    UNKNOWN_TYPE = "unknown-type"
    """It is signed, but no certificate of this form."""
    NOT_YET_VALID = "not-yet-valid"
    EXPIRED = "expired"
    SUBJECT = "subject"
    """The declaration in it is not the one that its subject names."""
    OTHER_DECLARATION = "other-declaration"
    """It certifies something else than the endpoint's file declares."""
    OTHER_ENDPOINT = "other-endpoint"
    """It certifies what answers at other URLs."""
    REQUIREMENTS = "requirements"
    """Its requirement set is none of this kit's, or not the pinned one."""
    STAGES = "stages"
    """A stage is missing, there twice, or none that this kit knows."""
    DATA = "data"
    """What a stage measured is not of the form that its verdict is derived from."""
    VERDICT = "verdict"
    """A verdict in it does not follow from what was measured."""
    NOT_PASSED = "not-passed"
    """What was measured amounts to no PASS: a MUST failed or is untested, for instance."""


class RefusedError(Exception):
    """The certificate is refused; ``reason`` is for programs, the rest for people.

    Args:
        reason: which kind it is.
        sentence: what is wrong, in one plain sentence.
        fix: what to do about it.
    """

    def __init__(self, reason: Reason, sentence: str, fix: str) -> None:
        super().__init__(f"{sentence}; {fix}")
        self.reason = reason
        self.sentence = sentence
        self.fix = fix


def first_of(error: ValidationError) -> str:
    """The first thing that a document has wrong, and where; never its value."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))[:200]
    text = first["msg"].removeprefix("Value error, ")
    return f"{where}: {text}" if where else text
