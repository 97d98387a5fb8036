"""How xdist spreads the items: all rules to one worker, everything else as it likes."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling


class ContractScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Each item is a scope of its own, except that the contract is one."""

    def _split_scope(self, nodeid: str) -> str:
        head = nodeid.partition("::")[0]
        return head if head == "aml_contract" else nodeid
