"""Latency: percentiles of what a run measured, and how long the endpoint was at work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import quantiles

from aml_contract.documented import Documented
from aml_contract.exchange import Exchange


class Latency(Documented):
    """Percentiles of one operation, in seconds."""

    count: int
    """Requests that the figures are of."""
    p50: float
    """Half of them took no longer."""
    p95: float
    p99: float
    max: float
    """The slowest."""

    def __str__(self) -> str:
        return (
            f"p50 {in_words(self.p50)}, p95 {in_words(self.p95)}, p99 {in_words(self.p99)}, "
            f"at most {in_words(self.max)} ({self.count} request{'s' if self.count != 1 else ''})"
        )


def latency_of(seconds: Sequence[float]) -> Latency | None:
    """Percentiles of ``seconds``; ``None`` of nothing."""
    if not seconds:
        return None
    cuts = quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else [seconds[0]] * 99
    p50, p95, p99 = (round(cuts[n - 1], 6) for n in (50, 95, 99))
    return Latency(count=len(seconds), p50=p50, p95=p95, p99=p99, max=round(max(seconds), 6))


def busy_seconds(exchanges: Iterable[Exchange]) -> float:
    """How long at least one request was in flight: the endpoint's share of a run."""
    busy, reached = 0.0, 0.0
    for began, ended in sorted((e.started, e.started + e.seconds) for e in exchanges):
        busy += max(0.0, ended - max(began, reached))
        reached = max(reached, ended)
    return busy


def in_words(seconds: float) -> str:
    """``3 ms`` or ``2.5 s``."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.1f} s"
