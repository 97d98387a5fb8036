"""The contract as the generators see it: operations, and messages with the JSON they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Scalar(Enum):
    """What a field holds when it holds no message."""

    STRING = "string"
    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    DOUBLE = "double"

    @property
    def integer(self) -> bool:
        """Whether it is an integer."""
        return self in (Scalar.INT32, Scalar.INT64)

    @property
    def largest(self) -> int:
        """The largest value of an integer field."""
        return 2**31 - 1 if self is Scalar.INT32 else 2**63 - 1


@dataclass(frozen=True)
class Field:
    """One key of a JSON object, or one alternative of a union."""

    name: str
    doc: str
    type: Scalar | str
    """A scalar, or the name of a message."""
    repeated: bool
    required: bool
    min_length: int
    minimum: int | None
    floored: bool
    const_true: bool
    format: str
    empty_is_absent: bool
    never_null: bool


class Kind(Enum):
    """What JSON a message stands for."""

    OBJECT = "object"
    UNTAGGED = "untagged"
    """One of several JSON types."""
    TYPE_KEY = "type key"
    """One of several objects, named by their key ``type``."""
    BARE_LIST = "bare list"
    """The list that its only field holds."""


@dataclass(frozen=True)
class Message:
    """A protobuf message and its JSON."""

    name: str
    doc: str
    kind: Kind
    fields: tuple[Field, ...]
    example: str
    """A value as JSON text, or empty."""
    tag: str
    """What stands in the key ``type``, where the message is a member of such a union; or empty."""


@dataclass(frozen=True)
class Error:
    """A status that is not a success."""

    status: int
    doc: str
    retry_after: bool


@dataclass(frozen=True)
class Operation:
    """A method of the service as an HTTP operation."""

    name: str
    """In lower case: ``add``."""
    doc: str
    summary: str
    method: str
    path: str
    request: str
    """Name of the message that is the body; empty: there is none."""
    response: str
    head: bool
    open: bool
    errors: tuple[Error, ...]


@dataclass(frozen=True)
class KeyScheme:
    """A way of presenting a key."""

    name: str
    header: str
    prefix: str
    doc: str


@dataclass(frozen=True)
class Contract:
    """All of it."""

    title: str
    version: str
    doc: str
    service_doc: str
    key_schemes: tuple[KeyScheme, ...]
    error_body: str
    operations: tuple[Operation, ...]
    messages: tuple[Message, ...]
    """Those that JSON bodies are made of, each after those that it uses."""

    def message(self, name: str) -> Message:
        """The message of that name."""
        return next(message for message in self.messages if message.name == name)
