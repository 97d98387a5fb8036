"""The stages of a certification, by name and in order."""

from __future__ import annotations

from collections.abc import Mapping

from aml_contract.certification.capacity import CapacityStage
from aml_contract.certification.contract import ContractStage
from aml_contract.certification.declaration import DeclarationStage
from aml_contract.certification.fingerprint import FingerprintStage
from aml_contract.certification.forecast import ForecastStage
from aml_contract.certification.preflight import PreflightStage
from aml_contract.certification.stage import Stage

_IN_ORDER: tuple[Stage, ...] = (
    DeclarationStage(),
    PreflightStage(),
    ContractStage(),
    CapacityStage(),
    ForecastStage(),
    FingerprintStage(),
)

STAGES: Mapping[str, Stage] = {stage.name: stage for stage in _IN_ORDER}
"""All of them; a certification without one of them is INCOMPLETE."""
