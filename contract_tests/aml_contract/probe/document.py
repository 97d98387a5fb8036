"""The document: what a probe found, as data; no clock has a part in ``scores``."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from aml_contract.documented import Documented
from aml_contract.latency import Latency
from aml_contract.probe.intervals import Figure
from aml_contract.probe.relations import Relation
from aml_contract.probe.timeline import Timeline
from aml_contract.probe.world import Mode

ENDPOINT = "endpoint"
"""The name of what was probed, beside those of the controls."""

Figures = dict[str, Figure | None]
"""Figures by metric; ``null`` where there was nothing to observe."""


class Point(Documented):
    """One period: shares among the first ten items, without intervals."""

    period: int
    hit: float
    stale_first: float | None
    """``null`` before anything has changed."""


class System(Documented):
    """What one memory was found to do: the endpoint's or a control."""

    modes: dict[Mode, dict[int, Figures]]
    """By mode and by the number of first items, the metrics of questions."""
    whole: Figures
    """The metrics that no mode belongs to: visible, leak, dated, event_time, fabrication, …"""
    periods: dict[Mode, list[Point]]
    foreign_users: int
    """Users whose values were shown to others."""


class Scores(Documented):
    """All that was measured without a clock."""

    systems: dict[str, System]
    """``endpoint``, then the controls: oracle, random, recency, bm25."""
    relations: list[Relation]
    timeline: Timeline | None


class Controls(Documented):
    """What the control rows are made with."""

    bm25_tokeniser: str
    bm25_k1: float
    bm25_b: float


class ProbeReport(Documented):
    """One probe of one endpoint."""

    report: Literal["aml-probe/1"] = "aml-probe/1"
    """The form of this document."""
    kit: str
    """The version of aml-contract."""
    run: str
    """Salts the invented names."""
    seed: int
    users: int
    language: str
    modes: list[Mode]
    endpoint: list[str]
    """The flags that name it; keys are masked."""
    started: datetime
    controls: Controls
    unreachable: str | None = None
    """Why nothing was sent, if nothing answers."""
    broken: str | None = None
    """What broke the contract, if something did."""
    clause: str | None = None
    """The clause that it broke."""
    scores: Scores | None = None
    """``null`` if the probe did not come to its end."""
    latency: dict[Literal["add", "search"], Latency] = Field(default_factory=dict)
    """Seconds of the requests that were answered well."""
    retries: int = 0
    """Requests that were sent again."""
