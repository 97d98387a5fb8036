"""``aml drift``: whether what answers is still what was certified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.options import configured
from aml_cli.running import make_target, print_settings, until_interrupted, usage_error
from aml_cli.writing import write_file
from aml_contract.config import Resolved

if TYPE_CHECKING:
    from aml_contract.certification.drift.certified import Certified


@configured("endpoint", "concurrency", "timeout", "seed")
def drift(
    settings: Resolved,
    certificate: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The certificate, or the report of a certification as JSON."
        ),
    ],
    trust_store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Verify the certificate by these keys; without it, nothing is."
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")
    ] = None,
) -> None:
    """Measure fingerprint, contract and latency again, and compare them with a certificate.

    Without an endpoint the URLs of the certificate are asked. Exit codes: 0 still the certified
    version, 1 changed, or the certificate is refused, 2 usage, 3 error of the kit, or FILE could
    not be written, 4 nothing answers, 6 cannot tell, 130 interrupted.
    """
    import secrets

    from aml_cli.console import SteadyConsole
    from aml_contract.certification.drift.document import exit_code
    from aml_contract.certification.drift.session import Drifting
    from aml_contract.certification.drift.terminal import ProgressView, print_drift

    certified = _certified(certificate, trust_store)
    settings = _with_urls(settings, certified, certificate)
    target = make_target(settings)
    seed = secrets.randbelow(2**31) if settings["seed"] is None else settings["seed"]
    console = SteadyConsole()
    console.print(f"aml drift · {certified.subject} · seed {seed}", markup=False, highlight=False)
    print_settings(console, settings, target)
    drifting = Drifting(certified, target, seed)
    with ProgressView(console) as drifting.watch:
        until_interrupted(drifting.execute())
    if drifting.unreachable:
        typer.echo(f"aml: {drifting.unreachable}", err=True)
        raise typer.Exit(4)
    if drifting.found is None:
        typer.echo("aml: interrupted; nothing was compared to the end", err=True)
        raise typer.Exit(130)
    print_drift(console, drifting.found)
    unwritten = 0
    if json is not None:
        unwritten = write_file(json, drifting.found.model_dump_json(indent=2) + "\n")
    raise typer.Exit(exit_code(drifting.found, unwritten=bool(unwritten)))


def _certified(certificate: Path, trust_store: Path | None) -> Certified:
    """What was certified.

    Raises:
        typer.Exit: 1 if it cannot be believed, 2 if there is nothing to compare with.
    """
    from datetime import UTC, datetime

    from aml_contract.certification.certificate import RefusedError, TrustStore, TrustStoreError
    from aml_contract.certification.certificate.account import plain
    from aml_contract.certification.drift.certified import NotCertified, read_certified
    from aml_contract.certification.stages import STAGES

    try:
        store = TrustStore.read(trust_store) if trust_store else None
        return read_certified(certificate, store, datetime.now(UTC), STAGES)
    except (NotCertified, TrustStoreError) as error:
        usage_error(plain(str(error)))
    except RefusedError as error:
        typer.echo(f"aml: the certificate is refused: {plain(str(error))}", err=True)
        raise typer.Exit(1) from None


def _with_urls(settings: Resolved, certified: Certified, certificate: Path) -> Resolved:
    """The settings; where they name no endpoint, with the URLs of the certificate."""
    from aml_contract.config.resolve import Value
    from aml_contract.config.settings import CHOOSERS

    named = any(settings[name] for name in (*CHOOSERS, "add_url", "search_url"))
    urls = {"add_url": certified.endpoint.add_url, "search_url": certified.endpoint.search_url}
    if named or None in urls.values():
        return settings
    given = {
        name: Value(settings.by_name[name].setting, url, str(certificate))
        for name, url in urls.items()
    }
    return replace(settings, by_name={**settings.by_name, **given})
