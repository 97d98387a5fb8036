"""The trust store: a directory with the public keys that a verifier believes, and until when.

One JSON file for each key, written by ``aml keys trust``. Taking a key out is deleting its file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import AwareDatetime, ConfigDict, Field, ValidationError, model_validator
from securesystemslib.signer import SSlibKey

from aml_contract.certification.certificate.keys import (
    MOST_BYTES,
    PRIVATE,
    KeyFileError,
    holds_private_key,
    public_key_of,
    public_pem,
    read_small,
)
from aml_contract.certification.certificate.refusal import first_of
from aml_contract.documented import Documented
from aml_contract.report.writing import write_whole

ENDING = ".json"
NAME = r"[a-z0-9][a-z0-9._-]{0,63}"
"""What a key may be called; it names the file."""


class TrustStoreError(ValueError):
    """The trust store cannot be used as it is; the message says why."""


class TrustedKey(Documented):
    """One key of a trust store, as its file has it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    form: Literal["aml-trusted-key/1"] = "aml-trusted-key/1"
    """The form of this document."""
    name: str = Field(pattern=rf"^{NAME}$")
    """What the key is called, as the file is."""
    organisation: str = Field(max_length=200)
    """Whose it is."""
    key_id: str
    """What signatures name it by; it follows from ``public``."""
    public: str
    """The key: Ed25519, as PEM."""
    valid_from: AwareDatetime | None = None
    """From when what it signs is believed; `null`: always."""
    valid_until: AwareDatetime
    """Until when."""

    @model_validator(mode="after")
    def _follows(self) -> TrustedKey:
        if public_key_of(self.public.encode()).keyid != self.key_id:
            raise ValueError("key_id is not the id of this public key")
        if self.valid_from and self.valid_from >= self.valid_until:
            raise ValueError("valid_until is before valid_from")
        return self

    @property
    def verifier(self) -> SSlibKey:
        """The key, as signatures are checked with it."""
        return public_key_of(self.public.encode())


@dataclass(frozen=True)
class TrustStore:
    """The keys that are believed."""

    keys: Mapping[str, TrustedKey]
    """By their ids."""
    others: tuple[str, ...] = ()
    """Names of files in the directory that are no keys, and are ignored."""

    @classmethod
    def read(cls, directory: Path) -> TrustStore:
        """Read a directory. No link in it is followed.

        Raises:
            TrustStoreError: it is no directory, or something in it must not be there: a
                private key, a link, a key file that is broken or there twice.
        """
        try:
            paths = sorted(directory.iterdir())
        except OSError as error:
            raise TrustStoreError(
                f"the trust store {directory} cannot be read: {error.strerror}; "
                "`aml keys trust` makes one"
            ) from None
        keys: dict[str, TrustedKey] = {}
        others = []
        for path in paths:
            if not _may_be_key(path):
                others.append(path.name)
                continue
            key = _read_key(path)
            if key.key_id in keys:
                raise TrustStoreError(
                    f"{path} and {keys[key.key_id].name}{ENDING} hold the same key, so it is not "
                    "clear which validity counts: delete one of them"
                )
            keys[key.key_id] = key
        return cls(keys, tuple(others))


def add_trusted(  # noqa: PLR0913  a key, and what is to be said of it
    directory: Path,
    public: SSlibKey,
    *,
    name: str,
    organisation: str,
    valid_from: datetime | None,
    valid_until: datetime,
) -> TrustedKey:
    """Add a public key to a trust store, which is made if there is none.

    Raises:
        TrustStoreError: the name or the key is there, or what is said of it makes no sense.
        OSError: it could not be written.
    """
    if not re.fullmatch(NAME, name):
        raise TrustStoreError(
            f"{name!r} cannot name a key: small letters, digits, '.', '_' and '-' can"
        )
    there = TrustStore.read(directory).keys if directory.exists() else {}
    path = directory / f"{name}{ENDING}"
    if known := there.get(public.keyid):
        raise TrustStoreError(
            f"the trust store has this key as {known.name}: to change what is said of it, delete "
            f"{directory / known.name}{ENDING} first"
        )
    if path.exists():
        raise TrustStoreError(f"{path} is there, with another key: choose another name")
    pem = public_pem(Ed25519PublicKey.from_public_bytes(bytes.fromhex(public.keyval["public"])))
    try:
        key = TrustedKey(
            name=name,
            organisation=organisation,
            key_id=public.keyid,
            public=pem.decode(),
            valid_from=valid_from,
            valid_until=valid_until,
        )
    except ValidationError as error:
        raise TrustStoreError(first_of(error)) from None
    write_whole(path, key.model_dump_json(indent=2) + "\n")
    return key


def _may_be_key(path: Path) -> bool:
    """Whether a file of the store is read as a key; some must not even be there.

    Raises:
        TrustStoreError: it is a link, or has a private key in it.
    """
    if path.is_symlink():
        raise TrustStoreError(
            f"{path} is a link: what it leads to can change without the trust store; "
            "put the file itself there"
        )
    named = path.name.endswith(ENDING) and not path.name.startswith(".")
    if path.is_file():
        with path.open("rb") as file:
            if path.suffix == PRIVATE or holds_private_key(file.read(MOST_BYTES)):
                raise TrustStoreError(
                    f"{path} is a PRIVATE key, and trust stores are passed around: take it out, "
                    "hold it for known to others, and replace it (`aml keys new`) unless you are "
                    "sure that no one saw it"
                )
    return named


def _read_key(path: Path) -> TrustedKey:
    try:
        key = TrustedKey.model_validate_json(read_small(path, follow=False)[0])
    except KeyFileError as error:
        raise TrustStoreError(f"in the trust store: {error}") from None
    except ValidationError as error:
        raise TrustStoreError(
            f"{path} is no trusted key: {first_of(error)}; delete it, and add the key by "
            "`aml keys trust`"
        ) from None
    if path.name != f"{key.name}{ENDING}":
        raise TrustStoreError(f"{path} holds the key {key.name}: it is called {key.name}{ENDING}")
    return key
