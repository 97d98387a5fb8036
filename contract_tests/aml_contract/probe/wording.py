"""Wording: what a probe found in sentences, which stand before any table."""

from __future__ import annotations

from collections.abc import Iterator

from aml_contract.probe.document import ENDPOINT, Figures, ProbeReport, Scores, System
from aml_contract.probe.intervals import Figure
from aml_contract.probe.scoring import CURVES
from aml_contract.probe.stages import STAGES, Stage
from aml_contract.probe.world import Mode

COLUMNS = {
    "hit": f"found@{CURVES}",
    "all": "both found",
    "stale_first": "outdated first",
    "stale_only": "outdated only",
    "stale_exposed": "outdated shown",
    "temporary_first": "exception first",
    "memory_top": "reader: first",
    "memory_latest": "reader: newest",
    "memory_vote": "reader: most",
}
"""Headings of the metrics of questions."""
WHOLE = {
    "visible": "values found by their own words right after their Add",
    "leak": "answers with a value of another user",
    "dated": "items with a time",
    "event_time": "of these, the time at which it was said",
    "fabrication": "items with another person's value, or a plan, that do not say so",
    "density": "characters of items with what was asked for and is true",
}
"""What the metrics of contents are shares of."""
LEAD = "stale_first"
"""The metric that everything begins with."""
STAGE_NAMES: dict[Stage, str] = {
    "ok": "right",
    "resolved_wrong": "found, but another looks newer",
    "crowded": "stored, not found by the question",
    "lost": "lost after it was stored",
    "late": "findable later only",
    "write": "never stored",
}
SYSTEM_NAMES = {
    ENDPOINT: "your endpoint",
    "oracle": "oracle",
    "random": "random",
    "recency": "recency",
    "bm25": "BM25",
}
MODE_NAMES: dict[Mode, str] = {
    "direct": "asked by name",
    "advice": "asked for advice",
    "joint": "asked for two at once",
}
_MUCH = 0.02
"""A share from which on a stage is worth a sentence."""


def percent(figure: Figure | float | None) -> str:
    """A share in per cent; a dash if there is none."""
    if figure is None:
        return "–"
    share = figure.value if isinstance(figure, Figure) else figure
    # Zero is added for what is rounded to -0.
    return f"{round(100 * share) + 0} %"


def with_interval(figure: Figure | None) -> str:
    """A share with its interval: ``61 % (55–67)``."""
    if figure is None or figure.low is None or figure.high is None:
        return percent(figure)
    return f"{percent(figure)} ({100 * figure.low:.0f}–{100 * figure.high:.0f})"


def sentences(report: ProbeReport) -> Iterator[str]:
    """What was found, most important first; of a probe without scores, nothing."""
    if report.scores is None:
        return
    scores, mode = report.scores, report.modes[0]
    found, figures = scores.systems[ENDPOINT], figures_of(scores, ENDPOINT, mode)
    yield _lead(figures, mode)
    yield _losses(figures)
    yield from _contents(found)
    yield from _beside(scores, mode)
    for relation in scores.relations:
        if not relation.held:
            yield (
                f"It should be that {relation.says}; "
                f"it was not in {relation.broken} of {relation.of} Searches."
            )


def figures_of(scores: Scores, system: str, mode: Mode, among: int = CURVES) -> Figures:
    """The figures of a memory in one mode among so many items."""
    return scores.systems[system].modes[mode][among]


def _lead(figures: Figures, mode: Mode) -> str:
    stale, hit = figures.get(LEAD), figures["hit"]
    asked = MODE_NAMES[mode]
    found = f"Among its first {CURVES} items it finds {percent(hit)} of current values, {asked}"
    if stale is None:
        return f"{found}."
    if stale.value == 0:
        return f"{found}, and never shows an outdated one first."
    return f"{found}, but shows an outdated one first in {percent(stale)}."


def _losses(figures: Figures) -> str:
    lost = {stage: _share(figures, stage) for stage in STAGES if stage != "ok"}
    if not any(lost.values()):
        return "Nothing is lost on the way."
    reading = lost["crowded"] + lost["resolved_wrong"]
    writing = lost["write"] + lost["late"]
    between = lost["lost"]
    most = max((reading, "at reading"), (writing, "at writing"), (between, "between the two"))
    told = ", ".join(
        f"{percent(share)} {STAGE_NAMES[stage]}" for stage, share in lost.items() if share >= _MUCH
    )
    more = f": {told}" if told else ""
    return f"What goes wrong goes wrong mostly {most[1]}{more}."


def _contents(found: System) -> Iterator[str]:
    whole = found.whole
    leak, visible = _share(whole, "leak"), whole.get("visible")
    if leak:
        yield (
            f"{percent(leak)} of its answers show what another user said, of {found.foreign_users} "
            "users: that ends a run on the platform; `aml check` says more."
        )
    if visible and visible.value < 1:
        yield (
            f"Right after its Add, {percent(1 - visible.value)} of values were not found by their "
            "own words (clause A12)."
        )
    dated, times = whole.get("dated"), whole.get("event_time")
    if dated and dated.value == 0:
        yield "Its items have no created_at, so a reader cannot tell what is newer."
    elif times and times.value < 1 - _MUCH:
        yield (
            f"{percent(1 - times.value)} of its times are not those at which things were said: "
            "created_at should be the source's time (clause S9)."
        )
    if _share(whole, "fabrication") >= _MUCH:
        yield (
            f"{percent(whole['fabrication'])} of its items with another person's value, or a mere "
            "plan, do not say so."
        )


def _beside(scores: Scores, mode: Mode) -> Iterator[str]:
    """Whether it does better than matching words, as far as the intervals tell."""
    own, words = (figures_of(scores, name, mode) for name in (ENDPOINT, "bm25"))
    for metric, better, worse in (
        ("hit", "finds more", "finds less"),
        (LEAD, "shows outdated values first more often", "shows outdated values first less often"),
    ):
        here, there = own.get(metric), words.get(metric)
        if here is None or there is None or here.low is None or there.low is None:
            continue
        if here.high is None or there.high is None:
            continue
        if here.low > there.high:
            yield f"It {better} than BM25, full text search, does ({percent(there)})."
        elif here.high < there.low:
            yield f"It {worse} than BM25, full text search, does ({percent(there)})."


def _share(figures: Figures, metric: str) -> float:
    figure = figures.get(metric)
    return figure.value if figure else 0.0
