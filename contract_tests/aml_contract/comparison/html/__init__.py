"""Runs side by side as one HTML page, which opens offline."""

from __future__ import annotations

from aml_contract.comparison.side_by_side import SideBySide
from aml_contract.report.html.frame import Frame
from aml_contract.report.html.plots import together
from aml_contract.report.wording import NAMES, SIGNS, by_weight, visible

_STYLES = ("report.css", "comparison.css")


def html(found: SideBySide) -> str:
    """The comparison as one HTML document."""
    frame = Frame("aml_contract.comparison.html", styles=_STYLES)
    environment = frame.environment()
    environment.globals |= {"NAMES": NAMES, "SIGNS": SIGNS, "by_weight": by_weight}
    stages = dict.fromkeys(name for source in found.sources for name in source.stages)
    text = environment.get_template("comparison.html.j2").render(
        found=found,
        frame=frame,
        notable=[row for row in found.rows if not row.passed],
        passed=[row for row in found.rows if row.passed],
        stages=list(stages),
        spreads={
            operation: together(samples)
            for operation in ("add", "search")
            if (
                samples := {
                    source.letter: source.report.samples[operation]
                    for source in found.sources
                    if operation in source.report.samples
                }
            )
        },
    )
    return f"{visible(text)}\n"
