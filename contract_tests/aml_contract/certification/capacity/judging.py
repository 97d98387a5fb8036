"""What the figures of a load mean for a certificate.

PASS: 99 of 100 Adds and Searches are in time, by the upper bound; nothing is lost; nothing was
answered that ends a stage. FAIL: they are not, by the lower bound; or something is lost; or an
answer ended the load. Otherwise INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Iterator

from aml_contract.certification.capacity.bounds import CONFIDENCE, Side, needed
from aml_contract.certification.capacity.data import OFTEN, SATURATED, CapacityData, Traffic
from aml_contract.certification.capacity.overhead import Overhead
from aml_contract.certification.capacity.platform import Kind, limit_of
from aml_contract.certification.capacity.record import Trouble
from aml_contract.certification.capacity.tally import NO_ANSWER
from aml_contract.certification.grounds import (
    Ground,
    judged,
    missing,
    open_question,
    remark,
    wrong,
)
from aml_contract.certification.stage import Basis, Judgement
from aml_contract.latency import in_words

_BUSY = 0.5
"""The share of the kit's own speed from which on it cannot be told who is slow."""
_NAMES: dict[Kind, str] = {"add": "Add", "search": "Search"}
_PLURALS: dict[Kind, str] = {"add": "Adds", "search": "Searches"}


def judgement_of(data: CapacityData, basis: Basis) -> Judgement:
    """Judge a load by what was declared."""
    declared = basis.declaration
    sides: list[tuple[Kind, Traffic, int | None, float]] = [
        ("add", data.add, declared.add_concurrency, limit_of(declared.add_timeout)),
        ("search", data.search, declared.search_concurrency, limit_of(declared.search_timeout)),
    ]
    bad = [
        *(_trouble(trouble) for trouble in data.troubles),
        *_losses(data),
        *(
            ground
            for kind, traffic, _, limit in sides
            if (ground := _too_slow(kind, traffic, limit, data.overhead))
        ),
    ]
    lacking = [
        missing(
            f"The load was {traffic.in_flight} {_PLURALS[kind]} in flight, {count} are declared",
            "certify at the declared concurrency",
            "L1",
        )
        for kind, traffic, count, _ in sides
        if count is not None and count != traffic.in_flight
    ]
    unclear = [
        ground
        for kind, traffic, _, limit in sides
        if not bad and (ground := _unclear(kind, traffic, limit, data))
    ]
    remarks = [*_remarks(data), *(g for kind, t, *_ in sides if (g := _knee(kind, t, data)))]
    return judged([*bad, *lacking, *unclear, *_unseen(data, bad), *remarks], _good(data, sides))


def _good(data: CapacityData, sides: list[tuple[Kind, Traffic, int | None, float]]) -> str:
    parts = [
        f"{_PLURALS[kind]} take less than {in_words(traffic.sample.judged.high or 0)} "
        f"(limit {in_words(limit)})"
        for kind, traffic, _, limit in sides
        if traffic.sample
    ]
    found, acknowledged = data.memories.found, data.memories.acknowledged
    return (
        f"With {data.add.in_flight} Adds and {data.search.in_flight} Searches in flight, 99 of 100 "
        f"{' and '.join(parts)}; {found:,} of {acknowledged:,} acknowledged Adds were found."
    )


def _trouble(trouble: Trouble) -> Ground:
    name = ("an " if trouble.operation == "add" else "a ") + _NAMES[trouble.operation]
    match trouble.kind:
        case "refused" if trouble.calm == "200":
            return wrong(
                f"Under the declared load {name} was answered {trouble.answer}, which is never "
                "sent again, and worked when nothing else was in flight",
                "answer what is too much with 429 or 503 and Retry-After",
                "F3",
            )
        case "refused":
            again = f"; alone it was answered {trouble.calm}" if trouble.calm else ""
            return wrong(
                f"{name[:1].upper()}{name[1:]} was answered {trouble.answer}, which is never sent "
                f"again{again}",
                "accept every legal request; `aml check` shows which are not",
                "F3",
            )
        case "given up":
            return wrong(
                f"Under the declared load {name} {_unanswered(trouble)} at the last of "
                f"{trouble.tries} tries, after which the platform gives it up",
                "declare what it bears, or make it bear what is declared",
                "F1",
            )
        case "broken":
            return wrong(
                f"Under the declared load {trouble.answer}, which ends the platform's stage",
                "`aml check --only load --only echo` shows it again",
                "A13",
            )
        case "died":
            return wrong(f"Under the declared load {trouble.answer}", "its log says why", "L1")


def _unanswered(trouble: Trouble) -> str:
    if trouble.answer == NO_ANSWER:
        return f"brought no answer ({trouble.reason})"
    return f"was still answered {trouble.answer}"


