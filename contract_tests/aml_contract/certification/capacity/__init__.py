"""Whether the endpoint bears the load that it declares (clauses F1, F2, L1, S13)."""

from aml_contract.certification.capacity.data import CapacityData
from aml_contract.certification.capacity.stage import CapacityStage

__all__ = ["CapacityData", "CapacityStage"]
