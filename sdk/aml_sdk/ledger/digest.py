"""The digest that tells whether two Adds have the same body."""

from __future__ import annotations

import hashlib

from pydantic_core import to_json

from aml_sdk._gen.models import AddRequest


def body_digest(request: AddRequest) -> bytes:
    """SHA-256 of the validated known fields in canonical form (clause R3).

    Canonical is the model's own JSON: fields in the contract's order, numbers as integers,
    absent and null alike left out, strings delimited by their quotes. Key order, unknown
    keys and ``1.0`` for ``1`` make no difference; where one message ends does.
    """
    return hashlib.sha256(to_json(request, exclude_none=True)).digest()
