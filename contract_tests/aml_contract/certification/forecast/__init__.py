"""How long a run of the platform takes, and what breaks first (clauses F2, L1)."""

from aml_contract.certification.forecast.data import ForecastData
from aml_contract.certification.forecast.stage import ForecastStage

__all__ = ["ForecastData", "ForecastStage"]
