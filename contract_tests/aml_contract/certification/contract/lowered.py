"""What lowered the bar: capabilities declined, and means that the kit was not given."""

from __future__ import annotations

from collections.abc import Mapping

from aml_contract.certification.contract.data import ContractData
from aml_contract.documented import Documented
from aml_contract.outcome import Outcome
from aml_contract.rule import Capability, Need, Rule, all_rules

_SENTENCES: Mapping[Capability | Need, str] = {
    Capability.VERBATIM: "it declines to return texts as they were sent (verbatim)",
    Capability.IMAGES: "it declines images",
    Capability.AUTH: "it was tried without a key",
    Need.FAULT: "nothing that it depends on was broken: no fault_cmd and heal_cmd were given",
    Need.KILL: "it was not killed with kill -9: the kit did not start it",
}
"""How a reader is told, in the order in which it matters to him."""


class Lowered(Documented):
    """Something that the endpoint declined, or that the kit was not given."""

    name: str
    """``verbatim``, ``images``, ``auth``, ``fault`` or ``kill``."""
    sentence: str
    """What it is."""
    rules: list[str]
    """The rules that it kept from being asked."""


def lowered(data: ContractData) -> list[Lowered]:
    """What kept rules of the requirement set from being asked of this endpoint."""
    rules = {rule.name: rule for rule in all_rules()}
    kept: dict[Capability | Need, list[str]] = {}
    for name, outcome in data.outcomes.items():
        lack = _lack(data, rules[name], outcome) if name in rules else None
        if lack is not None:
            kept.setdefault(lack, []).append(name)
    return [
        Lowered(name=lack.value, sentence=sentence, rules=kept[lack])
        for lack, sentence in _SENTENCES.items()
        if lack in kept
    ]


def _lack(data: ContractData, rule: Rule, outcome: Outcome) -> Capability | Need | None:
    """For want of what a rule was not asked."""
    if outcome is Outcome.NOT_APPLICABLE:
        claimed = data.report.settings.capabilities
        missing = [each for each in Capability if each in rule.capabilities - set(claimed)]
        return next(iter(missing), Need.FAULT if Need.FAULT in rule.needs else None)
    if outcome is Outcome.NOT_TESTED and data.remote and Need.KILL in rule.needs:
        return Need.KILL
    return None
