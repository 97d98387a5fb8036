"""The ``aml`` command. Each command is a module of its own and imports what it needs late."""

from __future__ import annotations

import errno
import io
import sys
import traceback
from typing import Annotated

import typer

from aml_cli import (
    certify,
    check,
    compare,
    drift,
    explain,
    forget,
    init,
    keys,
    matrix,
    new,
    probe,
    report,
    reproduce,
    rules,
    serve,
    smoke,
    verify,
)
from aml_cli.stdout import give_up_stdout, lost

app = typer.Typer(
    name="aml",
    help="The Add/Search contract of the Agent Memory Leaderboard: check an endpoint, serve one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("init")(init.init)
app.command("check")(check.check)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("new")(new.new)
app.command("serve")(serve.serve)
app.command("forget")(forget.forget)
app.command("rules")(rules.rules)
app.command("explain")(explain.explain)
app.command("smoke")(smoke.smoke)
app.command("probe")(probe.probe)
app.command("matrix")(matrix.matrix)
app.command("certify")(certify.certify)
app.add_typer(keys.app, name="keys")
app.command("verify")(verify.verify)
app.command("compare")(compare.compare)
app.command("drift")(drift.drift)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"aml-contract {version('aml-contract')}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """The Add/Search contract of the Agent Memory Leaderboard: check an endpoint, serve one."""


_EXTRAS = {
    **dict.fromkeys(("bpe_openai", "h11", "jinja2", "packaging", "pytest", "tenacity"), "contract"),
    **dict.fromkeys(("cryptography", "scipy", "securesystemslib"), "certify"),
    "bm25s": "probe",
}
"""Which extra installs what the kit imports beside the base."""


def main() -> None:
    """Run ``aml``; an error of its own exits with 3, so that nobody blames the endpoint.

    Raises:
        SystemExit: always.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows no "…" is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except SystemExit as end:
        if end.code in (0, None) and lost:
            sys.exit(3)
        raise
    except Exception as error:  # noqa: BLE001  the last resort of a program
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            give_up_stdout(error)
            sys.exit(3)
        if isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS:
            extra = f"pip install 'aml-contract[{_EXTRAS[error.name]}]'"
            typer.echo(f"aml: this needs the module {error.name}: {extra}", err=True)
            sys.exit(2)
        traceback.print_exc()
        typer.echo(
            f"aml: an error of aml itself, not of your endpoint: {type(error).__name__}: {error}\n"
            "  there is no verdict; please report it with what stands above",
            err=True,
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
