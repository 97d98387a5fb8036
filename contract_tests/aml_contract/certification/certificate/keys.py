"""Ed25519 keys in files: ``NAME.key`` is private, ``NAME.pub`` may be shown to anybody.

Both are PEM, PKCS #8 and SubjectPublicKeyInfo, which OpenSSL reads too. A key's id is that of
securesystemslib, a SHA-256 over the public key, and is always computed and never believed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.signer import CryptoSigner, SSlibKey

PRIVATE, PUBLIC = ".key", ".pub"
MOST_BYTES = 64 * 1024
"""More than any file with a key has."""
LEAST_PASSPHRASE = 15
"""Characters. PKCS #8 as it is written here stretches a passphrase little."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PRIVATE_MARK = b"PRIVATE KEY-----"


class KeyFileError(ValueError):
    """A file with a key cannot be used, or not be written; the message says why."""


def make_key(name: Path, passphrase: str = "") -> SSlibKey:
    """Make a key pair and write ``NAME.key``, mode 0600, and ``NAME.pub``.

    Args:
        name: where, without the endings.
        passphrase: encrypts the private key; empty for none.

    Returns:
        The public key.

    Raises:
        KeyFileError: one of the files is there, the directory keeps no permissions, or the
            passphrase is short.
        OSError: they could not be written; neither is there then.
    """
    if passphrase and len(passphrase) < LEAST_PASSPHRASE:
        raise KeyFileError(
            f"a passphrase has at least {LEAST_PASSPHRASE} characters; five random words do"
        )
    private, public = _beside(name, PRIVATE), _beside(name, PUBLIC)
    for path in (private, public):
        if path.is_symlink() or path.exists():
            raise KeyFileError(
                f"{path} is there, and a key is never overwritten: choose another name, or move it"
            )
    made = Ed25519PrivateKey.generate()
    sealing = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    secret = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealing)
    _create(private, secret, 0o600)
    try:
        _check_kept_from_others(private)
        _create(public, public_pem(made.public_key()), 0o644)
    except BaseException:
        private.unlink()
        raise
    return SSlibKey.from_crypto(made.public_key())


def load_private_key(path: Path, passphrase: Callable[[], str] = str) -> CryptoSigner:
    """Read a private key, to sign with.

    Args:
        path: ``NAME.key``.
        passphrase: asked for it if the key is encrypted; an empty one says that there is none.

    Raises:
        KeyFileError: there is none, others may read it, or it cannot be decrypted.
    """
    data, mode = read_small(path)
    if not holds_private_key(data):
        raise KeyFileError(f"{path} holds no private key: name the file that ends in {PRIVATE}")
    if mode & _OTHERS:
        raise KeyFileError(f"others than you may read {path}, a private key: chmod 600 {path}")
    secret = None
    if b"ENCRYPTED" in data:
        secret = passphrase().encode()
        if not secret:
            raise KeyFileError(f"{path} is encrypted, and no passphrase was given")
    try:
        key = load_pem_private_key(data, secret)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # What these say might repeat a part of the file.
        why = "is it the right passphrase?" if secret else "is it whole?"
        raise KeyFileError(f"the private key in {path} cannot be read: {why}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"the private key in {path} is no Ed25519 key: make one by aml keys new")
    return CryptoSigner(key)


def load_public_key(path: Path) -> SSlibKey:
    """Read a public key.

    Raises:
        KeyFileError: there is none in the file, or a private one.
    """
    data, _ = read_small(path)
    if holds_private_key(data):
        raise KeyFileError(
            f"{path} holds a PRIVATE key, which no one else may ever see: give the file that "
            f"ends in {PUBLIC}"
        )
    try:
        return public_key_of(data)
    except ValueError as error:
        raise KeyFileError(f"{path} holds no public key that can be used: {error}") from None


def public_key_of(pem: bytes) -> SSlibKey:
    """The public key in a PEM text, under the id that it has by itself.

    Raises:
        ValueError: there is none, or not of Ed25519.
    """
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it is no PEM with a public key") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("it is no Ed25519 key")  # noqa: TRY004  the text is wrong, not its type
    return SSlibKey.from_crypto(key)


def public_pem(key: Ed25519PublicKey) -> bytes:
    """A public key as PEM, as ``NAME.pub`` holds it."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def holds_private_key(data: bytes) -> bool:
    """Whether a private key is in there, of whatever kind."""
    return _PRIVATE_MARK in data


def read_small(path: Path, *, follow: bool = True) -> tuple[bytes, int]:
    """What an ordinary, small file holds, and its mode; pipes are not waited for.

    Args:
        path: where it is.
        follow: whether it may be a link.

    Raises:
        KeyFileError: it is no such file, or cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
    except OSError as error:
        why = "it is a link" if path.is_symlink() and not follow else error.strerror
        raise KeyFileError(f"{path} cannot be read: {why}") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise KeyFileError(f"{path} is no ordinary file")
    with os.fdopen(handle, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise KeyFileError(f"{path} has more than {MOST_BYTES // 1024} KiB, which no key has")
    return data, mode


def _beside(name: Path, ending: str) -> Path:
    return name.with_name(name.name + ending)


def _check_kept_from_others(path: Path) -> None:
    if path.stat().st_mode & _OTHERS:
        raise KeyFileError(
            f"{path.parent} keeps no permissions, so others could read the key: choose a "
            "directory on another file system"
        )


def _create(path: Path, data: bytes, mode: int) -> None:
    """Write a file that was not there; no reader sees it with other permissions."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
    except BaseException:
        path.unlink()
        raise
