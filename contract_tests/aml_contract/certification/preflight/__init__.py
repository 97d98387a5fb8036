"""Whether the platform could reach an endpoint and talk to it, before anything is tried."""

from aml_contract.certification.preflight.stage import PreflightStage

__all__ = ["PreflightStage"]
