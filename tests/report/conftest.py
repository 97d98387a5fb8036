import pytest

from aml_contract.checking.document import Report, report_of
from aml_contract.outcome import Level, Outcome
from aml_contract.rule import Cost, Rule
from tests.kit.conftest import aml, aml_started, serve
from tests.report.events import HOSTILE, finished, run_of


@pytest.fixture
def report():
    """A run in which everything happened once, and a server said hostile things."""
    results = [
        finished("echo/untouched", Outcome.FAILED, f"it came back as {HOSTILE}"),
        finished("isolation/case-twins", Outcome.FAILED, "a leak\nof two lines"),
        finished("order/scores", Outcome.WARNED, "scores rise", level=Level.SHOULD),
        finished("fuzz/requests", Outcome.KIT_ERROR, "the kit broke, not the endpoint: Oops"),
        finished("media/formats", Outcome.NOT_APPLICABLE, "claims no images", exchanges=[]),
        finished("repeats/after-kill", Outcome.NOT_TESTED, "needs a server", exchanges=[]),
        finished("visibility/immediate", Outcome.PASSED, "", exchanges=[]),
    ]
    return report_of(run_of(results))


@pytest.fixture
def conformant():
    """A run with nothing to say."""
    return report_of(run_of([finished("echo/ids", Outcome.PASSED, "", exchanges=[])]))


@pytest.fixture
def rules(report):
    """Rules of the names in the report, but for one that the kit no longer has."""
    return {
        result.rule: Rule(
            name=result.rule,
            level=result.level,
            clauses=tuple(result.clause.split(", ")),
            title=f"It holds what {result.rule} asks.",
            why="Because <i>it</i> matters & hurts.",
            fix="Mend `it`.",
            check=_never,
            cost=Cost(),
        )
        for result in report.rules
        if result.rule != "order/scores"
    }


async def _never(trial):
    raise AssertionError("reports try no rules")


__all__ = ["Report", "aml", "aml_started", "conformant", "report", "rules", "serve"]
