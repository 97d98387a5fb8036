"""Comparing two fingerprints: the same version, another one, or no telling.

To call a version changed that is not is worse than to miss a change. So only what was steady in
both fingerprints counts; a few questions that are answered otherwise are said, but settle
nothing; and of a ranking that wavers by itself nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from pydantic import Field

from aml_contract.certification.fingerprint.model import Asked, Aspect, Fingerprint
from aml_contract.certification.fingerprint.reading import all_near
from aml_contract.documented import Documented

STEADY = 0.9
"""The share of questions that must be answered alike by themselves for an aspect to count."""
CLEAR = 0.25
"""The share of questions from which on other answers mean another version."""
_LEAST = 3
_SCORES_WITHIN = 0.01


class Sameness(StrEnum):
    """Whether two fingerprints are of one version."""

    SAME = "same"
    CHANGED = "changed"
    UNKNOWN = "cannot tell"


class Comparison(Documented):
    """What two fingerprints say of each other."""

    sameness: Sameness
    sentence: str
    """One sentence for people who read nothing else."""
    differences: list[str] = Field(default_factory=list)
    """What is otherwise, a sentence each."""
    remarks: list[str] = Field(default_factory=list)
    """What limits the comparison."""


def compare(old: Fingerprint, new: Fingerprint, *, others_matter: bool = False) -> Comparison:
    """Compare the fingerprint of a certified version with one of today.

    Args:
        old: that of the certificate.
        new: that of today.
        others_matter: whether what other users store changes a user's results there (against
            S15): then other lists and scores are no sign of another version.
    """
    if old.canaries != new.canaries:
        return Comparison(
            sameness=Sameness.UNKNOWN,
            sentence="The fingerprints are of different canaries, so they cannot be compared.",
        )
    outright = [*_shapes(old, new), *_refusals(old, new)]
    differing = [each for aspect in Aspect if (each := _differing(aspect, old, new))]
    if others_matter:
        differing = [(False, sentence) for _, sentence in differing]
    wavering = [_wavers(old, "was certified"), _wavers(new, "was measured now")]
    sameness, sentence = _verdict(outright, differing, list(filter(None, wavering)), old, new)
    return Comparison(
        sameness=sameness,
        sentence=sentence,
        differences=[*outright, *(sentence for _, sentence in differing)],
        remarks=list(_remarks(old, new)),
    )


def _verdict(
    outright: Sequence[str],
    differing: Sequence[tuple[bool, str]],
    wavering: Sequence[str],
    old: Fingerprint,
    new: Fingerprint,
) -> tuple[Sameness, str]:
    clear = [*outright, *(sentence for is_clear, sentence in differing if is_clear)]
    if clear:
        more = f", and {len(clear) - 1} more" if len(clear) > 1 else ""
        return Sameness.CHANGED, f"It answers canaries otherwise: {clear[0]}{more}."
    if differing:
        little = f"Little differs ({differing[0][1]})"
        return (
            Sameness.UNKNOWN,
            f"{little}: a small change, or a ranking less steady than it looked.",
        )
    if wavering:
        return Sameness.UNKNOWN, wavering[0]
    compared = sum(1 for _ in _pairs(Aspect.RANKING, old, new))
    questions = f"{compared} of {len(old.answers)} questions"
    return Sameness.SAME, f"It answers as the certified version did ({questions} compared)."


def _wavers(fingerprint: Fingerprint, when: str) -> str | None:
    """Why nothing can be concluded from a ranking, if so."""
    steady = fingerprint.steady(Aspect.RANKING)
    if steady >= STEADY:
        return None
    count = len(fingerprint.answers)
    return (
        f"Its ranking wavers by itself: when it {when}, {count - round(steady * count)} of {count} "
        "questions got different answers although nothing had changed, so another version "
        "could not be told from chance."
    )


def _differing(aspect: Aspect, old: Fingerprint, new: Fingerprint) -> tuple[bool, str] | None:
    """Whether the difference in an aspect is a clear one, and its sentence; none, if none."""
    if min(old.steady(aspect), new.steady(aspect)) < STEADY:
        return None
    pairs = list(_pairs(aspect, old, new))
    count = sum(not _ALIKE[aspect](before, now) for before, now in pairs)
    if not count:
        return None
    clear = count >= max(_LEAST, CLEAR * len(old.answers))
    return clear, f"{count} of {len(pairs)} {_SENTENCES[aspect]}"


def _pairs(aspect: Aspect, old: Fingerprint, new: Fingerprint) -> Iterator[tuple[Asked, Asked]]:
    """Answers to one question that can be compared in this aspect."""
    for before, now in zip(old.answers, new.answers, strict=True):
        if aspect in before.wavered or aspect in now.wavered:
            continue
        if aspect is Aspect.FOUND or _ALIKE[_BELOW[aspect]](before, now):
            yield before, now


def _same_scores(before: Asked, now: Asked) -> bool:
    return all_near(before.scores or [], now.scores or [], _SCORES_WITHIN)


_BELOW = {
    Aspect.RANKING: Aspect.FOUND,
    Aspect.CONTENTS: Aspect.FOUND,
    Aspect.SCORES: Aspect.RANKING,
}
"""What must be alike for an aspect to be comparable."""
_ALIKE: dict[Aspect, Callable[[Asked, Asked], bool]] = {
    Aspect.FOUND: lambda before, now: before.found == now.found,
    Aspect.RANKING: lambda before, now: before.ranking == now.ranking,
    Aspect.CONTENTS: lambda before, now: before.contents == now.contents,
    Aspect.SCORES: _same_scores,
}
_SENTENCES = {
    Aspect.FOUND: "questions bring back other memories",
    Aspect.RANKING: "questions bring back the same memories in another order",
    Aspect.CONTENTS: "questions bring back the same memories in other words",
    Aspect.SCORES: "questions bring back the same list with other scores",
}


def _shapes(old: Fingerprint, new: Fingerprint) -> Iterator[str]:
    if old.shape is None or new.shape is None:
        return
    for gone in sorted(set(old.shape) - set(new.shape)):
        yield f"no item has “{gone}” any more"
    for come in sorted(set(new.shape) - set(old.shape)):
        yield f"items now have “{come}”"


def _refusals(old: Fingerprint, new: Fingerprint) -> Iterator[str]:
    today = {each.probe: each for each in new.refusals}
    for was in old.refusals:
        now = today.get(was.probe)
        if now is None or None in (was.status, now.status):
            continue
        if was.status != now.status:
            yield f"{was.probe} is answered {now.status}, no longer {was.status}"
        elif None not in (was.shape, now.shape) and was.shape != now.shape:
            yield f"{was.probe} is answered {now.status} with a body of another form"


def _remarks(old: Fingerprint, new: Fingerprint) -> Iterator[str]:
    for aspect in Aspect:
        if aspect is Aspect.RANKING:
            continue
        if min(old.steady(aspect), new.steady(aspect)) < STEADY:
            yield f"Not compared, because it wavers by itself: {_NAMES[aspect]}."
    rankings = {tuple(asked.ranking) for asked in old.answers if asked.ranking is not None}
    if len(rankings) == 1:
        yield (
            "All questions are answered with one and the same list, so of how it ranks the "
            "fingerprint says little."
        )


_NAMES = {
    Aspect.FOUND: "which memories come back",
    Aspect.CONTENTS: "their wording",
    Aspect.SCORES: "their scores",
}
