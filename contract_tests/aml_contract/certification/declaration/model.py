"""The declaration: what a builder states of an endpoint, and cannot be seen on the wire."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal

from pydantic import ConfigDict, Field

from aml_contract.documented import Documented

_PLACEHOLDER = re.compile(r"(todo|tbd|fixme|x{3,}|\?+|\.{2,}|…|-+|<.*>)[.!]?", re.IGNORECASE)


class Declaration(Documented):
    """The table ``[declaration]`` of an endpoint's file.

    Every field may lack: what a division and a track must state is for
    :mod:`~aml_contract.certification.declaration.checks` to say. Models are there to be
    compared with what organisers allow; nothing here judges them (clause T3).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    system: str = Field(default="", examples=["my-memory"])
    """The memory's name, as the leaderboard shows it."""
    version: str = Field(default="", examples=["1.4.2"])
    """Its version: one that never changes, as `1.4.2`, and no branch."""
    track: Literal["", "textual", "coding", "multimodal"] = Field(default="", examples=["textual"])
    """The track that it is entered for."""
    division: Literal["", "open-source", "commercial"] = Field(default="", examples=["open-source"])
    """Open-source entries give repository and commit, commercial ones a product version."""
    repository: str = Field(default="", examples=["https://code.example/team/my-memory"])
    """The public repository, by its `https://` URL (open-source)."""
    commit: str = Field(default="", examples=["0123456789abcdef0123456789abcdef01234567"])
    """The commit that is served, by all 40 hexadecimal digits (open-source)."""
    product_version: str = Field(default="", examples=["2026.09.1"])
    """The version of the product that is served, and stays (commercial)."""
    attribution: str = Field(default="", examples=["none"])
    """Whose work it builds on; `none` if it is all your own (open-source)."""
    changes: str = Field(default="", examples=["none"])
    """What was changed in that work; `none` if nothing was (open-source)."""
    add_models: list[str] = Field(default_factory=list, examples=[["gpt-4o-mini"]])
    """Language models that Add uses; `["none"]` if it uses none."""
    search_models: list[str] = Field(default_factory=list, examples=[["none"]])
    """Language models that Search uses; `["none"]` if it uses none."""
    embedding_model: str = Field(default="", examples=["text-embedding-v4"])
    """The embedding model; `none` if there is none."""
    add_concurrency: int | None = Field(default=None, examples=[16])
    """Adds in flight that it bears: 16 to 64 (clause L1)."""
    search_concurrency: int | None = Field(default=None, examples=[32])
    """Searches in flight that it bears: 16 to 256 (clause L1)."""
    add_timeout: float | None = Field(default=None, examples=[60.0])
    """Seconds within which an Add is answered: 1800 at most (clause F2)."""
    search_timeout: float | None = Field(default=None, examples=[30.0])
    """Seconds within which a Search is answered: 1800 at most (clause F2)."""
    rate_limits: str = Field(default="", examples=["none"])
    """Limits on requests beside concurrency, as `600 requests a minute`; `none` if none."""
    retention_days: int | None = Field(default=None, examples=[14])
    """Days after a run until evaluation data is deleted: 30 at most (clause L3)."""
    contact: str = Field(default="", examples=["oncall@memory.example"])
    """Who is told during a run that something is wrong."""
    review: dict[str, str] = Field(default_factory=dict)
    """Answers to what cannot be seen from outside, by the row of the checklist."""

    @property
    def digest(self) -> str:
        """SHA-256 in hexadecimal, over what is declared as canonical JSON.

        Keys sorted, no spaces, UTF-8; what lacks is left out, so that a field which a later
        kit knows changes no digest of today.
        """
        stated = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(stated, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def texts(self) -> dict[str, str]:
        """Every text in it, by where it stands: ``contact``, ``add_models``, ``review.100``."""
        found = {}
        for name, value in self:
            match value:
                case str():
                    found[name] = value
                case list():
                    found[name] = ", ".join(value)
                case dict():
                    found |= {f"{name}.{row}": answer for row, answer in value.items()}
        return {name: text for name, text in found.items() if text}


def is_unanswered(value: object) -> bool:
    """Whether a field says nothing, or holds what stands where something will be said."""
    if isinstance(value, list):
        return all(map(is_unanswered, value))
    return value in (None, "") or (isinstance(value, str) and bool(_PLACEHOLDER.fullmatch(value)))