def _losses(data: CapacityData) -> Iterator[Ground]:
    memories = data.memories
    if not memories.lost:
        return
    lost = f"{memories.lost} of {memories.acknowledged:,} acknowledged Adds"
    if data.verbatim:
        yield wrong(
            f"{lost} were not found afterwards, not even by their own words",
            "acknowledge an Add when it is stored, not before",
            "A12",
        )
    else:
        yield remark(
            f"{lost} were not found afterwards; of a memory that rewrites, that may be its way",
            "see that what is dropped is not needed",
        )


def _too_slow(kind: Kind, traffic: Traffic, limit: float, overhead: Overhead) -> Ground | None:
    if traffic.sample is None:
        return None
    p99 = traffic.sample.judged
    if p99.against(limit, overhead.seconds) is not Side.OVER or p99.low is None:
        return None
    words = (
        f"With {traffic.in_flight} {_PLURALS[kind]} in flight, the slowest of 100 takes at least "
        f"{in_words(p99.low)}, and {in_words(limit)} is the limit"
    )
    fix = "make it faster"
    if traffic.queues(overhead.seconds):
        words += f": it works on about {traffic.held} at a time, the others wait inside it"
        fix = f"work on more at a time: it bears about {_bears(traffic, limit)} in flight"
    return wrong(words, fix, "F2")


def _unclear(kind: Kind, traffic: Traffic, limit: float, data: CapacityData) -> Ground | None:
    sample, overhead = traffic.sample, data.overhead.seconds
    if sample and sample.judged.against(limit, overhead) is Side.UNDER:
        return None
    plural = _PLURALS[kind]
    p99 = sample.judged if sample else None
    if p99 and p99.low is not None and p99.low > limit:
        return open_question(
            f"With {traffic.in_flight} {plural} in flight, the slowest of 100 takes at least "
            f"{in_words(p99.low)}, and {in_words(limit)} is the limit; but {in_words(overhead)} of "
            "that may be the kit's own",
            "run the kit on a machine that has less to do",
        )
    if sample is None or p99 is None or p99.high is None:
        return open_question(
            f"Only {sample.count if sample else 0} {plural} were measured in "
            f"{data.budget / 60:.0f} minutes: to bound the slowest of 100 takes {needed()}",
            f"make {plural} faster, or let more be in flight",
            "F2",
        )
    return open_question(
        f"With {traffic.in_flight} {plural} in flight, the slowest of 100 takes between "
        f"{in_words(p99.low or 0)} and {in_words(p99.high)}, and {in_words(limit)} is the limit",
        "make the slowest requests faster, or declare more time",
        "F2",
    )


def _unseen(data: CapacityData, bad: list[Ground]) -> Iterator[Ground]:
    if data.memories.unseen and not bad:
        yield open_question(
            f"{data.memories.unseen} acknowledged Adds could not be looked for in time",
            "make Searches faster",
        )


def _remarks(data: CapacityData) -> Iterator[Ground]:
    memories = data.memories
    if memories.late:
        yield remark(
            f"{memories.late} of {memories.acknowledged:,} acknowledged Adds were found, but not "
            "by every Search after the acknowledgement",
            "answer 200 when a Search finds it",
            "A12",
        )
    if memories.deep:
        yield remark(
            f"{memories.deep} acknowledged Adds are stored, but no question finds them among "
            "100 items",
            "see how it ranks in long histories",
        )
    if memories.unfinished and data.ended == "time":
        yield remark(f"{memories.unfinished} Adds were still unanswered when time was over")
    if data.add.without_wait or data.search.without_wait:
        yield remark(
            f"{data.add.without_wait + data.search.without_wait} answers 429 came without "
            "Retry-After; the platform waits a minute after each",
            "send Retry-After with the seconds that it takes",
            "F1",
        )
    if data.texts_only:
        yield remark("Only texts were sent: images take longer, and were not measured here")
    overhead = data.overhead
    yield remark(
        f"The kit's own share of a latency is {in_words(overhead.seconds)} at most in 99 of 100 "
        f"requests; bounds are at {CONFIDENCE:.0%} confidence"
    )


def _knee(kind: Kind, traffic: Traffic, data: CapacityData) -> Ground | None:
    """What it can bear, where that is far less than was declared."""
    if data.troubles or (traffic.per_second or 0.0) > _BUSY * data.overhead.most:
        return None
    if traffic.sent_away > OFTEN and traffic.held < SATURATED * traffic.in_flight:
        what = f"{traffic.sent_away:.0%} of requests were told to come later"
    elif traffic.queues(data.overhead.seconds):
        alone, together = in_words(traffic.alone or 0), in_words(traffic.together or 0)
        what = f"one takes {alone} alone, and {together} beside so many others"
    else:
        return None
    held = f"{traffic.held} {(_NAMES if traffic.held == 1 else _PLURALS)[kind]}"
    return remark(
        f"It holds about {held} in flight, {traffic.in_flight} are declared: {what}",
        "more at once bring no more a second",
        "L1",
    )


def _bears(traffic: Traffic, limit: float) -> int:
    """In flight, so that the slowest of 100 is in time: where requests queue, both grow alike."""
    assert traffic.sample is not None
    return max(1, int(traffic.in_flight * limit / traffic.sample.judged.value))
