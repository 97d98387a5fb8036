"""``aml verify``: whether a certificate can be believed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.keys import TIMES, StoreOption, in_utc
from aml_cli.running import usage_error
from aml_cli.writing import write_file

if TYPE_CHECKING:
    from rich.console import Console

    from aml_contract.certification.certificate import Endpoint, Verified
    from aml_contract.certification.certificate.account import Verification
    from aml_contract.certification.declaration import Declaration


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERT", help="The certificate.")],
    trust_store: StoreOption,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The endpoint's file: it must be what it declares that is certified, "
            "at the URLs that it names.",
        ),
    ] = None,
    at: Annotated[
        datetime | None,
        typer.Option(formats=TIMES, metavar="TIME", help="For which time.", show_default="now"),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")
    ] = None,
) -> None:
    """Say whether a certificate can be believed, and what it certifies; no network is used.

    Every verdict in it is derived again from what was measured.
    Exit codes: 0 valid, 1 refused, 2 usage, 3 error of the kit, or the file could not be
    written.
    """
    from aml_cli.console import SteadyConsole
    from aml_contract.certification.certificate import RefusedError, TrustStore, TrustStoreError
    from aml_contract.certification.certificate import verify as verified
    from aml_contract.certification.certificate.account import Verification, plain
    from aml_contract.certification.stages import STAGES

    now = in_utc(at) if at else datetime.now(UTC)
    data = _data(certificate)
    declaration, endpoint = _meant(config) if config else (None, None)
    result: Verified | RefusedError
    try:
        store = TrustStore.read(trust_store)
        result = verified(
            data, store, now, stages=STAGES, declaration=declaration, endpoint=endpoint
        )
    except TrustStoreError as error:
        usage_error(plain(str(error)))
    except RefusedError as error:
        result = error
    found = Verification.of(result, now)
    _print(SteadyConsole(), found)
    code = write_file(json, found.model_dump_json(indent=2) + "\n") if json else 0
    raise typer.Exit(code if found.valid else 1)


def _data(certificate: Path) -> bytes:
    from aml_contract.certification.certificate.envelope import MOST_BYTES

    try:
        with certificate.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        usage_error(f"{certificate} cannot be read: {error.strerror}")


def _meant(config: Path) -> tuple[Declaration, Endpoint | None]:
    """What an endpoint's file declares, and the endpoint if it names one."""
    from aml_contract.certification.certificate import Endpoint
    from aml_contract.certification.declaration import Declaration, declaration_from
    from aml_contract.config import ConfigError, resolve, settings_of
    from aml_contract.config.settings import CHOOSERS
    from aml_contract.endpoint.target import Target, TargetError

    try:
        declaration = declaration_from(config)
        settings = resolve({}, settings=settings_of("endpoint"), config=config, environ={})
        if declaration == Declaration():
            usage_error(f"{config} declares nothing; it wants a section [declaration]")
        named = {name: settings[name] for name in (*CHOOSERS, "add_url", "search_url")}
        # Without its key: nothing is sent.
        return declaration, Endpoint.of(Target(**named)) if any(named.values()) else None
    except (ConfigError, TargetError) as error:
        usage_error(str(error))


def _print(console: Console, found: Verification) -> None:
    from aml_contract.certification.certificate.account import plain

    verdict = f"REFUSED: {found.refusal.reason}" if found.refusal else "VALID"
    console.print(verdict, style="bold", highlight=False)
    rows = list(found.rows())
    wide = max(len(name) for name, _ in rows)
    for name, value in rows:
        line = f"  {name:{wide}}  {plain(value)}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
