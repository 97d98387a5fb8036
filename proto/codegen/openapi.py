"""The contract as an OpenAPI 3.1 document."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from codegen.contract import Contract, Error, Field, KeyScheme, Kind, Message, Operation, Scalar

JSON = "application/json"
RETRY_AFTER_LIMIT = 60


def document(contract: Contract) -> dict[str, Any]:
    """The document; the same contract gives the same document, keys in the same order."""
    paths: dict[str, Any] = {}
    for operation in contract.operations:
        path = paths.setdefault(operation.path, {})
        path[operation.method.lower()] = _operation(contract, operation)
        if operation.head:
            path["head"] = _head(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": contract.title,
            "version": contract.version,
            "description": f"{contract.service_doc}\n\n{contract.doc}",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [*({scheme.name: []} for scheme in contract.key_schemes), {}],
        "paths": paths,
        "components": {
            "schemas": {
                message.name: _schema(contract, message)
                for message in sorted(contract.messages, key=lambda message: message.name)
                if message.kind is not Kind.BARE_LIST
            },
            "securitySchemes": {
                scheme.name: _key_scheme(scheme) for scheme in contract.key_schemes
            },
        },
    }


def text(contract: Contract) -> str:
    """The document as it is committed and served."""
    return json.dumps(document(contract), ensure_ascii=False, indent=2) + "\n"


def _operation(contract: Contract, operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": operation.doc,
    }
    if operation.open:
        described["security"] = []
    if operation.request:
        request = contract.message(operation.request)
        described["requestBody"] = {"required": True, "content": _content(request)}
    response = contract.message(operation.response)
    described["responses"] = {
        "200": {"description": response.doc, "content": _content(response)},
        **{str(error.status): _error(contract, error) for error in operation.errors},
    }
    return described


def _head(operation: Operation) -> dict[str, Any]:
    return {
        "operationId": f"{operation.name}_head",
        "summary": "Whether the URL is there",
        "description": "Some callers probe the URL before they post to it (clause E4).",
        "security": [],
        "responses": {"200": {"description": "It is there (clause E4)."}},
    }


def _error(contract: Contract, error: Error) -> dict[str, Any]:
    described: dict[str, Any] = {"description": error.doc}
    if error.retry_after:
        described["headers"] = {
            "Retry-After": {
                "description": "Seconds to wait before the next try (clause F1).",
                "schema": {"type": "integer", "minimum": 1, "maximum": RETRY_AFTER_LIMIT},
            }
        }
    described["content"] = _content(contract.message(contract.error_body))
    return described


def _content(message: Message) -> dict[str, Any]:
    media: dict[str, Any] = {"schema": _reference(message.name)}
    if message.example:
        media["example"] = json.loads(message.example)
    return {JSON: media}


def _key_scheme(scheme: KeyScheme) -> dict[str, Any]:
    if scheme.header == "Authorization":
        return {"type": "http", "scheme": scheme.prefix.lower(), "description": scheme.doc}
    return {"type": "apiKey", "in": "header", "name": scheme.header, "description": scheme.doc}


def _schema(contract: Contract, message: Message) -> dict[str, Any]:
    if message.kind is Kind.UNTAGGED:
        return {"description": message.doc, "anyOf": _members(contract, message, 0)}
    if message.kind is Kind.TYPE_KEY:
        kinds = {field.name: _path(str(field.type)) for field in message.fields}
        return {
            "description": message.doc,
            "oneOf": [_reference(str(field.type)) for field in message.fields],
            "discriminator": {"propertyName": "type", "mapping": kinds},
        }
    properties = {field.name: _property(contract, field) for field in message.fields}
    required = [field.name for field in message.fields if field.required]
    if message.tag:
        kind = {"description": "The kind of part.", "type": "string", "const": message.tag}
        properties = {"type": kind, **properties}
        required = ["type", *required]
    schema: dict[str, Any] = {"description": message.doc, "type": "object"}
    if required:
        schema["required"] = required
    schema["properties"] = properties
    if message.example:
        schema["examples"] = [json.loads(message.example)]
    return schema


def _property(contract: Contract, field: Field) -> dict[str, Any]:
    schema = _list(contract, field) if field.repeated else _value(contract, field)
    if not field.required and not field.never_null:
        # A reference has no type of its own to widen; no optional field needs it so far.
        schema["type"] = [schema["type"], "null"]
    return {"description": field.doc, **schema}


def _list(contract: Contract, field: Field) -> dict[str, Any]:
    items = _value(contract, replace(field, repeated=False, min_length=0))
    return {"type": "array", "items": items} | _at_least("minItems", field.min_length)


def _value(contract: Contract, field: Field) -> dict[str, Any]:
    if isinstance(field.type, str):
        return _of_message(contract, contract.message(field.type), field.min_length)
    if field.type.integer:
        return _integer(field.type, field)
    if field.type is Scalar.BOOL:
        return {"type": "boolean"} | ({"const": True} if field.const_true else {})
    if field.type is Scalar.DOUBLE:
        return {"type": "number"}
    schema: dict[str, Any] = {"type": "string"} | _at_least("minLength", field.min_length)
    return schema | ({"format": field.format} if field.format else {})


def _of_message(contract: Contract, message: Message, min_length: int) -> dict[str, Any]:
    if message.kind is Kind.BARE_LIST:
        return _list(contract, replace(message.fields[0], min_length=min_length))
    if message.kind is Kind.UNTAGGED and min_length:
        return {"anyOf": _members(contract, message, min_length)}
    return _reference(message.name)


def _integer(scalar: Scalar, field: Field) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "number" if field.floored else "integer"}
    if field.minimum is not None:
        schema["minimum"] = field.minimum
    if field.floored:
        schema["exclusiveMaximum"] = scalar.largest + 1
    return schema


def _members(contract: Contract, message: Message, min_length: int) -> list[dict[str, Any]]:
    return [_value(contract, replace(field, min_length=min_length)) for field in message.fields]


def _at_least(keyword: str, length: int) -> dict[str, Any]:
    return {keyword: length} if length else {}


def _path(name: str) -> str:
    return f"#/components/schemas/{name}"


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": _path(name)}
