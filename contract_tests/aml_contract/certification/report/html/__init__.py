"""A certification as one HTML page, which opens offline and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from aml_contract.certification.document import Certification
from aml_contract.certification.forecast.judging import in_time
from aml_contract.certification.report.html.pictures import capacity, forecast
from aml_contract.certification.report.terminal import SIGNS
from aml_contract.certification.stage import ORDER
from aml_contract.report.html.frame import Frame
from aml_contract.report.wording import visible

TITLES = {
    "declaration": "what the builder states",
    "preflight": "addresses, TLS, key, clock",
    "contract": "every rule of the track",
    "capacity": "the declared load",
    "forecast": "how long a Full run takes",
    "fingerprint": "how a changed version is told",
}
"""What each stage is about, in a few words."""


def html(report: Certification) -> str:
    """The report as one HTML document."""
    frame = Frame(__name__, styles=("report.css", "certification.css"))
    environment = frame.environment()
    environment.globals |= {"ORDER": ORDER, "SIGNS": SIGNS, "TITLES": TITLES}
    environment.filters["in_time"] = in_time
    results = {result.stage: result for result in report.stages}
    load, foreseen = results.get("capacity"), results.get("forecast")
    text = environment.get_template("certification.html.j2").render(
        report=report,
        results=results,
        began=datetime.fromisoformat(report.begun.began),
        declared=_declared(report),
        capacity=capacity(load.data, report.begun.declaration) if load else None,
        forecast=forecast(foreseen.data) if foreseen else None,
        frame=frame,
    )
    return f"{visible(text)}\n"


def _declared(report: Certification) -> dict[str, str]:
    """What is declared, as a reader has it; the checklist aside."""
    fields = report.begun.declaration.model_dump(exclude={"review"})
    return {name.replace("_", " "): _shown(value) for name, value in fields.items()}


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
