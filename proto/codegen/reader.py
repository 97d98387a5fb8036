"""From descriptors to the contract."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

from codegen.contract import Contract, Error, Field, KeyScheme, Kind, Message, Operation, Scalar
from codegen.descriptors import MEMORY_PROTO, Comments, Options

_SCALARS = {
    FieldDescriptorProto.TYPE_STRING: Scalar.STRING,
    FieldDescriptorProto.TYPE_BOOL: Scalar.BOOL,
    FieldDescriptorProto.TYPE_INT32: Scalar.INT32,
    FieldDescriptorProto.TYPE_INT64: Scalar.INT64,
    FieldDescriptorProto.TYPE_DOUBLE: Scalar.DOUBLE,
}
_UNIONS = {0: None, 1: Kind.UNTAGGED, 2: Kind.TYPE_KEY}
_CLAUSE = re.compile(r"\(clauses? [A-Z]\d+(, [A-Z]\d+)*\)")

# Numbers of fields in descriptor.proto, from which the places of comments are made.
_PACKAGE, _MESSAGE_TYPE, _SERVICE = 2, 4, 6
_MESSAGE_FIELD, _SERVICE_METHOD = 2, 2


class ContractError(Exception):
    """The definition says something that the generators do not understand."""


def read_contract(files: descriptor_pb2.FileDescriptorSet) -> Contract:
    """The contract that the compiled files define.

    Raises:
        ContractError: a construct is not supported, or a comment names no clause.
    """
    file = next(file for file in files.file if file.name == MEMORY_PROTO)
    return _Reader(file, Options(files)).contract()


class _Reader:
    def __init__(self, file: descriptor_pb2.FileDescriptorProto, options: Options) -> None:
        self._file = file
        self._options = options
        self._comments = Comments(file)

    def contract(self) -> Contract:
        if len(self._file.service) != 1:
            raise ContractError("one service is expected")
        service = self._file.service[0]
        shape = self._options.read(service, "http_service")
        common = _errors(shape.errors)
        operations = tuple(
            self._operation(method, common, (_SERVICE, 0, _SERVICE_METHOD, i))
            for i, method in enumerate(service.method)
        )
        bodies = [name for op in operations for name in (op.request, op.response) if name]
        return Contract(
            title=shape.title,
            version=shape.version,
            doc=self._comments.at(_PACKAGE),
            service_doc=self._cited(service.name, _SERVICE, 0),
            key_schemes=tuple(
                KeyScheme(scheme.name, scheme.header, scheme.prefix, scheme.description)
                for scheme in shape.key_schemes
            ),
            error_body=shape.error_body,
            operations=operations,
            messages=tuple(_in_order_of_use(self._messages(), [*bodies, shape.error_body])),
        )

    def _operation(
        self,
        method: descriptor_pb2.MethodDescriptorProto,
        common: tuple[Error, ...],
        place: tuple[int, ...],
    ) -> Operation:
        http = self._options.read(method, "http")
        if http.method not in ("GET", "POST"):
            raise ContractError(f"{method.name}: GET or POST, not {http.method!r}")
        errors = (() if http.open else common) + _errors(http.errors)
        return Operation(
            name=method.name.lower(),
            doc=self._cited(method.name, *place),
            summary=http.summary,
            method=http.method,
            path=http.path,
            request=_local(method.input_type) if http.method == "POST" else "",
            response=_local(method.output_type),
            head=http.head,
            open=http.open,
            errors=tuple(sorted(errors, key=lambda error: error.status)),
        )

    def _messages(self) -> list[Message]:
        tags: dict[str, str] = {}
        kinds = [self._kind(message) for message in self._file.message_type]
        for kind, message in zip(kinds, self._file.message_type, strict=True):
            if kind is Kind.TYPE_KEY:
                tags.update({_local(field.type_name): field.name for field in message.field})
        return [
            Message(
                name=message.name,
                doc=self._cited(message.name, _MESSAGE_TYPE, i),
                kind=kinds[i],
                fields=tuple(
                    self._field(
                        field,
                        self._cited(
                            f"{message.name}.{field.name}", _MESSAGE_TYPE, i, _MESSAGE_FIELD, j
                        ),
                    )
                    for j, field in enumerate(message.field)
                ),
                example=self._options.read(message, "message").example,
                tag=tags.get(message.name, ""),
            )
            for i, message in enumerate(self._file.message_type)
        ]

    def _kind(self, message: DescriptorProto) -> Kind:
        shape = self._options.read(message, "message")
        union = _UNIONS[shape.union]
        if union:
            if any(not field.HasField("oneof_index") for field in message.field):
                raise ContractError(f"{message.name}: a union holds one oneof and nothing else")
            return union
        if shape.bare_list:
            if len(message.field) != 1 or message.field[0].label != _REPEATED:
                raise ContractError(f"{message.name}: a bare list is one repeated field")
            return Kind.BARE_LIST
        return Kind.OBJECT

    def _field(self, field: FieldDescriptorProto, doc: str) -> Field:
        if field.json_name != field.name:
            raise ContractError(f"{field.name}: json_name must be the field's own name")
        shape: Any = self._options.read(field, "field")
        repeated = field.label == _REPEATED
        if shape.empty_is_absent and not repeated:
            raise ContractError(f"{field.name}: only a list can be empty")
        return Field(
            name=field.name,
            doc=doc,
            type=_type(field),
            repeated=repeated,
            required=not (field.proto3_optional or shape.empty_is_absent),
            min_length=shape.min_length,
            minimum=shape.minimum if shape.HasField("minimum") else None,
            floored=shape.integer_form == 1,
            const_true=shape.const_true,
            format=shape.format,
            empty_is_absent=shape.empty_is_absent,
            never_null=shape.never_null,
        )

    def _cited(self, what: str, *path: int) -> str:
        comment = self._comments.at(*path)
        if not _CLAUSE.search(comment):
            raise ContractError(f"{what}: the comment names no clause")
        return comment


_REPEATED = FieldDescriptorProto.LABEL_REPEATED


def _errors(errors: Iterable[Any]) -> tuple[Error, ...]:
    return tuple(Error(error.status, error.description, error.retry_after) for error in errors)


def _type(field: FieldDescriptorProto) -> Scalar | str:
    if field.type == FieldDescriptorProto.TYPE_MESSAGE:
        return _local(field.type_name)
    if field.type not in _SCALARS:
        raise ContractError(f"{field.name}: a type that the generators do not know")
    return _SCALARS[field.type]


def _local(type_name: str) -> str:
    return type_name.rpartition(".")[2]


def _in_order_of_use(messages: list[Message], roots: list[str]) -> list[Message]:
    """The messages that the roots are made of, each after those that it uses itself."""
    by_name = {message.name: message for message in messages}
    ordered: dict[str, Message] = {}

    def visit(name: str) -> None:
        if name not in ordered:
            for field in by_name[name].fields:
                if isinstance(field.type, str):
                    visit(field.type)
            ordered[name] = by_name[name]

    for root in roots:
        visit(root)
    return list(ordered.values())
