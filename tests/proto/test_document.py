"""The committed document, the models and the routes say the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from pydantic import TypeAdapter, ValidationError

from aml_sdk._gen import models, router
from codegen.descriptors import PROTO_ROOT
from tests.proto.values import CANONICAL, spoiled, steady

DOCUMENT: dict[str, Any] = json.loads(router.document_bytes())
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
REQUESTS = ("AddRequest", "SearchRequest")
SCHEMA_PATH = "#/components/schemas/"


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": SCHEMA_PATH + name, "components": DOCUMENT["components"]})


def takes(name: str, body: Any) -> bool:
    try:
        TypeAdapter(getattr(models, name)).validate_json(json.dumps(body))
    except ValidationError:
        return False
    return True


def constraints(schema: Any, definitions: dict[str, Any]) -> Any:
    """A schema without its words: references followed, a list of types as alternatives."""
    if isinstance(schema, list):
        return [constraints(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return constraints(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    plain = {
        key: (
            {name: constraints(inner, definitions) for name, inner in value.items()}
            if key == "properties"
            else constraints(value, definitions)
        )
        for key, value in schema.items()
        if key not in {"$defs", "title", "description", "default", "examples", "discriminator"}
    }
    if isinstance(plain.get("type"), list):
        first, second = plain.pop("type")
        plain = {"anyOf": [{"type": first, **plain}, {"type": second}]}
    if "required" in plain:
        plain["required"] = sorted(plain["required"])
    return plain


def test_it_is_a_valid_openapi_document():
    validate(DOCUMENT)
    assert DOCUMENT["openapi"].startswith("3.1.")


def test_it_is_the_one_in_proto():
    assert (PROTO_ROOT / "openapi" / "openapi.json").read_bytes() == router.document_bytes()


def test_models_and_components_have_the_same_names():
    assert sorted(SCHEMAS) == models.__all__


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_models_and_components_have_the_same_constraints(name: str):
    derived = TypeAdapter(getattr(models, name)).json_schema()
    assert constraints(derived, derived.get("$defs", {})) == constraints(SCHEMAS[name], SCHEMAS)


@pytest.mark.parametrize("name", REQUESTS)
def test_models_and_components_take_the_same_requests(name: str):
    schema = validator(name)
    seen = set()

    @settings(steady, max_examples=300)
    @given(body=spoiled(name))
    def agree(body: Any) -> None:
        taken = takes(name, body)
        assert schema.is_valid(body) == taken
        seen.add(taken)

    agree()
    assert seen == {True, False}


@pytest.mark.parametrize("name", sorted(set(CANONICAL) - set(REQUESTS)))
def test_models_take_all_that_the_document_allows(name: str):
    schema = validator(name)

    @settings(steady, max_examples=100)
    @given(body=st.one_of(CANONICAL[name], spoiled(name)))
    def implied(body: Any) -> None:
        assert takes(name, body) or not schema.is_valid(body)

    implied()


def examples(node: Any) -> list[tuple[str, Any]]:
    """Every example of a media type with the name of its schema."""
    if isinstance(node, list):
        return [found for item in node for found in examples(item)]
    if not isinstance(node, dict):
        return []
    own = [(node["schema"]["$ref"], node["example"])] if "example" in node else []
    return own + [found for inner in node.values() for found in examples(inner)]


def test_examples_are_valid():
    shown = {
        (ref.removeprefix(SCHEMA_PATH), json.dumps(body))
        for ref, body in examples(DOCUMENT["paths"])
    }
    shown |= {
        (name, json.dumps(body)) for name in SCHEMAS for body in SCHEMAS[name].get("examples", [])
    }
    assert {*REQUESTS, "AddResponse", "SearchResponse", "ErrorResponse"} <= {
        name for name, _ in shown
    }
    for name, body in shown:
        validator(name).validate(json.loads(body))
        assert takes(name, json.loads(body))


class Silent:
    """A handler that is never called."""

    async def add(self, request: Any) -> Any: ...
    async def search(self, request: Any) -> Any: ...
    async def health(self, request: Any) -> Any: ...
    async def head(self, request: Any) -> Any: ...


def routes(**paths: str) -> set[tuple[str, str]]:
    return {
        (route.path, method.lower())
        for route in router.make_routes(Silent(), **paths)
        for method in route.methods - ({"HEAD"} if "GET" in route.methods else set())
    }


@pytest.mark.parametrize(
    "paths", [{}, {"add_path": "/v1/memories/add", "search_path": "/find", "health_path": "/up"}]
)
def test_routes_and_paths_agree(paths: dict[str, str]):
    described = router.document(**paths)["paths"]
    assert routes(**paths) == {
        (path, method) for path, item in described.items() for method in item
    }


def test_default_paths_are_the_committed_ones():
    assert router.document() == DOCUMENT
    assert set(DOCUMENT["paths"]) == {"/add", "/search", "/health"}


def test_statuses_of_the_contract_are_described():
    def statuses(path: str) -> set[str]:
        return set(DOCUMENT["paths"][path]["post"]["responses"])

    common = {"200", "400", "401", "403", "408", "413", "422", "429", "500", "503"}
    assert statuses("/search") == common
    assert statuses("/add") == common | {"409"}
    limited = DOCUMENT["paths"]["/add"]["post"]["responses"]["429"]
    assert limited["headers"]["Retry-After"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 60,
    }


def test_key_schemes_of_the_contract_are_described():
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert {name: scheme["type"] for name, scheme in schemes.items()} == {
        "bearer": "http",
        "token": "http",
        "x-api-key": "apiKey",
    }
    assert DOCUMENT["security"] == [{"bearer": []}, {"token": []}, {"x-api-key": []}, {}]
    assert DOCUMENT["paths"]["/health"]["get"]["security"] == []


def test_every_description_names_a_clause():
    def descriptions(node: Any) -> list[str]:
        if isinstance(node, list):
            return [text for item in node for text in descriptions(item)]
        if not isinstance(node, dict):
            return []
        own = [node["description"]] if isinstance(node.get("description"), str) else []
        return own + [text for inner in node.values() for text in descriptions(inner)]

    uncited = [
        text for text in descriptions(DOCUMENT) if not re.search(r"\(clauses? [A-Z]\d", text)
    ]
    assert uncited == ["The kind of part."] * 2
