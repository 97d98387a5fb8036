"""Certificates: signed statements that an endpoint passed, and how they are verified.

What they are made with is in the extra ``certify``.
"""

from aml_contract.certification.certificate.issuing import issue
from aml_contract.certification.certificate.keys import (
    KeyFileError,
    load_private_key,
    load_public_key,
    make_key,
)
from aml_contract.certification.certificate.refusal import Reason, RefusedError
from aml_contract.certification.certificate.statement import Endpoint, Kit, Statement
from aml_contract.certification.certificate.trust import (
    TrustedKey,
    TrustStore,
    TrustStoreError,
    add_trusted,
)
from aml_contract.certification.certificate.verification import Verified, verify

__all__ = [
    "Endpoint",
    "KeyFileError",
    "Kit",
    "Reason",
    "RefusedError",
    "Statement",
    "TrustStore",
    "TrustStoreError",
    "TrustedKey",
    "Verified",
    "add_trusted",
    "issue",
    "load_private_key",
    "load_public_key",
    "make_key",
    "verify",
]
