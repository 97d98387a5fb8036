"""``aml keys``: the keys that sign certificates, and the trust store of those that are believed."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.running import usage_error

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner

    from aml_contract.certification.certificate import TrustedKey

PASSPHRASE = "AML_KEY_PASSPHRASE"  # noqa: S105  the variable's name
"""The variable with the passphrase of a private key."""
TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
"""How times are given; without an offset they are UTC."""

_BELIEVED = timedelta(days=365)

app = typer.Typer(
    no_args_is_help=True,
    help="The keys that sign certificates, and the trust store of those that are believed.",
)

StoreOption = Annotated[
    Path, typer.Option("--trust-store", metavar="DIR", help="The directory of trusted keys.")
]


@app.command("new")
def new(
    name: Annotated[
        Path, typer.Argument(metavar="NAME", help="Where; `.key` and `.pub` are added.")
    ],
    encrypt: Annotated[
        bool,
        typer.Option(
            "--encrypt",
            help=f"Encrypt the private key by the passphrase in ${PASSPHRASE}, or asked for.",
        ),
    ] = False,
) -> None:
    """Make an Ed25519 key pair: NAME.key is private (mode 0600), NAME.pub is for others.

    Nothing is overwritten, and the private key is never printed.
    Exit codes: 0 made, 2 usage, or a file is there, 3 it could not be written.
    """
    from aml_contract.certification.certificate import KeyFileError, make_key

    passphrase = _passphrase(confirm=True) if encrypt else ""
    if encrypt and not passphrase:
        usage_error("the passphrase is empty; leave --encrypt out for a key without one")
    try:
        made = make_key(name, passphrase)
    except KeyFileError as error:
        usage_error(str(error))
    except OSError as error:
        typer.echo(f"aml: {name}.key was not written: {error.strerror}", err=True)
        raise typer.Exit(3) from None
    typer.echo(
        f"{name}.key is your private key: keep it to yourself, and out of git\n"
        f"{name}.pub is for those who shall believe it (`aml keys trust`)\n"
        f"key id: {made.keyid}"
    )


@app.command("list")
def list_(
    trust_store: StoreOption,
) -> None:
    """Show the keys of a trust store, and whether each is believed now.

    Exit codes: 0 shown, 2 the store cannot be used as it is.
    """
    from aml_contract.certification.certificate import TrustStore, TrustStoreError
    from aml_contract.certification.certificate.account import plain

    try:
        store = TrustStore.read(trust_store)
    except TrustStoreError as error:
        usage_error(plain(str(error)))
    now = datetime.now(UTC)
    for key in store.keys.values():
        typer.echo(f"{key.name} ({plain(key.organisation)}): {_state(key, now)}")
        typer.echo(f"  key id: {key.key_id}")
    if not store.keys:
        typer.echo("no key is trusted; `aml keys trust` adds one")
    for other in store.others:
        typer.echo(f"{plain(other)} is no trusted key, and ignored")


@app.command("trust")
def trust(
    public: Annotated[Path, typer.Argument(metavar="FILE", help="The public key, NAME.pub.")],
    trust_store: StoreOption,
    organisation: Annotated[str, typer.Option(metavar="TEXT", help="Whose key it is.")],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What to call it.", show_default="FILE's name"),
    ] = None,
    start: Annotated[
        datetime | None,
        typer.Option(
            "--from",
            formats=TIMES,
            metavar="TIME",
            help="From when what it signs is believed.",
            show_default="always",
        ),
    ] = None,
    end: Annotated[
        datetime | None,
        typer.Option(
            "--until",
            formats=TIMES,
            metavar="TIME",
            help="Until when.",
            show_default="for a year",
        ),
    ] = None,
) -> None:
    """Add a public key to a trust store, which is made if there is none.

    Compare the key id that it prints with what the key's owner tells you in person.
    Exit codes: 0 added, 2 usage, 3 it could not be written.
    """
    from aml_contract.certification.certificate import (
        KeyFileError,
        TrustStoreError,
        add_trusted,
        load_public_key,
    )
    from aml_contract.certification.certificate.account import moment, plain

    try:
        key = add_trusted(
            trust_store,
            load_public_key(public),
            name=public.stem.lower() if name is None else name,
            organisation=organisation,
            valid_from=start and in_utc(start),
            valid_until=in_utc(end) if end else datetime.now(UTC) + _BELIEVED,
        )
    except (KeyFileError, TrustStoreError) as error:
        usage_error(plain(str(error)))
    except OSError as error:
        typer.echo(f"aml: the key was not written to {trust_store}: {error.strerror}", err=True)
        raise typer.Exit(3) from None
    typer.echo(
        f"{key.name} ({plain(key.organisation)}) is trusted until {moment(key.valid_until)}\n"
        f"key id: {key.key_id}\n"
        "Compare this id with what the key's owner tells you in person."
    )


def signer(path: Path) -> CryptoSigner:
    """The private key in a file, to sign with; its passphrase is asked for if it has one.

    Raises:
        typer.Exit: with code 2, the reason printed, if it cannot be used.
    """
    from aml_contract.certification.certificate import KeyFileError, load_private_key

    try:
        return load_private_key(path, _passphrase)
    except KeyFileError as error:
        usage_error(str(error))


def in_utc(time: datetime) -> datetime:
    """A time as it was given; without an offset it is UTC."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _passphrase(*, confirm: bool = False) -> str:
    """From the environment, or from whoever sits at the terminal."""
    if PASSPHRASE in os.environ:
        return os.environ[PASSPHRASE]
    if not sys.stdin.isatty():
        usage_error(f"the key wants a passphrase, and nobody can be asked here: set ${PASSPHRASE}")
    asked: str = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
    return asked


def _state(key: TrustedKey, now: datetime) -> str:
    from aml_contract.certification.certificate.account import moment

    if now > key.valid_until:
        return f"expired {moment(key.valid_until)}"
    if key.valid_from and now < key.valid_from:
        return f"not believed before {moment(key.valid_from)}"
    return f"believed until {moment(key.valid_until)}"
