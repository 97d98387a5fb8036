"""Reading requests: strict JSON, then the known fields (clauses A1 to A10, S1 to S4)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from tests.broken.parts.values import Add, Message, RefusedError, Search


class Reading:
    """What is accepted, what is refused, and with which status."""

    def parse(self, body: bytes) -> Any:
        """Strict JSON: UTF-8, no repeated keys, no NaN or Infinity."""

        def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            made = dict(pairs)
            if len(made) != len(pairs):
                raise ValueError("repeated key")
            return made

        def no_constant(name: str) -> Any:
            raise ValueError(name)

        try:
            return json.loads(
                body.decode(), object_pairs_hook=no_repeats, parse_constant=no_constant
            )
        except (ValueError, RecursionError):
            raise RefusedError(400, "the body is not strict JSON") from None

    def check_add(self, body: Any) -> Add:
        """The known fields, validated (clauses A1 to A10); unknown keys are ignored."""
        fields = self.object(body, "body")
        messages = fields.get("messages")
        if not isinstance(messages, list) or not messages:
            raise RefusedError(422, "messages must be a non-empty list")
        return Add(
            request_id=self.id_text(fields, "request_id"),
            user_id=self.id_text(fields, "user_id"),
            session_id=self.id_text(fields, "session_id"),
            messages=tuple(self.check_message(message) for message in messages),
        )

    def check_message(self, message: Any) -> Message:
        """One message, its content as one text."""
        fields = self.object(message, "message")
        return Message(
            role=self.check_role(fields.get("role")),
            content=self.check_content(fields.get("content")),
            timestamp=self.check_timestamp(fields.get("timestamp")),
        )

    def check_role(self, role: Any) -> str:
        """Any non-empty string (A5)."""
        if not isinstance(role, str) or not role:
            raise RefusedError(422, "role must be a non-empty string")
        return self.unicode(role)

    def check_content(self, content: Any) -> str:
        """A text, or text parts as their text joined by newlines (A6, S7)."""
        if isinstance(content, str):
            return self.unicode(content)
        if not isinstance(content, list):
            raise RefusedError(422, "content must be a string or a list of parts")
        texts = []
        for part in content:
            fields = self.object(part, "part")
            if fields.get("type") != "text" or not isinstance(fields.get("text"), str):
                raise RefusedError(422, "only text parts are accepted here")
            texts.append(self.unicode(fields["text"]))
        return "\n".join(texts)

    def check_timestamp(self, timestamp: Any) -> int | None:
        """Milliseconds, floored (A7); null counts as absent."""
        if timestamp is None:
            return None
        if isinstance(timestamp, bool) or not isinstance(timestamp, int | float):
            raise RefusedError(422, "timestamp must be a number of milliseconds")
        if not 0 <= timestamp < 2**63:
            raise RefusedError(422, "timestamp must lie between 0 and 2^63")
        return math.floor(timestamp)

    def check_search(self, body: Any) -> Search:
        """The known fields, validated (clauses S1 to S4)."""
        fields = self.object(body, "body")
        query, options = fields.get("query"), fields.get("options")
        if not query:
            raise RefusedError(422, "query must not be empty")
        options = [] if options is None else options
        if not isinstance(options, list) or not all(isinstance(o, str) for o in options):
            raise RefusedError(422, "options must be a list of strings")
        return Search(
            query=self.check_content(query),
            user_id=self.id_text(fields, "user_id"),
            top_k=self.check_top_k(fields.get("top_k")),
            options=tuple(self.unicode(option) for option in options),
        )

    def check_top_k(self, top_k: Any) -> int:
        """A positive whole number; ``87.0`` is one (S3)."""
        if isinstance(top_k, bool) or not isinstance(top_k, int | float):
            raise RefusedError(422, "top_k must be a positive integer")
        if not 1 <= top_k < 2**63 or top_k != math.floor(top_k):
            raise RefusedError(422, "top_k must be a positive integer")
        return int(top_k)

    def id_text(self, fields: Mapping[str, Any], name: str) -> str:
        """An opaque, non-empty id, untouched (A1 to A3)."""
        value = fields.get(name)
        if not isinstance(value, str) or not value:
            raise RefusedError(422, f"{name} must be a non-empty string")
        return self.unicode(value)

    def object(self, value: Any, what: str) -> Mapping[str, Any]:
        """A JSON object, or a refusal."""
        if not isinstance(value, dict):
            raise RefusedError(422, f"the {what} must be an object")
        return value

    def unicode(self, text: str) -> str:
        """Kept code point for code point; lone surrogates are no text (A10)."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RefusedError(422, "lone surrogates are not text") from None
        return text
