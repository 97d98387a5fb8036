"""Models whose fields are described where they are declared."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Documented(BaseModel):
    """The text below a field is its description, in the published JSON Schema too."""

    model_config = ConfigDict(use_attribute_docstrings=True)
