"""What a builder declares of an endpoint, and whether it is complete and consistent."""

from aml_contract.certification.declaration.file import declaration_from
from aml_contract.certification.declaration.model import Declaration
from aml_contract.certification.declaration.stage import DeclarationStage

__all__ = ["Declaration", "DeclarationStage", "declaration_from"]
