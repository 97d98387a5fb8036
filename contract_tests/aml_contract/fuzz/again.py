"""A generated finding made again: the same steps, with ids that nobody has used before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aml_contract.fuzz.bridge import Bridge
from aml_contract.fuzz.history import Call
from aml_contract.fuzz.sample import Sample, planted_canaries
from aml_contract.rule import Cost
from aml_contract.trial import Trial

_MOST = Cost(adds=200, searches=200)


async def again(t: Trial, steps: Mapping[str, Any]) -> None:
    """Make the steps of ``RuleResult.repeat`` and judge the answers as they were judged.

    Raises:
        Violation: they are still wrong.
        KeyError: these are no such steps.
    """
    t.repeat = dict(steps)
    if "history" in steps:
        await _history(t, tuple(Call.from_json(call) for call in steps["history"]))
    else:
        await _sample(t, Sample.from_json(steps["sample"]), legal=steps["legal"])


async def _history(t: Trial, calls: tuple[Call, ...]) -> None:
    from aml_contract.fuzz.machine import Search  # noqa: PLC0415  an extra, slow to import

    bridge = Bridge(t, 0, _MOST)
    breach = await bridge.in_thread(lambda: Search(bridge).replay(calls))
    if breach is not None:
        t.fail(breach.message, *breach.shown)
    t.note(f"{len(calls)} calls were made again and answered well")


async def _sample(t: Trial, sample: Sample, *, legal: bool) -> None:
    from aml_contract.fuzz.generated import Generator  # noqa: PLC0415  an extra, slow to import

    canaries = await planted_canaries(t)
    bridge = Bridge(t, 0, _MOST)
    made, fault = await bridge.in_thread(
        lambda: Generator(bridge, legal=legal, canaries=canaries).judge(sample)
    )
    if fault is not None:
        t.fail(f"the {sample.operation.capitalize()} {fault.message}", made)
    if not legal and made.status == 200:
        t.warn(f"an invalid {sample.operation.capitalize()} was answered 200", made)
    t.note(f"the {sample.operation.capitalize()} was sent again and answered {made.summary}")
