"""A probe as one HTML page, which opens offline."""

from __future__ import annotations

from aml_contract.probe.document import ENDPOINT, ProbeReport
from aml_contract.probe.html.pictures import Over, bars, curves
from aml_contract.probe.metrics import DEPTHS
from aml_contract.probe.scoring import CURVES
from aml_contract.probe.stages import STAGES
from aml_contract.probe.wording import (
    COLUMNS,
    MODE_NAMES,
    STAGE_NAMES,
    SYSTEM_NAMES,
    WHOLE,
    percent,
    sentences,
    with_interval,
)
from aml_contract.report.html.frame import Frame
from aml_contract.report.wording import visible

_STYLES = ("report.css", "probe.css")
_OVER: dict[Over, str] = {
    "stale_first": "An outdated value comes first",
    "hit": f"The current value is among the first {CURVES}",
}
"""What is drawn over the periods, and what is said above it."""


def html(report: ProbeReport) -> str:
    """The page of a probe that came to its end.

    Raises:
        ValueError: it did not.
    """
    if report.scores is None:
        raise ValueError("this probe has no scores")
    frame = Frame("aml_contract.probe.html", styles=_STYLES)
    environment = frame.environment()
    environment.filters |= {"percent": percent, "with_interval": with_interval}
    mode = report.modes[0]
    text = environment.get_template("probe.html.j2").render(
        report=report,
        scores=report.scores,
        frame=frame,
        first=mode,
        sentences=list(sentences(report)),
        curves={title: curves(report.scores, mode, metric) for metric, title in _OVER.items()},
        bars=bars(report.scores, mode),
        COLUMNS=COLUMNS,
        WHOLE=WHOLE,
        MODES=MODE_NAMES,
        STAGES={stage: STAGE_NAMES[stage] for stage in STAGES},
        SYSTEMS=SYSTEM_NAMES,
        DEPTHS=DEPTHS,
        CURVES=CURVES,
        ENDPOINT=ENDPOINT,
    )
    return f"{visible(text)}\n"
