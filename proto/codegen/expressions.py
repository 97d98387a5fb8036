"""What a field is called in generated Python: the annotation of a model's field."""

from __future__ import annotations

from dataclasses import replace

from codegen.contract import Contract, Field, Kind, Scalar

_PLAIN = {Scalar.STRING: "str", Scalar.BOOL: "bool", Scalar.DOUBLE: "float"}


def annotation(contract: Contract, field: Field) -> str:
    """The type of an object's field, constraints and absence included."""
    if field.repeated:
        expression = _constrained(f"list[{_item(contract, field)}]", field.min_length)
    elif isinstance(field.type, str):
        expression = _message(contract, field.type, field.min_length)
    elif field.type.integer:
        expression = _integer(field)
    elif field.const_true:
        expression = "Annotated[Literal[True], BeforeValidator(_boolean)]"
    else:
        expression = _constrained(_PLAIN[field.type], field.min_length)
        if field.format:
            told = f'Field(json_schema_extra={{"format": "{field.format}"}})'
            expression = f"Annotated[{expression}, {told}]"
    if field.required:
        return expression
    if field.never_null:
        return f"{expression} | SkipJsonSchema[None]"
    if field.empty_is_absent:
        return f"Annotated[{expression} | None, AfterValidator(_absent_if_empty)]"
    return f"{expression} | None"


def union(contract: Contract, name: str, min_length: int = 0) -> str:
    """The members of an untagged union, each of the given length at least."""
    members = contract.message(name).fields
    return " | ".join(annotation(contract, replace(f, min_length=min_length)) for f in members)


def _item(contract: Contract, field: Field) -> str:
    if isinstance(field.type, str):
        return _message(contract, field.type, 0)
    return _integer(field) if field.type.integer else _PLAIN[field.type]


def _message(contract: Contract, name: str, min_length: int) -> str:
    message = contract.message(name)
    if message.kind is Kind.BARE_LIST:
        return _constrained(f"list[{_item(contract, message.fields[0])}]", min_length)
    if message.kind is Kind.UNTAGGED and min_length:
        return union(contract, name, min_length)
    return name


def _integer(field: Field) -> str:
    if not isinstance(field.type, Scalar):
        raise TypeError(field.name)
    limits = [] if field.minimum is None else [f"ge={field.minimum}"]
    if field.floored:
        # The schema tells what may be sent, a number; the constraints hold for what is kept. They
        # stand before the validator: after it, pydantic would leave them out of the schema.
        kept = ", ".join([*limits, f"le={field.type.largest}"])
        sent = ", ".join([*limits, f"lt={field.type.largest + 1}"])
        return (
            f"Annotated[int, Field({kept}), BeforeValidator(_floored, "
            f"json_schema_input_type=Annotated[float, Field({sent})])]"
        )
    kept = f"Field({', '.join(limits)})"
    return (
        f"Annotated[int, {kept}, BeforeValidator(_integral_{field.type.value}, "
        f"json_schema_input_type=Annotated[int, {kept}])]"
    )


def _constrained(expression: str, min_length: int) -> str:
    return f"Annotated[{expression}, Field(min_length={min_length})]" if min_length else expression
