"""Documents with figures that a test wants."""

from datetime import UTC, datetime

from aml_contract.probe.document import Controls, Point, ProbeReport, Scores, System
from aml_contract.probe.intervals import Figure
from aml_contract.probe.metrics import DEPTHS
from aml_contract.probe.stages import STAGES

WHOLE = ("visible", "leak", "dated", "event_time", "fabrication", "tokens", "characters", "density")
_USUAL = {
    "hit": (0.5, 0.4, 0.6),
    "stale_first": (0.5, 0.4, 0.6),
    **dict.fromkeys(("all", "mrr", "stale_only", "stale_exposed"), 0.5),
    **dict.fromkeys(("memory_top", "memory_latest", "memory_vote"), 0.5),
    **dict.fromkeys(STAGES, 0.0),
    **dict.fromkeys(WHOLE, 1.0),
    "leak": 0.0,
    "fabrication": 0.0,
    "ok": 1.0,
}


def figure(value, low=None, high=None):
    return Figure(value=value, low=low, high=high, of=100)


def system(**figures):
    """A memory with these figures, the usual ones otherwise."""
    made = {
        name: figure(*value) if isinstance(value, tuple) else figure(value)
        for name, value in {**_USUAL, **figures}.items()
    }
    questions = {name: each for name, each in made.items() if name not in WHOLE}
    return System(
        modes={"direct": dict.fromkeys(DEPTHS, questions)},
        whole={name: made[name] for name in WHOLE},
        periods={"direct": [Point(period=n, hit=0.5, stale_first=0.5) for n in range(3)]},
        foreign_users=2,
    )


def report(**figures):
    """A probe whose endpoint has these figures; its controls have the usual ones."""
    controls = ("oracle", "random", "recency", "bm25")
    return ProbeReport(
        kit="0",
        run="r1",
        seed=1,
        users=3,
        language="en",
        modes=["direct"],
        endpoint=["--url", "http://example.test"],
        started=datetime(2031, 1, 1, tzinfo=UTC),
        controls=Controls(bm25_tokeniser="words", bm25_k1=1.2, bm25_b=0.75),
        scores=Scores(
            systems={"endpoint": system(**figures), **{name: system() for name in controls}},
            relations=[],
            timeline=None,
        ),
    )
