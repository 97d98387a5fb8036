"""What a certification began with: it goes on with the same, or not at all."""

from __future__ import annotations

from typing import Any, Literal

from aml_contract.certification.certificate.statement import Kit, Requirements
from aml_contract.certification.declaration import Declaration
from aml_contract.documented import Documented


class Beginning(Documented):
    """What a certification began with."""

    form: Literal["aml-certification-begun/1"] = "aml-certification-begun/1"
    run_id: str
    """Its name."""
    began: str
    """When, in ISO 8601 with offset."""
    seed: int
    """Chooses its course."""
    kit: Kit
    requirement_set: Requirements
    declaration: Declaration
    target: list[str]
    """The options of ``aml check`` that name the endpoint; the key only by its variable."""
    declined: list[str]
    """Capabilities that the settings decline."""
    allow_private: bool
    """Whether it is a rehearsal, where less is allowed than the platform demands."""
    volume: int | None
    """Adds of the run to be forecast, if not those of a Full run."""

    def differences(self, now: Beginning) -> list[str]:
        """What is another now than it was, each as the part of a sentence."""
        pairs = [
            ("kit", _kit(self), _kit(now)),
            ("requirement set", _set(self), _set(now)),
            ("seed", self.seed, now.seed),
            ("endpoint", " ".join(self.target), " ".join(now.target)),
            ("list of declined capabilities", self.declined, now.declined),
            ("--allow-private", self.allow_private, now.allow_private),
            ("--volume", self.volume, now.volume),
        ]
        declared, declares = self.declaration.model_dump(), now.declaration.model_dump()
        pairs += [(f"{name} in [declaration]", declared[name], declares[name]) for name in declared]
        return [
            f"its {name} was {_shown(then)}, now it is {_shown(value)}"
            for name, then, value in pairs
            if then != value
        ]


def _kit(one: Beginning) -> str:
    return f"{one.kit.version} ({one.kit.digest[:12]})"


def _set(one: Beginning) -> str:
    named = one.requirement_set
    return f"{named.name} for {named.track} ({named.digest[:12]})"


def _shown(value: Any) -> str:
    match value:
        case None | "" | [] | {}:
            return "not given"
        case bool():
            return "given" if value else "not given"
        case list():
            return ", ".join(map(str, value))
        case dict():
            return "; ".join(f"{name}: {one}" for name, one in value.items())
        case _:
            return str(value)
