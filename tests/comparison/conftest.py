from datetime import datetime, timedelta

import pytest

from aml_contract.checking.document import report_of
from aml_contract.outcome import Level, Outcome
from aml_contract.report.formats import FORMATS
from tests.kit.conftest import aml, serve
from tests.report.events import HOSTILE, finished, run_of

FIRST = {
    "echo/ids": (Outcome.PASSED, ""),
    "isolation/case-twins": (Outcome.FAILED, "a leak"),
    "order/scores": (Outcome.PASSED, ""),
    "media/formats": (Outcome.NOT_APPLICABLE, "claims no images"),
    "repeats/after-kill": (Outcome.NOT_TESTED, "needs a server"),
    "time/small": (Outcome.PASSED, ""),
}
SECOND = {
    "echo/ids": (Outcome.FAILED, f"it came back as {HOSTILE}"),
    "isolation/case-twins": (Outcome.PASSED, ""),
    "order/scores": (Outcome.WARNED, "scores rise"),
    "media/formats": (Outcome.NOT_APPLICABLE, "claims no images"),
    "repeats/after-kill": (Outcome.PASSED, ""),
    "time/small": (Outcome.NOT_TESTED, "an ordinary Add was answered 503"),
}


def report(outcomes, *, hours=0, url=None, **changes):
    """A report of a run that never took place, so many hours after the first."""
    results = [
        finished(rule, outcome, message, level=Level.MUST, exchanges=[])
        for rule, (outcome, message) in outcomes.items()
    ]
    made = report_of(run_of(results))
    begun = datetime.fromisoformat(made.started) + timedelta(hours=hours)
    endpoint = made.endpoint
    if url:
        endpoint = endpoint.model_copy(update={"flags": ["--url", url]})
    return made.model_copy(
        update={
            "run": f"run-{hours}-{url}",
            "started": begun.isoformat(),
            "endpoint": endpoint,
            **changes,
        }
    )


@pytest.fixture
def written(tmp_path):
    """Writes reports to files, one after another; their paths."""

    def write(*reports):
        paths = []
        for number, made in enumerate(reports):
            paths.append(tmp_path / f"{number}.json")
            paths[-1].write_text(FORMATS["json"](made, {}))
        return paths

    return write


__all__ = ["aml", "serve"]
