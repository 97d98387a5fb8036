"""What a builder declares of an endpoint, and whether it is complete and consistent."""

from aml_contract.certification.declaration.model import Declaration

__all__ = ["Declaration"]
