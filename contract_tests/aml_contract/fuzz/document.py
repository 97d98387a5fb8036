"""The contract's own OpenAPI document, as generators and checks of a stranger need it.

Never the endpoint's document: an endpoint must not choose what it is judged by. The file
beside this module is written by the same generator as the one that the SDK serves, so
that the kit needs nothing of the SDK.
"""

from __future__ import annotations

import json
from copy import deepcopy
from importlib.resources import files
from typing import Any

_PATHS = ("/add", "/search")
_REQUESTS = ("AddRequest", "SearchRequest", "Message", "TextPart", "ImagePart", "ImageURL")


def document(*, usual: bool, images: bool) -> dict[str, Any]:
    """The document: Add and Search with their good answers, and nothing else.

    Requests hold known fields only; other rules try unknown ones. Where readers disagree,
    answers are held to the more lenient reading.

    Args:
        usual: numbers lie where every reading of the contract accepts them.
        images: requests hold image parts too.
    """
    whole = json.loads((files("aml_contract.fuzz") / "openapi.json").read_text("utf-8"))
    schemas = deepcopy(whole["components"]["schemas"])
    answered = schemas["Memory"]["properties"]
    answered["score"]["type"] = ["number", "null"]  # null is a warning (S8)
    answered["created_at"] = {}  # its form is a warning (S9)
    if not images:
        schemas["ContentPart"] = {"$ref": "#/components/schemas/TextPart"}
        answered["content"]["anyOf"][1]["items"] = {"type": "object"}
    for name in _REQUESTS:
        schemas[name]["additionalProperties"] = False
    if usual:
        schemas["SearchRequest"]["properties"]["top_k"]["maximum"] = 1000
    for schema in schemas.values():
        schema.pop("examples", None)  # fixed ids, which another run would meet
    paths = {path: {"post": _operation(whole["paths"][path]["post"])} for path in _PATHS}
    return {
        "openapi": whole["openapi"],
        "info": whole["info"],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _operation(whole: dict[str, Any]) -> dict[str, Any]:
    operation = deepcopy(whole)
    operation["responses"] = {"200": operation["responses"]["200"]}
    for part in (operation["requestBody"], operation["responses"]["200"]):
        for media in part["content"].values():
            media.pop("example", None)
    return operation
