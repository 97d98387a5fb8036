"""``aml matrix``: every server of a collection tried by every rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.running import until_interrupted, usage_error
from aml_cli.writing import write_file

if TYPE_CHECKING:
    from rich.console import Console

    from aml_contract.matrix.session import Session

COLLECTION = "tests.collection:collection"
"""The servers of this project itself, which are there in a clone."""
_INTERRUPTED = 130


def matrix(
    collection: Annotated[
        str,
        typer.Option(metavar="MODULE:FUNCTION", help="What returns the servers."),
    ] = COLLECTION,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where cells are kept as they are made.")
    ] = Path(".aml/matrix"),
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the cells in DIR, and make those that lack.")
    ] = False,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Do the I-th of N parts; the others go elsewhere.")
    ] = "1/1",
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Try healthy servers under the seeds 1 to N.")
    ] = 20,
    jobs: Annotated[
        int, typer.Option(metavar="N", min=1, help="Check so many servers side by side.")
    ] = 1,
    only: Annotated[
        list[str] | None, typer.Option(metavar="SERVER", help="Try only these; repeatable.")
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="FAMILY_OR_RULE", help="Try only by these; repeatable."),
    ] = None,
    fuzz_budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="How long requests are generated in each check: 5 s for healthy servers and "
            "2 s for broken ones if not given.",
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the matrix as Markdown.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the matrix as JSON.")
    ] = None,
) -> None:
    """Try every server of a collection by every rule, and judge the rules by it.

    Exit codes: 0 all is as it should be, 1 something is not (a killer does not kill, a
    finding on a healthy server is not on its list, a server was not tried), 2 usage,
    3 a file could not be written, 130 interrupted (finished cells are kept; --resume goes on).
    """
    from aml_cli.console import SteadyConsole
    from aml_contract.checking.selection import UnknownRuleError, select
    from aml_contract.matrix.collection import chosen, load_collection
    from aml_contract.matrix.document import document
    from aml_contract.matrix.plan import PlanError, Shard, jobs_of
    from aml_contract.matrix.session import Session
    from aml_contract.matrix.summary import summary
    from aml_contract.matrix.terminal import print_judgement
    from aml_contract.rule import all_rules

    known = all_rules()
    try:
        selected = select(known, rule or ())
        entries = chosen(load_collection(collection), only or ())
        planned = jobs_of(entries, selected, seeds, fuzz_budget)
        part = Shard.read(shard)
    except (UnknownRuleError, PlanError) as error:
        usage_error(str(error))
    session = Session(out, planned, {one.name: one for one in known}, part)
    console = SteadyConsole()
    if session.left and not resume and (session.cells or session.stale):
        usage_error(
            f"{out} holds {len(session.cells) + session.stale} cells of an earlier matrix: "
            "--resume goes on with them, and --out names another directory"
        )
    finished = _executed(session, console, jobs)
    judgement = session.judgement()
    command = _command(collection, seeds, fuzz_budget, only, rule)
    summed = summary(session.jobs, judgement, selected, command)
    print_judgement(console, summed, session.troubles)
    unwritten = 0
    if markdown is not None:
        page = document(summed, session.jobs, judgement.cells)
        unwritten = write_file(markdown, page + "\n")
    if json is not None:
        unwritten = write_file(json, summed.model_dump_json(indent=2) + "\n") or unwritten
    raise typer.Exit(_INTERRUPTED if not finished else unwritten if judgement.good else 1)


def _executed(session: Session, console: Console, workers: int) -> bool:
    """Make what is left; whether it came to its end."""
    from aml_contract.matrix.progress import ProgressLines

    kept, stale = len(session.cells), session.stale
    made_again = f", {stale} are stale and made again" if stale else ""
    console.print(
        f"aml matrix · {len(session.jobs)} checks of servers, {len(session.left)} of them to do · "
        f"{kept} cells are there{made_again}",
        highlight=False,
    )
    if not session.left:
        return True
    ended = False

    async def execute() -> None:
        nonlocal ended
        lines = ProgressLines(console, session.left, session.cells, workers=workers)
        await session.execute(lines, workers=workers)
        ended = True

    try:
        until_interrupted(execute())
    except OSError as error:
        usage_error(f"cells cannot be kept: {error}")
    return ended


def _command(
    collection: str,
    seeds: int,
    fuzz_budget: float | None,
    only: Sequence[str] | None,
    rules: Sequence[str] | None,
) -> str:
    """What makes the same cells again."""
    import shlex

    words = ["aml", "matrix", "--seeds", str(seeds)]
    if collection != COLLECTION:
        words += ["--collection", collection]
    if fuzz_budget is not None:
        words += ["--fuzz-budget", f"{fuzz_budget:g}"]
    for option, names in (("--only", only), ("--rule", rules)):
        words += [word for name in names or () for word in (option, name)]
    return shlex.join(words)
