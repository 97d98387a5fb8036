"""The stage that takes the fingerprint of what is certified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from aml_contract.certification.fingerprint.canaries import canaries_of
from aml_contract.certification.fingerprint.comparing import STEADY
from aml_contract.certification.fingerprint.measuring import Taking, Untaken
from aml_contract.certification.fingerprint.model import Aspect, Fingerprint
from aml_contract.certification.grounds import Ground, judged, missing, remark
from aml_contract.certification.stage import Basis, Context, Judgement
from aml_contract.documented import Documented
from aml_contract.endpoint.http import open_endpoint
from aml_contract.namespace import Namespace
from aml_contract.run import new_run_id

SCOPE = "fingerprint"
"""Keeps its users apart from those of rules."""


class FingerprintData(Documented):
    """What the fingerprint stage measured."""

    taken: Fingerprint | None
    """``null`` if none could be taken."""
    trouble: str = ""
    """Why not."""


class FingerprintStage:
    """Stores canaries and asks for them, so that ``aml drift`` can do the same later."""

    name: ClassVar[str] = "fingerprint"

    async def measure(self, context: Context) -> dict[str, Any]:
        """Take the fingerprint; a :class:`FingerprintData`.

        Raises:
            Unreachable: nothing answers there.
        """
        async with open_endpoint(context.target, say=context.say) as endpoint:
            taking = Taking(
                endpoint,
                canaries_of(context.seed),
                # Another sitting is another salt: users whom nobody has begun to fill.
                Namespace(context.seed, new_run_id(), SCOPE),
                patience=context.patience,
                progress=context.progress,
            )
            try:
                data = FingerprintData(taken=await taking.fingerprint())
            except Untaken as error:
                data = FingerprintData(taken=None, trouble=str(error))
        return data.model_dump(mode="json")

    def judge(self, data: Mapping[str, Any], basis: Basis) -> Judgement:
        """Any fingerprint will do; of one that wavers it is said that it proves little."""
        found = FingerprintData.model_validate(data)
        if found.taken is None:
            lack = missing(
                f"No fingerprint could be taken: {found.trouble}.",
                "Ordinary Adds and Searches must be answered; `aml check` says why they are not.",
            )
            return judged([lack], "")
        count = len(found.taken.answers)
        steady = round(found.taken.steady(Aspect.RANKING) * count)
        good = f"{steady} of {count} questions about canaries are answered alike each time."
        return judged(_remarks(found.taken), good)


def _remarks(taken: Fingerprint) -> Iterator[Ground]:
    if taken.steady(Aspect.RANKING) < STEADY:
        yield remark(
            "The ranking wavers by itself, so a later run cannot tell whether the version is "
            "still this one.",
            "Sort by score and then by id, and take chance out of the ranking.",
        )
    if not taken.seen:
        yield remark(
            "No canary came back in its own words, so a later run cannot tell whether they are "
            "still stored.",
        )
