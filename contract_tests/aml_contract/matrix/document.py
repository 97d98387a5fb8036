"""The document of a matrix, in Markdown."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from aml_contract.matrix.cells import Cell
from aml_contract.matrix.plan import Job
from aml_contract.matrix.summary import UNTRIED, Summary
from aml_contract.outcome import Outcome

_MARKS = {Outcome.FAILED: "✘", Outcome.WARNED: "!", Outcome.KIT_ERROR: "?"}


def document(summary: Summary, jobs: Sequence[Job], cells: Sequence[Cell]) -> str:
    """The page: numbers, what is wrong, healthy servers, killers, and all servers by family."""
    environment = Environment(
        loader=PackageLoader("aml_contract.matrix", ""),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  it is Markdown; what strangers say goes through `cell`
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = _escaped
    families = sorted({cell.family for cell in cells})
    rows = list(_rows(jobs, cells, families))
    page = environment.get_template("document.md.j2")
    return page.render(s=summary, families=families, rows=rows).rstrip()


def _rows(
    jobs: Sequence[Job], cells: Sequence[Cell], families: Sequence[str]
) -> Iterable[tuple[str, list[str]]]:
    """A row for each server: its marks by family, over all its seeds."""
    found: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        found[cell.server, cell.family].append(cell)
    for entry in {job.entry.name: job.entry for job in jobs}.values():
        made_for = {rule.partition("/")[0] for rule in entry.kills}
        marks = {family: _marks(found[entry.name, family]) for family in families}
        yield entry.name, [f"**{m}**" if f in made_for and m else m for f, m in marks.items()]


def _marks(cells: Sequence[Cell]) -> str:
    """``✘2 !1``: how many rules failed and warned at least once."""
    if all(cell.outcome in UNTRIED for cell in cells):
        return ""
    counts = {
        mark: len({cell.rule for cell in cells if cell.outcome is outcome})
        for outcome, mark in _MARKS.items()
    }
    return " ".join(f"{mark}{count}" for mark, count in counts.items() if count) or "·"


def _escaped(text: str) -> str:
    """A stranger's words as one cell of a table."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")
