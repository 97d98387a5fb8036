"""A certification as one HTML page, which opens offline and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from aml_contract.certification.document import Certification
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
    text = (
        frame.environment()
        .get_template("certification.html.j2")
        .render(
            report=report,
            results={result.stage: result for result in report.stages},
            began=datetime.fromisoformat(report.begun.began),
            declared=_declared(report),
            frame=frame,
            order=ORDER,
            SIGNS=SIGNS,
            TITLES=TITLES,
        )
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
