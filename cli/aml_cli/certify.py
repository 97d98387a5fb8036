"""``aml certify``: whether an endpoint may go into a Full run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.running import make_target, print_settings, until_interrupted, usage_error
from aml_cli.writing import NOT_WRITTEN, write_file

if TYPE_CHECKING:
    from rich.console import Console
    from securesystemslib.signer import Signer

    from aml_contract.certification.document import Certification
    from aml_contract.certification.session import Session

_CERTIFICATE = "certificate.json"
_LEAST_KEY = 8
"""Characters; shorter ones stand in texts by chance."""


def certify(
    config: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The endpoint's file, with its [declaration]."),
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where stages are kept, and the report is written."),
    ],
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sign a certificate with this private key."),
    ] = None,
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private",
            help="Rehearse: allow private addresses, and less than must be declared.",
        ),
    ] = False,
    volume: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Forecast a run of so many Adds, in place of a Full run."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Choose the course; random if not given."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the certification in DIR.")
    ] = False,
) -> None:
    """Certify an endpoint: declaration, preflight, contract, capacity, forecast, fingerprint.

    Exit codes: 0 PASS, 1 FAIL, 2 usage, 3 error of the kit, or a file could not be written,
    4 nothing answers, 6 INCONCLUSIVE or INCOMPLETE, 130 interrupted (finished stages are
    kept; --resume goes on).
    """
    from aml_cli.console import SteadyConsole
    from aml_contract.certification.beginning import beginning_of
    from aml_contract.certification.configuration import at_declared_load, settings_of
    from aml_contract.certification.declaration import declaration_from
    from aml_contract.certification.kept import CannotGoOn, NotKept, opened
    from aml_contract.certification.requirements import requirements_for
    from aml_contract.certification.session import Session
    from aml_contract.certification.stage import Basis
    from aml_contract.certification.stages import STAGES
    from aml_contract.config import ConfigError

    try:
        declaration = declaration_from(config)
        settings = settings_of(config, declaration)
    except ConfigError as error:
        usage_error(str(error))
    target = at_declared_load(make_target(settings), declaration)
    if target.key and len(target.key) >= _LEAST_KEY and target.key in declaration.model_dump_json():
        usage_error(
            f"{config}: [declaration] holds the endpoint's key, and stands in every report and"
            " certificate: take it out, and use another key from now on"
        )
    signers = _signers(key)
    basis = Basis(declaration, requirements_for(settings["track"]))
    console = SteadyConsole()
    try:
        with opened(out) as kept:
            earlier = kept.earlier() if resume else None
            now = beginning_of(
                basis,
                settings,
                target,
                seed=_seed(seed, settings["seed"], earlier.seed if earlier else None),
                allow_private=allow_private,
                volume=volume,
            )
            begun = kept.go_on(now) if resume else kept.begin(now)
            session = Session(kept, begun, basis, settings, target, STAGES)
            _print_header(console, session)
            print_settings(console, settings, target)
            raise typer.Exit(_execute(console, session, signers))
    except CannotGoOn as error:
        usage_error(str(error))
    except NotKept as error:
        typer.echo(f"aml: {error}", err=True)
        raise typer.Exit(3) from None


def _seed(*given: int | None) -> int:
    """The first that there is; else a random one."""
    import secrets

    return next((one for one in given if one is not None), secrets.randbelow(2**31))


def _signers(key: Path | None) -> list[Signer]:
    """Who signs; a key that cannot be used is found out before anything is measured."""
    if key is None:
        return []
    from aml_cli.keys import signer

    return [signer(key)]


def _execute(console: Console, session: Session, signers: list[Signer]) -> int:
    """Measure what is not yet finished, write and print the report; the exit code."""
    import traceback

    from aml_contract.certification.document import exit_code
    from aml_contract.certification.report.progress import ProgressView
    from aml_contract.certification.report.terminal import print_certification

    with ProgressView(console) as session.watch:
        until_interrupted(session.execute())
    if session.broke:
        traceback.print_exception(session.broke)
    report, unwritten = _written(session, signers)
    print_certification(console, report)
    return exit_code(report, unwritten=unwritten)


def _print_header(console: Console, session: Session) -> None:
    begun, target = session.beginning, session.target
    declared, requirements = begun.declaration, begun.requirement_set
    system = f"{declared.system} {declared.version}" if declared.system else "no system is named"
    load = f"{target.add_concurrency} Adds and {target.search_concurrency} Searches at once"
    asked = f"{requirements.name} for {requirements.track}"
    lines = [f"aml certify · {system} · {asked} · seed {begun.seed} · {load}"]
    if session.results:
        kept = ", ".join(session.results)
        lines.append(f"Certification {begun.run_id} goes on; finished are: {kept}.")
    if begun.allow_private:
        lines.append("This is a rehearsal: --allow-private allows less than the platform does.")
    if not (target.managed or target.restart_cmd):
        lines.append("No restart_cmd in [hooks]: without one this becomes no certificate.")
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _written(session: Session, signers: list[Signer]) -> tuple[Certification, bool]:
    """The report, written beside the certificate; and whether a file is missing."""
    from aml_contract.certification.report.files import write_reports

    directory = session.kept.directory
    unwritten = _certified(session, signers) if signers else 0
    certificate = directory / _CERTIFICATE
    report = session.report(certificate=certificate.name if certificate.exists() else None)
    troubles = write_reports(directory, report)
    for trouble in troubles:
        typer.echo(f"aml: {trouble}", err=True)
    return report, bool(unwritten or troubles)


def _certified(session: Session, signers: list[Signer]) -> int:
    """Write a certificate of what passed; say why there is none.

    Returns:
        0, or the exit code of what could not be written.
    """
    from datetime import UTC, datetime

    from aml_contract.certification.certificate import RefusedError, issue
    from aml_contract.certification.stage import StageVerdict

    if session.report().verdict is not StageVerdict.PASS:
        typer.echo("aml: nothing is signed: only what passed is certified", err=True)
        return 0
    try:
        made = issue(
            list(session.results.values()),
            session.basis,
            signers,
            stages=session.stages,
            seed=session.beginning.seed,
            run_id=session.beginning.run_id,
            issued=datetime.now(UTC),
        )
    except RefusedError as error:
        typer.echo(f"aml: nothing is signed: {error}", err=True)
        return NOT_WRITTEN
    return write_file(session.kept.directory / _CERTIFICATE, made.decode())
