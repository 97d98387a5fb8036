"""How a field is converted: the expressions of the generated ``convert`` module."""

from __future__ import annotations

import re

from codegen.contract import Contract, Field, Kind, Message


def snake(name: str) -> str:
    """``AddRequest`` as ``add_request``, ``ImageURL`` as ``image_url``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def model(contract: Contract, message: Message) -> str:
    """The Python type that a message has among the models."""
    if message.kind is Kind.BARE_LIST:
        item = message.fields[0].type
        if not isinstance(item, str):
            return f"list[{_python_scalar(message.fields[0])}]"
        return f"list[{model(contract, contract.message(item))}]"
    return f"models.{message.name}"


def python_class(contract: Contract, field: Field) -> str:
    """The class by which a member of a union is known."""
    if not isinstance(field.type, str):
        return _python_scalar(field)
    message = contract.message(field.type)
    return "list" if message.kind is Kind.BARE_LIST else f"models.{message.name}"


def to_proto(field: Field, value: str) -> str:
    """The value of a model's field as the protobuf message wants it."""
    if not isinstance(field.type, str):
        return value
    if field.repeated:
        return f"[_{snake(field.type)}_to_proto(item) for item in {value}]"
    if not field.required:
        return f"None if {value} is None else _{snake(field.type)}_to_proto({value})"
    return f"_{snake(field.type)}_to_proto({value})"


def from_proto(field: Field) -> str:
    """The value of a protobuf message's field, ``value`` being the message."""
    place = f"value.{field.name}"
    if isinstance(field.type, str):
        convert = f"_{snake(field.type)}_from_proto"
        if field.repeated:
            return f"[{convert}(item) for item in {place}]"
        if field.required:
            return f'{convert}(_present(value, "{field.name}"))'
        place = f"{convert}({place})"
    elif field.repeated:
        return f"list({place})"
    elif field.const_true:
        place = f"_true({place})"
    return place if field.required else f'{place} if value.HasField("{field.name}") else None'


def _python_scalar(field: Field) -> str:
    kinds = {"string": "str", "bool": "bool", "double": "float", "int32": "int", "int64": "int"}
    return kinds[field.type.value] if not isinstance(field.type, str) else field.type
