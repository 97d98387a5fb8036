"""The contract stage: every rule of the requirement set, tried at the declared concurrency."""

from aml_contract.certification.contract.data import ContractData
from aml_contract.certification.contract.lowered import Lowered, lowered
from aml_contract.certification.contract.stage import ContractStage

__all__ = ["ContractData", "ContractStage", "Lowered", "lowered"]
